"""Plots of runs: which there are, and what stands on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from toolsync.bench.outline import (
    MOST_DOTS,
    Box,
    Points,
    Track,
    box,
    cache_shares,
    itl_values,
    stream_rates,
    system_rates,
    tracks,
    ttft_values,
)
from toolsync.bench.record import Record, Rung
from toolsync.bench.yardstick import METRICS
from toolsync.render.canvas import (
    AFTER,
    BAD,
    BAND,
    BEFORE,
    EVEN,
    GOOD,
    HEIGHT,
    Canvas,
    Figure,
    Frame,
    concurrencies,
    scale,
)
from toolsync.value import frozen


@frozen
class Series:
    """One run as it is drawn.

    Attributes:
        name: ours, not the person's.
        record: the run.
        colour: of it.
        marker: of it, for who sees no colours.
    """

    name: str
    record: Record
    colour: str = AFTER
    marker: str = "o"


def series(record: Record, baseline: Record | None = None) -> tuple[Series, ...]:
    """The runs as they are drawn, the baseline first."""
    if baseline is None:
        return (Series("this run", record),)
    return Series("before", baseline, BEFORE, "s"), Series("after", record)


def figures(drawn: Sequence[Series], prefix: str = "") -> Iterator[Figure]:
    """All plots that the runs have figures for.

    Args:
        drawn: on the same axes.
        prefix: of their names, where the page has several such sets.

    Raises:
        UsageError: matplotlib is not installed.
    """
    draw = Pen(prefix)
    yield draw.boxes("ttft", "Time to first token", ttft_values, drawn)
    yield draw.boxes("itl", "Gaps between tokens", itl_values, drawn)
    yield draw.lines("throughput", "Tokens per second, all streams together", "tokens/s", system_rates, drawn)
    yield draw.lines("stream", "Tokens per second of one stream", "tokens/s", stream_rates, drawn)
    if any(track for one in drawn for track in tracks(one.record)):
        yield draw.memory(drawn)
    if any(share is not None for one in drawn for _, share in cache_shares(one.record)):
        yield draw.lines("cache", "KV cache in use at most", "%", cache_shares, drawn)


_READ_BOXES = (
    "Line: the median. Box: the middle half. Whiskers: from the lowest tenth to the highest tenth;"
    " dots: requests beyond them. The scale need not begin at 0."
)
_READ_GAPS = _READ_BOXES.replace("requests", "gaps")
_MOST_DOTS = 1000
"""On each side of the boxes of a figure: a long ladder makes no heavy page."""
_MOST_NAMED = 8


class Pen:
    """Draws the kinds of plots."""

    def __init__(self, prefix: str = "") -> None:
        """Load what draws.

        Args:
            prefix: of the figures' names.

        Raises:
            UsageError: it is not installed.
        """
        self._canvas = Canvas(prefix)

    def boxes(
        self, name: str, title: str, values: Callable[[Rung], Sequence[float]], drawn: Sequence[Series]
    ) -> Figure:
        """A box for each rung of each run."""
        steps = _steps(drawn)

        def onto(axes: Any) -> None:
            seen: list[float] = []
            dots = max(2, min(MOST_DOTS, _MOST_DOTS // (len(steps) * len(drawn) or 1)))
            for number, one in enumerate(drawn):
                shift = (number - (len(drawn) - 1) / 2) * 0.36
                for rung in one.record.rungs:
                    found = box(values(rung), dots)
                    if found is not None:
                        _one_box(axes, steps.index(rung.concurrency) + shift, found, one)
                        seen += [found.p10, found.p90, *found.beyond]
                axes.plot([], [], one.marker, color=one.colour, label=one.name)
            axes.set_ylabel("ms")
            scale(axes, seen)
            concurrencies(axes, steps)

        text = _READ_GAPS if name == "itl" else _READ_BOXES
        return self._canvas.figure(Frame(name, title, text, runs=len(drawn)), onto)

    def lines(
        self, name: str, title: str, unit: str, points: Callable[[Record], Points], drawn: Sequence[Series]
    ) -> Figure:
        """A line for each run, over concurrency."""
        steps = _steps(drawn)
        told = [[(at, value) for at, value in points(one.record) if value is not None] for one in drawn]

        def onto(axes: Any) -> None:
            for one, known in zip(drawn, told, strict=True):
                at, values = [steps.index(at) for at, _ in known], [value for _, value in known]
                axes.plot(at, values, f"-{one.marker}", color=one.colour, label=one.name, markersize=4, linewidth=1.5)
            axes.set_ylabel(unit)
            top = max((value for known in told for _, value in known), default=0.0)
            axes.set_ylim(0, 1.08 * top or 1.0)
            concurrencies(axes, steps)

        return self._canvas.figure(Frame(name, title, runs=len(drawn)), onto)

    def memory(self, drawn: Sequence[Series]) -> Figure:
        """GPU memory over time: one panel above the other."""
        told = [tracks(one.record) for one in drawn]
        used = [gib for found in told for track in found for _, gib in track.points]
        low, high = min(used), max(used)
        room = max((high - low) * 0.15, high * 0.01, 0.01)

        def onto(*panels: Any) -> None:
            for one, found, axes in zip(drawn, told, panels, strict=True):
                _rungs(axes, one.record)
                _tracks(axes, found, one.colour)
                axes.set_ylim(max(0, low - room), high + 2 * room)
                axes.set_ylabel("GiB" if len(drawn) == 1 else f"GiB, {one.name}")
            panels[-1].set_xlabel("seconds")
            lines = {str(line.get_label()): line for axes in panels for line in axes.get_lines()}
            named = {label: line for label, line in sorted(lines.items()) if label.startswith("GPU")}
            if 1 < len(named) <= _MOST_NAMED:
                panels[0].legend(named.values(), named, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)

        text = "Each band is a rung, named by its concurrency; the scale need not begin at 0."
        height = HEIGHT * (1 + 0.75 * (len(drawn) - 1))
        return self._canvas.figure(Frame("memory", "GPU memory in use", text, panels=len(drawn), height=height), onto)

    def changes(self, rows: Sequence[Mapping[str, Any]], least_effect: float) -> Figure | None:
        """What changed, with its interval, a row for each row of the comparison; None where no change is known."""
        order = [metric.name for metric in METRICS]
        known = sorted((row for row in rows if row["change"] is not None), key=lambda row: order.index(row["metric"]))
        if not known:
            return None

        def onto(axes: Any) -> None:
            axes.axvspan(-100 * least_effect, 100 * least_effect, color=BAND, linewidth=0)
            axes.axvline(0, color=EVEN, linewidth=0.8)
            for number, row in enumerate(known):
                _one_change(axes, number, row)
            axes.set_yticks(range(len(known)), [f"{row['title']} at {row['concurrency']}" for row in known])
            axes.set_ylim(len(known) - 0.4, -0.6)
            axes.set_xlabel("change in %")
            axes.grid(visible=False, axis="y")
            axes.grid(visible=True, axis="x")

        text = (
            f"Band: changes of less than {least_effect:.0%}, which count as none. Bars: intervals."
            " Filled: better (green) or worse (red); hollow: no verdict, or no difference shown."
        )
        height = 0.9 + 0.2 * len(known)
        return self._canvas.figure(Frame("changes", "What changed, and how sure that is", text, height=height), onto)


def _steps(drawn: Sequence[Series]) -> list[int]:
    """The concurrencies of all runs, each once."""
    return sorted({rung.concurrency for one in drawn for rung in one.record.rungs})


def _rungs(axes: Any, record: Record) -> None:
    for number, rung in enumerate(record.rungs):
        begin, end = ((at - record.rungs[0].started_ns) / 1e9 for at in (rung.started_ns, rung.ended_ns))
        if number % 2 == 0:
            axes.axvspan(begin, end, color=BAND, linewidth=0)
        place = axes.get_xaxis_transform()
        axes.text((begin + end) / 2, 0.99, str(rung.concurrency), transform=place, ha="center", va="top")


def _tracks(axes: Any, found: Sequence[Track], colour: str) -> None:
    for track in found:
        dashes = ("-", "--", ":", "-.")[track.gpu % 4]
        at, used = zip(*track.points, strict=True)
        axes.plot(at, used, dashes, color=colour, linewidth=1.3, label=f"GPU {track.gpu}")


def _one_box(axes: Any, at: float, found: Box, one: Series) -> None:
    told = {"whislo": found.p10, "q1": found.p25, "med": found.p50, "q3": found.p75, "whishi": found.p90}
    line = {"color": one.colour, "linewidth": 1}
    axes.bxp(
        [{**told, "fliers": found.beyond}],
        positions=[at],
        widths=0.28,
        manage_ticks=False,
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={**line, "linewidth": 2},
        flierprops={"marker": one.marker, "markersize": 1.6, "markerfacecolor": one.colour, "markeredgewidth": 0},
    )


def _one_change(axes: Any, number: int, row: Mapping[str, Any]) -> None:
    colour = {"better": GOOD, "worse": BAD}.get(row["verdict"], EVEN)
    is_sure = row["verdict"] in ("better", "worse")
    if row["low"] is not None:
        axes.plot([100 * row["low"], 100 * row["high"]], [number, number], "-", color=colour, linewidth=1.6)
    face = colour if is_sure else "none"
    axes.plot(100 * row["change"], number, "o", color=colour, markersize=4.5, markerfacecolor=face, markeredgewidth=1.2)
