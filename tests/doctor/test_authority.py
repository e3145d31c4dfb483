"""A server that shows an authority's certificate, as `openssl req -x509` makes one: who takes it, and who does not."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.doctor.test_connection import NEWER, PLAIN, SECRET, claude, codex
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.probed import Probed
from toolsync.probe.network import Network
from toolsync.probe.way import Way, way
from toolsync.sentence import tell

CONSTRAINTS = {
    "an authority's": (x509.BasicConstraints(ca=True, path_length=None), True),
    "an authority's that signs no other authority's": (x509.BasicConstraints(ca=True, path_length=0), True),
    "a server's that says so": (x509.BasicConstraints(ca=False, path_length=None), False),
    "a server's that does not say": (None, False),
}


def made(folder: Path, constraints: x509.BasicConstraints | None, *, is_critical: bool) -> Path:
    """A certificate for 127.0.0.1 that is signed with its own key, and that key, in one file."""
    key, now, day = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gw.example")])
    hosts = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    builder = builder.add_extension(hosts, critical=False)
    if constraints is not None:
        builder = builder.add_extension(constraints, critical=is_critical)
    file = folder / "both.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


@contextmanager
def served(certificate: Path) -> Iterator[str]:
    """The address of a server that shows it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("is_critical", [True, False], ids=["critical", "not critical"])
@pytest.mark.parametrize("is_trusted", [True, False], ids=["trusted", "untrusted"])
@pytest.mark.parametrize(("constraints", "expected"), CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_whose_a_certificate_is(
    tmp_path: Path,
    constraints: x509.BasicConstraints | None,
    *,
    expected: bool,
    is_trusted: bool,
    is_critical: bool,
) -> None:
    file = made(tmp_path, constraints, is_critical=is_critical)
    with served(file) as url:
        gone = way(url, Network(ca_bundle=str(file) if is_trusted else ""))
    assert gone.certificate is not None
    assert (gone.end is None, gone.certificate.is_authority) == (is_trusted, expected)
    assert (gone.certificate.subject, gone.certificate.names) == ("gw.example", ("127.0.0.1",))


def test_a_certificate_that_python_cannot_spell_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unspelled(*_: object, **__: object) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    file = made(tmp_path, None, is_critical=False)
    monkeypatch.setattr(ssl.SSLSocket, "getpeercert", unspelled)
    with served(file) as url:
        gone = way(url, Network(ca_bundle=str(file)))
    assert (gone.end, gone.certificate) == (None, None)


def test_codex_takes_none_of_an_authoritys(tmp_path: Path) -> None:
    """0.171.0 asks a server with `CA:TRUE` nothing, and one with `CA:FALSE` what it must; Claude Code asks both."""
    file = made(tmp_path, x509.BasicConstraints(ca=True, path_length=None), is_critical=True)
    with served(file) as url:
        gone = way(url, Network(ca_bundle=str(file)))
    probed = Probed(Way(gone.url, gone.steps, gone.certificate))
    of_codex = diagnosis(codex(tmp_path, PLAIN, {}).effective, (), probed)
    assert of_codex.primary is not None
    assert (of_codex.state, of_codex.primary.cause) == ("problem", "tls_authority_refused")
    assert "the certificate of gw.example may sign others (CA:TRUE)" in tell(of_codex.primary.evidence[0])
    of_claude = diagnosis(claude(tmp_path, NEWER, SECRET, {}).effective, (), probed)
    assert (of_claude.state, of_claude.primary) == ("healthy", None)
