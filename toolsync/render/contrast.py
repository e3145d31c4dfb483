"""Two runs side by side, for people: the table for a terminal, a spreadsheet and a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.render.measurement import UNKNOWN, barred, escaped, number, plain
from toolsync.render.screen import Line, sentence
from toolsync.render.tables import cards

HEADS = ("Concurrency", "Metric", "Before", "After", "Change", "Interval", "Verdict")


def comparison_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The comparison; nothing but its two runs where it was refused."""
    yield sentence(title(data), "place")
    if not data["rows"]:
        return
    yield Line("")
    yield from cards(rows(data), HEADS)
    yield Line("")
    yield from (sentence(text, "dim") for text in remarks(data))


def title(data: Mapping[str, Any]) -> str:
    """Which two runs."""
    return f"Before: {_run(data['baseline'])}. After: {_run(data['candidate'])}."


def _run(run: Mapping[str, Any]) -> str:
    return f"{run['label']} ({run['id']})" if run["label"] else str(run["id"])


def rows(data: Mapping[str, Any]) -> list[list[str]]:
    """A row for each metric and concurrency, in the order of `HEADS`."""
    return [_row(one) for one in data["rows"]]


def _row(one: Mapping[str, Any]) -> list[str]:
    is_known = one["low"] is not None
    interval = f"{_percent(one['low'])} to {_percent(one['high'])}" if is_known else UNKNOWN
    verdict = f"{one['verdict']} ({one['why']})" if one["why"] else str(one["verdict"])
    return [
        str(one["concurrency"]),
        f"{one['title']} {one['unit']}" if one["unit"] not in one["title"] else str(one["title"]),
        _figure(one["before"], one["metric"]),
        _figure(one["after"], one["metric"]),
        _percent(one["change"]),
        interval,
        verdict if one["is_comparable"] else f"not comparable: {verdict}",
    ]


_DIGITS = {"tpot_p50": 2, "peak_memory": 0}


def _figure(value: float | None, metric: str) -> str:
    return UNKNOWN if value is None else f"{value:.{_DIGITS.get(metric, 1)}f}"


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else f"{share:+.1%}"


def remarks(data: Mapping[str, Any]) -> Iterator[str]:
    """What must be known of its table."""
    if data["confidence"] is not None:
        yield (
            f"Intervals hold the change with {data['confidence']:.2%} confidence each: 95% for all rows together"
            f" (bootstrap, {data['resamples']} resamples, Bonferroni)."
        )
    yield f"Better or worse: the whole interval is beyond {data['least_effect']:.0%}."
    yield "Intervals know these requests, not the hour: two runs from before show how much a server varies by itself."
    if any(one["metric"] == "peak_memory" and one["change"] is not None for one in data["rows"]):
        yield "Peak memory is one figure for each rung: no interval, and a verdict by the least effect alone."
    yield from _remedies([one["why"] for one in data["rows"]])


def _remedies(reasons: Sequence[str]) -> Iterator[str]:
    """What can be done where there is no verdict."""
    from toolsync.bench.objection import CLIENT_WAS_THE_LIMIT, TOO_FEW  # no other command of bench needs it

    if CLIENT_WAS_THE_LIMIT in reasons:
        yield "Where the client was the limit: leave the machine to it, and measure again."
    if any(reason.startswith(TOO_FEW) for reason in reasons):
        yield "Where there are too few requests: `toolsync bench run --requests N` asks for more, in both runs."


# For other programs.

_COLUMNS = (
    *("concurrency", "metric", "unit", "before", "after", "change", "low", "high", "verdict", "why"),
    "is_comparable",
)


def csv_text(data: Mapping[str, Any]) -> str:
    """The rows as CSV, nothing in it a formula; unknown figures are empty, changes are shares."""
    import csv  # only where it is asked for
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180
    writer.writerow(["baseline", "candidate", *_COLUMNS])
    runs = [plain(data["baseline"]["id"]), plain(data["candidate"]["id"])]
    for one in data["rows"]:
        writer.writerow([*runs, *(_cell(one[name]) for name in _COLUMNS)])
    return text.getvalue()


def _cell(value: Any) -> str:
    return plain(value) if isinstance(value, str) else number(value)


def markdown_text(data: Mapping[str, Any]) -> str:
    """The table for a page, with what must be known of it."""
    lines = [escaped(title(data)), ""]
    if data["rows"]:
        lines += [barred(HEADS), barred(_ALIGNED), *map(barred, rows(data)), ""]
        lines += [f"- {escaped(text)}" for text in remarks(data)]
    lines += [f"- {escaped(_difference(one))}" for one in data["differences"]]
    return "\n".join(lines) + "\n"


_ALIGNED: Sequence[str] = ("---:", "---", *["---:"] * 4, "---")


def _difference(one: Mapping[str, Any]) -> str:
    return f"Not comparable: {one['what']}: {one['before']} before, {one['after']} after; {one['why']}."
