"""Watching GPUs beside a run: where to look is chosen here; the run is never stopped, and nothing is left unsaid."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from toolsync import on_path
from toolsync.bench.gpu import placement, rungs
from toolsync.bench.gpu.amd import Amd
from toolsync.bench.gpu.dcgm import Dcgm
from toolsync.bench.gpu.engine import Engine
from toolsync.bench.gpu.nvml import UNIFIED, Nvml
from toolsync.bench.gpu.placement import Placement
from toolsync.bench.gpu.polling import Poller
from toolsync.bench.gpu.reading import Recording, Sampler, UnreadableError
from toolsync.bench.gpu.rungs import Span
from toolsync.bench.gpu.smi import Smi
from toolsync.bench.record import Gpu, Rung
from toolsync.value import frozen

_FIRST_SAMPLE_SECONDS = 3.0
_TICK_SECONDS, _LOOK_SECONDS = 3.0, 0.02
"""How long the first sample may take to be whole, and how often is looked."""
_ASKED_SECONDS = 15.0
"""How long the first sample may take of a place that somebody named: ssh connects for up to ten."""
_NOT_IN_TIME = "nothing was seen in time"


@frozen
class Wish:
    """What to watch.

    Attributes:
        endpoint: the address that is measured.
        interval_ms: between two samples.
        is_wanted: the profile's `log_memory`.
        ssh: the machine that the engine runs on, as ssh takes it; "" for none.
        dcgm_url: an exporter's address; "" for none.
        metrics_url: the engine's own `/metrics`; "" for none.
        gpus: by number or UUID; empty: all that are there.
    """

    endpoint: str
    interval_ms: int = 500
    is_wanted: bool = True
    ssh: str = ""
    dcgm_url: str = ""
    metrics_url: str = ""
    gpus: tuple[str, ...] = ()


@frozen
class Watched:
    """What was seen beside a run.

    Attributes:
        memory: of the GPUs.
        cache: of the engine's KV cache.
        placement: which GPU serves.
        interval_ms: between two samples; None where nothing was sampled.
    """

    memory: Recording
    cache: Recording
    placement: Placement
    interval_ms: int | None

    @property
    def gpu(self) -> Gpu:
        """Where memory was read, for the record."""
        said = [self.memory.reason, *self.memory.notes, self.placement.text, self._cache_reason]
        reason = " ".join(map(_sentence, filter(None, said)))
        way = self.memory.way if self.memory.way in ("v1", "v2", UNIFIED) else ""
        return Gpu(self.memory.source, reason, self.interval_ms, way)

    @property
    def words(self) -> str:
        """What was said of a failure, not fit for a record, nor to be shown as it is."""
        return self.memory.words or self.cache.words

    @property
    def _cache_reason(self) -> str:
        return f"KV-cache use: {self.cache.reason}" if self.cache.reason else ""

    def filled(self, ladder: Sequence[Rung]) -> tuple[Rung, ...]:
        """The rungs, with what was seen during each; between them nothing but the warm-up of the next one happens."""
        memory, cache, serving = self.memory, self.cache, self.placement.gpus
        quiet = [memory.samples[0].at_ns if memory.samples else 0, *(rung.ended_ns for rung in ladder)]
        return tuple(
            replace(
                rung,
                gpus=rungs.uses(memory, Span(quiet_ns, rung.started_ns, rung.ended_ns), serving, self.interval_ms),
                kv_cache_peak=rungs.cache_peak(cache, rung.started_ns, rung.ended_ns),
            )
            for rung, quiet_ns in zip(ladder, quiet, strict=False)
        )

    @staticmethod
    def notes(ladder: Sequence[Rung]) -> tuple[str, ...]:
        """What a reader of the rungs, once filled, must mind."""
        return tuple(rungs.notes(ladder))


_PROGRAMS = ("nvidia-smi", "amd-smi", "ssh")
"""They are written so at the beginning of a sentence, too."""


def _sentence(text: str) -> str:
    begun = text if text.startswith(_PROGRAMS) else text[:1].upper() + text[1:]
    return begun + ("" if text.endswith((".", "!", "?")) else ".")


class Watch:
    """Samplers from their start to their end; none of its methods raises."""

    def __init__(self, wish: Wish) -> None:
        self._wish = wish
        self._memory: Sampler | None = None
        self._cache: Sampler | None = None
        self._reason = ""

    def start(self) -> str:
        """Begin, and wait a moment for the first sample, which is the first rung's baseline.

        Returns:
            Why there will be no GPU memory in this run; "" where there will.
        """
        if not self._wish.is_wanted:
            self._reason = "the profile says log_memory = false"
            return self._reason
        self._memory, self._reason = self._chosen()
        if self._wish.metrics_url:
            self._cache = Poller(Engine(self._wish.metrics_url), self._wish.interval_ms)
        samplers = [one for one in (self._memory, self._cache) if one]
        for one in samplers:
            one.start()
        for one in samplers:
            one.wait(_ASKED_SECONDS if self._is_asked else _FIRST_SAMPLE_SECONDS)
        return self._reason

    @property
    def _is_asked(self) -> bool:
        return bool(self._wish.ssh or self._wish.dcgm_url or self._wish.metrics_url or self._wish.gpus)

    def missing(self) -> str:
        """Why nothing is seen where somebody said to look, not fit to be shown as it is; the sampling is ended then.

        Returns:
            "" where something is, or where nobody named a place: a run without memory is a run all the same.
        """
        wish = self._wish
        if not wish.is_wanted:
            return ""
        is_dark = bool(wish.ssh or wish.dcgm_url or wish.gpus) and not self._sees_what_is_wanted()
        if not is_dark and not (self._cache is not None and not self._cache.seen()):
            return ""
        found = self.stop()
        why = found.memory.reason if is_dark else f"KV-cache use: {found.cache.reason or _NOT_IN_TIME}"
        return ": ".join(filter(None, [why or _NOT_IN_TIME, found.words]))

    def _sees_what_is_wanted(self) -> bool:
        """A program's first line is there before those of its other GPUs; with a second sample the first is whole."""
        until = time.monotonic() + _TICK_SECONDS
        while self._memory is not None:
            seen = self._memory.seen()
            if _only(Recording("", seen), self._wish.gpus).samples:
                return True
            if len(seen) != 1 or time.monotonic() > until:
                break
            time.sleep(_LOOK_SECONDS)
        return False

    def stop(self) -> Watched:
        """End, and say what was seen."""
        memory = self._memory.stop() if self._memory else Recording("", reason=self._reason)
        memory = _only(memory, self._wish.gpus)
        cache = self._cache.stop() if self._cache else Recording("")
        interval_ms = self._wish.interval_ms if memory.samples or cache.samples else None
        return Watched(memory, cache, self._placed(memory), interval_ms)

    def _chosen(self) -> tuple[Sampler | None, str]:
        wish = self._wish
        if wish.ssh:
            return Smi(wish.interval_ms, wish.ssh), ""
        if wish.dcgm_url:
            return Poller(Dcgm(wish.dcgm_url), wish.interval_ms), ""
        if not self._is_here:
            return None, "the endpoint is not this machine; --gpu-ssh HOST or --dcgm-url URL name where its GPUs are"
        return _of_this_machine(wish.interval_ms)

    @cached_property
    def _is_here(self) -> bool:
        return placement.is_here(self._wish.endpoint)

    def _placed(self, memory: Recording) -> Placement:
        port = placement.port_of(self._wish.endpoint)
        if memory.source not in ("nvml", "nvidia-smi", "amd-smi") or not memory.samples or port is None:
            return Placement(None)
        sampled = {reading.gpu for sample in memory.samples for reading in sample.readings}
        return placement.placed(port, placement.listeners(port), memory.holders, sampled)


