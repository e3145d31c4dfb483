"""What an exception amounts to when no answer came: name, port, TLS, proxy, patience, or nothing was sent at all."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from toolsync.causes import Certainty
from toolsync.errors import ProfileError
from toolsync.probe.body import shown
from toolsync.probe.network import Network
from toolsync.probe.verdict import Outcome, Verdict, advice
from toolsync.sentence import Text, reported, say

CERTIFICATE: Mapping[int, tuple[str, str]] = {
    2: ("tls_untrusted_ca", "certificate_by_unknown_root"),
    9: ("clock_skew", "certificate_too_young"),
    10: ("tls_expired", "certificate_expired"),
    18: ("tls_untrusted_ca", "certificate_self_signed"),
    19: ("tls_untrusted_ca", "certificate_by_unknown_root"),
    20: ("tls_untrusted_ca", "certificate_by_unknown_issuer"),
    21: ("tls_untrusted_ca", "certificate_by_unknown_issuer"),
    62: ("tls_hostname_mismatch", "certificate_of_other_host"),
    64: ("tls_hostname_mismatch", "certificate_of_other_address"),
}
"""OpenSSL's codes of verification (x509_vfy.h): the cause, and the sentence about the certificate."""


def unsent(error: Exception, url: str, network: Network) -> Verdict:
    """What `error` amounts to. Its own text is hardly ever shown: it may hold the headers, and they hold the key."""
    if isinstance(error, ProfileError):
        return Verdict("unsendable", reported(shown(error.message)), reported(error.hint), "url_malformed")
    where = _where(url, network)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    is_proxy = network.proxy_for(url) is not None
    for name, outcome, found, problem, hint in _KINDS:
        if name in kinds:
            cause = _by(found, is_proxy=is_proxy)
            certainty: Certainty = (
                "open" if found == "gateway_bug" else "sure"
            )  # or what listens there is no web server
            way_out = say(hint) if hint else advice(cause, where)
            return Verdict(outcome, say(problem, where=where), way_out, cause, certainty)
    if "ProxyError" in kinds:
        return _refused_by_proxy(shown(str(error)))
    if "NetworkError" in kinds:
        return _broken(error, where, is_proxy=is_proxy)
    if isinstance(error, OSError) and network.ca_bundle:  # ssl.SSLError is one
        return Verdict("unsendable", say("bundle_unread", file=shown(network.ca_bundle)), say("name_bundle"))
    if isinstance(error, ValueError | ImportError) and network.proxy:  # the latter of SOCKS
        return Verdict("unsendable", say("proxy_unusable"), advice("proxy_bad_scheme"), "proxy_bad_scheme")
    return Verdict("unsendable", say("not_made", kind=type(error).__name__))


def _refused_by_proxy(words: str) -> Verdict:
    """What a proxy answered to CONNECT; its words begin with the status."""
    cause = {"407": "proxy_auth_required", "403": "waf_block"}.get(words[:3], "origin_unreachable")
    return Verdict("no_connection", say("proxy_refused", words=words), advice(cause), cause)


def _broken(error: Exception, where: Text, *, is_proxy: bool) -> Verdict:
    for inner in _chain(error):
        match inner:
            case ssl.SSLCertVerificationError(verify_code=int(code)):
                cause, reason = CERTIFICATE.get(code, ("tls_untrusted_ca", "certificate_unverified"))
                return _unconnected(say(reason, where=where), cause, where)
            case ssl.SSLError(reason=str(reason)) if reason not in _PLAIN:  # it speaks TLS, and wants it otherwise
                said = say("unconnected_for", where=where, reason=reported(shown(reason)))
                return Verdict("no_connection", said)
            case ssl.SSLError(reason=reason):
                verdict = _unconnected(say("not_encrypted", where=where), "scheme_mismatch", where)
                return replace(verdict, certainty="open") if reason == _CUT_OFF else verdict
            case socket.gaierror():
                return _unconnected(say("name_unknown", where=where), _by("dns_failure", is_proxy=is_proxy), where)
            case ConnectionRefusedError():
                return _unconnected(
                    say("nothing_listens", where=where), _by("connection_refused", is_proxy=is_proxy), where
                )
            case ConnectionResetError() | BrokenPipeError():  # of another scheme, or by somebody on the way
                said = say("connection_broken", where=where)
                return Verdict("no_connection", said, say("see_scheme"), "scheme_mismatch", "open")
            case OSError(strerror=str(reason)):
                cause = _by("connect_timeout", is_proxy=is_proxy)
                return _unconnected(say("unconnected_for", where=where, reason=reported(shown(reason))), cause, where)
    return _unconnected(say("unconnected", where=where), _by("connect_timeout", is_proxy=is_proxy), where)


_CUT_OFF = "UNEXPECTED_EOF_WHILE_READING"
"""So ends a greeting that a server of plain HTTP does not understand, and one that somebody on the way cuts off."""

_PLAIN = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", _CUT_OFF, "RECORD_LAYER_FAILURE"})
"""What OpenSSL calls an answer that is no TLS; the rest are alerts, of a server that speaks it."""


def _by(cause: str, *, is_proxy: bool) -> str:
    """The same of a proxy: it is the proxy that cannot be reached."""
    is_unreached = cause in ("dns_failure", "connection_refused", "connect_timeout")
    return "proxy_unreachable" if is_proxy and is_unreached else cause


def _unconnected(problem: Text, cause: str, where: Text) -> Verdict:
    return Verdict("no_connection", problem, advice(cause, where), cause)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The innermost cause first: httpx wraps httpcore, which wraps what happened."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    yield from reversed(chain)


def _where(url: str, network: Network) -> Text:
    """Host and port that were called: the proxy's, if there is one."""
    proxy = network.proxy_for(url)
    try:
        parts = urlsplit(proxy or url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return say("the_proxy") if proxy else say("the_address")
    where = shown(f"{parts.hostname}:{port}")
    return say("proxy_at", where=where) if proxy else where


_KINDS: tuple[tuple[str, Outcome, str, str, str], ...] = (
    ("ConnectTimeout", "timeout", "connect_timeout", "late_connection", ""),
    ("TimeoutException", "timeout", "", "late_answer", "try_again"),
    ("RemoteProtocolError", "bad_reply", "gateway_bug", "no_http", "see_scheme"),
    ("DecodingError", "bad_reply", "encoding_mismatch", "not_as_compressed", ""),
    ("LocalProtocolError", "unsendable", "key_whitespace", "unfit_header", ""),
    ("UnicodeEncodeError", "unsendable", "key_not_a_key", "unfit_header", ""),
    ("UnsupportedProtocol", "unsendable", "url_malformed", "uncallable", ""),
    ("InvalidURL", "unsendable", "url_malformed", "uncallable", ""),
)
"""By the name of the exception's class or a class above it, so that httpx is imported only where it sends: outcome,
cause, and the names of the sentence and of a hint where the cause's own remedy will not do.
"""
