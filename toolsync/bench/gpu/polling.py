"""Samplers that ask again and again, in a thread of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from toolsync.bench.gpu.reading import Holder, Reading, Recording, Sample, UnreadableError
from toolsync.bench.record import GpuSource

_PATIENCE_SECONDS = 5
"""How long a question that is under way may take at the end: a driver can hang on a dying card."""
_GIVES_UP_AFTER = 5
"""So many unanswered questions in a row end the sampling: an exporter may stumble, a driver that is gone stays so."""


class Place(Protocol):
    """Where a poller asks."""

    source: GpuSource
    way: str
    notes: tuple[str, ...]

    def open(self) -> None:
        """Get ready. Raises UnreadableError."""

    def read(self) -> Sequence[Reading]:
        """Every GPU, now. Raises UnreadableError."""

    def holders(self) -> Sequence[Holder] | None:
        """Who has memory on which GPU; None where that cannot be known."""

    def close(self) -> None:
        """Let go."""


class Poller:
    """Asks one place, each interval, on a grid that does not drift."""

    def __init__(self, place: Place, interval_ms: int) -> None:
        self._place, self._interval = place, interval_ms / 1000
        self._samples: list[Sample] = []
        self._reason = self._words = ""
        self._first, self._end = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="gpu-memory", daemon=True)
        self._holders: tuple[Holder, ...] | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for the first sample, or for the end."""
        return self._first.wait(seconds)

    def seen(self) -> tuple[Sample, ...]:
        """What was seen so far."""
        return tuple(self._samples)

    def stop(self) -> Recording:
        """End, and say what was seen."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE_SECONDS)
        reason = f"{self._place.source} did not answer any more" if self._thread.is_alive() else self._reason
        samples = tuple(self._samples)
        place = self._place
        return Recording(place.source, samples, place.way, reason, tuple(place.notes), self._holders, self._words)

    def _run(self) -> None:
        try:
            self._place.open()
            self._rounds()
            self._holders = self._held()
        except UnreadableError as error:
            self._reason = f"it ended midway: {error.message}" if self._samples else error.message
        except Exception as error:  # noqa: BLE001  a sampler that breaks must not take the run with it
            self._reason, self._words = f"the sampler broke ({type(error).__name__})", str(error)
        finally:
            self._first.set()
            with suppress(Exception):
                self._place.close()

    def _rounds(self) -> None:
        began, unanswered = time.monotonic(), 0
        while True:
            try:
                readings = tuple(self._place.read())
            except UnreadableError as error:
                unanswered += 1
                if unanswered == _GIVES_UP_AFTER or not self._samples:
                    raise
                self._reason = f"some questions had no answer: {error.message}"
            else:
                unanswered = 0
                self._samples.append(Sample(time.perf_counter_ns(), readings))
                self._first.set()
            passed = time.monotonic() - began
            if self._end.wait(self._interval - passed % self._interval):
                return

    def _held(self) -> tuple[Holder, ...] | None:
        found = self._place.holders()  # at the end: an engine may load its model at the first request
        return None if found is None else tuple(found)