def _of_this_machine(interval_ms: int) -> tuple[Sampler | None, str]:
    """The first of the ways that this machine has."""
    if sys.platform == "darwin":
        return None, "not available on macOS: GPUs share the system's memory, and nothing tells their part of it"
    nvml = Nvml()
    why = _fault(nvml)
    if not why:
        return Poller(nvml, interval_ms), ""
    if on_path.found("nvidia-smi", os.environ):
        return Smi(interval_ms), ""
    if on_path.found("amd-smi", os.environ):
        return Poller(Amd(), interval_ms), ""
    return None, f"{why}, and neither nvidia-smi nor amd-smi is on the PATH"


_OPENING_SECONDS = 30.0
"""A driver that nobody holds loaded takes seconds for each card; that of a dying one may never answer."""


def _fault(nvml: Nvml) -> str:
    """Why it cannot be used; "" where it can."""
    said = "the NVIDIA driver did not answer in time"

    def opened() -> None:
        nonlocal said
        try:
            nvml.open()
        except UnreadableError as error:
            said = error.message
        else:
            said = ""

    opening = threading.Thread(target=opened, name="nvml", daemon=True)
    opening.start()
    opening.join(_OPENING_SECONDS)
    return said


def _only(recording: Recording, wanted: Sequence[str]) -> Recording:
    """What is told of the GPUs that were chosen, by number or UUID, or the beginning of one."""
    if not wanted or not recording.samples:
        return recording
    there = {(one.gpu, one.index) for sample in recording.samples for one in sample.readings}
    chosen = {gpu for gpu, index in there if any(name in (gpu, index) or _begins(gpu, name) for name in wanted)}
    samples = tuple(
        replace(sample, readings=tuple(one for one in sample.readings if one.gpu in chosen))
        for sample in recording.samples
    )
    if chosen:
        return replace(recording, samples=samples)
    known = ", ".join(sorted(index or gpu for gpu, index in there))
    return replace(recording, samples=(), reason=f"no GPU is called {' or '.join(wanted)}; there are: {known}")


def _begins(gpu: str, name: str) -> bool:
    return "-" in name and gpu.startswith(name)
