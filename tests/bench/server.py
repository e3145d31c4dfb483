"""A server in the test's own event loop that sends scripted pieces, and knows when it sent each."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from threading import Thread
from time import perf_counter_ns

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    b"0\r\n\r\n",
)
"""What stands before and behind a reply in chunks."""


@dataclass
class Scripted:
    """What the server does with every request, and what it saw.

    Attributes:
        answer: the pieces of the answer to the request with that body; None closes the connection at once.
        pause: seconds before each piece.
        is_kept: whether the connection stays open.
        sent_ns: when each piece of the last reply was sent.
        heard_ns: when the last request was there whole.
        requests: all that came, whole.
        connections: how many were opened.
    """

    answer: Callable[[bytes], Sequence[bytes] | None]
    pause: float = 0.002
    is_kept: bool = True
    sent_ns: list[int] = field(default_factory=list)
    heard_ns: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            while await self._answered(reader, writer) and self.is_kept:
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        self.heard_ns = perf_counter_ns()
        self.requests.append(head + body)
        pieces = self.answer(body)
        if pieces is None:
            return False
        sent_ns: list[int] = []
        for piece in pieces:
            await asyncio.sleep(self.pause)
            sent_ns.append(perf_counter_ns())
            writer.write(piece)
        self.sent_ns = sent_ns
        return True


@asynccontextmanager
async def serving(scripted: Scripted, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Its address, while it runs."""
    server = await asyncio.start_server(scripted.handle, "127.0.0.1", 0, ssl=context)
    scripted.port = server.sockets[0].getsockname()[1]
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{scripted.port}"
    finally:
        server.close()


@contextmanager
def served(scripted: Scripted) -> Iterator[str]:
    """The server in a thread of its own: what measures has a loop of its own."""
    ready: list[str] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with serving(scripted) as base:
            ready.append(base)
            await stop.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    while not ready:
        thread.join(0.005)
    try:
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def chunk(piece: bytes) -> bytes:
    """A piece as HTTP's chunked encoding has it."""
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def streamed(*pieces: bytes) -> list[bytes]:
    """Pieces as a whole reply; the first comes with the headers."""
    first, *rest = map(chunk, pieces)
    return [HEAD[0] + first, *rest[:-1], *([rest[-1] + HEAD[1]] if rest else [HEAD[1]])]


_PONG = b'{"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "p"}}], "usage": {}}'


def pong() -> list[bytes]:
    """What answers the ping before a run, which asks for no stream."""
    return [b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(_PONG), _PONG)]
