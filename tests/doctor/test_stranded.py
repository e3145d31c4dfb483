"""A program that runs with other variables than are set here, by which it does not get to the gateway."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography import x509

from tests.doctor.home import Home
from tests.doctor.test_authority import made, served
from tests.doctor.test_processes import running
from toolsync.doctor.look import Look
from toolsync.doctor.probed import Probed
from toolsync.doctor.stranded import stranded
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.probe.way import way
from toolsync.sentence import tell

ENDS = (
    "Run `cline hub stop`, which ends what has been left running in the background; "
    "where Cline (cli) (pid 7) goes on, end it, and start it anew."
)


def cline(tmp_path: Path, url: str, here: Mapping[str, str], *there: Mapping[str, str] | None) -> Look:
    """Cline at that address, with our own variables, and those of what runs."""
    processes = [running(1.0, one, name="cline", pid=7 + number) for number, one in enumerate(there)]
    home = Home(tmp_path, dict(here), processes=processes)
    settings = {"provider": "openai-compatible", "baseUrl": url, "model": "m", "apiKey": "k"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    stored = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    home.write({".cline/data/settings/providers.json": json.dumps(stored)})
    return home.look("cline", "cli")


def told(look: Look) -> list[tuple[str, str, list[str]]]:
    """Of each finding its cause, the variable, and what shows it."""
    effective = look.effective
    probed = Probed(way(effective.url, effective.network.towards(effective.url)))
    assert probed.way.end is None  # from here it is reached
    found = list(stranded(look, probed))
    assert [tell(one.fix.text) for one in found if one.fix is not None] == [ENDS] * len(found)
    return [(one.cause, str(one.values["variable"]), [*map(tell, one.evidence)]) for one in found]


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A server whose certificate nobody vouches for, and the file that it holds by."""
    file = made(tmp_path, x509.BasicConstraints(ca=False, path_length=None), is_critical=True)
    with served(file) as url:
        yield url, str(file)


def test_one_that_was_started_before_the_certificate_was_named(tmp_path: Path, secure: tuple[str, str]) -> None:
    url, file = secure
    (found,) = told(cline(tmp_path, url, {"NODE_EXTRA_CA_CERTS": file}, {"PATH": "/bin"}))
    assert found[:2] == ("env_not_refreshed", "NODE_EXTRA_CA_CERTS")
    seen, led = found[2]
    assert seen.startswith("NODE_EXTRA_CA_CERTS is set here, and Cline (cli) (pid 7) does not have it")
    assert led.startswith("Cline (cli) (pid 7) does not get to the gateway with its own variables: 127.0.0.1:")
    assert led.endswith("self-signed certificate")


def test_one_that_names_another_certificate(tmp_path: Path, secure: tuple[str, str]) -> None:
    url, file = secure
    other = tmp_path / "other.pem"
    other.write_text("")
    look = cline(tmp_path, url, {"NODE_EXTRA_CA_CERTS": file}, {"NODE_EXTRA_CA_CERTS": str(other)})
    ((cause, variable, (seen, _)),) = told(look)
    assert (cause, variable) == ("env_not_refreshed", "NODE_EXTRA_CA_CERTS")
    assert seen == "Cline (cli) (pid 7) still has another value of NODE_EXTRA_CA_CERTS"


def test_every_one_of_them_is_named(tmp_path: Path, secure: tuple[str, str]) -> None:
    url, file = secure
    look = cline(tmp_path, url, {"NODE_EXTRA_CA_CERTS": file}, {}, {"NODE_EXTRA_CA_CERTS": file}, {"TERM": "dumb"})
    probed = Probed(way(look.effective.url, look.effective.network))
    found = list(stranded(look, probed))
    assert [one.values["pid"] for one in found] == ["7", "9"]
    assert {tell(one.fix.text) for one in found if one.fix is not None} == {ENDS.replace("pid 7", "pid 7, 9")}


THERE: dict[str, Mapping[str, str] | None] = {
    "it has it": {"NODE_EXTRA_CA_CERTS": "@"},
    "by another variable": {"SSL_CERT_FILE": "@"},
    "it checks none": {"NODE_TLS_REJECT_UNAUTHORIZED": "0"},
    "another home": {"HOME": "/"},
    "a home that is gone": {"HOME": "/nowhere"},
    "not ours to read": None,
}


@pytest.mark.parametrize("there", THERE.values(), ids=THERE)
def test_one_that_gets_there_or_of_which_nobody_knows(
    tmp_path: Path, secure: tuple[str, str], there: Mapping[str, str] | None
) -> None:
    url, file = secure
    own = {name: value.replace("@", file) for name, value in there.items()} if there is not None else None
    assert told(cline(tmp_path, url, {"NODE_EXTRA_CA_CERTS": file}, own)) == []


def test_one_that_still_has_a_proxy_that_is_gone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as shut, LoopbackGateway(Secret("k")) as gateway:
        proxy = f"http://user:{'word' * 4}@127.0.0.1:{shut.getsockname()[1]}"
        shut.close()
        look = cline(tmp_path, gateway.base_url, {}, {"http_proxy": proxy})
        ((cause, variable, (seen, led)),) = told(look)
        spared = cline(tmp_path, gateway.base_url, {}, {"http_proxy": proxy, "NO_PROXY": "127.0.0.1"})
        assert told(spared) == []
        assert not gateway.received
    assert (cause, variable) == ("env_not_refreshed", "http_proxy")
    assert seen == "Cline (cli) (pid 7) still has another value of http_proxy"
    assert "word" not in led


@pytest.mark.parametrize("is_other", [False, True], ids=["this gateway", "another"])
def test_what_asks_another_gateway_by_its_own_variables_goes_its_own_way(tmp_path: Path, *, is_other: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as shut, LoopbackGateway(Secret("k")) as gateway:
        proxy = f"http://127.0.0.1:{shut.getsockname()[1]}"
        shut.close()
        there = "http://other.example" if is_other else gateway.base_url
        process = running(1.0, {"ANTHROPIC_BASE_URL": there, "http_proxy": proxy}, name="claude", pid=7)
        look = Home(tmp_path, {"ANTHROPIC_BASE_URL": gateway.base_url}, processes=[process]).look("claude-code")
        probed = Probed(way(look.effective.url, look.effective.network))
        assert [one.cause for one in stranded(look, probed)] == ([] if is_other else ["env_not_refreshed"])


def test_a_certificate_says_nothing_where_nothing_is_encrypted(tmp_path: Path) -> None:
    with LoopbackGateway(Secret("k")) as gateway:
        assert told(cline(tmp_path, gateway.base_url, {"NODE_EXTRA_CA_CERTS": "/some.pem"}, {})) == []


def test_nothing_is_looked_for_where_nobody_was_asked(tmp_path: Path, secure: tuple[str, str]) -> None:
    url, file = secure
    assert list(stranded(cline(tmp_path, url, {"NODE_EXTRA_CA_CERTS": file}, {}), None)) == []
