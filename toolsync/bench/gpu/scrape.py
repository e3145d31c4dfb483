"""One address that is asked again and again, over one connection; cheap, for it runs beside the measurement."""

from __future__ import annotations

import http.client
import ssl
from base64 import b64encode
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from toolsync.bench.gpu.reading import UnreadableError
from toolsync.probe.authority import as_others_check

_TIMEOUT_SECONDS = 5
_MOST_BYTES = 16 * 2**20
_OK = 200


class Scraper:
    """Asks by `http.client`: a client that does more would hold the interpreter while answers of the run come in."""

    def __init__(self, url: str, names: Sequence[str]) -> None:
        self._url = url
        self._prefixes = tuple(name.encode() for name in names)
        self._connection: http.client.HTTPConnection | None = None

    def text(self) -> str:
        """The lines that begin with one of the names.

        Raises:
            UnreadableError: the address cannot be asked, or does not answer as it must; the reason does not name it.
        """
        was_open = self._connection is not None
        try:
            body = self._body()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            if was_open:  # the other side has hung up meanwhile, as servers do
                return self.text()
            raise UnreadableError(f"the address does not answer: {_told(error)}") from error
        return b"\n".join(line for line in body.splitlines() if line.startswith(self._prefixes)).decode(
            "utf-8", "replace"
        )

    def _body(self) -> bytes:
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UnreadableError("the address is not one of http or https")
        if self._connection is None:
            self._connection = _connection(parts.scheme, parts.hostname, parts.port)
        headers = {"Accept": "text/plain", "Connection": "keep-alive"}
        if parts.username:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._connection.request("GET", target, headers=headers)
        answer = self._connection.getresponse()
        body = answer.read(_MOST_BYTES)
        if answer.read(1):
            raise UnreadableError("the answer is longer than any exporter's")
        if answer.status != _OK:
            raise UnreadableError(f"the address answers with status {answer.status}")
        return body

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        context = as_others_check(ssl.create_default_context())
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=context)
    return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)


def _told(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
