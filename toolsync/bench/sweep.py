"""The ladder, rung after rung: warmed up, measured, and read."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter_ns

from toolsync.bench import exchange as exchanges
from toolsync.bench import metrics
from toolsync.bench.client_watch import ClientWatch
from toolsync.bench.exchange import Exchange, Sender
from toolsync.bench.load import Load
from toolsync.bench.pacing import Pacing
from toolsync.bench.record import Request, Rung, TokenSource
from toolsync.bench.tokens import Reply
from toolsync.bench.workload import Workload

Listener = Callable[[int, int, int | None], None]
"""Told of each step of progress: the concurrency, the requests done, and how many there will be; None: who knows."""


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
        run = Pacing(load, self._sender, self._body, self._figures)
        watch = ClientWatch(lambda: self._listener(load.concurrency, run.done, run.total))
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
        if found.fault and found.fault not in self.failures:
            self.failures[found.fault] = _words(one, reply)
        return found


MOST_GAPS = 4_000_000
"""Of one run: 35 MB of its record. An hour of 32 streams has five times as many, which say no more."""


def _words(one: Exchange, reply: Reply) -> str:
    return " ".join(filter(None, (exchanges.refusal(one), exchanges.words(one, reply))))


def _told(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
