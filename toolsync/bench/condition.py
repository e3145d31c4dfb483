"""`--fail-if ttft_p50>+10%`: when a comparison is to fail a build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from toolsync.bench.comparison import METRICS, Row
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
        state: `met` fails; `unknown` where nothing that it asks for has a verdict.
        rows: that meet it.
        unsure: that are beyond the limit, and by chance perhaps, or without a verdict.
    """

    condition: Condition
    state: State
    rows: tuple[Row, ...] = ()
    unsure: tuple[Row, ...] = ()


def outcome(condition: Condition, rows: Sequence[Row]) -> Outcome:
    """Whether the rows meet the condition.

    Where no row has a verdict, the build would pass without having been looked at: that is unknown.
    A limit of a change for the worse (`>+10%`, `<-5%`) is met where there is shown to be a change; one that asks for a
    change (`>-5%`: fails unless TTFT fell by that) is met wherever it did not come.
    """
    if condition.metric == "worse":
        worse = tuple(row for row in rows if row.verdict == "worse")
        judged = any(row.verdict != "no verdict" for row in rows)
        return Outcome(condition, "met" if worse else "not met" if judged else "unknown", worse)
    asked = [
        row for row in rows if row.metric.name == condition.metric and condition.concurrency in (None, row.concurrency)
    ]
    beyond = [row for row in asked if _is_beyond(row.change, condition)]
    asks_for_change = condition.limit < 0 if condition.is_above else condition.limit > 0
    met = tuple(row for row in beyond if asks_for_change or row.verdict in ("better", "worse"))
    unsure = tuple(row for row in beyond if row not in met)
    judged = any(row.verdict != "no verdict" for row in asked)
    return Outcome(condition, "met" if met else "not met" if judged else "unknown", met, unsure)


def _is_beyond(change: float | None, condition: Condition) -> bool:
    if change is None:
        return False
    return change > condition.limit if condition.is_above else change < condition.limit
