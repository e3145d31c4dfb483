"""What an exception amounts to when no answer came: name, port, TLS, proxy, patience, or nothing was sent at all."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from toolsync.errors import ProfileError
from toolsync.probe.network import Network
from toolsync.probe.verdict import Outcome, Verdict, shown

_CERTIFICATE = {
    9: "is not valid yet",
    10: "has expired",
    18: "is self-signed",
    19: "is signed by a root that is not trusted here",
    20: "is signed by an issuer that is not trusted here",
    21: "is signed by an issuer that is not trusted here",
    62: "is for another host",
    64: "is for another address",
}
"""OpenSSL's codes of verification (x509_vfy.h)."""


def unsent(error: Exception, url: str, network: Network) -> Verdict:
    """What `error` amounts to. Its own text is hardly ever shown: it may hold the headers, and they hold the key."""
    if isinstance(error, ProfileError):
        return Verdict("unsendable", shown(error.message), error.hint)
    where = _where(url, network)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for name, outcome, problem, hint in _KINDS:
        if name in kinds:
            return Verdict(outcome, problem.format(where=where), hint)
    if "ProxyError" in kinds:
        return Verdict("no_connection", f"the proxy refused: {shown(str(error))}", _PROXY_HINT)
    if "NetworkError" in kinds:
        return _broken(error, where)
    if isinstance(error, OSError) and network.ca_bundle:  # ssl.SSLError is one
        return Verdict("unsendable", f"{shown(network.ca_bundle)} holds no certificates that can be read", _CA_HINT)
    if isinstance(error, ValueError) and network.proxy:
        return Verdict("unsendable", "the proxy setting cannot be used", _PROXY_HINT)
    return Verdict("unsendable", f"the request could not be made ({type(error).__name__})")


def _broken(error: Exception, where: str) -> Verdict:
    for cause in _chain(error):
        match cause:
            case ssl.SSLCertVerificationError(verify_code=int(code)):
                reason = _CERTIFICATE.get(code, "cannot be verified")
                return Verdict("no_connection", f"the certificate of {where} {reason}", _CA_HINT)
            case ssl.SSLError():
                return Verdict("no_connection", f"no encrypted connection to {where}", _TLS_HINT)
            case socket.gaierror():
                return Verdict("no_connection", f"the name of {where} is not known", _NAME_HINT)
            case ConnectionRefusedError():
                return Verdict("no_connection", f"nothing listens at {where}", _REFUSED_HINT)
            case ConnectionResetError() | BrokenPipeError():
                return Verdict("no_connection", f"{where} broke the connection off", _HTTP_HINT)
            case OSError(strerror=str(reason)):
                return Verdict("no_connection", f"no connection to {where}: {shown(reason)}", _REACH_HINT)
    return Verdict("no_connection", f"no connection to {where}", _REACH_HINT)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The innermost cause first: httpx wraps httpcore, which wraps what happened."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    yield from reversed(chain)


def _where(url: str, network: Network) -> str:
    """Host and port that were called: the proxy's, if there is one."""
    proxy = network.proxy_for(url)
    try:
        parts = urlsplit(proxy or url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return "the proxy" if proxy else "the address"
    return ("the proxy " if proxy else "") + shown(f"{parts.hostname}:{port}")


_REACH_HINT = "Check the network, and whether a proxy is needed: [profiles.NAME.network] proxy."
_SLOW_HINT = "Try again; a model that is being loaded, or a gateway that waits for its own, needs longer."
_PROXY_HINT = "Check [profiles.NAME.network] proxy, or HTTPS_PROXY: http://HOST:PORT."
_HTTP_HINT = "Check port and scheme of base_url: https:// where the server speaks plain http, or the reverse, ends so."
_TLS_HINT = "Check the scheme of base_url: the server may speak plain http on this port."
_CA_HINT = "Behind a company's inspection, name its root: [profiles.NAME.network] ca_bundle."
_NAME_HINT = "Check the host in base_url, and the network."
_REFUSED_HINT = "Check host and port in base_url, and whether the gateway runs."
_ADDRESS_HINT = "Check base_url: it starts with https://."
_KEY_HINT = "Store the key again, without spaces or line breaks around it: `toolsync key set NAME`."

_KINDS: tuple[tuple[str, Outcome, str, str], ...] = (
    ("ConnectTimeout", "timeout", "{where} could not be reached in time", _REACH_HINT),
    ("TimeoutException", "timeout", "the gateway took the request, and did not answer in time", _SLOW_HINT),
    ("RemoteProtocolError", "bad_reply", "the server broke off, or does not speak HTTP", _HTTP_HINT),
    ("DecodingError", "bad_reply", "the answer is not compressed as it says", "Ask the gateway's operator."),
    ("LocalProtocolError", "unsendable", "the key or a header holds a character that HTTP does not allow", _KEY_HINT),
    ("UnicodeEncodeError", "unsendable", "the key or a header holds a character that HTTP does not allow", _KEY_HINT),
    ("UnsupportedProtocol", "unsendable", "the address cannot be called", _ADDRESS_HINT),
    ("InvalidURL", "unsendable", "the address cannot be called", _ADDRESS_HINT),
)
"""By the name of the exception's class or a class above it, so that httpx is imported only where it sends."""
