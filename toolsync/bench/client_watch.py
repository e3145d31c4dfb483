"""How the client itself did while a rung lasted: whether the figures are the server's or its own."""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections.abc import Callable
from time import perf_counter_ns, process_time_ns

from toolsync.bench import metrics
from toolsync.bench.record import Client

_TICK_NS = 10_000_000
_TICKS_PER_LOOK = 25
_BUSY = 0.8
_LATE_MS = 2.0
"""From these on, a rung's figures are the client's own."""
_TIMER_MS = 15.7 if sys.platform == "win32" else 0.0
"""How late a timer may be with nothing in its way: Windows looks at them 64 times a second. What arrives does not wait
for that, so it says nothing of the stamps."""


class ClientWatch:
    """How late the event loop is, and how busy the process, while a rung lasts; and who is told of the progress."""

    def __init__(self, look: Callable[[], None]) -> None:
        """Nothing is watched yet.

        Args:
            look: is called a few times a second.
        """
        self._look = look
        self._lags = array("q")
        self._timer: asyncio.TimerHandle | None = None
        self._cpu_ns = self._ticks = self._due_ns = 0

    def start(self) -> None:
        """Begin, in a running event loop."""
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
        """End; `client` says how it was."""
        self._cpu_ns = process_time_ns() - self._cpu_ns
        self._note(perf_counter_ns() - self._due_ns)  # the one that is still to come: a short rung has no other
        if self._timer is not None:
            self._timer.cancel()

    def client(self, took_ns: int, skew_ms: float | None) -> Client:
        """How it did.

        Args:
            took_ns: how long the rung was.
            skew_ms: from the first to the last start of its first wave; None where there is none.
        """
        share = self._cpu_ns / max(1, took_ns)
        lag_ms = metrics.percentile(sorted(self._lags), 99) / 1e6
        is_limit = share > _BUSY or lag_ms > _LATE_MS + _TIMER_MS
        return Client(round(share, 4), round(lag_ms, 4), skew_ms, is_limit)
