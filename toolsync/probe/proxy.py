"""The proxy on the way: whether it is there, and opens a tunnel."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from urllib.parse import SplitResult, unquote, urlsplit

from toolsync.probe.body import shown
from toolsync.probe.encryption import Connect, answers_plainly, shaken
from toolsync.probe.failure import CERTIFICATE
from toolsync.probe.step import SECONDS, Place, Step, since
from toolsync.sentence import Text, reported, say

PORTS = {"http": 80, "https": 443, "socks": 1080, "socks5": 1080, "socks5h": 1080}
"""The schemes that clients know, and where each lives by default."""

Trust = Callable[[], ssl.SSLContext]

_OURS = ("http", "https")
"""The schemes by which we ask ourselves."""


def met(proxy: str, schemes: Sequence[str], *, is_doubtful: bool = False) -> tuple[Step, SplitResult]:
    """Whether the proxy's port is open, and its address in parts.

    Args:
        proxy: its address.
        schemes: those that the tool can use.
        is_doubtful: whether it may be no proxy of HTTP's, as which the tool takes it: one port may be both.
    """
    started = time.perf_counter()
    address, port = _parsed(proxy)
    scheme = f"{address.scheme}://" if "://" in proxy else ""
    target = shown(f"{scheme}{address.hostname or ''}{f':{port}' if port else ''}")
    is_usable = bool(scheme) and address.scheme in schemes
    if not is_usable or address.scheme not in PORTS or not address.hostname or not port:
        return Step("proxy", target, "proxy_bad_scheme", say("no_such_proxy"), 0, is_end=True), address
    try:
        socket.create_connection((address.hostname, port), SECONDS).close()
    except UnicodeError:  # longer than a name can be, or of parts that none has
        return Step("proxy", target, "proxy_bad_scheme", say("no_such_proxy"), 0, is_end=True), address
    except OSError as error:
        said = reported(shown(error.strerror)) if error.strerror else say("silent", seconds=f"{SECONDS:g}")
        return Step("proxy", target, "proxy_unreachable", said, since(started), is_end=True), address
    if is_doubtful and not answers_plainly(lambda: socket.create_connection((address.hostname, port), SECONDS)):
        return Step("proxy", target, "proxy_bad_scheme", say("proxy_mistaken"), since(started), is_end=True), address
    if address.scheme not in _OURS:
        return Step("proxy", target, "inconclusive", say("proxy_unasked"), since(started), is_end=True), address
    return Step("proxy", target, "", say("open"), since(started)), address


def _parsed(proxy: str) -> tuple[SplitResult, int]:
    """The address in parts, and its port; 0 where it has none that could be."""
    try:
        address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    except ValueError:  # half a bracket
        return urlsplit("http://"), 0
    try:
        return address, address.port or PORTS.get(address.scheme, 0)
    except ValueError:
        return address, 0


def tunnel(proxy: SplitResult, place: Place, trust: Trust) -> tuple[Step | None, Connect | None]:
    """What opens a connection through the proxy, tried once; or the step at which it ends.

    Args:
        proxy: its address in parts.
        place: where to.
        trust: gives what is trusted of a proxy that encrypts itself.
    """
    started = time.perf_counter()

    def end(cause: str, said: Text) -> Step:
        return Step("proxy", str(place), cause, said, since(started), is_end=True)

    try:
        connection, status = _asked(proxy, place, trust)
        connection.close()
    except ssl.SSLCertVerificationError as error:
        cause, _ = CERTIFICATE.get(error.verify_code, ("tls_untrusted_ca", ""))
        return end(cause, say("certificate_of_proxy", said=reported(shown(error.verify_message)))), None
    except OSError as error:
        return end("proxy_unreachable", reported(shown(error.strerror)) if error.strerror else say("broke_off")), None
    if status == 200:  # noqa: PLR2004  the tunnel stands (RFC 9110, 9.3.6)
        return None, lambda: _asked(proxy, place, trust)[0]
    return end(_refused(status), say("connect_answered", status=str(status))), None


def _refused(status: int) -> str:
    """Why a proxy opens no tunnel, by its answer to CONNECT; 0 is no answer of HTTP's."""
    if status >= 500:  # noqa: PLR2004  it is there, and does not get through
        return "origin_unreachable"
    return {407: "proxy_auth_required", 0: "proxy_unreachable"}.get(status, "waf_block")


_LONGEST_HEAD = 65536
"""No proxy says so much."""


def _asked(proxy: SplitResult, place: Place, trust: Trust) -> tuple[socket.socket, int]:
    """A connection to the proxy, asked for a tunnel, and the status of its answer; 0 where it is no HTTP."""
    port = proxy.port or PORTS.get(proxy.scheme, 80)
    connection = socket.create_connection((proxy.hostname or "", port), SECONDS)
    try:
        if proxy.scheme == "https":
            connection = shaken(connection, trust(), proxy.hostname or "")
        connection.sendall(_request(proxy, place))
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _LONGEST_HEAD:
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


def _request(proxy: SplitResult, place: Place) -> bytes:
    import base64

    lines = [f"CONNECT {place.host}:{place.port} HTTP/1.1", f"Host: {place.host}:{place.port}"]
    if proxy.username:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
