"""What a sampler saw: GPUs, and how much of their memory was in use when. Unknown is None and a reason, never 0."""

from __future__ import annotations

from typing import Protocol

from toolsync.bench.record import GpuSource
from toolsync.errors import ToolsyncError
from toolsync.value import frozen


class UnreadableError(ToolsyncError):
    """GPU memory cannot be read here; the message is the reason, for people. It never leaves this package."""


_MOST_MIB = 2.0**40


def known_mib(value: float) -> float | None:
    """The figure; None where it is one of those by which drivers and exporters say that they do not know."""
    return value if 0 <= value < _MOST_MIB else None


@frozen
class Reading:
    """One GPU at one moment, in MiB.

    Attributes:
        gpu: which one: its UUID, or else what its source calls it.
        used_mib: None where the source does not say.
        total_mib: likewise.
        reserved_mib: what the driver keeps for itself, which `used_mib` does not count; None where nobody says.
        name: of its model.
        index: its number on its machine; may be empty.
        why: why `used_mib` is None.
    """

    gpu: str
    used_mib: float | None
    total_mib: float | None
    reserved_mib: float | None = None
    name: str = ""
    index: str = ""
    why: str = ""


@frozen
class Sample:
    """All GPUs at one moment of `time.perf_counter_ns`."""

    at_ns: int
    readings: tuple[Reading, ...]


@frozen
class Holder:
    """A process that has memory on a GPU; None where the driver does not say how much (WDDM)."""

    gpu: str
    pid: int
    used_mib: float | None


@frozen
class Recording:
    """All that a sampler saw.

    Attributes:
        source: where it looked.
        samples: in order of time.
        way: how its source counts, where sources of that kind differ: `v2`, `v1`, `unified`.
        reason: why there is nothing, or why it ended before its time; empty where all went well.
        notes: what to mind, in sentences.
        holders: who has memory on which GPU; None where that cannot be known.
        words: what another machine or program said of a failure, which may name machines and people: for whoever runs
            this, and for no record.
    """

    source: GpuSource
    samples: tuple[Sample, ...] = ()
    way: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    holders: tuple[Holder, ...] | None = None
    words: str = ""


class Sampler(Protocol):
    """Looks at GPUs beside a run. None of its methods raises: what goes wrong is the recording's reason."""

    def start(self) -> None:
        """Begin."""

    def wait(self, seconds: float) -> bool:
        """Wait for the first sample, at most so long; whether there is one, or else it has ended."""

    def seen(self) -> tuple[Sample, ...]:
        """What was seen so far."""

    def stop(self) -> Recording:
        """End, and say what was seen."""
