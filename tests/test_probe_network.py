"""By which way a ping goes: proxy, exemptions, certificates; and when a key would go in clear."""

from __future__ import annotations

import datetime as dt
import importlib.util
import ssl
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest

from tests.conftest import needs
from tests.house import KEY, asking, house
from tests.scripted import http, scripted
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.probe import Network, PingRequest, exposes_key, ping
from toolsync.probe.failure import unsent
from toolsync.proxies import Proxies
from toolsync.sentence import tell

CHAT_OK = '{"object":"chat.completion","model":"m","choices":[{"message":{"role":"assistant","content":"pong"}}]}'


@pytest.fixture
def gateway() -> Iterator[LoopbackGateway]:
    with house() as running:
        yield running


@pytest.mark.parametrize(
    ("base", "key", "expected"),
    [
        pytest.param("http://10.0.0.7/v1", KEY, True, id="clear"),
        pytest.param(" HTTP://gateway.example", KEY, True, id="clear-upper"),
        pytest.param("http://10.0.0.7/v1", None, False, id="no-key"),
        pytest.param("https://10.0.0.7/v1", KEY, False, id="encrypted"),
        pytest.param("http://127.0.0.1:8000/v1", KEY, False, id="loopback"),
        pytest.param("http://localhost:8000/v1", KEY, False, id="localhost"),
        pytest.param("http://[::1]:8000/v1", KEY, False, id="loopback-6"),
        pytest.param("http://", KEY, False, id="no-address"),
    ],
)
def test_a_key_in_clear_over_a_network_is_warned_of(base: str, key: Secret | None, expected: bool) -> None:
    assert exposes_key(PingRequest("openai-chat", base, "m", key)) is expected


def test_the_warning_comes_with_the_result() -> None:
    came = ping(PingRequest("openai-chat", "http://gateway.toolsync-test.invalid/v1", "m", KEY, network=Network()))
    assert came.warning.startswith("The key goes over the network in clear")


def test_a_request_goes_through_the_proxy_that_is_named(gateway: LoopbackGateway) -> None:
    with scripted(http(200, CHAT_OK)) as proxy:
        network = Network(proxy=f"http://127.0.0.1:{proxy.port}")
        came = ping(asking(gateway, "openai-chat", network=network))
        assert came.is_ok
        assert proxy.requests[0].startswith(f"POST {came.url} HTTP/1.1".encode())
        assert gateway.received == ()
        exempt = Network(proxy=network.proxy, no_proxy="localhost,127.0.0.1")
        assert ping(asking(gateway, "openai-chat", network=exempt)).is_ok
        assert len(gateway.received) == 1


def test_the_environment_of_this_process_is_not_asked(
    gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "socks://127.0.0.1:1")
    assert ping(asking(gateway, "openai-chat")).is_ok


def test_a_proxy_that_is_dead_or_no_proxy_is_named() -> None:
    with scripted([]) as dead:
        proxy = f"http://user:pass-invented@127.0.0.1:{dead.port}"
    came = ping(PingRequest("openai-chat", "http://gateway.example/v1", "m", KEY, network=Network(proxy=proxy)))
    assert came.problem == f"nothing listens at the proxy 127.0.0.1:{dead.port}"
    odd = Network(proxy="socks://user:pass-invented@127.0.0.1:1")
    came = ping(PingRequest("openai-chat", "http://gateway.example/v1", "m", KEY, network=odd))
    assert (came.outcome, came.problem) == ("unsendable", "the proxy setting cannot be used")
    assert "invented" not in repr(came)


