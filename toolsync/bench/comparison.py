"""Two runs, row by row: what changed, how sure that is, and a verdict only where it is; pure.

A row is better or worse where the whole of its interval lies beyond the least effect that counts. The intervals are
wide enough for all rows together (Bonferroni): at most one comparison of equals in twenty has any verdict at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Literal

from toolsync.bench import chance, objection, resampling
from toolsync.bench.metrics import summary
from toolsync.bench.record import Record, Rung
from toolsync.bench.yardstick import LEAST_EFFECT, METRICS, Metric, value
from toolsync.value import frozen

ERROR = 0.05
"""How likely any verdict at all may be, where nothing changed."""

Verdict = Literal["better", "worse", "no difference shown", "no verdict"]


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
        chunks = "" if is_exact else objection.chunks(*pair)
        apart = {"peak_memory": objection.intervals(before, after), "tpot_p50": chunks}
        drawn += [_apart(one, apart.get(one.row.metric.name, "")) for one in _rows(*pair, seed, is_closed=is_closed)]
    tested = sum(one.draws is not None for one in drawn)
    error = ERROR / tested if tested else None
    rows = tuple(_judged(one, error) for one in drawn)
    failing = tuple(one for pair in pairs if (one := _failing(*pair)) is not None)
    return Comparison(rows, tuple(sorted(rungs.keys() ^ others.keys())), None if error is None else 1 - error, failing)


def _apart(one: _Drawn, why: str) -> _Drawn:
    """The row, and nothing said of it where there is a reason."""
    is_judged = why and one.row.change is not None and not one.row.why
    return _Drawn(replace(one.row, why=why), None) if is_judged else one


def _failing(before: Rung, after: Rung) -> Failing | None:
    one, other = objection.failed(before), objection.failed(after)
    is_more = other[0] * one[1] > 2 * one[0] * other[1]
    return Failing(before.concurrency, one, other) if objection.is_too_much(other) and is_more else None


@frozen
class _Drawn:
    """A row before its verdict; `draws` are changes that resampling gives, None where there is no telling."""

    row: Row
    draws: Sequence[float] | None


def _rows(before: Rung, after: Rung, seed: str, *, is_closed: bool) -> Iterator[_Drawn]:
    why = objection.unfit(before, after) or ("" if is_closed else objection.late(before, after))
    told = summary(before, 1), summary(after, 1)
    for metric in METRICS:
        known = value(metric, before, told[0]), value(metric, after, told[1])
        if metric.name == "ttft_p99" and None in known:  # hidden below a hundred requests, as everywhere
            continue
        row = Row(before.concurrency, metric, *known, _change(*known))
        if row.change is None:
            yield _Drawn(replace(row, why=objection.unknown(metric, before, after, known)), None)
            continue
        random = Random(f"{seed} {before.concurrency} {metric.name}")  # noqa: S311  repeatable, and no secret
        draws, reason = (None, why) if why else chance.draws(metric, before, after, random, is_closed=is_closed)
        yield _Drawn(replace(row, why=reason), draws)


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or not before else (after - before) / before


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
