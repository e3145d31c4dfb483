"""The way to a gateway, step by step: proxy, name, port, encryption; each with its own limit, and no word of HTTP sent.

Where a certificate is not trusted it is read all the same, over a connection on which nothing is said.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from toolsync.address import is_loopback
from toolsync.deadline import answered
from toolsync.errors import ProfileError
from toolsync.probe.body import shown
from toolsync.probe.failure import CERTIFICATE
from toolsync.probe.network import Network, trust

Name = Literal["proxy", "name", "port", "encryption"]

_NAME_SECONDS = 3.0
_PORT_SECONDS = 3.0
_TLS_SECONDS = 5.0

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True)
class Step:
    """One step of the way.

    Attributes:
        name: which.
        target: host, or host and port.
        cause: a slug; "" where it went well.
        said: what came of it, one line.
        elapsed_ms: how long it took.
        is_end: whether there is no going on behind it.
    """

    name: Name
    target: str
    cause: str
    said: str
    elapsed_ms: int
    is_end: bool = False


@dataclass(frozen=True)
class Certificate:
    """What a server shows of itself.

    Attributes:
        subject: whose it is.
        issuer: who signed it.
        names: the hosts and addresses that it is for.
        not_before: from when it holds, as OpenSSL spells it.
        not_after: until when.
    """

    subject: str
    issuer: str
    names: tuple[str, ...]
    not_before: str
    not_after: str


@dataclass(frozen=True)
class Reach:
    """How far one gets.

    Attributes:
        url: where to.
        steps: in order.
        certificate: of a connection that is not trusted; else None.
        proxy: the proxy on the way, fit to be shown; "" where there is none.
        is_direct_open: whether the port can be reached without the proxy; None where there is none, or nobody looked.
    """

    url: str
    steps: tuple[Step, ...]
    certificate: Certificate | None = None
    proxy: str = ""
    is_direct_open: bool | None = None

    @property
    def end(self) -> Step | None:
        """The step behind which there is no going on; None where a request can be sent."""
        return next((step for step in self.steps if step.is_end), None)

    @property
    def warnings(self) -> tuple[Step, ...]:
        """Steps that went well on a detour."""
        return tuple(step for step in self.steps if step.cause and not step.is_end)


@dataclass(frozen=True)
class _Place:
    host: str
    port: int

    def __str__(self) -> str:
        return shown(f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


def reach(url: str, network: Network, root: Path = Path("/")) -> Reach:
    """Go as far as a request would, and send none.

    Args:
        url: an address that can be parsed.
        network: proxy and trust.
        root: of the file system, which tells whether this is a machine within another.
    """
    parts = urlsplit(url.strip())
    place = _Place(parts.hostname or "", parts.port or _PORTS.get(parts.scheme.lower(), 443))
    proxy = network.proxy_for(url)
    if proxy:
        return _by_proxy(url, parts, place, proxy, network)
    name, addresses = _resolved(place)
    if name.is_end:
        return Reach(url, (name,))
    ports, open_one = _ports(place, addresses, root)
    steps = [name, *ports]
    if open_one is None or parts.scheme.lower() != "https":
        return Reach(url, tuple(steps))
    step, certificate = _encrypted(lambda: _connected(open_one), place, network, url)
    return Reach(url, (*steps, step), certificate)


# Names.


def _resolved(place: _Place) -> tuple[Step, Sequence[tuple[Any, ...]]]:
    started = time.perf_counter()
    try:
        found = answered(lambda: socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM), _NAME_SECONDS)
    except TimeoutError:
        said = f"no answer within {_NAME_SECONDS:g} s"
        return Step("name", shown(place.host), "dns_failure", said, _since(started), is_end=True), ()
    except (OSError, UnicodeError) as error:
        said = shown(str(getattr(error, "strerror", None) or error))
        return Step("name", shown(place.host), "dns_failure", said, _since(started), is_end=True), ()
    found = [one for one in found if one[0] in (socket.AF_INET, socket.AF_INET6)]
    numbers = ", ".join(dict.fromkeys(str(one[4][0]) for one in found))
    return Step("name", shown(place.host), "", numbers, _since(started)), found


# Ports.


@dataclass(frozen=True)
class _Try:
    family: int
    where: tuple[Any, ...]
    number: str
    fault: str
    elapsed_ms: int


def _ports(
    place: _Place, addresses: Sequence[tuple[Any, ...]], root: Path
) -> tuple[list[Step], tuple[Any, ...] | None]:
    """Every address tried at once; the first that is open."""
    unique = list({one[4][0]: (one[0], one[4]) for one in addresses}.values())
    with ThreadPoolExecutor(max_workers=len(unique)) as pool:
        tries = list(pool.map(_tried, unique))
    open_ones = [one for one in tries if not one.fault]
    if not open_ones:
        return [_shut(place, tries, is_guest=_is_guest(root))], None
    detours = [_detour(place, one, open_ones[0]) for one in tries if one.fault]
    reached = Step("port", str(place), "", f"{open_ones[0].number} is open", open_ones[0].elapsed_ms)
    return [*(step for step in detours if step), reached], (open_ones[0].family, open_ones[0].where)


def _tried(address: tuple[int, tuple[Any, ...]]) -> _Try:
    family, where = address
    started = time.perf_counter()
    try:
        _connected(address).close()
        fault = ""
    except TimeoutError:
        fault = "timeout"
    except ConnectionRefusedError:
        fault = "refused"
    except OSError as error:
        fault = error.strerror or type(error).__name__
    return _Try(family, where, str(where[0]), fault, _since(started))


def _connected(address: tuple[Any, ...]) -> socket.socket:
    family, where = address
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.settimeout(_PORT_SECONDS)
    try:
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def _shut(place: _Place, tries: Iterable[_Try], *, is_guest: bool) -> Step:
    said = "; ".join(f"{one.number}: {_WORDS.get(one.fault, one.fault)}" for one in tries)
    faults = {one.fault for one in tries}
    slowest = max(one.elapsed_ms for one in tries)
    if faults == {"timeout"}:
        return Step("port", str(place), "connect_timeout", said, slowest, is_end=True)
    if faults == {"refused"} and _is_named_loopback(place) and is_guest:
        return Step("port", str(place), "wrong_loopback", said, slowest, is_end=True)
    return Step("port", str(place), "connection_refused", said, slowest, is_end=True)


_WORDS = {"refused": "nothing listens", "timeout": f"no answer within {_PORT_SECONDS:g} s"}


def _detour(place: _Place, shut: _Try, open_one: _Try) -> Step | None:
    """An address that clients may try first, and that leads nowhere."""
    if shut.family != socket.AF_INET6 or open_one.family != socket.AF_INET:
        return None
    said = f"{shut.number}: {_WORDS.get(shut.fault, shut.fault)}; {open_one.number} is open"
    if _is_named_loopback(place):
        return Step("port", str(place), "localhost_ipv6", said, shut.elapsed_ms)
    return Step("port", str(place), "ipv6_broken", said, shut.elapsed_ms) if shut.fault == "timeout" else None


def _is_named_loopback(place: _Place) -> bool:
    return place.host == "localhost" or place.host.endswith(".localhost")


def _is_guest(root: Path) -> bool:
    """Whether this is a container or WSL, whose loopback is not that of the machine around it."""
    if any((root / mark).exists() for mark in (".dockerenv", "run/.containerenv")):
        return True
    try:
        return "microsoft" in (root / "proc" / "version").read_text(encoding="utf-8", errors="replace").lower()
    except OSError:
        return False


# Encryption.


def _encrypted(
    connect: Callable[[], socket.socket], place: _Place, network: Network, url: str
) -> tuple[Step, Certificate | None]:
    started = time.perf_counter()

    def step(cause: str, said: str) -> Step:
        return Step("encryption", str(place), cause, said, _since(started), is_end=True)

    try:
        with _shaken(connect(), trust(url, network), place.host) as secure:
            version = secure.version() or ""
        return Step("encryption", str(place), "", version, _since(started)), None
    except ssl.SSLCertVerificationError as error:
        cause, _ = CERTIFICATE.get(error.verify_code, ("tls_untrusted_ca", ""))
        return step(cause, shown(error.verify_message)), _certificate(connect, place.host)
    except (ssl.SSLError, OSError) as error:
        if _answers_plainly(connect):
            return step("scheme_mismatch", "the port speaks plain HTTP"), None
        return step("inconclusive", shown(str(getattr(error, "reason", None) or error))), None


def _shaken(connection: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    connection.settimeout(_TLS_SECONDS)
    try:
        return context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def speaks_tls(url: str) -> bool:
    """Whether the port of a plain `http://` address speaks TLS; nothing is sent but a greeting."""
    parts = urlsplit(url.strip())
    context = _careless()
    try:
        connection = socket.create_connection((parts.hostname or "", parts.port or 80), _PORT_SECONDS)
        _shaken(connection, context, parts.hostname or "").close()
    except OSError:
        return False
    return True


def _answers_plainly(connect: Callable[[], socket.socket]) -> bool:
    """Whether plain HTTP is answered, without a word about the user."""
    try:
        with connect() as connection:
            connection.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            return connection.recv(5) == b"HTTP/"
    except OSError:
        return False


def _careless() -> ssl.SSLContext:
    """For greetings only: nothing may be sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


