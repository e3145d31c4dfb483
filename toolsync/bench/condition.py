"""`--fail-if ttft_p50>+10%`: when a comparison is to fail a build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from toolsync.bench.comparison import Failing, Row
from toolsync.bench.yardstick import METRICS
from toolsync.errors import UsageError
from toolsync.masking import on_one_line
from toolsync.value import frozen

_GRAMMAR = re.compile(
    r"(?P<metric>[a-z0-9_]+)(?:@(?P<at>[0-9]{1,6}))?\s*(?P<sign>[<>])\s*(?P<limit>[+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s*%"
)
State = Literal["met", "not met", "unknown"]


@frozen
class Condition:
    """A limit for a change.

    Attributes:
        text: as it was written.
        metric: its name; "worse": any row whose verdict is that.
        concurrency: only there; None: at any.
        is_above: whether more than the limit meets it, or less.
        limit: as a share.
    """

    text: str
    metric: str
    concurrency: int | None = None
    is_above: bool = True
    limit: float = 0.0


def parse(text: str) -> Condition:
    """The condition.

    Raises:
        UsageError: it is none.
    """
    if text.strip() == "worse":
        return Condition("worse", "worse")
    names = [metric.name for metric in METRICS]
    found = _GRAMMAR.fullmatch(text.strip())
    if found is None:
        hint = f"METRIC>+N% or METRIC<-N%, for one concurrency METRIC@N>+N%, or worse; METRIC is {', '.join(names)}."
        raise UsageError(f"--fail-if does not understand '{on_one_line(text, limit=80)}'", hint=hint)
    if found["metric"] not in names:
        raise UsageError(
            f"--fail-if: there is no metric '{found['metric'][:40]}'", hint=f"There are: {', '.join(names)}."
        )
    at = int(found["at"]) if found["at"] else None
    return Condition(text.strip(), found["metric"], at, found["sign"] == ">", float(found["limit"]) / 100)


@frozen
class Outcome:
    """What became of a condition.

    Attributes:
        condition: which.
        state: `met` fails; `unknown` where nothing that it asks for has a verdict, or not all of it can have one.
        rows: that meet it.
        unsure: that are beyond the limit, and by chance perhaps, or without a verdict.
        failing: where it asks, and the candidate's requests fail.
        missing: concurrencies that it asks for, and only one of the runs finished.
    """

    condition: Condition
    state: State
    rows: tuple[Row, ...] = ()
    unsure: tuple[Row, ...] = ()
    failing: tuple[Failing, ...] = ()
    missing: tuple[int, ...] = ()


def outcome(
    condition: Condition, rows: Sequence[Row], failing: Sequence[Failing] = (), missing: Sequence[int] = ()
) -> Outcome:
    """Whether the rows meet the condition.

    Where no row has a verdict, or requests fail, or a rung is missing, the build would pass without having been looked
    at: that is unknown; to `worse`, requests that fail are worse.
    A limit of a change for the worse (`>+10%`, `<-5%`) is met where there is shown to be a change; one that asks for a
    change (`>-5%`: fails unless TTFT fell by that) is met wherever it did not come.
    """
    dark = tuple(one for one in failing if _asks(condition, one.concurrency))
    absent = tuple(step for step in missing if _asks(condition, step))
    unsure: tuple[Row, ...] = ()
    if condition.metric == "worse":
        asked = rows
        met = tuple(row for row in rows if row.verdict == "worse")
        is_met = bool(met or dark)
    else:
        asked = [row for row in rows if row.metric.name == condition.metric and _asks(condition, row.concurrency)]
        met, unsure = _beyond(condition, asked)
        is_met = bool(met)
    is_judged = not dark and not absent and any(row.verdict != "no verdict" for row in asked)
    return Outcome(condition, "met" if is_met else "not met" if is_judged else "unknown", met, unsure, dark, absent)


def _asks(condition: Condition, concurrency: int) -> bool:
    return condition.concurrency in (None, concurrency)


def _beyond(condition: Condition, asked: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The rows beyond the limit: those that meet the condition, and those of which nobody can be sure."""
    beyond = [row for row in asked if _is_beyond(row.change, condition)]
    asks_for_change = condition.limit < 0 if condition.is_above else condition.limit > 0
    met = tuple(row for row in beyond if asks_for_change or row.verdict in ("better", "worse"))
    return met, tuple(row for row in beyond if row not in met)


def _is_beyond(change: float | None, condition: Condition) -> bool:
    if change is None:
        return False
    return change > condition.limit if condition.is_above else change < condition.limit
