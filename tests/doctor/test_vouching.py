"""A file of certificates that the profile names, and that the tool was not told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.home import PROFILE, Home
from tests.doctor.test_authority import made, served
from toolsync.commands.doctor.described import program
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.probed import Probed
from toolsync.doctor.roots import unrooted
from toolsync.probe.way import way

CODEX = 'model_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "{url}"\n'
OF_ALL, OF_CODEX = "[profiles.work.network]", "[profiles.work.tool.codex.network]"

FILES = {
    "by its place": (f'{OF_ALL}\nca_bundle = "@/both.pem"\n', "@/both.pem"),
    "below the home": (f'{OF_ALL}\nca_bundle = "~/own.pem"\n', "@/home/own.pem"),
    "for this tool": (f'{OF_ALL}\nca_bundle = "/none.pem"\n{OF_CODEX}\nca_bundle = "@/both.pem"\n', "@/both.pem"),
    "one that does not help": (f'{OF_ALL}\nca_bundle = "@/another.pem"\n', ""),
    "one that is not there": (f'{OF_ALL}\nca_bundle = "/none.pem"\n', ""),
    "none": ("", ""),
}


@pytest.mark.parametrize(("network", "file"), FILES.values(), ids=FILES)
def test_the_profiles_file_is_named_where_it_helps(tmp_path: Path, network: str, file: str) -> None:
    (tmp_path / "another").mkdir()
    made(tmp_path / "another", None, is_critical=False).rename(tmp_path / "another.pem")
    shows = made(tmp_path, None, is_critical=False)
    home = Home(tmp_path, profile=f"{PROFILE}{network}".replace("@", str(tmp_path)))
    home.write({"own.pem": shows.read_text()})
    with served(shows) as url:
        home.write({".codex/config.toml": CODEX.format(url=url)})
        look = home.look("codex")
        probed = Probed(way(look.effective.url, look.effective.network))
        found = list(unrooted(look, probed))
    said = program(look, diagnosis(look.effective, found, probed), probed, "en", None)["findings"][0]
    expected = file.replace("@", str(tmp_path))
    told = f"Set CODEX_CA_CERTIFICATE={expected}, as the profile work has it, in the environment that Codex CLI is"
    assert said["cause"] == "tls_untrusted_ca"
    assert said["fix"].partition(" started")[0] == (told if file else "")


def test_nothing_is_said_of_it_where_the_tool_was_told(tmp_path: Path) -> None:
    shows = made(tmp_path, None, is_critical=False)
    environ = {"CODEX_CA_CERTIFICATE": str(shows)}
    home = Home(tmp_path, environ, profile=f'{PROFILE}{OF_ALL}\nca_bundle = "{shows}"\n')
    with served(shows) as url:
        home.write({".codex/config.toml": CODEX.format(url=url)})
        look = home.look("codex")
        assert list(unrooted(look, Probed(way(look.effective.url, look.effective.network)))) == []
