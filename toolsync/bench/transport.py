"""How requests are sent and timed: connections of our own below httpx's interface, for httpx's cost what is measured.

httpx's pool starts 32 requests over 20 ms, and takes a tenth of a millisecond for each piece that arrives. Here a
request is stamped as its bytes are handed to a connection that is open, and each piece as it arrives; nothing is
looked into before the reply has ended.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from array import array
from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any, cast

import httpx
from httptools import HttpParserError, HttpResponseParser

from toolsync.value import frozen

STAMPS = "toolsync_stamps"
"""The extension of a response in which its `Stamps` lie."""


@frozen
class Stamps:
    """When the bytes of one exchange went and came, by `perf_counter_ns`.

    Attributes:
        t0_ns: the request's bytes were handed to an open connection.
        at_ns: when each piece of the body arrived.
        ends: where each piece ends in the body.
        is_whole: whether the reply was ended as HTTP ends one.
        is_late: whether it was given up for silence.
    """

    t0_ns: int
    at_ns: array[int]
    ends: array[int]
    is_whole: bool = True
    is_late: bool = False


class StampingTransport(httpx.AsyncBaseTransport):
    """Sends requests to one origin, over HTTP/1.1, and gives replies back when they have ended.

    A reply that is cut off or silent for too long is given back all the same, as far as it came, where its status is
    known; its `Stamps` say so.
    """

    def __init__(self, context: ssl.SSLContext | None, connect_seconds: float, read_seconds: float) -> None:
        self._context = context
        self._connect_seconds, self._read_seconds = connect_seconds, read_seconds
        self._idle: list[_Connection] = []
        self._silent: set[str] = set()
        self.connects_ms: list[float] = []

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
        except _StaleError:
            if not is_used:
                raise httpx.RemoteProtocolError("the server closed the connection without an answer") from None
            connection = await self._opened(request.url)  # it was closed while it lay idle: nothing was answered yet
            try:
                reply = await connection.exchange(raw, self._read_seconds)
            except _StaleError:
                raise httpx.RemoteProtocolError("the server closed the connection without an answer") from None
        if connection.is_reusable:
            self._idle.append(connection)
        else:
            connection.close()
        return reply

    def _free(self) -> tuple[_Connection | None, bool]:
        """A connection that is open and idle."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable:
                return connection, True
        return None, False

    async def _opened(self, url: httpx.URL) -> _Connection:
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

    async def _reached(self, host: str, port: int) -> tuple[asyncio.Transport, _Connection]:
        """The first of the host's addresses that answers; uvloop would wait for a silent one as long as for all."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        *others, last = sorted(addresses, key=lambda one: one in self._silent)  # stable: in the resolver's order
        for address in others:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    return await loop.create_connection(_Connection, address, port)
            except (TimeoutError, OSError):
                self._silent.add(address)
        return await loop.create_connection(_Connection, last, port)

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()


_PATIENCE_SECONDS = 1.0
"""With an address that is not the only one: IPv6 that leads nowhere is the usual reason."""


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


LARGEST_REPLY = 64 * 2**20
"""Bytes, headers included: a million tokens are not so many; what is larger is cut there."""
_LONGEST = 10
"""So many times the patience with silence is the patience with a whole reply: comments may come for ever."""


class _StaleError(Exception):
    """The connection was closed before a byte of the answer came."""


class _Connection(asyncio.Protocol):
    """One connection, and the exchange under way on it."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._is_closed = self._is_done = True
        self._reset()

    def _reset(self) -> None:
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self.on_body = self._body.extend  # what httptools calls for each chunk: no step of Python in between
        self._parser: Any = HttpResponseParser(self)
        self._at_ns = array("q")
        self._ends = array("q")
        self._status = self._length = self._came = self._t0_ns = self._heard_ns = 0
        self._is_begun = self._has_length = self._keeps_alive = self._is_late = False

    @property
    def is_reusable(self) -> bool:
        return not self._is_closed and self._is_done and self._keeps_alive

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def exchange(self, raw: bytes, read_seconds: float) -> httpx.Response:
        """Send a request, and wait for its reply to end.

        Raises:
            _StaleError: the connection ended before a byte came.
            httpx.TransportError: no status came.
        """
        if self._transport is None or self._is_closed:
            raise _StaleError
        loop = asyncio.get_running_loop()
        self._reset()
        self._is_done = False
        self._waiter = loop.create_future()
        self._t0_ns = self._heard_ns = perf_counter_ns()
        self._transport.write(raw)
        watch = loop.call_later(read_seconds, self._look, loop, int(read_seconds * 1e9))
        self._watch = watch
        try:
            await self._waiter
        except asyncio.CancelledError:
            self._abort()
            raise
        finally:
            self._watch.cancel()
            self._waiter = None
        return self._reply()

    def _reply(self) -> httpx.Response:
        if not self._status and self._is_late:
            raise httpx.ReadTimeout("no answer came in time")
        if not self._status and not self._is_begun:
            raise _StaleError
        if not self._status:
            raise httpx.RemoteProtocolError("what the server answered is no HTTP")
        stamps = Stamps(self._t0_ns, self._at_ns, self._ends, is_whole=self._is_done, is_late=self._is_late)
        stream = httpx.ByteStream(bytes(self._body))
        extensions: dict[str, Any] = {STAMPS: stamps}
        return httpx.Response(self._status, headers=self._headers, stream=stream, extensions=extensions)

    def _look(self, loop: asyncio.AbstractEventLoop, patience_ns: int) -> None:
        """Give up if nothing has come for too long; look again when that could be so."""
        now_ns = perf_counter_ns()
        silent_ns = now_ns - self._heard_ns
        if silent_ns < patience_ns and now_ns - self._t0_ns < _LONGEST * patience_ns:
            self._watch = loop.call_later((patience_ns - silent_ns) / 1e9, self._look, loop, patience_ns)
            return
        self._is_late = True
        self._abort()
        self._wake()

    def _abort(self) -> None:
        self._is_closed = True
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._is_closed = False

    def data_received(self, data: bytes) -> None:
        now_ns = self._heard_ns = perf_counter_ns()
        if self._is_done:  # nothing was asked: whatever it is, it is no answer
            self._abort()
            return
        self._is_begun = True
        self._came += len(data)
        if self._came > LARGEST_REPLY:
            self._abort()
            self._wake()
            return
        try:
            self._parser.feed_data(data)
        except HttpParserError:
            self._abort()
            self._wake()
        length = len(self._body)
        if length > self._length:  # what came at once has one stamp, however many chunks it is
            self._length = length
            self._at_ns.append(now_ns)
            self._ends.append(length)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed = True
        if self._status and not self._has_length and exc is None and not self._is_late:
            self._is_done = True  # a body without a length ends with its connection (RFC 9112, 6.3)
        self._wake()

    # What httptools calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        self._keeps_alive = self._parser.should_keep_alive()
        names = {name.lower() for name, _ in self._headers}
        self._has_length = bool({b"content-length", b"transfer-encoding"} & names)

    def on_message_complete(self) -> None:
        if self._status < 200:  # noqa: PLR2004  an interim answer (RFC 9110, 15.2): the real one follows
            self._status, self._headers = 0, []
            return
        self._is_done = True
        self._wake()


