"""One connection: a request is stamped as its bytes are handed to it, each piece of the reply as it arrives."""

from __future__ import annotations

import asyncio
from array import array
from time import perf_counter_ns
from typing import Any, cast

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

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


LARGEST_REPLY = 64 * 2**20
"""Bytes, headers included: a million tokens are not so many; what is larger is cut there."""
_LONGEST = 10
"""So many times the patience with silence is the patience with a whole reply: comments may come for ever."""


class StaleError(Exception):
    """The connection was closed before a byte of the answer came."""


class Connection(asyncio.Protocol):
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
        self._status = self._length = self._end = self._came = self._t0_ns = self._heard_ns = 0
        self._is_begun = self._has_length = self._keeps_alive = self._is_late = False

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow on it."""
        return not self._is_closed and self._is_done and self._keeps_alive

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    async def exchange(self, raw: bytes, read_seconds: float) -> httpx.Response:
        """Send a request, and wait for its reply to end.

        Raises:
            StaleError: the connection ended before a byte came.
            httpx.TransportError: no status came.
        """
        if self._transport is None or self._is_closed:
            raise StaleError
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
            raise StaleError
        if not self._status:
            raise httpx.RemoteProtocolError("what the server answered is no HTTP")
        stamps = Stamps(self._t0_ns, self._at_ns, self._ends, is_whole=self._is_done, is_late=self._is_late)
        stream = httpx.ByteStream(bytes(self._body[: self._end] if self._is_done else self._body))
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
        """It is open; said once more where it is encrypted from here on."""
        self._transport = cast("asyncio.Transport", transport)
        self._is_closed = False

    def data_received(self, data: bytes) -> None:
        """A piece came."""
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
        except (HttpParserError, HttpParserUpgrade):  # another protocol from here on, which nobody asked for
            self._abort()
            self._wake()
        length = self._end if self._is_done else len(self._body)
        if length > self._length:  # what came at once has one stamp, however many chunks it is
            self._length = length
            self._at_ns.append(now_ns)
            self._ends.append(length)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._is_closed = True
        is_told_by_its_end = self._status and not self._has_length  # a body without a length (RFC 9112, 6.3)
        if is_told_by_its_end and not self._is_done and exc is None and not self._is_late:
            self._is_done, self._end = True, len(self._body)
        self._wake()

    # What httptools calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        if self._is_done:  # a second answer, to nothing that was asked
            self._keeps_alive = False
            return
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The last one was there."""
        if self._is_done:
            return
        self._status = self._parser.get_status_code()
        self._keeps_alive = self._parser.should_keep_alive()
        names = {name.lower() for name, _ in self._headers}
        self._has_length = bool({b"content-length", b"transfer-encoding"} & names)

    def on_message_complete(self) -> None:
        """The reply has ended."""
        if self._is_done:
            return
        if self._status < 200:  # noqa: PLR2004  an interim answer (RFC 9110, 15.2): the real one follows
            self._status, self._headers = 0, []
            return
        self._is_done, self._end = True, len(self._body)
        self._wake()
