"""Samples laid over the rungs of a ladder: baseline, peak, and what a reader must mind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.bench.gpu.reading import Reading, Recording, Sample
from toolsync.bench.record import GpuUse, Rung
from toolsync.value import frozen

_FLAT_SHARE = 0.01
_EMPTY_SHARE = 0.02
_FEWEST_SAMPLES = 3
UNSEEN = "no sample fell into the rung"
_SILENT = "its source said nothing during the rung"
_SILENT_INTERVALS = 3


@frozen
class Span:
    """When a rung was, by `time.perf_counter_ns`.

    Attributes:
        quiet_ns: when what was before it had ended, and its warm-up, which takes memory as it does, had not begun.
        started_ns: its warm-up left out.
        ended_ns: likewise.
    """

    quiet_ns: int
    started_ns: int
    ended_ns: int


def uses(
    recording: Recording, span: Span, serving: Collection[str] | None = None, interval_ms: int | None = None
) -> tuple[GpuUse, ...]:
    """Every GPU during one rung. The baseline is what was seen last before its load; nothing outside it makes its peak.

    Args:
        recording: of the whole run.
        span: of the rung.
        serving: the GPUs that hold memory of the process that answers; None where nobody knows.
        interval_ms: between two samples; None where that is not known.
    """
    found = (_use(gpu, seen, span) for gpu, seen in _by_gpu(recording.samples).items())
    lasted_ns = span.ended_ns - span.started_ns
    is_long = interval_ms is not None and lasted_ns > _SILENT_INTERVALS * interval_ms * 1_000_000
    missing = recording.reason or (_SILENT if is_long else UNSEEN)
    return tuple(
        replace(
            one,
            serves=None if serving is None else one.uuid in serving,
            why=one.why or ("" if one.samples else missing),
        )
        for one in found
    )


Series = Sequence[tuple[int, Reading]]


def _by_gpu(samples: Sequence[Sample]) -> Mapping[str, Series]:
    found: dict[str, list[tuple[int, Reading]]] = {}
    for sample in samples:
        for reading in sample.readings:
            found.setdefault(reading.gpu, []).append((sample.at_ns, reading))
    return found


def _use(gpu: str, seen: Series, span: Span) -> GpuUse:
    before = [reading.used_mib for at, reading in seen if at <= min(span.quiet_ns, span.started_ns)]
    inside = [(at, reading) for at, reading in seen if span.started_ns <= at <= span.ended_ns]
    known = [((at - span.started_ns) / 1e6, reading.used_mib) for at, reading in inside if reading.used_mib is not None]
    last_at, latest = seen[-1]
    return GpuUse(
        uuid=gpu,
        name=latest.name,
        total_mib=next((reading.total_mib for _, reading in seen if reading.total_mib is not None), None),
        baseline_mib=before[-1]
        if before and last_at >= span.started_ns
        else None,  # a sampler that ended long ago knows none
        peak_mib=max((used for _, used in known), default=None),
        samples=tuple(known),
        reserved_mib=latest.reserved_mib,
        why=inside[-1][1].why if inside and not known else "",
    )


def cache_peak(recording: Recording, started_ns: int, ended_ns: int) -> float | None:
    """The most of the KV cache in use during one rung, 0 to 1; None where nothing was seen."""
    shares = (
        reading.used_mib
        for sample in recording.samples
        if started_ns <= sample.at_ns <= ended_ns
        for reading in sample.readings
    )
    return max((share for share in shares if share is not None), default=None)


def serving(gpus: Sequence[GpuUse]) -> tuple[GpuUse, ...]:
    """Those that serve; all, where nobody knows which do."""
    known = tuple(one for one in gpus if one.serves)
    return known or tuple(gpus)


def peak_mib(rung: Rung) -> float | None:
    """The memory that the answers of a rung took at most: the peaks of the GPUs that serve, together.

    None where one of them is unknown: a sum of what happens to be known is no figure.
    """
    peaks = [one.peak_mib for one in serving(rung.gpus)]
    known = [peak for peak in peaks if peak is not None]
    return sum(known) if peaks and len(known) == len(peaks) else None


def notes(rungs: Sequence[Rung]) -> Iterator[str]:
    """What the figures of a whole ladder mean, where they do not mean what they seem to."""
    yield from _flat(rungs)
    unseen = [rung for rung in rungs if any(one.why == UNSEEN for one in rung.gpus)]
    if unseen:
        at = ", ".join(str(rung.concurrency) for rung in unseen)
        longest = max(rung.ended_ns - rung.started_ns for rung in unseen) / 1e9
        yield f"GPU memory at {at} is unknown: {UNSEEN}, which took {longest:.2f} s at most. {_MORE_SAMPLES}"
    fewest = min((len(one.samples) for rung in rungs for one in rung.gpus if one.samples), default=_FEWEST_SAMPLES)
    if fewest < _FEWEST_SAMPLES:
        yield (
            f"A rung had fewer than three samples of GPU memory, so a peak between them may be missed. {_MORE_SAMPLES}"
        )


_MORE_SAMPLES = (
    "Sample more often (`sample_interval_ms` under `observability` in the profile), or let rungs last longer"
    " (--requests, --duration)."
)


def _flat(rungs: Sequence[Rung]) -> Iterator[str]:
    seen: dict[str, list[float]] = {}
    totals: dict[str, float] = {}
    for one in (one for rung in rungs for one in serving(rung.gpus)):
        seen.setdefault(one.uuid, []).extend(used for _, used in one.samples)
        totals |= {one.uuid: one.total_mib} if one.total_mib else {}
    seen = {gpu: used for gpu, used in seen.items() if used}
    if not seen or not all(is_flat(used, totals.get(gpu)) for gpu, used in seen.items()):
        return
    least, most = (sum(end(used) for used in seen.values()) for end in (min, max))
    total = sum(totals[gpu] for gpu in seen)
    where = "over the whole ladder" if all(_is_seen(rung) for rung in rungs) else "in the rungs that have samples"
    span = f"{least / 1024:.1f} to {most / 1024:.1f} of {total / 1024:.1f} GiB"
    if most < _EMPTY_SHARE * total:
        yield f"GPU memory is nearly empty {where} ({span}): another GPU seems to serve."
        return
    caches = [rung.kv_cache_peak for rung in rungs if rung.kv_cache_peak is not None]
    told = "Its KV cache does, beside it." if caches else "Its KV cache does: --metrics-url ENGINE/metrics."
    yield (
        f"GPU memory is flat {where} ({span}): the engine takes it when it starts, so its peak tells"
        f" nothing of load. {told}"
    )


def _is_seen(rung: Rung) -> bool:
    return all(one.samples for one in serving(rung.gpus))


def is_flat(used: Sequence[float], total: float | None) -> bool:
    """Whether memory moved by less than a hundredth of the whole."""
    return total is not None and len(used) > 1 and max(used) - min(used) < _FLAT_SHARE * total
