"""The measured requests of one rung: when each is sent, and when there are enough."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import ceil
from time import perf_counter_ns

from toolsync.bench.exchange import Exchange, Sender
from toolsync.bench.load import Load
from toolsync.bench.record import Request

_ROOM = 32 * 2**20
"""Bytes of replies that wait for the end of their rung; what is more is read at once, and may delay others' stamps."""
_MOST_PREPARED = 5000
"""Requests whose bodies are made before the rung, for that takes a tenth of a millisecond each, and some kilobytes."""
_HOPELESS = 10
"""So many failures, and nothing else, end a rung: more would only be a nuisance. After something went well, one more
for each stream does, for what is under way fails together where a server starts anew."""
_PAUSE_SECONDS = 0.05
"""Of a stream whose request failed: what fails at once would be asked for thousands of times, in the others' place."""


class Pacing:
    """The measured requests of one rung.

    `is_given_up` where it was ended before there were enough; `unsent` are those of a rate that its time did not hold.
    """

    def __init__(
        self, load: Load, sender: Sender, body: Callable[[], bytes], figures: Callable[[Exchange, int], Request]
    ) -> None:
        """Nothing is sent yet, but many of the bodies are made.

        Args:
            load: how hard it asks.
            sender: to the server.
            body: makes the next request's body.
            figures: of a reply, and of when the rung began, on `perf_counter_ns`.
        """
        self._load, self._sender, self._body, self._figures = load, sender, body, figures
        self._bodies = [body() for _ in range(min(load.count, _MOST_PREPARED))]
        self._sent = self._held = self._in_a_row = self._failing_from = self._end_ns = self.started_ns = self.done = 0
        self._under_way: set[int] = set()
        self.is_given_up, self.unsent = False, 0
        self._waiting: list[Exchange] = []
        self._read: list[Request] = []

    @property
    def total(self) -> int | None:
        """How many there will be, as far as anybody knows."""
        return None if self._load.duration_seconds is not None else self._load.count

    def requests(self) -> tuple[Request, ...]:
        """Their figures."""
        self._read += [self._figures(one, self.started_ns) for one in self._waiting]
        self._waiting.clear()
        return tuple(sorted(self._read, key=lambda one: one.intended_ms))

    async def all(self) -> None:
        """Send them; closed loop or open."""
        self.started_ns = perf_counter_ns()
        self._end_ns = self.started_ns + round((self._load.duration_seconds or 0) * 1e9)
        if self._load.rate is not None:
            await self._at_rate(self._load.rate)
        else:
            await asyncio.gather(*(self._stream() for _ in range(self._load.concurrency)))

    def _is_hopeless(self) -> bool:
        """Whether nothing goes well any more: nor what was sent before the first failure, and is back by now."""
        patience = 0 if self._in_a_row == self.done else self._load.concurrency
        if self._in_a_row < _HOPELESS + patience:
            return False
        return all(number > self._failing_from for number in self._under_way)

    def _next(self, at_ns: int) -> bytes | None:
        """The next request; None where there are enough."""
        if self._sent >= self._load.count and at_ns >= self._end_ns:
            return None
        if self._is_hopeless():
            self.is_given_up = True
            return None
        self._sent += 1
        return self._bodies[self._sent - 1] if self._sent <= len(self._bodies) else self._body()

    async def _exchanged(self, body: bytes, number: int, intended_ns: int | None = None) -> Exchange:
        self._under_way.add(number)
        try:
            one = await self._sender.send(body, intended_ns)
        finally:
            self._under_way.discard(number)
        self._keep(one)
        return one

    def _keep(self, one: Exchange) -> None:
        self.done += 1
        if _has_failed(one):
            self._failing_from = self._failing_from if self._in_a_row else self._sent
            self._in_a_row += 1
        else:
            self._in_a_row = 0
        self._held += len(one.body)
        if self._held < _ROOM:
            self._waiting.append(one)
        else:
            self._read.append(self._figures(one, self.started_ns))

    async def _stream(self) -> None:
        while (body := self._next(perf_counter_ns())) is not None:
            if _has_failed(await self._exchanged(body, self._sent)):
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _at_rate(self, rate: float) -> None:
        room = asyncio.Semaphore(self._load.concurrency)
        async with asyncio.TaskGroup() as tasks:
            intended_ns = self.started_ns
            while (body := self._next(intended_ns)) is not None:
                while (wait_ns := intended_ns - perf_counter_ns()) > 0:  # noqa: ASYNC110  uvloop wakes too early
                    await asyncio.sleep(wait_ns / 1e9)
                is_full = room.locked()
                await room.acquire()
                if is_full and self._is_out_of_time():
                    self._sent -= 1
                    self.unsent = ceil((self._load.duration_seconds or 0) * rate) - self._sent
                    break
                tasks.create_task(self._one(body, self._sent, intended_ns, room))
                intended_ns = self.started_ns + round(self._sent / rate * 1e9)

    def _is_out_of_time(self) -> bool:
        """Whether what waits is more than must be, and would go on for as long as the server is too slow."""
        is_timed = self._load.duration_seconds is not None
        return is_timed and self._sent > self._load.count and perf_counter_ns() >= self._end_ns

    async def _one(self, body: bytes, number: int, intended_ns: int, room: asyncio.Semaphore) -> None:
        try:
            await self._exchanged(body, number, intended_ns)
        finally:
            room.release()


def _has_failed(one: Exchange) -> bool:
    """As far as it can be seen without looking into the reply."""
    return bool(one.fault) or one.status != 200 or not one.body or not one.stamps.is_whole  # noqa: PLR2004  HTTP's own
