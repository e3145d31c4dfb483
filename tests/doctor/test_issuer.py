"""A server's certificate that one in between signed: who wants the root, and what is said where one is missing."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Callable
from pathlib import Path

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

from tests.doctor.test_authority import served
from tests.doctor.test_connection import OLDER, claude, codex
from tests.keys import invented
from toolsync.doctor.diagnosis import diagnosis
from toolsync.doctor.model import Diagnosis
from toolsync.doctor.probed import Probed
from toolsync.masking import Secret
from toolsync.probe import Network, PingRequest, ping
from toolsync.probe.inquiry import Inquiry
from toolsync.probe.way import way
from toolsync.sentence import tell

PEM = serialization.Encoding.PEM
LOGS = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), b"\x04\x02\x00\x00")
LIES = x509.AuthorityInformationAccess(
    [
        x509.AccessDescription(
            AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier("http://i.example/r10.der")
        )
    ]
)
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
    public = _signed("gw.example", of_leaf, "Corp Issuing", of_issuer, hosts, LOGS, LIES)
    located = _signed("gw.example", of_leaf, "Corp Issuing", of_issuer, hosts, LIES)
    other = _signed("Other Root", of_issuer, "Other Root", of_issuer, authority)
    direct = _signed("gw.example", of_leaf, "Corp Root", of_root, hosts)
    files = {"root": root, "other": other, "issuer": issuer, "both": issuer + root, "own": leaf, "chain": leaf + issuer}
    files |= {"everybody's": Path(certifi.where()).read_bytes() + root}
    shown = {
        "alone": leaf,
        "whole": leaf + issuer,
        "public": public,
        "public, whole": public + issuer,
        "located": located,
    }
    for name, text in {**files, **{name: key + text for name, text in shown.items()}, "direct": key + direct}.items():
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


WHOSE = {
    "the root is there, the one in between is not": ("located", "root", ("tls_chain_incomplete", "likely")),
    "nothing tells whether there is one in between": ("alone", "root", ("tls_untrusted_ca", "sure")),
    "another root is named than that which signed it": ("direct", "other", ("tls_untrusted_ca", "sure")),
    "nobody said what to trust": ("alone", "", ("tls_untrusted_ca", "sure")),
    "everybody's roots were named": ("alone", "everybody's", ("tls_untrusted_ca", "sure")),
    "the server's own was named": ("alone", "own", ("tls_untrusted_ca", "sure")),
    "all are shown, and the root is not there": ("whole", "", ("tls_untrusted_ca", "sure")),
    "a root signed it, which is not there": ("direct", "", ("tls_untrusted_ca", "sure")),
    "a public authority's, alone": ("public", "", ("tls_chain_incomplete", "sure")),
    "a public authority's, alone, and a root of one's own": ("public", "root", ("tls_chain_incomplete", "sure")),
    "a public authority's with its issuer's": ("public, whole", "", ("tls_untrusted_ca", "sure")),
}


@pytest.mark.parametrize("tool", ["codex", "claude"])
@pytest.mark.parametrize(("shows", "trusts", "expected"), WHOSE.values(), ids=WHOSE)
def test_whose_certificate_is_missing(
    told: Diagnosed, tool: str, shows: str, trusts: str, expected: tuple[str, str]
) -> None:
    found = told(tool, shows, trusts).primary
    assert found is not None
    assert (found.cause, found.certainty) == expected


MADE = "`openssl x509 -inform der -in FILE` makes PEM"


def test_the_issuer_is_to_be_added_where_a_file_is_named(told: Diagnosed, chain: Path) -> None:
    found = told("claude", "public", "root").primary
    assert found is not None
    assert found.fix is not None
    assert [tell(line) for line in found.evidence[-2:]] == [
        "the server shows it alone, without that of Corp Issuing, which signed it",
        f"the certificate of Corp Issuing lies at http://i.example/r10.der; of one in DER, {MADE}",
    ]
    assert tell(found.fix.text) == (
        "Have the gateway's operator put the certificate of Corp Issuing behind the server's own, as `fullchain.pem` "
        f"has it; or get that certificate, and add it to {chain / 'root.pem'}."
    )


def test_what_is_said_of_a_root_that_does_not_help(told: Diagnosed, chain: Path) -> None:
    found = told("claude", "direct", "other").primary
    assert found is not None
    assert found.fix is not None
    assert tell(found.fix.text) == (
        "Get the certificate of Corp Root from its administrator, and the root above it where that is none itself, "
        f"and add them to {chain / 'other.pem'}."
    )


def test_the_causes_own_remedy_serves_where_none_is_named(told: Diagnosed) -> None:
    found = told("codex", "public", "").primary
    assert found is not None
    assert (found.fix, found.values["issuer"]) == (None, "Corp Issuing")


def test_a_ping_says_what_is_not_there(chain: Path) -> None:
    network = Network(ca_bundle=str(chain / "issuer.pem"))
    with served(chain / "whole.pem") as url:
        came = ping(PingRequest("openai-chat", url, "m", Secret(invented("issuer")), network=network))
    assert (came.cause, came.problem.partition(" is ")[2]) == (
        "tls_untrusted_ca",
        "signed by a root that is not trusted here",
    )