_PARTIAL_CHAIN, _NO_CHECK_TIME = 0x80000, 0x200000
"""X509_V_FLAG_PARTIAL_CHAIN and X509_V_FLAG_NO_CHECK_TIME (x509_vfy.h)."""


def _certificate(connect: Callable[[], socket.socket], host: str) -> Certificate | None:
    """What stands in the certificate. Python reads it out only of one that is trusted: so it is trusted, by itself."""
    try:
        with _shaken(connect(), _careless(), host) as secure:
            raw = secure.getpeercert(binary_form=True) or b""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_flags |= _PARTIAL_CHAIN | _NO_CHECK_TIME
        context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(raw))
        with _shaken(connect(), context, host) as secure:
            told: Any = secure.getpeercert()
    except (OSError, ValueError):  # another certificate each time, or one that OpenSSL cannot read
        return None
    names = tuple(shown(str(name)) for _, name in told.get("subjectAltName", ()))
    return Certificate(
        _named(told.get("subject", ())), _named(told.get("issuer", ())), names, told["notBefore"], told["notAfter"]
    )


def _named(parts: Iterable[Iterable[tuple[str, str]]]) -> str:
    """Whom a name in a certificate means: its common name, else its organisation."""
    fields = {key: value for part in parts for key, value in part}
    return shown(fields.get("commonName") or fields.get("organizationName") or "")


