"""A server's certificate that one in between signed: who wants the root, and what is said where one is missing."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.doctor.test_authority import served
from tests.doctor.test_connection import OLDER, claude, codex
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.model import Diagnosis
from toolsync.doctor.probed import Probed
from toolsync.probe.inquiry import Inquiry
from toolsync.probe.way import way
from toolsync.sentence import tell

PEM = serialization.Encoding.PEM
Key = ec.EllipticCurvePrivateKey


def _signed(name: str, key: Key, issuer: str, by: Key, *extensions: x509.ExtensionType) -> bytes:
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
    whose, who = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in (issuer, name))
    builder = x509.CertificateBuilder(whose, who, key.public_key(), x509.random_serial_number(), now - day, now + day)
    for one in extensions:
        builder = builder.add_extension(one, critical=isinstance(one, x509.BasicConstraints))
    return builder.sign(by, hashes.SHA256()).public_bytes(PEM)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A folder with a root, one in between, and a server's: each by itself, and what servers show."""
    of_root, of_issuer, of_leaf = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    authority = x509.BasicConstraints(ca=True, path_length=None)
    hosts = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    root = _signed("Corp Root", of_root, "Corp Root", of_root, authority)
    issuer = _signed("Corp Issuing", of_issuer, "Corp Root", of_root, authority)
    leaf = _signed(
        *("gw.example", of_leaf, "Corp Issuing", of_issuer), hosts, x509.BasicConstraints(ca=False, path_length=None)
    )
    key = of_leaf.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = {"root": root, "issuer": issuer, "both": issuer + root, "own": leaf, "chain": leaf + issuer}
    for name, text in {**files, "alone": key + leaf, "whole": key + leaf + issuer}.items():
        (tmp_path / f"{name}.pem").write_bytes(text)
    return tmp_path


Diagnosed = Callable[[str, str, str], Diagnosis]


@pytest.fixture
def told(chain: Path) -> Diagnosed:
    """What is said of a tool that trusts a file, at a server that shows another."""

    def of(tool: str, shows: str, trusts: str) -> Diagnosis:
        file = str(chain / f"{trusts}.pem") if trusts else ""
        with served(chain / f"{shows}.pem") as url:
            base = url.removesuffix("/v1")
            if tool == "codex":
                look = codex(chain, base, {"CODEX_CA_CERTIFICATE": file})
            else:
                look = claude(chain, OLDER, base, {"NODE_EXTRA_CA_CERTS": file})
            gone = way(look.effective.url, look.effective.network)
        return diagnosis(look.effective, (), Probed(gone, Inquiry() if gone.end is None else None))

    return of


TRUSTED = [
    *((shows, "root", shows == "whole", shows == "whole") for shows in ("alone", "whole")),
    *((shows, "issuer", True, False) for shows in ("alone", "whole")),
    *((shows, "both", True, True) for shows in ("alone", "whole")),
    *((shows, "own", False, False) for shows in ("alone", "whole")),
    *((shows, "chain", True, False) for shows in ("alone", "whole")),
]


@pytest.mark.parametrize(("shows", "trusts", "by_codex", "by_claude"), TRUSTED)
def test_who_is_content_with_what(told: Diagnosed, shows: str, trusts: str, *, by_codex: bool, by_claude: bool) -> None:
    """As Codex 0.171.0, Claude Code 2.1.112 and Cline 3.0.65 are; what is said of the last two is the same."""
    states = [told(tool, shows, trusts).state for tool in ("codex", "claude")]
    assert states == ["healthy" if is_content else "problem" for is_content in (by_codex, by_claude)]


@pytest.mark.parametrize("shows", ["alone", "whole"])
def test_the_root_is_to_be_added(told: Diagnosed, chain: Path, shows: str) -> None:
    found = told("claude", shows, "issuer").primary
    assert found is not None
    assert found.fix is not None
    file = chain / "issuer.pem"
    assert (found.cause, tell(found.evidence[-1]), tell(found.fix.text)) == (
        "tls_untrusted_ca",
        f"{file} holds a certificate that vouches for it and is no root: Claude Code wants the root as well",
        f"Get the root certificate from your administrator, and add it to {file}.",
    )