def pieces(stamps: Stamps, body: bytes) -> Iterator[tuple[int, bytes]]:
    """The pieces of a body with their times."""
    start = 0
    for at, end in zip(stamps.at_ns, stamps.ends, strict=True):
        yield at, body[start:end]
        start = end


class ProxiedTransport(httpx.AsyncBaseTransport):
    """httpx's own transport with stamps, for ways that ours does not know: through a proxy.

    The request is stamped as its headers are written, pieces as httpx gives them: later than they arrived.
    """

    def __init__(self, proxy: str, context: ssl.SSLContext, connections: int) -> None:
        logging.getLogger("httpcore").setLevel(logging.CRITICAL)  # its debug log repeats headers, keys and all
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._inner = httpx.AsyncHTTPTransport(proxy=proxy, verify=context, trust_env=False, limits=limits)
        self.connects_ms: list[float] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. See httpx.

        Raises:
            httpx.TransportError: it could not be sent, or no status came.
        """
        t0_ns = perf_counter_ns()

        async def trace(event: str, _info: Any) -> None:
            nonlocal t0_ns
            if event.endswith("send_request_headers.started"):  # a tunnel's own come before ours
                t0_ns = perf_counter_ns()

        request.extensions = {**request.extensions, "trace": trace}
        answer = await self._inner.handle_async_request(request)
        body, at_ns, ends = bytearray(), array("q"), array("q")
        is_whole, is_late = True, False
        try:
            async for piece in cast("httpx.AsyncByteStream", answer.stream):
                at_ns.append(perf_counter_ns())
                body += piece
                ends.append(len(body))
                if len(body) > LARGEST_REPLY:
                    is_whole = False
                    break
        except httpx.TimeoutException:
            is_whole, is_late = False, True
        except httpx.TransportError:
            is_whole = False
        finally:
            await answer.aclose()
        stamps = Stamps(t0_ns, at_ns, ends, is_whole=is_whole, is_late=is_late)
        stream = httpx.ByteStream(bytes(body))
        extensions: dict[str, Any] = {STAMPS: stamps}
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()
