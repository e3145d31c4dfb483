"""Our own clock beside a wait: whether nothing came, or we were held up and did not see it come."""

from __future__ import annotations

import time
from threading import Event, Thread

_TICK_SECONDS = 0.02
_LATE_SECONDS = 0.03
"""A tick that is later still comes of a process that was held up: what came meanwhile may lie there, unread."""


class Watch:
    """Ticks while something is waited for.

    Attributes:
        quiet: the latest reading of `time.perf_counter` until which we were awake, and would have read what came.
    """

    def __init__(self) -> None:
        """It is about to begin."""
        self.quiet = time.perf_counter()
        self._over = Event()

    def __enter__(self) -> None:
        """Begin, in a thread of its own."""
        Thread(target=self._run, name="toolsync-watch", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        """End."""
        self._over.set()

    def _run(self) -> None:
        while True:
            before = time.perf_counter()
            if self._over.wait(_TICK_SECONDS):
                return
            self.ticks(before, time.perf_counter())

    def ticks(self, before: float, now: float) -> None:
        """Note a tick: had anything come before the one before it, it would have been read since."""
        if now - before <= _TICK_SECONDS + _LATE_SECONDS:
            self.quiet = before
