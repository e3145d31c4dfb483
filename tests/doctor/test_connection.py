"""By which way each program gets to its gateway, and which variable says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.doctor.home import Home, demo
from toolsync.causes import named
from toolsync.doctor.checks import saying
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.look import Look
from toolsync.doctor.model import Effective
from toolsync.doctor.probed import Probed
from toolsync.probe.step import Step
from toolsync.probe.way import Way
from toolsync.sentence import tell

PLAIN, SECRET = "http://127.0.0.1:8080", "https://gw.example"
P, Q = "http://p.example:1", "http://q.example:1"
OLDER, NEWER = "2.1.112 (Claude Code)", "2.1.332 (Claude Code)"


def claude(tmp_path: Path, version: str, url: str, environ: Mapping[str, str], **settings: str) -> Look:
    """Claude Code at that address; of that version, or none that can be asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if version:
        (folder / "claude").write_text(f"#!/bin/sh\necho asked >> {folder}/asked\necho '{version}'\n")
        (folder / "claude").chmod(0o700)
    home = Home(tmp_path, {**environ, "PATH": f"{folder}:/usr/bin:/bin"})
    home.write({".claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": url, **settings}})})
    return home.look("claude-code")


def codex(tmp_path: Path, url: str, environ: Mapping[str, str]) -> Look:
    home = Home(tmp_path, dict(environ))
    provider = f'[model_providers.x]\nbase_url = "{url}/v1"\n'
    home.write({".codex/config.toml": f'model_provider = "x"\n{provider}'})
    return home.look("codex")


def taken(effective: Effective) -> tuple[str | None, str]:
    """The proxy, and the variable that is to blame for it."""
    where = effective.wheres.get("proxy")
    return effective.network.proxy_for(effective.url), where.slot if where is not None else ""


CLAUDE = {
    "the encrypted's variable, whatever the address": (NEWER, PLAIN, {"HTTPS_PROXY": P}, (P, "$HTTPS_PROXY")),
    "before the plain one's": (OLDER, PLAIN, {"HTTPS_PROXY": P, "http_proxy": Q}, (P, "$HTTPS_PROXY")),
    "for all, of old": (OLDER, PLAIN, {"ALL_PROXY": P}, (None, "")),
    "for all, now": (NEWER, PLAIN, {"ALL_PROXY": P}, (P, "$ALL_PROXY")),
    "for all, of nobody knows which version": ("", PLAIN, {"ALL_PROXY": P}, (P, "$ALL_PROXY")),
    "no scheme, of old": (OLDER, PLAIN, {"HTTP_PROXY": "p.example:1"}, ("p.example:1", "$HTTP_PROXY")),
    "no scheme, now": (NEWER, PLAIN, {"HTTP_PROXY": "p.example:1"}, (P, "$HTTP_PROXY")),
    "a network, of old": (OLDER, PLAIN, {"http_proxy": P, "no_proxy": "127.0.0.0/8"}, (P, "$http_proxy")),
    "a network, now": (NEWER, PLAIN, {"http_proxy": P, "no_proxy": "127.0.0.0/8"}, (None, "")),
    "the end of an address, of old": (OLDER, PLAIN, {"HTTP_PROXY": P, "NO_PROXY": "0.0.1"}, (P, "$HTTP_PROXY")),
}


@pytest.mark.parametrize(("version", "url", "environ", "expected"), CLAUDE.values(), ids=CLAUDE)
def test_claude_code_goes_as_its_version_does(
    tmp_path: Path, version: str, url: str, environ: Mapping[str, str], expected: tuple[str | None, str]
) -> None:
    assert taken(claude(tmp_path, version, url, environ).effective) == expected


def test_a_proxy_of_its_settings_is_named_by_their_line(tmp_path: Path) -> None:
    look = claude(tmp_path, OLDER, PLAIN, {"http_proxy": Q}, HTTPS_PROXY=P)
    assert taken(look.effective) == (P, "env.HTTPS_PROXY")


@pytest.mark.parametrize(
    ("url", "environ", "is_asked"),
    [
        pytest.param(PLAIN, {"ALL_PROXY": P}, True, id="another proxy"),
        pytest.param(PLAIN, {"HTTP_PROXY": P}, True, id="a tunnel through the same proxy"),
        pytest.param(SECRET, {"HTTPS_PROXY": P}, False, id="the same proxy"),
        pytest.param(SECRET, {"SSL_CERT_FILE": "/a.pem"}, True, id="other certificates"),
        pytest.param(PLAIN, {"SSL_CERT_FILE": "/a.pem"}, False, id="certificates of no weight"),
    ],
)
def test_its_version_is_asked_for_where_it_makes_a_difference(
    tmp_path: Path, url: str, environ: Mapping[str, str], is_asked: bool
) -> None:
    look = claude(tmp_path, NEWER, url, environ)
    assert taken(look.effective) == taken(look.effective)
    asked = tmp_path / "bin" / "asked"
    assert (asked.read_text() if asked.exists() else "") == ("asked\n" if is_asked else "")


