"""The encryption of a connection, on which no word of HTTP is said; and what an untrusted certificate shows."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from toolsync import waiting
from toolsync.probe.authority import is_authority
from toolsync.probe.body import shown
from toolsync.probe.failure import CERTIFICATE
from toolsync.probe.step import SECONDS, Place, Step, since
from toolsync.sentence import Text, reported, say
from toolsync.value import frozen

_HANDSHAKE_SECONDS = 5.0

Connect = Callable[[], socket.socket]


@frozen
class Certificate:
    """What a server shows of itself.

    Attributes:
        subject: whose it is.
        issuer: who signed it.
        names: the hosts and addresses that it is for.
        not_before: from when it holds, as OpenSSL spells it.
        not_after: until when.
        is_authority: whether it is an authority's, which may sign others; some clients take none for a server's.
        is_alone: whether the server shows it without any other, though another one signed it.
        is_public: whether a public authority signed it: it names the logs that keep account of these (RFC 6962, 3.3).
        issuer_at: where the issuer's lies, by what it says itself; "" where it does not.
    """

    subject: str
    issuer: str
    names: tuple[str, ...]
    not_before: str
    not_after: str
    is_authority: bool = False
    is_alone: bool = False
    is_public: bool = False
    issuer_at: str = ""


def encrypted(connect: Connect, place: Place, context: ssl.SSLContext) -> tuple[Step, Certificate | None]:
    """The step that makes a connection secret; the certificate, where it is trusted and can be read."""
    started = time.perf_counter()

    def end(cause: str, said: Text) -> Step:
        return Step("encryption", str(place), cause, said, since(started), is_end=True)

    try:
        with _secure(connect(), context, place.host) as secure:
            version, certificate = secure.version() or "", _readable(secure)
        return Step("encryption", str(place), "", version, since(started)), certificate
    except ssl.SSLCertVerificationError as error:
        cause, _ = CERTIFICATE.get(error.verify_code, ("tls_untrusted_ca", ""))
        return end(cause, reported(shown(error.verify_message))), None
    except (ssl.SSLError, OSError) as error:
        if answers_plainly(connect):
            return end("scheme_mismatch", say("plain_http")), None
        return end("inconclusive", shown(str(getattr(error, "reason", None) or error))), None


def shaken(connection: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    """The connection behind a handshake.

    Raises:
        OSError: there was none; the connection is closed.
    """
    connection.settimeout(_HANDSHAKE_SECONDS)
    try:
        with waiting.on(lambda: say("waits_encryption", host=shown(host)), _HANDSHAKE_SECONDS):
            return context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


Secure = ssl.SSLSocket | ssl.SSLObject
"""A connection behind a handshake."""


@contextmanager
def _secure(connection: socket.socket, context: ssl.SSLContext, host: str) -> Iterator[Secure]:
    """The same for the length of a `with`; also within a connection to a proxy that is secret itself."""
    if not isinstance(connection, ssl.SSLSocket):
        with shaken(connection, context, host) as secure:
            yield secure
        return
    connection.settimeout(_HANDSHAKE_SECONDS)
    with connection, waiting.on(lambda: say("waits_encryption", host=shown(host)), _HANDSHAKE_SECONDS):
        yield _within(connection, context, host)


def _within(outer: ssl.SSLSocket, context: ssl.SSLContext, host: str) -> ssl.SSLObject:
    """A handshake whose every byte goes through another one's connection: a socket is wrapped by OpenSSL once only."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    inner = context.wrap_bio(incoming, outgoing, server_hostname=host)
    while True:
        try:
            inner.do_handshake()
        except ssl.SSLWantReadError:
            outer.sendall(outgoing.read())
            incoming.write(said) if (said := outer.recv(_MOST_AT_ONCE)) else incoming.write_eof()
            continue
        outer.sendall(outgoing.read())
        return inner


_MOST_AT_ONCE = 2**16


def speaks_tls(url: str) -> bool:
    """Whether the port of a plain `http://` address speaks TLS; nothing is sent but a greeting."""
    parts = urlsplit(url.strip())
    host = parts.hostname or ""
    try:
        shaken(socket.create_connection((host, parts.port or 80), SECONDS), _careless(), host).close()
    except OSError:
        return False
    return True


def answers_plainly(connect: Connect) -> bool:
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


# The certificate.

_PARTIAL_CHAIN, _NO_CHECK_TIME = 0x80000, 0x200000
"""X509_V_FLAG_PARTIAL_CHAIN and X509_V_FLAG_NO_CHECK_TIME (x509_vfy.h)."""


def untrusted(connect: Connect, host: str) -> Certificate | None:
    """What stands in a certificate that is not trusted.

    Python reads it out only of one that is: so it is trusted, by itself.
    """
    try:
        with _secure(connect(), _careless(), host) as secure:
            raw = secure.getpeercert(binary_form=True) or b""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_flags |= _PARTIAL_CHAIN | _NO_CHECK_TIME
        context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(raw))
        with _secure(connect(), context, host) as secure:
            return _readable(secure)
    except (OSError, ValueError):  # another certificate each time, or one that OpenSSL cannot read
        return None


def _told(secure: Secure) -> Certificate:
    """What stands in the certificate of a server that is trusted."""
    told: Any = secure.getpeercert()
    raw = secure.getpeercert(binary_form=True) or b""
    return Certificate(
        _named(told.get("subject", ())),
        _named(told.get("issuer", ())),
        names=tuple(shown(str(name)) for _, name in told.get("subjectAltName", ())),
        not_before=told["notBefore"],
        not_after=told["notAfter"],
        is_authority=is_authority(raw),
        is_alone=_shows_one(secure) and told.get("subject") != told.get("issuer"),
        is_public=_OF_LOGS in raw,
        issuer_at=shown(next(iter(told.get("caIssuers", ())), "")),
    )


_OF_LOGS = bytes.fromhex("060a2b06010401d679020402")
"""The extension 1.3.6.1.4.1.11129.2.4.2, in DER: the receipts of logs."""


def _shows_one(secure: Secure) -> bool:
    """Whether the server shows one certificate alone; Python 3.10 to 3.12 have a name for that inside only."""
    inside: Any = secure if hasattr(secure, "get_unverified_chain") else getattr(secure, "_sslobj", None)
    return hasattr(inside, "get_unverified_chain") and len(inside.get_unverified_chain() or ()) == 1


def _readable(secure: Secure) -> Certificate | None:
    """The same; None where Python cannot spell what OpenSSL has trusted: the connection is none the worse for it."""
    try:
        return _told(secure)
    except (OSError, ValueError, KeyError):
        return None


def _named(parts: Iterable[Iterable[tuple[str, str]]]) -> str:
    """Whom a name in a certificate means: its common name, else its organisation."""
    fields = {key: value for part in parts for key, value in part}
    return shown(fields.get("commonName") or fields.get("organizationName") or "")
