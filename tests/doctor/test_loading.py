"""A program that does not start with its settings, by its own words: when it is run, how, and what becomes of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.doctor.home import Home
from toolsync.commands.doctor.diagnosis import Options, doctor
from toolsync.doctor.checks import findings
from toolsync.doctor.loading import unstarted
from toolsync.doctor.model import Finding

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")

PLACE = ".codex/config.toml"
OWN = 'model_provider = "relay"\n[model_providers.relay]\nname = "relay"\nbase_url = "https://gw.example/api/v1"\n'
MARK = "what-nobody-is-shown"


def _script(*lines: str, code: int = 1) -> str:
    said = "".join(f"echo '{line}' >&2\n" for line in ("WARNING: no matter", *lines))
    return f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" >"$HOME/ran"\n{said}exit {code}\n'


def _told(
    place: Path, script: str, text: str = OWN, *, folder: str = "bin", found: Sequence[Finding] | None = None
) -> tuple[list[Finding], list[str]]:
    """What is said, and with which words the program was run: its folder, then its arguments; none where it was not."""
    home = Home(place, environ={"PATH": f"{place / 'home' / folder}:/usr/bin:/bin"})
    home.write({PLACE: text, f"{folder}/codex": script.replace("@HOME@", str(home.home))})
    home.path(f"{folder}/codex").chmod(0o755)
    look = home.look("codex")
    told = list(unstarted(look, findings(look) if found is None else found))
    ran = home.path("ran")
    return told, ran.read_text().splitlines() if ran.exists() else []


@pytest.mark.parametrize(("is_offline", "state"), [(False, "problem"), (True, "healthy")], ids=["online", "offline"])
def test_doctor_runs_it_but_where_nobody_is_to_be_asked(tmp_path: Path, *, is_offline: bool, state: str) -> None:
    home = Home(tmp_path, environ={"PATH": f"{tmp_path / 'home' / 'bin'}:/usr/bin:/bin"})
    home.write({PLACE: OWN, "bin/codex": _script("Error loading configuration: no")})
    home.path("bin/codex").chmod(0o755)
    told = doctor(home.session(), Options(("codex",), is_offline=is_offline)).data
    assert [one["state"] for one in told["tools"]] == [state]
    assert home.path("ran").exists() is not is_offline


REASONS = {  # what it complains of; what is shown
    "a text of a wrong kind": (
        f'invalid type: string "{MARK} \\" {MARK}", expected a map',
        "invalid type: string …, expected a map",
    ),
    "an unknown word": (f"unknown variant `{MARK}`, expected one of `a`", "unknown variant …, expected one of `a`"),
    "no value": ("invalid transport", "invalid transport"),
}


@pytest.mark.parametrize(("reason", "shown"), REASONS.values(), ids=REASONS)
def test_its_words_are_the_evidence_with_their_place_and_without_a_value(
    tmp_path: Path, reason: str, shown: str
) -> None:
    script = _script(f"Error loading configuration: @HOME@/{PLACE}:3:14: {reason}")
    (one,), ran = _told(tmp_path, script)
    assert (one.cause, one.certainty, one.where and one.where.line) == ("config_parse_error", "sure", 3)
    assert str(one.evidence[0]) == f"~/{PLACE}:3:14: {shown}"
    assert one.fix is not None
    assert f"~/{PLACE}:3:14" in str(one.fix.text)
    assert MARK not in " ".join(map(str, one.evidence))
    assert ran[1:] == ["login", "status"]
    assert not Path(ran[0]).is_relative_to(tmp_path / "home")  # an empty folder, so that no project has a say


def test_words_without_a_place_are_shown_as_they_are(tmp_path: Path) -> None:
    (one,), _ = _told(tmp_path, _script("Error loading config.toml: too old"))
    assert (one.where, str(one.evidence[0])) == (None, "too old")


SILENT = {
    "it has started": _script("Error loading configuration: no", code=0),
    "it says something else": _script("Not logged in"),
    "an older one, which does not know the words": _script("error: unrecognized subcommand"),
    "it cannot be run": "no program\n",
}


@pytest.mark.parametrize("script", SILENT.values(), ids=SILENT)
def test_nothing_is_said_where_it_does_not_speak_of_its_settings(tmp_path: Path, script: str) -> None:
    assert _told(tmp_path, script)[0] == []


NOT_RUN = {
    "nothing is set": ('model = "m"\n', "bin"),
    "it is known already": (OWN + 'wire_api = "chat"\n', "bin"),
    "the file is broken": ("a = \n", "bin"),
    "the project's own program": (OWN, "project/bin"),
}


@pytest.mark.parametrize(("text", "folder"), NOT_RUN.values(), ids=NOT_RUN)
def test_it_is_not_run_where_that_would_tell_nothing_or_nobody_has_asked_for_it(
    tmp_path: Path, text: str, folder: str
) -> None:
    script = _script("Error loading configuration: no")
    assert _told(tmp_path, script, text, folder=folder) == ([], [])
