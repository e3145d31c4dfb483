"""`bench compare`: a run before and a run after, with a verdict per row, or each reason why they are not comparable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolsync.bench.comparability import Difference, differences
from toolsync.bench.comparison import Comparison, Failing, Row, compared
from toolsync.bench.condition import Condition, Outcome, outcome, parse
from toolsync.bench.record import Record
from toolsync.bench.resampling import RESAMPLES
from toolsync.bench.yardstick import LEAST_EFFECT
from toolsync.commands.bench.records import find
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.session import Session
from toolsync.value import frozen

INCONCLUSIVE = 3


@frozen
class Wish:
    """What is to be compared.

    Attributes:
        baseline: an id, the beginning of one, a label or a file.
        candidate: likewise.
        anyway: although the two are not comparable.
        conditions: that fail it, as `--fail-if` spells them.
    """

    baseline: str
    candidate: str
    anyway: bool = False
    conditions: tuple[str, ...] = ()


def compare(session: Session, wish: Wish) -> Result:
    """Hold the candidate against the baseline.

    Raises:
        UsageError: there is no such record, or a condition is none.
        DocumentError, FileError: a record cannot be read.
    """
    conditions = [parse(text) for text in wish.conditions]
    return held(find(session, wish.baseline), find(session, wish.candidate), conditions, anyway=wish.anyway)


def held(before: Record, after: Record, conditions: Sequence[Condition], *, anyway: bool = False) -> Result:
    """The comparison of two records.

    Args:
        before: the baseline.
        after: the candidate.
        conditions: that fail it.
        anyway: although the two are not comparable.
    """
    apart = differences(before, after)
    is_refused = bool(apart) and not anyway
    found = Comparison((), (), None) if is_refused else compared(before, after)
    outcomes = [] if is_refused else [outcome(one, found.rows, found.failing, found.missing) for one in conditions]
    is_refused = is_refused or not found.rows
    messages = (
        *_apart(apart, anyway=anyway),
        *(_nothing(before, after) if not found.rows and not (apart and not anyway) else ()),
        *_missing(found.missing),
        *_failing(found.failing),
        *(message for one in outcomes for message in _of_condition(one)),
    )
    data = {
        "baseline": _told(before),
        "candidate": _told(after),
        "differences": [{"what": one.what, "before": one.before, "after": one.after, "why": one.why} for one in apart],
        "is_comparable": not apart,
        "is_refused": is_refused,
        "rows": [_row(row, is_comparable=not apart) for row in found.rows],
        "missing": list(found.missing),
        "confidence": found.confidence,
        "least_effect": LEAST_EFFECT,
        "resamples": RESAMPLES,
        "conditions": [_condition(one) for one in outcomes],
    }
    return Result("bench compare", data, messages, _exit_code(outcomes, is_refused=is_refused))


def _exit_code(outcomes: Sequence[Outcome], *, is_refused: bool) -> int:
    if is_refused:
        return INCONCLUSIVE
    if any(one.state == "met" for one in outcomes):
        return PROBLEM
    return INCONCLUSIVE if any(one.state == "unknown" for one in outcomes) else DONE


def _told(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "label": record.label,
        "started": record.started,
        "model": record.target.model,
        "gpu_source": record.gpu.source,
        "token_source": record.token_source,
    }


def _row(row: Row, *, is_comparable: bool) -> dict[str, Any]:
    return {
        "concurrency": row.concurrency,
        "metric": row.metric.name,
        "title": row.metric.title,
        "unit": row.metric.unit,
        "before": row.before,
        "after": row.after,
        "change": row.change,
        "low": row.low,
        "high": row.high,
        "verdict": row.verdict,
        "why": row.why,
        "is_comparable": is_comparable,
    }


def _condition(one: Outcome) -> dict[str, Any]:
    return {
        "condition": one.condition.text,
        "state": one.state,
        "rows": [{"concurrency": row.concurrency, "metric": row.metric.name} for row in one.rows],
    }


def _apart(apart: Sequence[Difference], *, anyway: bool) -> Iterator[Message]:
    for one in apart:
        word = "the same" if one.before == one.after else "not the same"
        text = f"{word} {one.what}: {one.before} before, {one.after} after; {one.why}"
        yield Message("warning" if anyway else "problem", text)
    if apart and anyway:
        yield Message("warning", "the two runs are not comparable; every row is marked")
    elif apart:
        hint = "Measure again in the same way; `--anyway` shows the figures all the same, each row marked."
        yield Message("problem", "so the two runs are not compared", hint)


def _nothing(before: Record, after: Record) -> Iterator[Message]:
    steps = [",".join(str(rung.concurrency) for rung in run.rungs) or "none" for run in (before, after)]
    yield Message("problem", f"no concurrency was finished in both runs: {steps[0]} before, {steps[1]} after")


def _missing(missing: Sequence[int]) -> Iterator[Message]:
    if missing:
        steps = ", ".join(map(str, missing))
        yield Message(
            "warning", f"concurrency {steps}: only one of the runs finished it, so there is nothing to compare"
        )


def _failing(failing: Sequence[Failing]) -> Iterator[Message]:
    for one in failing:
        counts = [f"{failed} of {count}" for failed, count in (one.before, one.after)]
        text = f"concurrency {one.concurrency}: {counts[0]} requests failed before, {counts[1]} after"
        yield Message("problem", text, "No row tells of them: figures are those of what went well.")


def _of_condition(one: Outcome) -> Iterator[Message]:
    text = f"--fail-if {one.condition.text}"
    failing = ", ".join(f"concurrency {rung.concurrency} (requests fail)" for rung in one.failing)
    if one.state == "unknown":
        dark = ", ".join(filter(None, [failing, *(f"concurrency {step} (not finished)" for step in one.missing)]))
        why = f"nobody can say of {dark}" if dark else "nothing that it asks for has a verdict, so nobody can say"
        yield Message("problem", f"{text}: {why}")
    if one.state == "met":
        steps = ", ".join(filter(None, [*map(_place, one.rows), failing]))
        yield Message("problem", f"{text} is met at {steps}")
    chance = [row for row in one.unsure if row.verdict != "no verdict"]
    if chance:
        steps = ", ".join(map(_place, chance))
        hint = "More requests (`bench run --requests`) would tell."
        yield Message("warning", f"{text}: beyond the limit at {steps}, which may be chance and does not count", hint)
    for why in dict.fromkeys(row.why for row in one.unsure if row.verdict == "no verdict"):
        steps = ", ".join(_place(row) for row in one.unsure if row.why == why)
        yield Message("warning", f"{text}: beyond the limit at {steps}, which does not count: {why}")


def _place(row: Row) -> str:
    return f"concurrency {row.concurrency} ({row.metric.title} {row.change or 0:+.1%})"
