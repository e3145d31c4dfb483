"""A run as a plot needs it: boxes, lines over concurrency, memory over time; pure, and no more points than one sees."""

from __future__ import annotations

from collections.abc import Sequence

from toolsync.bench.metrics import percentile, summary
from toolsync.bench.record import Record, Rung
from toolsync.value import frozen

MOST_DOTS = 40


@frozen
class Box:
    """Where values lie.

    Attributes:
        p10: one in ten is below it; it ends a whisker.
        p25: begins the box.
        p50: the line in it.
        p75: ends the box.
        p90: ends the other whisker.
        beyond: values outside the whiskers; of many, the outermost and some between.
    """

    p10: float
    p25: float
    p50: float
    p75: float
    p90: float
    beyond: tuple[float, ...]


def box(values: Sequence[float], dots: int = MOST_DOTS) -> Box | None:
    """The box of values, by the percentiles of the table; None without any.

    Args:
        values: in any order.
        dots: so many stand beyond each whisker at most; two or more.
    """
    if not values:
        return None
    ordered = sorted(values)
    p10, p25, p50, p75, p90 = (percentile(ordered, percent) for percent in (10, 25, 50, 75, 90))
    below = [value for value in ordered if value < p10]
    above = [value for value in ordered if value > p90]
    return Box(p10, p25, p50, p75, p90, (*_thinned(below, dots), *_thinned(above, dots)))


def _thinned(ordered: Sequence[float], room: int) -> Sequence[float]:
    """Some of them, the first and the last among these."""
    if len(ordered) <= room:
        return ordered
    step = (len(ordered) - 1) / (room - 1)
    return [ordered[round(index * step)] for index in range(room)]


def ttft_values(rung: Rung) -> Sequence[float]:
    """Of each request that went well."""
    return [one.ttft_ms for one in rung.requests if one.is_ok and one.ttft_ms is not None]


def itl_values(rung: Rung) -> Sequence[float]:
    """All gaps of all requests that went well."""
    return [gap for one in rung.requests if one.is_ok for gap in one.itl_ms]


Points = Sequence[tuple[int, float | None]]


def system_rates(record: Record) -> Points:
    """Tokens per second by concurrency, all streams together."""
    return [(rung.concurrency, summary(rung, 1, record.token_source).system_tokens_per_s) for rung in record.rungs]


def stream_rates(record: Record) -> Points:
    """Tokens per second by concurrency, of one stream."""
    return [(rung.concurrency, summary(rung, 1, record.token_source).request_tokens_per_s) for rung in record.rungs]


def cache_shares(record: Record) -> Points:
    """The KV cache in use at most, in percent."""
    shares = ((rung.concurrency, rung.kv_cache_peak) for rung in record.rungs)
    return [(concurrency, None if share is None else 100 * share) for concurrency, share in shares]


@frozen
class Track:
    """One GPU's memory during one rung: seconds from the first rung's start, and GiB."""

    gpu: int
    points: tuple[tuple[float, float], ...]


_MOST_SAMPLES = 3000
"""Of one run, all GPUs together; the highest of each stretch stays, for a peak is what one looks for."""


def tracks(record: Record) -> Sequence[Track]:
    """GPU memory over time, rung by rung; what lies between rungs was not measured."""
    begin = record.rungs[0].started_ns if record.rungs else 0
    room = max(2, _MOST_SAMPLES // max(1, sum(len(rung.gpus) for rung in record.rungs)))
    found = []
    for rung in record.rungs:
        offset = (rung.started_ns - begin) / 1e9
        for number, gpu in enumerate(rung.gpus):
            points = [(offset + at / 1000, used / 1024) for at, used in highest(gpu.samples, room)]
            if points:
                found.append(Track(number, tuple(points)))
    return found


def highest(samples: Sequence[tuple[float, float]], room: int) -> Sequence[tuple[float, float]]:
    """So many of the samples at most, of each stretch of them the highest."""
    size = -(-len(samples) // room)
    return [max(samples[index : index + size], key=lambda one: one[1]) for index in range(0, len(samples), size or 1)]
