"""The encryption of a connection, on which no word of HTTP is said; and what an untrusted certificate shows."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable
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
    """

    subject: str
    issuer: str
    names: tuple[str, ...]
    not_before: str
    not_after: str
    is_authority: bool = False


def encrypted(connect: Connect, place: Place, context: ssl.SSLContext) -> tuple[Step, Certificate | None]:
    """The step that makes a connection secret; the certificate, where it is trusted and can be read."""
    started = time.perf_counter()

    def end(cause: str, said: Text) -> Step:
        return Step("encryption", str(place), cause, said, since(started), is_end=True)

    try:
        with shaken(connect(), context, place.host) as secure:
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
        with shaken(connect(), _careless(), host) as secure:
            raw = secure.getpeercert(binary_form=True) or b""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_flags |= _PARTIAL_CHAIN | _NO_CHECK_TIME
        context.load_verify_locations(cadata=ssl.DER_cert_to_PEM_cert(raw))
        with shaken(connect(), context, host) as secure:
            return _readable(secure)
    except (OSError, ValueError):  # another certificate each time, or one that OpenSSL cannot read
        return None


def _told(secure: ssl.SSLSocket) -> Certificate:
    """What stands in the certificate of a server that is trusted."""
    told: Any = secure.getpeercert()
    names = tuple(shown(str(name)) for _, name in told.get("subjectAltName", ()))
    return Certificate(
        _named(told.get("subject", ())),
        _named(told.get("issuer", ())),
        names,
        told["notBefore"],
        told["notAfter"],
        is_authority(secure.getpeercert(binary_form=True) or b""),
    )


def _readable(secure: ssl.SSLSocket) -> Certificate | None:
    """The same; None where Python cannot spell what OpenSSL has trusted: the connection is none the worse for it."""
    try:
        return _told(secure)
    except (OSError, ValueError, KeyError):
        return None


def _named(parts: Iterable[Iterable[tuple[str, str]]]) -> str:
    """Whom a name in a certificate means: its common name, else its organisation."""
    fields = {key: value for part in parts for key, value in part}
    return shown(fields.get("commonName") or fields.get("organizationName") or "")
