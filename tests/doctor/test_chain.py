"""A server whose certificate another one signed: what is trusted of such a chain, on whichever Python we run."""

from __future__ import annotations

import datetime as dt
import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.doctor.test_authority import served
from toolsync.probe.network import Network
from toolsync.probe.way import way

CA = x509.BasicConstraints(ca=True, path_length=None)
LEAF = x509.BasicConstraints(ca=False, path_length=None)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(name: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    number = x509.random_serial_number()
    return x509.CertificateBuilder(_name(issuer), _name(name), key.public_key(), number, now - day, now + day)


def chain(folder: Path) -> tuple[Path, Path]:
    """A root, and a server's certificate for 127.0.0.1 with its key, as OpenSSL 1.1.1 and many a TLS proxy make them.

    The root's basic constraints are not critical, and the server's names no key of its issuer's: by RFC 5280 both
    should be otherwise, and no client minds (2.1.112, 0.171.0, 3.0.65).
    """
    of_root, of_leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _builder("Corp Root", "Corp Root", of_root).add_extension(CA, critical=False).sign(of_root, hashes.SHA256())
    hosts = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = _builder("gw.example", "Corp Root", of_leaf).add_extension(hosts, critical=False)
    leaf = leaf.add_extension(LEAF, critical=False)
    pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
    secret = of_leaf.private_bytes(pem, serialization.PrivateFormat.PKCS8, none)
    both, trusted = folder / "both.pem", folder / "root.pem"
    both.write_bytes(secret + leaf.sign(of_root, hashes.SHA256()).public_bytes(pem))
    trusted.write_bytes(root.public_bytes(pem))
    return trusted, both


@pytest.mark.parametrize(
    ("is_root", "cause"),
    [(True, ""), (False, "tls_untrusted_ca")],
    ids=["the root, which any client takes", "the server's own alone, which leads to no root"],
)
def test_what_a_file_of_certificates_must_hold(tmp_path: Path, cause: str, *, is_root: bool) -> None:
    root, both = chain(tmp_path)
    with served(both) as url:
        gone = way(url, Network(ca_bundle=str(root if is_root else both)))
    assert (gone.end.cause if gone.end is not None else "") == cause
