"""A certificate that holds by the system's roots alone: who reads these, and who brings along roots of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from ssl import SSLContext

import certifi
import pytest

from tests.doctor.test_authority import made, served
from tests.doctor.test_connection import NEWER, OLDER, claude, codex
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.look import Look
from toolsync.doctor.probed import Probed
from toolsync.doctor.roots import unrooted
from toolsync.probe import network
from toolsync.probe.inquiry import Inquiry
from toolsync.probe.network import Network
from toolsync.probe.way import way
from toolsync.sentence import tell

BUNDLE = "etc/pki/tls/certs/ca-bundle.crt"


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The address of a server with a certificate that is among the system's roots, and that certificate."""
    file = made(tmp_path, None, is_critical=False)

    def loaded(context: SSLContext) -> None:
        context.load_verify_locations(cafile=file)

    monkeypatch.setattr(network, "_load_system", loaded)
    with served(file) as url:
        yield url, file


def test_by_whose_roots_it_holds(tmp_path: Path, trusted: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, file = trusted
    by_system, by_file = way(url, Network()), way(url, Network(ca_bundle=str(file)))
    unread = way(url, Network(ca_bundle=str(tmp_path / "none.pem")))
    assert [(one.end, one.is_by_system) for one in (by_system, by_file, unread)] == [
        (None, True),
        (None, False),
        (None, True),
    ]
    assert by_system.certificate is not None
    assert unread.unread_bundle
    monkeypatch.setattr(network, "_load_system", lambda _: None)
    gone = way(url, Network())
    assert gone.end is not None
    assert (gone.end.cause, gone.is_by_system) == ("tls_untrusted_ca", False)


def _found(look: Look) -> list[str]:
    """The way out that each finding shows."""
    gone = way(look.effective.url, look.effective.network)
    assert gone.end is None  # we get there
    probed = Probed(gone, Inquiry())
    found = list(unrooted(look, probed))
    one = diagnosis(look.effective, found, probed)
    assert (one.state, [finding.cause for finding in one.findings]) == (
        ("problem", ["tls_untrusted_ca"]) if found else ("healthy", [])
    )
    return [tell(finding.fix.text) if finding.fix else "" for finding in found]


OWN = {
    "run by Node.js": (OLDER, {}, True),
    "told to read the system's": (OLDER, {"NODE_OPTIONS": "--max-old-space-size=1 --use-openssl-ca"}, False),
    "told of something else": (OLDER, {"NODE_OPTIONS": "--max-old-space-size=1"}, True),
    "that checks none": (OLDER, {"NODE_TLS_REJECT_UNAUTHORIZED": "0"}, False),
    "native": (NEWER, {}, False),
    "not here to be asked": ("", {}, False),
}


@pytest.mark.parametrize(("version", "environ", "is_alone"), OWN.values(), ids=OWN)
def test_claude_code(
    tmp_path: Path, trusted: tuple[str, Path], version: str, environ: Mapping[str, str], *, is_alone: bool
) -> None:
    """Under Node.js 20, 2.1.112 says that the verification failed; native ones read the system's (network page)."""
    look = claude(tmp_path, version, trusted[0].removesuffix("/v1"), environ)
    assert _found(look) == ([""] if is_alone else [])
    bundle = tmp_path / "root" / BUNDLE
    bundle.parent.mkdir(parents=True)
    bundle.touch()
    said = (
        f"Set NODE_EXTRA_CA_CERTS=/{BUNDLE}, where the system keeps its roots, "
        "in the environment that Claude Code is started in."
    )
    assert _found(look) == ([said] if is_alone else [])


NODES = {
    "one that can list the system's": ("v22.15.0", {"CLAUDE_CODE_CERT_STORE": "bundled,system"}, False),
    "told by its own variable": ("v24.21.0", {"NODE_USE_SYSTEM_CA": "1"}, False),
    "told of any file": ("v24.21.0", {"NODE_EXTRA_CA_CERTS": "/etc/other.pem"}, False),
    "one that cannot": ("v20.20.2", {"CLAUDE_CODE_CERT_STORE": "system", "NODE_EXTRA_CA_CERTS": "/x.pem"}, True),
    "told in its options": ("v24.21.0", {"NODE_OPTIONS": "--use-system-ca"}, False),
    "one that does not start with that": ("v20.20.2", {"NODE_OPTIONS": "--use-system-ca"}, True),
    "just before": ("v22.14.0", {"CLAUDE_CODE_CERT_STORE": "system"}, True),
    "told of nothing": ("v24.21.0", {"NODE_EXTRA_CA_CERTS": "", "CLAUDE_CODE_CERT_STORE": "bundled"}, True),
}


@pytest.mark.parametrize(("node", "environ", "is_alone"), NODES.values(), ids=NODES)
def test_claude_code_by_the_node_that_runs_it(
    tmp_path: Path, trusted: tuple[str, Path], node: str, environ: Mapping[str, str], *, is_alone: bool
) -> None:
    """Tried with 2.1.112 under Node.js 20.20 and 24.21."""
    look = claude(tmp_path, OLDER, trusted[0].removesuffix("/v1"), environ)
    program = tmp_path / "bin" / "node"
    program.write_text(f"#!/bin/sh\necho '{node}'\n")
    program.chmod(0o700)
    assert _found(look) == ([""] if is_alone else [])


def test_what_its_settings_tell_node_comes_too_late(tmp_path: Path, trusted: tuple[str, Path]) -> None:
    look = claude(tmp_path, OLDER, trusted[0].removesuffix("/v1"), {}, NODE_OPTIONS="--use-system-ca")
    assert _found(look) == [""]


def test_one_that_is_told_of_the_file(tmp_path: Path, trusted: tuple[str, Path]) -> None:
    url, file = trusted
    assert _found(claude(tmp_path, OLDER, url.removesuffix("/v1"), {"NODE_EXTRA_CA_CERTS": str(file)})) == []


def test_codex_reads_the_systems(tmp_path: Path, trusted: tuple[str, Path]) -> None:
    assert _found(codex(tmp_path, trusted[0].removesuffix("/v1"), {})) == []


@pytest.mark.parametrize(
    ("environ", "is_stopped"),
    [
        ({"SSL_CERT_FILE": "@/other.pem"}, True),
        ({"SSL_CERT_FILE": "@/none.pem"}, False),
        ({"SSL_CERT_FILE": "@/other.pem", "CODEX_CA_CERTIFICATE": "@/both.pem"}, False),
        ({"SSL_CERT_FILE": "@/both.pem"}, False),
    ],
    ids=["another file, as conda's", "one that is not there", "and its own variable", "the one that it holds by"],
)
def test_a_file_that_codex_reads_in_their_place(
    tmp_path: Path, trusted: tuple[str, Path], environ: Mapping[str, str], *, is_stopped: bool
) -> None:
    """0.171.0 reconnects for ever."""
    (tmp_path / "other.pem").write_bytes(Path(certifi.where()).read_bytes())
    own = {name: value.replace("@", str(tmp_path)) for name, value in environ.items()}
    look = codex(tmp_path, trusted[0].removesuffix("/v1"), own)
    assert _found(look) == ([""] if is_stopped else [])
    if is_stopped:
        probed = Probed(way(look.effective.url, look.effective.network), Inquiry())
        ((line,),) = [one.evidence for one in unrooted(look, probed)]
        assert tell(line).endswith("holds by the system's roots alone, in whose place Codex CLI reads SSL_CERT_FILE")
