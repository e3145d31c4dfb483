"""The ladder: streams that send one request after the other, or requests at a rate, and how the client itself did."""

from __future__ import annotations

import asyncio
import gc
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from time import perf_counter_ns, process_time_ns

from toolsync.bench import exchange as exchanges
from toolsync.bench import metrics
from toolsync.bench.exchange import Exchange, Sender
from toolsync.bench.record import Client, Request, Rung, TokenSource
from toolsync.bench.tokens import Reply
from toolsync.bench.workload import Workload
from toolsync.value import frozen

PER_STREAM, LEAST = 5, 10
"""A rung has five requests per stream, and ten at least: with fewer, waves that are each alike tell no median."""

Listener = Callable[[int, int, int | None], None]
"""Told of each step of progress: the concurrency, the requests done, and how many there will be; None: who knows."""


@frozen
class Load:
    """How hard a rung asks.

    Attributes:
        concurrency: streams; with a rate, the most requests that are under way at once.
        requests_min: at least so many; None: as many as `count` says.
        duration_seconds: at least so long; None: as its requests take.
        rate: requests per second, started whatever came back; None: each stream waits for its reply.
    """

    concurrency: int
    requests_min: int | None = None
    duration_seconds: float | None = None
    rate: float | None = None

    @property
    def count(self) -> int:
        """How many requests there are at least."""
        if self.requests_min is not None:
            return max(self.requests_min, self.concurrency if self.rate is None else 1)
        if self.duration_seconds is not None:
            return self.concurrency if self.rate is None else 1
        return max(PER_STREAM * self.concurrency, LEAST)

    @property
    def warm_up(self) -> int:
        """How many requests are thrown away first: one per stream, and at a rate as many as a second brings."""
        if self.rate is None:
            return self.concurrency
        return min(self.concurrency, ceil(self.rate), self.requests_min or self.concurrency)


class Sweep:
    """Climbs the ladder with one sender; every request has a prompt of its own.

    Attributes:
        failures: what was said where requests went wrong: by fault, the first one's words, not fit to be shown.
        given_up: the concurrencies that were ended early, for nothing went well any more.
        unsent: requests of a rate that were never sent, for too many were under way.
        hides_thoughts: whether the server counts thoughts that it does not send.
        has_all_gaps: whether the gaps between chunks are kept of all requests.
    """

    def __init__(self, sender: Sender, workload: Workload, source: TokenSource, listener: Listener) -> None:
        self._sender, self._workload, self._source, self._listener = sender, workload, source, listener
        self._number = 0
        self.failures: dict[str, str] = {}
        self.given_up: list[int] = []
        self._gaps, self.has_all_gaps = 0, True
        self.unsent, self.hides_thoughts = 0, False

    async def rung(self, load: Load) -> Rung:
        """Measure one rung; what warms it up is thrown away."""
        await self._warm_up(load)
        run = _Run(load, self._sender, self._body, self._figures)
        watch = _Watch(lambda: self._listener(load.concurrency, run.done, run.total))
        started = datetime.now(UTC)
        with _no_garbage_collection():
            watch.start()
            try:
                await run.all()
            finally:
                watch.stop()
            ended_ns = perf_counter_ns()
        ended = datetime.now(UTC)
        self.unsent += run.unsent
        if run.is_given_up:
            self.given_up.append(load.concurrency)
        self._listener(load.concurrency, run.done, run.done)
        requests = run.requests()
        client = watch.client(ended_ns - run.started_ns, _skew_ms(requests, load))
        return Rung(load.concurrency, run.started_ns, ended_ns, _told(started), _told(ended), requests, client)

    async def _warm_up(self, load: Load) -> None:
        """All at once: connections are opened, and the engine has seen so many."""
        self._listener(load.concurrency, 0, None)
        await asyncio.gather(*(self._sender.send(self._body()) for _ in range(load.warm_up)))

    def _body(self) -> bytes:
        self._number += 1
        return self._workload.body(self._number)

    def _figures(self, one: Exchange, origin_ns: int) -> Request:
        found, reply = exchanges.figures(one, self._workload.dialect, self._source, origin_ns)
        self.hides_thoughts = self.hides_thoughts or metrics.unsent(reply) > 0
        self._gaps += len(found.itl_ms)
        if self._gaps > MOST_GAPS:
            self.has_all_gaps, found = False, replace(found, itl_ms=())
        if found.fault:
            self.failures.setdefault(found.fault, _words(one, reply))
        return found