# Proxies.


def _by_proxy(url: str, parts: SplitResult, place: _Place, proxy: str, network: Network) -> Reach:
    step, address = _proxy(proxy)
    steps, certificate = [step], None
    if not step.is_end and parts.scheme.lower() == "https" and address.scheme in ("http", "https"):
        opened, end = _tunnel(address, place)
        steps += [opened] if opened else []
        if end is not None:
            encrypted, certificate = _encrypted(end, place, network, url)
            steps.append(encrypted)
    return Reach(url, tuple(steps), certificate, step.target, _is_open(place) if _is_here(url) or step.is_end else None)


def _is_here(url: str) -> bool:
    try:
        return is_loopback(url)
    except ProfileError:
        return False


def _is_open(place: _Place) -> bool:
    try:
        socket.create_connection((place.host, place.port), _PORT_SECONDS).close()
    except OSError:
        return False
    return True


def _proxy(proxy: str) -> tuple[Step, SplitResult]:
    started = time.perf_counter()
    try:
        address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    except ValueError:  # half a bracket
        address = urlsplit("http://")
    target = shown(f"{address.scheme}://{address.hostname or ''}")
    try:
        port = address.port or _PORTS.get(address.scheme, 0)
    except ValueError:
        port = 0
    if address.scheme not in _PORTS or not address.hostname or not port:
        return Step("proxy", target, "proxy_bad_scheme", "clients know no such proxy", 0, is_end=True), address
    target = f"{target}:{port}"
    try:
        socket.create_connection((address.hostname, port), _PORT_SECONDS).close()
    except OSError as error:
        said = shown(error.strerror or "no answer")
        return Step("proxy", target, "proxy_unreachable", said, _since(started), is_end=True), address
    return Step("proxy", target, "", "is open", _since(started)), address


def _tunnel(proxy: SplitResult, place: _Place) -> tuple[Step | None, Callable[[], socket.socket] | None]:
    """What opens a connection through the proxy, tried once; or the step at which it ends."""
    started = time.perf_counter()
    try:
        connection, status = _asked_through(proxy, place)
        connection.close()
    except OSError as error:
        said = shown(error.strerror or "it broke off")
        return Step("proxy", str(place), "proxy_unreachable", said, _since(started), is_end=True), None
    if status == 200:  # noqa: PLR2004  the tunnel stands (RFC 9110, 9.3.6)
        return None, lambda: _asked_through(proxy, place)[0]
    cause = "proxy_auth_required" if status == 407 else "proxy_unreachable"  # noqa: PLR2004  RFC 9110, 15.5.8
    return Step("proxy", str(place), cause, f"CONNECT is answered {status}", _since(started), is_end=True), None


def _asked_through(proxy: SplitResult, place: _Place) -> tuple[socket.socket, int]:
    """A connection to the proxy, asked for a tunnel, and the status of its answer; 0 where it is no HTTP."""
    port = proxy.port or _PORTS.get(proxy.scheme, 80)
    connection = socket.create_connection((proxy.hostname or "", port), _PORT_SECONDS)
    try:
        if proxy.scheme == "https":
            connection = _shaken(connection, ssl.create_default_context(), proxy.hostname or "")
        connection.sendall(_connect_request(proxy, place))
        head = b""
        while b"\r\n\r\n" not in head and len(head) < 65536:  # noqa: PLR2004  no proxy says so much
            chunk = connection.recv(4096)
            if not chunk:
                break
            head += chunk
    except OSError:
        connection.close()
        raise
    words = head.split(maxsplit=2)
    is_answer = len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit()
    return connection, int(words[1]) if is_answer else 0


def _connect_request(proxy: SplitResult, place: _Place) -> bytes:
    import base64

    lines = [f"CONNECT {place.host}:{place.port} HTTP/1.1", f"Host: {place.host}:{place.port}"]
    if proxy.username:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
