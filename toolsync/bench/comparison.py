"""Two runs, row by row: what changed, how sure that is, and a verdict only where it is; pure.

A row is better or worse where the whole of its interval lies beyond the least effect that counts. The intervals are
wide enough for all rows together (Bonferroni): at most one comparison of equals in twenty has any verdict at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random
from statistics import median
from typing import Literal

from toolsync.bench import resampling
from toolsync.bench.gpu import peak_mib, serving
from toolsync.bench.metrics import Summary, summary
from toolsync.bench.record import Record, Request, Rung
from toolsync.value import frozen

LEAST_EFFECT = 0.02
ERROR = 0.05
"""How likely any verdict at all may be, where nothing changed."""
_FAILED_SHARE = 0.05
_FEWEST = 8
"""Of fewer, chance alone sets all of one run's beyond all of the other's too often for many rows."""
_FEWEST_WAVES, _MOST_WAVES = 2, 40
_FEWEST_ALIKE = 5
"""Waves whose requests are slow or fast together, and so tell of a median no more than one request each would."""
_MEDIAN = 0.5
_BEYOND = 2
"""So many requests must lie beyond a percentile, or else it is little more than the slowest of them."""

CLIENT_WAS_THE_LIMIT, TOO_FEW = "the client was the limit", "too few"
"""How reasons begin that somebody can do something about."""

Verdict = Literal["better", "worse", "no difference shown", "no verdict"]
MetricName = Literal["ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "tokens_per_s", "peak_memory"]


@frozen
class Metric:
    """A figure that is compared.

    Attributes:
        name: for programs.
        title: for people.
        unit: of its values.
        is_better_higher: whether more of it is good.
    """

    name: MetricName
    title: str
    unit: str
    is_better_higher: bool = False


METRICS = (
    Metric("ttft_p50", "TTFT p50", "ms"),
    Metric("ttft_p90", "TTFT p90", "ms"),
    Metric("ttft_p99", "TTFT p99", "ms"),
    Metric("tpot_p50", "TPOT p50", "ms"),
    Metric("tokens_per_s", "Output tokens/s", "tokens/s", is_better_higher=True),
    Metric("peak_memory", "Peak memory", "MiB"),
)


@frozen
class Row:
    """One metric at one concurrency.

    Attributes:
        concurrency: of the rung.
        metric: which.
        before: of the baseline; None where nobody knows.
        after: of the candidate; likewise.
        change: from before to after, as a share of before; None where one of them is unknown, or before is 0.
        low: the lower end of the change's interval; None where there is none.
        high: its upper end.
        verdict: what may be said of it.
        why: why there is no verdict; empty where there is one.
    """

    concurrency: int
    metric: Metric
    before: float | None
    after: float | None
    change: float | None
    low: float | None = None
    high: float | None = None
    verdict: Verdict = "no verdict"
    why: str = ""


@frozen
class Failing:
    """A concurrency at which too many requests failed, and more than before.

    Attributes:
        concurrency: of the rung.
        before: how many failed, and of how many.
        after: likewise.
    """

    concurrency: int
    before: tuple[int, int]
    after: tuple[int, int]


@frozen
class Comparison:
    """All rows.

    Attributes:
        rows: by concurrency, then by metric.
        missing: concurrencies that only one of the runs finished.
        confidence: of each interval, 0 to 1; None where there is none.
        failing: where the candidate fails; no figure of what went well tells of that.
    """

    rows: tuple[Row, ...]
    missing: tuple[int, ...]
    confidence: float | None
    failing: tuple[Failing, ...] = ()


def compared(before: Record, after: Record) -> Comparison:
    """The runs, held against each other at each concurrency that both finished."""
    rungs = {one.concurrency: one for one in before.rungs}
    others = {one.concurrency: one for one in after.rungs}
    seed = f"{before.id} {after.id}"
    is_closed = before.parameters.rate is None and after.parameters.rate is None
    pairs = [(rungs[step], others[step]) for step in rungs if step in others]
    is_exact = before.token_source == "continuous-usage"  # noqa: S105  tokens of a model
    drawn = []
    for pair in pairs:
        apart = {"peak_memory": _intervals(before, after), "tpot_p50": "" if is_exact else _chunks(*pair)}
        drawn += [_apart(one, apart.get(one.row.metric.name, "")) for one in _rows(*pair, seed, is_closed=is_closed)]
    tested = sum(one.draws is not None for one in drawn)
    error = ERROR / tested if tested else None
    rows = tuple(_judged(one, error) for one in drawn)
    failing = tuple(one for pair in pairs if (one := _failing(*pair)) is not None)
    return Comparison(rows, tuple(sorted(rungs.keys() ^ others.keys())), None if error is None else 1 - error, failing)


def _intervals(before: Record, after: Record) -> str:
    """Why peaks of memory may not be compared: one looked more often, and saw shorter ones."""
    one, other = before.gpu.interval_ms, after.gpu.interval_ms
    return "" if None in (one, other) or one == other else f"sampled every {one} ms before, every {other} ms after"


_MOST_BIAS = LEAST_EFFECT / 2


def _chunks(before: Rung, after: Rung) -> str:
    """Why TPOT may not be compared: it takes the first chunk for one token, which says more of short replies."""
    one, other = (summary(rung, 1) for rung in (before, after))
    gaps = max((request.completion_tokens or 0 for request in before.requests if request.is_ok), default=0) - 1
    if one.tokens_per_chunk is None or other.tokens_per_chunk is None or gaps < 1:
        return ""
    if abs(other.tokens_per_chunk - one.tokens_per_chunk) / gaps <= _MOST_BIAS:
        return ""
    return f"a chunk held {one.tokens_per_chunk:.2f} tokens before, {other.tokens_per_chunk:.2f} after"


def _apart(one: _Drawn, why: str) -> _Drawn:
    """The row, and nothing said of it where there is a reason."""
    is_judged = why and one.row.change is not None and not one.row.why
    return _Drawn(replace(one.row, why=why), None) if is_judged else one


def _failing(before: Rung, after: Rung) -> Failing | None:
    one, other = _failed(before), _failed(after)
    is_more = other[0] * one[1] > 2 * one[0] * other[1]
    return Failing(before.concurrency, one, other) if _is_too_much(other) and is_more else None


def _failed(rung: Rung) -> tuple[int, int]:
    """How many requests failed, and of how many."""
    return sum(not one.is_ok for one in rung.requests), len(rung.requests)


def _is_too_much(failed: tuple[int, int]) -> bool:
    return failed[0] > _FAILED_SHARE * failed[1]


@frozen
class _Drawn:
    """A row before its verdict; `draws` are changes that resampling gives, None where there is no telling."""

    row: Row
    draws: Sequence[float] | None


def _rows(before: Rung, after: Rung, seed: str, *, is_closed: bool) -> Iterator[_Drawn]:
    why = _unfit(before, after) or ("" if is_closed else _late(before, after))
    told = summary(before, 1), summary(after, 1)
    for metric in METRICS:
        known = _value(metric, before, told[0]), _value(metric, after, told[1])
        if metric.name == "ttft_p99" and None in known:  # hidden below a hundred requests, as everywhere
            continue
        row = Row(before.concurrency, metric, *known, _change(*known))
        if row.change is None:
            yield _Drawn(replace(row, why=_unknown(metric, before, after, known)), None)
            continue
        random = Random(f"{seed} {before.concurrency} {metric.name}")  # noqa: S311  repeatable, and no secret
        draws, reason = (None, why) if why else _draws(metric, before, after, random, is_closed=is_closed)
        yield _Drawn(replace(row, why=reason), draws)


def _unfit(before: Rung, after: Rung) -> str:
    """Why nothing may be said of a rung."""
    if before.client.is_limit or after.client.is_limit:
        return CLIENT_WAS_THE_LIMIT
    for rung in (before, after):
        failed = _failed(rung)
        if _is_too_much(failed):
            return f"{failed[0]} of {failed[1]} requests failed"
    return ""


_LATE_MS, _LATE_SHARE = 10.0, 0.1


def _late(before: Rung, after: Rung) -> str:
    """Why a rate says nothing: what was sent late queued here, where TTFT does not see it."""
    for rung in (before, after):
        delays = [one.dispatch_delay_ms for one in rung.requests if one.dispatch_delay_ms is not None]
        late = sum(delay > _LATE_MS for delay in delays)
        if late > _LATE_SHARE * len(delays):
            return f"{late} of {len(delays)} requests were sent late: the rate was not kept"
    return ""


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or not before else (after - before) / before


def _unknown(metric: Metric, before: Rung, after: Rung, known: tuple[float | None, float | None]) -> str:
    if metric.name == "peak_memory":
        rung = before if known[0] is None else after
        unsampled = "sampled in neither run" if known == (None, None) else "sampled in one run alone"
        return next((one.why for one in rung.gpus if one.why), unsampled)
    return "unknown in one of the runs" if None in known else "it was 0 before"


def _value(metric: Metric, rung: Rung, told: Summary) -> float | None:
    if metric.name == "peak_memory":
        return peak_mib(rung)
    return {
        "ttft_p50": told.ttft_ms.p50,
        "ttft_p90": told.ttft_ms.p90,
        "ttft_p99": told.ttft_ms.p99,
        "tpot_p50": told.tpot_ms.p50,
        "tokens_per_s": told.system_tokens_per_s,
    }[metric.name]


_SHARES: dict[MetricName, tuple[Callable[[Request], float | None], float]] = {
    "ttft_p50": (lambda one: one.ttft_ms, 0.5),
    "ttft_p90": (lambda one: one.ttft_ms, 0.9),
    "ttft_p99": (lambda one: one.ttft_ms, 0.99),
    "tpot_p50": (lambda one: one.tpot_ms, 0.5),
}


def _draws(metric: Metric, before: Rung, after: Rung, random: Random, *, is_closed: bool) -> Changes:
    """Changes that other requests of the same kind would have shown; or why nobody can say."""
    if metric.name == "peak_memory":
        return None, _other_gpus(before, after)
    if metric.name == "tokens_per_s" and not is_closed:
        return None, "at a rate the load decides it, not the server"
    pair = [_waves(rung) for rung in (before, after)]
    return _rates(pair, random) if metric.name == "tokens_per_s" else _quantiles(metric, pair, random)


def _other_gpus(before: Rung, after: Rung) -> str:
    """Fewer cards may be what was changed, where it is known which serve; else others were looked at."""
    cards = [serving(one.gpus) for one in (before, after)]
    if len(cards[0]) == len(cards[1]) or all(card.serves for several in cards for card in several):
        return ""
    return f"not as many GPUs were watched: {len(cards[0])} before, {len(cards[1])} after"


Changes = tuple[Sequence[float] | None, str]


def _quantiles(metric: Metric, pair: Sequence[Sequence[Sequence[Request]]], random: Random) -> Changes:
    figure, share = _SHARES[metric.name]
    told = [[[value for value in map(figure, wave) if value is not None] for wave in waves] for waves in pair]
    counts = [resampling.independent(waves, share) for waves in told]
    values = [[value for wave in waves for value in wave] for waves in told]
    if min(counts) < _FEWEST <= min(map(len, values)) and share == _MEDIAN:
        by_wave = [[median(wave) for wave in waves if wave] for waves in told]
        if min(map(len, by_wave)) >= _FEWEST_ALIKE and min(map(min, by_wave)) > 0:
            middle = median(values[1]) / median(values[0])
            return [middle * one - 1 for one in resampling.ratios(by_wave[0], by_wave[1], random)], ""
    for count, several in zip(counts, values, strict=True):
        if count < _FEWEST or round(count * (1 - share), 6) < _BEYOND:
            together = f", alike in each wave: worth {count}" if count < len(several) else ""
            return None, f"{TOO_FEW} requests ({len(several)}{together})"
    return _changes(
        [resampling.quantiles(one, share, random, count) for one, count in zip(values, counts, strict=True)]
    )


def _rates(pair: Sequence[Sequence[Sequence[Request]]], random: Random) -> Changes:
    """By waves: a wave lasts until the next one starts, so that together they last as long as the rung."""
    drawn = []
    for waves in pair:
        starts = [wave[0].t0_ms or 0.0 for wave in waves]
        end = max((one.t0_ms or 0.0) + (one.e2e_ms or 0.0) for wave in waves for one in wave)
        lasted = [later - earlier for earlier, later in pairwise([*starts, end])]
        tokens = [float(sum(one.completion_tokens or 0 for one in wave)) for wave in waves]
        if len(waves) < _FEWEST_WAVES or min(lasted) <= 0:
            return None, f"{TOO_FEW} waves of requests ({len(waves)})"
        drawn.append(resampling.rates(list(zip(tokens, lasted, strict=True)), random))
    return _changes(drawn)


def _changes(drawn: Sequence[Sequence[float]]) -> Changes:
    if min(drawn[0]) <= 0:
        return None, "it was 0 before" if min(map(min, drawn)) == 0 else "too uneven to tell"
    return [later / earlier - 1 for earlier, later in zip(*drawn, strict=True)], ""


def _waves(rung: Rung) -> list[list[Request]]:
    """The requests that went well, as many together as there are streams; what is left over belongs to the last."""
    good = sorted(
        (one for one in rung.requests if one.is_ok and one.t0_ms is not None), key=lambda one: one.t0_ms or 0.0
    )
    size = max(rung.concurrency, math.ceil(len(good) / _MOST_WAVES))
    count = min(len(good), max(1, len(good) // size))
    return [good[index * size : (index + 1) * size if index + 1 < count else None] for index in range(count)]


def _judged(one: _Drawn, error: float | None) -> Row:
    row = one.row
    if row.why or row.change is None:
        return row
    if one.draws is None or error is None:  # memory: one figure for each rung, and no chance in it
        return replace(row, verdict=_verdict(row.metric, row.change, row.change))
    low, high = resampling.interval(one.draws, error)
    return replace(row, low=low, high=high, verdict=_verdict(row.metric, low, high))


def _verdict(metric: Metric, low: float, high: float) -> Verdict:
    if low <= LEAST_EFFECT and high >= -LEAST_EFFECT:
        return "no difference shown"
    return "better" if (low > LEAST_EFFECT) == metric.is_better_higher else "worse"