MOST_GAPS = 4_000_000
"""Of one run: 35 MB of its record. An hour of 32 streams has five times as many, which say no more."""


def _words(one: Exchange, reply: Reply) -> str:
    return " ".join(filter(None, (exchanges.refusal(one), reply.error or one.words)))


def _told(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_ROOM = 32 * 2**20
"""Bytes of replies that wait for the end of their rung; what is more is read at once, and may delay others' stamps."""
_MOST_PREPARED = 5000
"""Requests whose bodies are made before the rung, for that takes a tenth of a millisecond each, and some kilobytes."""
_HOPELESS = 10
"""So many failures, and nothing else, end a rung: more would only be a nuisance. After something went well, one more
for each stream does, for what is under way fails together where a server starts anew."""
_PAUSE_SECONDS = 0.05
"""Of a stream whose request failed: what fails at once would be asked for thousands of times, in the others' place."""


class _Run:
    """The measured requests of one rung.

    `is_given_up` where it was ended before there were enough; `unsent` are those of a rate that its time did not hold.
    """

    def __init__(
        self, load: Load, sender: Sender, body: Callable[[], bytes], figures: Callable[[Exchange, int], Request]
    ) -> None:
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


def _skew_ms(requests: Sequence[Request], load: Load) -> float | None:
    """From the first to the last start of the first wave; at a rate there is none."""
    starts = [one.t0_ms for one in requests[: load.concurrency] if one.t0_ms is not None]
    return max(starts) - min(starts) if load.rate is None and starts else None


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A collection takes milliseconds, in which nothing is stamped."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()


_TICK_NS = 10_000_000
_TICKS_PER_LOOK = 25
_BUSY = 0.8
_LATE_MS = 2.0
"""From these on, a rung's figures are the client's own."""
_TIMER_MS = 15.7 if sys.platform == "win32" else 0.0
"""How late a timer may be with nothing in its way: Windows looks at them 64 times a second. What arrives does not wait
for that, so it says nothing of the stamps."""


class _Watch:
    """How late the event loop is, and how busy the process, while a rung lasts; and who is told of the progress."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._lags = array("q")
        self._timer: asyncio.TimerHandle | None = None
        self._cpu_ns = self._ticks = self._due_ns = 0

    def start(self) -> None:
        self._cpu_ns = process_time_ns()
        self._expect()

    def _expect(self) -> None:
        self._due_ns = perf_counter_ns() + _TICK_NS
        self._timer = asyncio.get_running_loop().call_later(_TICK_NS / 1e9, self._tick)

    def _tick(self) -> None:
        lag_ns = perf_counter_ns() - self._due_ns
        self._expect()  # before anybody is told, which takes its time too
        self._note(lag_ns)
        self._ticks += 1
        if self._ticks % _TICKS_PER_LOOK == 0:
            self._look()

    def _note(self, lag_ns: int) -> None:
        """A tick, with those that would have been in the meantime."""
        self._lags.extend(range(max(0, lag_ns), -1, -_TICK_NS))

    def stop(self) -> None:
        self._cpu_ns = process_time_ns() - self._cpu_ns
        self._note(perf_counter_ns() - self._due_ns)  # the one that is still to come: a short rung has no other
        if self._timer is not None:
            self._timer.cancel()

    def client(self, took_ns: int, skew_ms: float | None) -> Client:
        """How it did."""
        share = self._cpu_ns / max(1, took_ns)
        lag_ms = metrics.percentile(sorted(self._lags), 99) / 1e6
        is_limit = share > _BUSY or lag_ms > _LATE_MS + _TIMER_MS
        return Client(round(share, 4), round(lag_ms, 4), skew_ms, is_limit)
