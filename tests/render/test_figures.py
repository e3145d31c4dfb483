"""Plots: what is known is drawn, in shapes that a strict page may hold and colours that the dark replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.bench.records import record, request, rung
from tests.conftest import needs
from tests.render.test_page import AFTER, BEFORE, OTHER, against
from toolsync.bench.record import GpuUse, Record
from toolsync.commands.bench.report import Report
from toolsync.errors import UsageError
from toolsync.render import canvas
from toolsync.render.canvas import COLOURS, Figure
from toolsync.render.figures import Pen, figures, series
from toolsync.render.page import html_text


@pytest.fixture(autouse=True)
def _library() -> None:
    needs(find_spec("matplotlib"), "matplotlib is not installed (`pip install '.[report]'`)")


def _card(samples: int = 3, base: float = 1000.0) -> GpuUse:
    seen = tuple((500.0 * number, base + number) for number in range(samples))
    return GpuUse("GPU-1", "a card", 81920.0, base, base + samples, seen)


FULL = record(
    *(
        rung(step, *(request(100.0 + number, 5.0, 20) for number in range(12)), gpus=(_card(), _card(base=7000.0)))
        for step in (1, 2)
    )
)
FULL = replace(FULL, rungs=tuple(replace(one, kv_cache_peak=0.5) for one in FULL.rungs))


def _drawn(one: Record, before: Record | None = None) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures(series(one, before))}


def _shapes(figure: Figure) -> Iterator[ET.Element]:
    return ET.fromstring(figure.svg).iter()  # noqa: S314  our own


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (FULL, ["ttft", "itl", "throughput", "stream", "memory", "cache"]),
        (record(rung(1, request(fault="cut"))), ["ttft", "itl", "throughput", "stream"]),
        (replace(record(), rungs=()), ["ttft", "itl", "throughput", "stream"]),
        (record(rung(1, request(itl_ms=0.0))), ["ttft", "itl", "throughput", "stream"]),
    ],
    ids=["all", "all failed", "no rung", "no gap"],
)
def test_what_is_known_is_drawn(one: Record, names: list[str]) -> None:
    assert list(_drawn(one)) == names


def test_shapes_have_no_style_no_namespace_and_only_known_colours() -> None:
    drawn = [*_drawn(FULL, AFTER).values(), _changes(AFTER)]
    for figure in drawn:
        for shape in _shapes(figure):
            assert {"style", "class", "onclick"}.isdisjoint(shape.attrib)
            assert "{" not in shape.tag
            assert shape.tag in {"svg", "g", "defs", "path", "use", "text", "clipPath", "rect"}
            for attribute in ("fill", "stroke"):
                assert shape.get(attribute, "none") in {*COLOURS, "none"}, figure.name
    assert re.findall(r"://|javascript|data:", "".join(figure.svg for figure in drawn)) == []


def test_ids_are_each_figures_own_and_every_reference_leads_to_one() -> None:
    page = [*_drawn(FULL).values(), *figures(series(FULL), "other-")]
    ids = [shape.get("id") for figure in page for shape in _shapes(figure) if shape.get("id")]
    assert len(ids) == len(set(ids)) > 0
    text = "".join(figure.svg for figure in page)
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)) <= {(one, "") for one in ids} | {
        ("", one) for one in ids
    }


def _changes(after: Record) -> Figure:
    data = against(BEFORE, after, anyway=True).comparison
    assert data is not None
    found = Pen().changes(data["rows"], data["least_effect"])
    assert found is not None
    return found


def _words(figure: Figure) -> list[str]:
    return [shape.text or "" for shape in _shapes(figure) if shape.tag == "text"]


def test_a_change_has_its_row_and_its_verdicts_colour() -> None:
    figure = _changes(AFTER)
    data = against(BEFORE, AFTER).comparison
    assert data is not None
    known = [row for row in data["rows"] if row["change"] is not None]
    assert {f"{row['title']} at {row['concurrency']}" for row in known} <= set(_words(figure))
    assert {row["verdict"] for row in known} >= {"worse"}
    assert canvas.BAD in figure.svg
    assert Pen().changes([{**known[0], "change": None}], 0.02) is None


def test_both_runs_are_named_and_told_apart_without_colour() -> None:
    for figure in _drawn(AFTER, BEFORE).values():
        assert {"before", "after"} <= set(_words(figure)), figure.name
    assert [one.marker for one in series(AFTER, BEFORE)] == ["s", "o"]
    assert "before" not in _words(_drawn(AFTER)["ttft"])


def test_a_page_is_the_same_every_time_whatever_its_reader_draws_elsewhere() -> None:
    first = html_text(Report(FULL))
    settings: Any = canvas.library().rcParams
    before = settings["font.size"]
    settings["font.size"] = 40
    try:
        assert html_text(Report(FULL)) == first
        assert settings["font.size"] == 40
    finally:
        settings["font.size"] = before


def test_the_two_share_no_axes_where_they_are_not_compared() -> None:
    refused = html_text(against(BEFORE, OTHER))
    assert 'id="before-ttft"' in refused
    assert 'id="after-ttft"' in refused
    assert 'id="ttft"' not in refused
    assert 'id="changes"' in html_text(against(BEFORE, AFTER))


@pytest.mark.parametrize(("steps", "cards"), [(6, 64), (60, 1)], ids=["many GPUs", "many rungs"])
def test_the_plots_of_a_long_run_take_less_than_half_of_two_megabytes(steps: int, cards: int) -> None:
    requests = [replace(request(100.0 + number), itl_ms=(1.0 + number, 7.0, 9.0)) for number in range(400)]
    gpus = tuple(_card(2000, 1000.0 * card) for card in range(cards))
    drawn = _drawn(record(*(rung(step, *requests, gpus=gpus) for step in range(1, steps + 1))))
    assert "memory" in drawn
    assert sum(len(figure.svg) for figure in drawn.values()) < 500_000  # and twice that for two runs


def test_without_the_library_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(canvas, "import_module", absent)
    with pytest.raises(UsageError, match="draws with the library matplotlib, which is not installed") as caught:
        html_text(Report(FULL))
    assert "pipx inject toolsync matplotlib" in caught.value.hint
