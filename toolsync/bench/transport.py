"""How requests are sent and timed: connections of our own below httpx's interface, for httpx's cost what is measured.

httpx's pool starts 32 requests over 20 ms, and takes a tenth of a millisecond for each piece that arrives. Here a
request is stamped as its bytes are handed to a connection that is open, and each piece as it arrives; nothing is
looked into before the reply has ended.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from time import perf_counter_ns
from typing import cast

import httpx

from toolsync.bench.connection import STAMPS, Connection, StaleError, Stamps


class StampingTransport(httpx.AsyncBaseTransport):
    """Sends requests to one origin, over HTTP/1.1, and gives replies back when they have ended.

    A reply that is cut off or silent for too long is given back all the same, as far as it came, where its status is
    known; its `Stamps` say so.

    Attributes:
        connects_ms: how long each connection took to open.
        dropped: how many the server closed although nothing was wrong with what it sent.
    """

    def __init__(self, context: ssl.SSLContext | None, connect_seconds: float, read_seconds: float) -> None:
        self._context = context
        self._connect_seconds, self._read_seconds = connect_seconds, read_seconds
        self._idle: list[Connection] = []
        self._silent: set[str] = set()
        self.connects_ms: list[float] = []
        self.dropped = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. See httpx.

        Raises:
            httpx.TransportError: it could not be sent, or no status came.
        """
        raw = _spelled(request)
        connection, is_used = self._free()
        if connection is None:
            connection = await self._opened(request.url)
        try:
            reply = await connection.exchange(raw, self._read_seconds)
        except StaleError:
            if not is_used:
                raise _unanswered() from None
            self.dropped += 1
            connection = await self._opened(request.url)  # it was closed while it lay idle: nothing was answered yet
            try:
                reply = await connection.exchange(raw, self._read_seconds)
            except StaleError:
                raise _unanswered() from None
        self._put_back(connection, reply)
        return reply

    def _put_back(self, connection: Connection, reply: httpx.Response) -> None:
        if connection.is_reusable:
            self._idle.append(connection)
            return
        self.dropped += cast("Stamps", reply.extensions[STAMPS]).is_whole
        connection.close()

    def _free(self) -> tuple[Connection | None, bool]:
        """A connection that is open and idle."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable:
                return connection, True
            self.dropped += 1
        return None, False

    async def _opened(self, url: httpx.URL) -> Connection:
        loop = asyncio.get_running_loop()
        started = perf_counter_ns()
        host = url.raw_host.decode("ascii")  # names in other scripts as the wire spells them
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            async with asyncio.timeout(self._connect_seconds):
                transport, connection = await self._reached(host, port)
                # uvloop keeps what is written until the end of its round, which others' requests fill, unless the
                # buffer is said to be full at once.
                transport.set_write_buffer_limits(high=0)
                if self._context is not None and url.scheme == "https":
                    secret = await loop.start_tls(transport, connection, self._context, server_hostname=host)
                    connection.connection_made(cast("asyncio.Transport", secret))
        except TimeoutError as error:
            raise httpx.ConnectTimeout("the connection was not opened in time") from error
        except (OSError, ssl.SSLError) as error:
            raise httpx.ConnectError(str(error)) from error
        self.connects_ms.append((perf_counter_ns() - started) / 1e6)
        return connection

    async def _reached(self, host: str, port: int) -> tuple[asyncio.Transport, Connection]:
        """The first of the host's addresses that answers; uvloop would wait for a silent one as long as for all."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        *others, last = sorted(addresses, key=lambda one: one in self._silent)  # stable: in the resolver's order
        for address in others:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    return await loop.create_connection(Connection, address, port)
            except (TimeoutError, OSError):
                self._silent.add(address)
        return await loop.create_connection(Connection, last, port)

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()


_PATIENCE_SECONDS = 1.0
"""With an address that is not the only one: IPv6 that leads nowhere is the usual reason."""


def _unanswered() -> httpx.ReadError:
    return httpx.ReadError("the server closed the connection without an answer")


def _spelled(request: httpx.Request) -> bytes:
    """The request as it goes over the wire.

    Raises:
        httpx.LocalProtocolError: a header holds a line's end, and would be two.
    """
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    for name, value in request.headers.raw:
        if b"\r" in value or b"\n" in value or b"\0" in value:
            raise httpx.LocalProtocolError("a header holds a line break")
        lines.append(b"%s: %s" % (name, value))
    return b"\r\n".join([*lines, b"", request.content])