@pytest.mark.parametrize(("version", "expected"), [(OLDER, True), (NEWER, False)])
def test_a_proxy_opens_it_a_tunnel_to_what_is_not_encrypted(tmp_path: Path, version: str, *, expected: bool) -> None:
    """2.1.112 sends CONNECT for `http://` too, and fails at a proxy that opens none: UND_ERR_ABORTED."""
    effective = claude(tmp_path, version, PLAIN, {"HTTP_PROXY": P}).effective
    assert effective.network.towards(effective.url).rules.tunnels is expected


@pytest.mark.parametrize(("version", "expected"), [(OLDER, ""), (NEWER, "/a.pem")])
def test_certificates_are_those_of_its_version(tmp_path: Path, version: str, expected: str) -> None:
    effective = claude(tmp_path, version, SECRET, {"SSL_CERT_FILE": "/a.pem"}).effective
    assert effective.network.ca_bundle == expected


@pytest.mark.parametrize(("value", "expected"), [("0", "env.NODE_TLS_REJECT_UNAUTHORIZED"), ("1", "")])
def test_who_checks_no_certificate_is_known_by_the_variable(tmp_path: Path, value: str, expected: str) -> None:
    effective = claude(tmp_path, NEWER, SECRET, {}, NODE_TLS_REJECT_UNAUTHORIZED=value).effective
    where = effective.wheres.get("unchecked")
    assert (effective.network.unchecked != "", where.slot if where is not None else "") == (bool(expected), expected)


CODEX = {
    "a port is no host": ({"HTTP_PROXY": P, "NO_PROXY": "127.0.0.1:8080"}, (P, "$HTTP_PROXY")),
    "a space parts nothing": ({"HTTP_PROXY": P, "NO_PROXY": ".local 127.0.0.1"}, (P, "$HTTP_PROXY")),
    "all is no address": ({"HTTP_PROXY": P, "NO_PROXY": "*"}, (P, "$HTTP_PROXY")),
    "a network": ({"HTTP_PROXY": P, "NO_PROXY": "127.0.0.0/8"}, (None, "")),
    "upper case first": ({"HTTP_PROXY": P, "http_proxy": Q}, (P, "$HTTP_PROXY")),
    "without a scheme": ({"HTTP_PROXY": "p.example:1"}, (P, "$HTTP_PROXY")),
    "set to nothing": ({"HTTP_PROXY": "", "http_proxy": Q}, (None, "")),
    "for another scheme": ({"HTTPS_PROXY": P}, (None, "")),
}


@pytest.mark.parametrize(("environ", "expected"), CODEX.values(), ids=CODEX)
def test_codex_goes_its_own_way(tmp_path: Path, environ: Mapping[str, str], expected: tuple[str | None, str]) -> None:
    assert taken(codex(tmp_path, PLAIN, environ).effective) == expected


def test_what_checks_no_certificate_works_and_is_warned_of(tmp_path: Path) -> None:
    look = claude(tmp_path, NEWER, SECRET, {}, NODE_TLS_REJECT_UNAUTHORIZED="0")
    end = Step("encryption", "gw.example:443", "tls_unchecked", "self-signed certificate", 1, is_end=True)
    found = diagnosis(look.effective, (), Probed(Way(look.effective.url, (end,))))
    assert found.primary is not None
    assert (found.state, found.primary.cause) == ("warning", "tls_unchecked")
    assert found.primary.values["variable"] == "NODE_TLS_REJECT_UNAUTHORIZED"
    values = {**saying.values(look, found.primary.where), **found.primary.values}
    said = {name: tell(value) for name, value in values.items()}
    remedy = named("tls_unchecked").filled(said).remedy
    assert "name its file in NODE_EXTRA_CA_CERTS" in remedy
    assert (
        "take NODE_TLS_REJECT_UNAUTHORIZED out, at ~/.claude/settings.json:1 (env.NODE_TLS_REJECT_UNAUTHORIZED)"
        in remedy
    )


@pytest.mark.parametrize(
    ("proxy", "expected"),
    [("socks5://p.example:1", P), ("SOCKS5H://p.example:1", P), ("socks://p.example:1", None), ("p.example:1", P)],
)
def test_codex_takes_some_kinds_of_proxy_for_http_and_passes_over_others(
    tmp_path: Path, proxy: str, expected: str | None
) -> None:
    found, slot = taken(codex(tmp_path, PLAIN, {"ALL_PROXY": proxy}).effective)
    assert (found, slot) == (expected, "$ALL_PROXY" if expected else "")


@pytest.mark.parametrize(("variable", "certainty"), [("HTTP_PROXY", "sure"), ("ALL_PROXY", "likely")])
def test_what_few_programs_read_is_no_certainty_where_nobody_knows(
    tmp_path: Path, variable: str, certainty: str
) -> None:
    home = Home(tmp_path, {variable: P})
    home.write({".demo/settings.json": json.dumps({"url": PLAIN})})
    look = home.look(demo())
    end = Step("proxy", "p.example:1", "proxy_unreachable", "refused", 1, is_end=True)
    found = diagnosis(look.effective, (), Probed(Way(look.effective.url, (end,), proxy=P))).primary
    assert found is not None
    assert (found.certainty, found.values["variable"]) == (certainty, variable)
