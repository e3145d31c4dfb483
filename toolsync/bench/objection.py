"""Why nothing can be said of a comparison's row; each reason in the words that people read, "" for none; pure."""

from __future__ import annotations

from toolsync.bench.gpu import serving
from toolsync.bench.metrics import summary
from toolsync.bench.record import Record, Rung
from toolsync.bench.yardstick import LEAST_EFFECT, Metric

CLIENT_WAS_THE_LIMIT, TOO_FEW = "the client was the limit", "too few"
"""How reasons begin that somebody can do something about."""

_FAILED_SHARE = 0.05


def intervals(before: Record, after: Record) -> str:
    """Why peaks of memory may not be compared: one looked more often, and saw shorter ones."""
    one, other = before.gpu.interval_ms, after.gpu.interval_ms
    return "" if None in (one, other) or one == other else f"sampled every {one} ms before, every {other} ms after"


def other_gpus(before: Rung, after: Rung) -> str:
    """Fewer cards may be what was changed, where it is known which serve; else others were looked at."""
    cards = [serving(one.gpus) for one in (before, after)]
    if len(cards[0]) == len(cards[1]) or all(card.serves for several in cards for card in several):
        return ""
    return f"not as many GPUs were watched: {len(cards[0])} before, {len(cards[1])} after"


_MOST_BIAS = LEAST_EFFECT / 2


def chunks(before: Rung, after: Rung) -> str:
    """Why TPOT may not be compared: it takes the first chunk for one token, which says more of short replies."""
    one, other = (summary(rung, 1) for rung in (before, after))
    gaps = max((request.completion_tokens or 0 for request in before.requests if request.is_ok), default=0) - 1
    if one.tokens_per_chunk is None or other.tokens_per_chunk is None or gaps < 1:
        return ""
    if abs(other.tokens_per_chunk - one.tokens_per_chunk) / gaps <= _MOST_BIAS:
        return ""
    return f"a chunk held {one.tokens_per_chunk:.2f} tokens before, {other.tokens_per_chunk:.2f} after"


def unfit(before: Rung, after: Rung) -> str:
    """Why nothing may be said of a rung."""
    if before.client.is_limit or after.client.is_limit:
        return CLIENT_WAS_THE_LIMIT
    for rung in (before, after):
        if is_too_much(count := failed(rung)):
            return f"{count[0]} of {count[1]} requests failed"
    return ""


_LATE_MS, _LATE_SHARE = 10.0, 0.1


def late(before: Rung, after: Rung) -> str:
    """Why a rate says nothing: what was sent late queued here, where TTFT does not see it."""
    for rung in (before, after):
        delays = [one.dispatch_delay_ms for one in rung.requests if one.dispatch_delay_ms is not None]
        count = sum(delay > _LATE_MS for delay in delays)
        if count > _LATE_SHARE * len(delays):
            return f"{count} of {len(delays)} requests were sent late: the rate was not kept"
    return ""


def unknown(metric: Metric, before: Rung, after: Rung, known: tuple[float | None, float | None]) -> str:
    """Why there is no change to speak of; `known` are the figures before and after."""
    if metric.name == "peak_memory":
        rung = before if known[0] is None else after
        unsampled = "sampled in neither run" if known == (None, None) else "sampled in one run alone"
        return next((one.why for one in rung.gpus if one.why), unsampled)
    return "unknown in one of the runs" if None in known else "it was 0 before"


def failed(rung: Rung) -> tuple[int, int]:
    """How many requests failed, and of how many."""
    return sum(not one.is_ok for one in rung.requests), len(rung.requests)


def is_too_much(count: tuple[int, int]) -> bool:
    """Whether so many failed that the others tell nothing."""
    return count[0] > _FAILED_SHARE * count[1]