def test_a_proxy_that_wants_a_password_is_named() -> None:
    with scripted([b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"]) as proxy:
        network = Network(proxy=f"http://127.0.0.1:{proxy.port}")
        came = ping(PingRequest("openai-chat", "https://gateway.example/v1", "m", KEY, network=network))
    assert (came.outcome, came.problem) == ("no_connection", "the proxy refused: 407 Proxy Authentication Required")


@pytest.mark.parametrize(
    ("table", "environ", "url", "expected"),
    [
        pytest.param({}, {}, "https://h", Network(), id="nothing"),
        pytest.param(
            {"proxy": "http://p:1"},
            {"HTTPS_PROXY": "http://e:1"},
            "https://h",
            Network(proxy="http://p:1"),
            id="profile-wins",
        ),
        pytest.param(
            {},
            {"HTTPS_PROXY": "http://e:1", "NO_PROXY": "x"},
            "https://h",
            Network(proxy="http://e:1", no_proxy="x"),
            id="environment",
        ),
        pytest.param({}, {"HTTPS_PROXY": "http://e:1"}, "http://h", Network(), id="other-scheme"),
        pytest.param({}, {"all_proxy": "http://a:1"}, "http://h", Network(proxy="http://a:1"), id="all"),
        pytest.param(
            {},
            {"https_proxy": "http://l:1", "HTTPS_PROXY": "http://u:1"},
            "https://h",
            Network(proxy="http://l:1"),
            id="lower-first",
        ),
        pytest.param(
            {"ca_bundle": "/p.pem"}, {"SSL_CERT_FILE": "/e.pem"}, "https://h", Network(ca_bundle="/p.pem"), id="bundle"
        ),
    ],
)
def test_the_network_is_the_profiles_and_then_the_environments(
    table: Mapping[str, str], environ: Mapping[str, str], url: str, expected: Network
) -> None:
    assert Network.of(table, environ, url) == expected


@pytest.mark.parametrize(
    ("certificates", "environ", "expected"),
    [
        pytest.param(("A_CA", "B_CA"), {"A_CA": "/a", "B_CA": "/b"}, "/a", id="best-first"),
        pytest.param(("A_CA", "B_CA"), {"A_CA": "", "B_CA": "/b"}, "/b", id="next"),
        pytest.param(("A_CA",), {"NODE_EXTRA_CA_CERTS": "/n", "SSL_CERT_FILE": "/s"}, "", id="only-its-own"),
        pytest.param((), {"NODE_EXTRA_CA_CERTS": "/n"}, "/n", id="nobody-knows"),
    ],
)
def test_certificates_are_those_that_the_program_reads(
    certificates: tuple[str, ...], environ: Mapping[str, str], expected: str
) -> None:
    assert Network.of({}, environ, "https://h", certificates).ca_bundle == expected


@pytest.mark.parametrize(
    ("no_proxy", "url", "expected"),
    [
        ("", "https://h.example", False),
        ("*", "https://h.example", True),
        ("h.example", "https://h.example", True),
        ("h.example", "https://a.h.example", True),
        (".h.example", "https://a.h.example", True),
        ("*.h.example", "https://a.h.example", True),
        ("h.example", "https://other-h.example", False),
        ("x, h.example", "https://h.example", True),
        ("x h.example", "https://h.example", True),
        ("H.EXAMPLE", "https://h.example", True),
        ("h.example:8443", "https://h.example:8443", True),
        ("h.example:8443", "https://h.example", False),
        ("10.0.0.0/8", "http://10.1.2.3", True),
        ("10.0.0.0/8", "http://11.1.2.3", False),
        ("nonsense/8", "http://10.1.2.3", False),
        ("[::1]", "http://[::1]:8000", True),
        ("::1", "http://[::1]:8000", True),
        ("[::1]:8000", "http://[::1]:8000", True),
        ("127.0.0.1", "http://localhost", False),
    ],
)
def test_no_proxy_is_read_in_all_its_forms(no_proxy: str, url: str, expected: bool) -> None:
    assert Proxies().spares(url, no_proxy) is expected


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with self-signed certificates for 127.0.0.1: good.pem, expired.pem, other.pem (another host)."""
    needs(importlib.util.find_spec("cryptography"), "the package cryptography, to make certificates")
    folder = tmp_path_factory.mktemp("certificates")
    for name, host, days in (("good", "127.0.0.1", 2), ("expired", "127.0.0.1", -1), ("other", "192.0.2.1", 2)):
        (folder / f"{name}.pem").write_bytes(_certificate(host, days))
    return folder


def _certificate(host: str, days: int) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "toolsync test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=3))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(encoding) + private


@pytest.mark.parametrize(
    ("served", "trusted", "outcome", "problem"),
    [
        pytest.param("good", "good", "ok", "", id="trusted"),
        pytest.param("good", "", "no_connection", "the certificate of 127.0.0.1:PORT is self-signed", id="unknown"),
        pytest.param(
            "expired", "expired", "no_connection", "the certificate of 127.0.0.1:PORT has expired", id="expired"
        ),
        pytest.param(
            "other", "other", "no_connection", "the certificate of 127.0.0.1:PORT is for another address", id="other"
        ),
    ],
)
def test_certificates_are_checked_against_the_usual_roots_and_the_profiles_own(
    certificates: Path, served: str, trusted: str, outcome: str, problem: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{served}.pem")
    bundle = str(certificates / f"{trusted}.pem") if trusted else ""
    with scripted(http(200, CHAT_OK), tls=context) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY, network=Network(ca_bundle=bundle)))
    assert (came.outcome, came.problem) == (outcome, problem.replace("PORT", str(server.port)))


def test_certificates_of_our_own_environment_are_not_the_tools(
    certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "good.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "good.pem"))
    with scripted(http(200, CHAT_OK), tls=context) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY, network=Network()))
    assert came.problem == f"the certificate of 127.0.0.1:{server.port} is self-signed"


def test_a_proxy_of_a_kind_that_we_do_not_ask_by_is_named() -> None:
    with scripted(http(200, CHAT_OK)) as proxy:
        network = Network(proxy=f"socks5h://127.0.0.1:{proxy.port}")
        came = ping(PingRequest("openai-chat", "http://gateway.example/v1", "m", KEY, network=network))
    assert (came.outcome, came.problem) == ("unsendable", "the proxy setting cannot be used")


@pytest.mark.parametrize(
    ("reason", "cause", "certainty"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "", "sure"),
        ("TLSV1_ALERT_ACCESS_DENIED", "", "sure"),
        ("WRONG_VERSION_NUMBER", "scheme_mismatch", "sure"),
        ("UNEXPECTED_EOF_WHILE_READING", "scheme_mismatch", "open"),
    ],
)
def test_an_alert_is_of_a_server_that_speaks_tls(reason: str, cause: str, certainty: str) -> None:
    alert = ssl.SSLError(1, "an alert")
    alert.reason = reason
    broken = httpx.ReadError("broken")
    broken.__cause__ = alert
    verdict = unsent(broken, "https://gw.example/v1", Network())
    assert (verdict.outcome, verdict.cause, verdict.certainty) == ("no_connection", cause, certainty)
    assert (reason in tell(verdict.problem)) is (not cause)


def test_a_connection_that_is_reset_may_be_of_another_scheme_or_cut_off_on_the_way() -> None:
    broken = httpx.ReadError("broken")
    broken.__cause__ = ConnectionResetError()
    verdict = unsent(broken, "http://gw.example/v1", Network())
    assert (verdict.outcome, verdict.cause, verdict.certainty) == ("no_connection", "scheme_mismatch", "open")


@pytest.mark.parametrize("text", [None, "no certificate"], ids=["missing", "nonsense"])
def test_a_bundle_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    bundle = tmp_path / "bundle.pem"
    if text is not None:
        bundle.write_text(text, encoding="utf-8")
    network = Network(ca_bundle=str(bundle))
    came = ping(PingRequest("openai-chat", "https://127.0.0.1:9/v1", "m", KEY, network=network))
    assert (came.outcome, came.problem) == ("unsendable", f"{bundle} holds no certificates that can be read")


STRAIGHT = Network()
HERE, THERE = "http://127.0.0.1:8080/v1", "https://relay.example/v1"
SPACES = Proxies(forms=("spaces",))
TOWARDS = {
    "spared, however that is read": (Network("http://p:1", "127.0.0.1 localhost", rules=SPACES), HERE, STRAIGHT),
    "no proxy, and nothing to trust": (Network("", "x", "/ca.pem", "VARIABLE", rules=SPACES), HERE, STRAIGHT),
    "certificates count where something is encrypted": (
        Network(ca_bundle="/ca.pem"),
        THERE,
        Network(ca_bundle="/ca.pem"),
    ),
    "or the proxy is": (Network("https://p:1", ca_bundle="/ca"), HERE, Network("https://p:1", ca_bundle="/ca")),
    "a proxy by its whole address": (
        Network("p:1", "127.0.0.1", rules=Proxies(http=("http_proxy",), schemes=("http",), as_http=("",))),
        THERE,
        Network("http://p:1", rules=Proxies(schemes=("http",))),
    ),
    "a proxy of another kind": (
        Network("socks5://p:1", "127.0.0.1", rules=Proxies(http=("http_proxy",), as_http=("socks5",))),
        THERE,
        Network("socks5://p:1", rules=Proxies(as_http=("socks5",))),
    ),
    "no address": (Network("http://p:1", "x"), "http://[", Network("http://p:1")),
}


@pytest.mark.parametrize(("network", "url", "left"), TOWARDS.values(), ids=TOWARDS)
def test_what_makes_no_difference_on_the_way_is_left_out(network: Network, url: str, left: Network) -> None:
    assert network.towards(url) == left
    assert left.proxy_for(url) == network.proxy_for(url)
