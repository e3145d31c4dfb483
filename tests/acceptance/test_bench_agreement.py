"""The whole ladder, from a terminal to a page: the record, the tables, the comparison and the page say the same."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from tests.acceptance.machine import Machine
from tests.acceptance.test_asking import terminal
from tests.bench.server import Scripted, pong, served, streamed
from tests.bench.test_exact import DONE, LAST, TEXT, usage
from tests.conftest import takes
from tests.keys import invented
from toolsync.bench import resampling
from toolsync.render import page

LADDER = [1, 2, 4, 8, 16, 32]
_STREAM = streamed(TEXT, TEXT + TEXT, LAST + usage(256) + DONE)


def _answer(raw: bytes) -> Sequence[bytes]:
    return _STREAM if json.loads(raw).get("stream") else pong()


@pytest.fixture
def measured(machine: Machine) -> Iterator[Machine]:
    """A machine whose gateway answers at once with three chunks of 256 tokens."""
    machine.environ["WORK_KEY"] = invented("agreement")
    with served(Scripted(_answer, 0.001)) as base:
        machine.profile(base_url=f"{base}/v1", key="env:WORK_KEY")
        yield machine


def test_record_tables_comparison_and_page_agree(measured: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    takes("measures the whole ladder")
    for name in ("quantiles", "rates"):  # how wide intervals are is not asked here
        monkeypatch.setattr(resampling, name, partial(getattr(resampling, name), count=100))
    monkeypatch.setattr(page, "drawn", lambda _: page.Drawn())  # plots take seconds, and hold no figure to read
    with terminal(measured, "bench", "run", "--label", "before") as screen:
        assert screen.ended() == 0, screen.shown
    _shows_progress(screen.shown)
    assert measured.toolsync("bench", "run", "--label", "after").code == 0
    kept = sorted((measured.state / "bench").glob("*.json"), key=_is_after)
    files = [_with_gpus(file, number) for number, file in enumerate(kept)]
    told = [_truth(json.loads(file.read_bytes())) for file in files]
    html = measured.project / "page.html"
    compared = measured.toolsync("bench", "compare", *map(str, files), "--json").json["data"]["rows"]
    assert measured.toolsync("bench", "report", str(files[1]), "--against", str(files[0]), "-o", str(html)).code == 0
    tables = _tables(html.read_text())

    shown = []
    for file, truth in zip(files, told, strict=True):
        assert [one["concurrency"] for one in truth] == LADDER
        shown.append(_rows(measured.toolsync("bench", "show", str(file)).out, len(LADDER)))
        assert shown[-1] == [_as_shown(one) for one in truth]
    _is_told_exactly(measured, files[1], told[1])
    assert _rows(screen.shown.rpartition("\r")[2], len(LADDER)) == [[*row[:-1], "—"] for row in shown[0]]
    assert tables["run"] == [*shown[0], *shown[1]]
    lines = measured.toolsync("bench", "compare", *map(str, files)).out
    assert tables["verdicts"] == _rows(lines, len(compared))
    for row, cells in zip(compared, tables["verdicts"], strict=True):
        _is_compared(row, cells, *(one[LADDER.index(row["concurrency"])] for one in told))


def _is_after(file: Path) -> bool:
    """Which of the two runs it is: both may have begun within the second that their names tell."""
    return bool(json.loads(file.read_bytes())["label"] == "after")


def _shows_progress(shown: str) -> None:
    """Each rung from its warm-up to its end, on one line that is gone in the end."""
    drawn = shown.split("\r")
    for step in LADDER:
        count = max(10, 5 * step)
        own = [text.strip() for text in drawn if text.startswith(f"concurrency {step}:")]
        assert own[0].endswith("warming up")
        assert own[-1] == f"concurrency {step}: [{'#' * 30}] {count}/{count}"
    assert "concurrency 1:" not in shown.rpartition("\r")[2]


def _with_gpus(file: Path, number: int) -> Path:
    """The record with two cards, of which the second one serves, as a file of its own."""
    data = json.loads(file.read_bytes())
    for rung in data["rungs"]:
        peaks = (500.25, 40_000.0 + 2000 * number + rung["concurrency"])
        rung["gpus"] = [_card(f"GPU-{card}", peak, serves=bool(card)) for card, peak in enumerate(peaks)]
    data["gpu"] = {"source": "nvml", "reason": "", "interval_ms": 500, "way": "v2"}
    made = file.with_name(f"with-gpus-{number}.record.json")
    made.write_text(json.dumps(data))
    return made


def _card(uuid: str, peak: float, *, serves: bool) -> dict[str, Any]:
    base = {"uuid": uuid, "name": "a card", "total_mib": 81920.0, "reserved_mib": None, "serves": serves, "why": ""}
    return {**base, "baseline_mib": peak - 10, "peak_mib": peak, "samples": [[0.0, peak - 1], [1.0, peak]]}


def _truth(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of each rung, made here out of the raw ones."""
    return [_figures(rung) for rung in data["rungs"]]


def _figures(rung: Mapping[str, Any]) -> dict[str, Any]:
    asked = rung["requests"]
    gaps = list(chain.from_iterable(one["itl_ms"] for one in asked))
    took_ms = max(one["t0_ms"] + one["e2e_ms"] for one in asked) - min(one["t0_ms"] for one in asked)
    tpot_ms = median(one["tpot_ms"] for one in asked)
    return {
        "concurrency": rung["concurrency"],
        "is_limit": rung["client"]["is_limit"],
        "ok": len(asked),
        **{f"ttft_{name}": value for name, value in _spread([one["ttft_ms"] for one in asked]).items()},
        **{f"itl_{name}": value for name, value in _spread(gaps).items()},
        "tpot_p50": tpot_ms,
        "tokens_per_s": 1000 * sum(one["completion_tokens"] for one in asked) / took_ms,
        "each": 1000 / tpot_ms if tpot_ms else None,
        "gpus": [(one["peak_mib"], one["peak_mib"] - one["baseline_mib"]) for one in rung["gpus"]],
        "peak_memory": rung["gpus"][1]["peak_mib"],
    }


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    cuts = quantiles(values, n=100, method="inclusive")
    return {"p50": cuts[49], "p90": cuts[89], "p99": cuts[98] if len(values) >= 100 else None}


def _as_shown(one: Mapping[str, Any]) -> list[str]:
    def told(name: str, digits: int = 1) -> str:
        return "—" if one[name] is None else f"{one[name]:.{digits}f}"

    return [
        f"{one['concurrency']}{' !' if one['is_limit'] else ''}",
        str(one["ok"]),
        *map(told, ("ttft_p50", "ttft_p90", "ttft_p99")),
        *(told("itl_p50", 2), told("itl_p99", 2), told("tokens_per_s"), told("each")),
        ", ".join(f"{peak:.0f} ({grown:+.0f})" for peak, grown in one["gpus"]),
    ]


def _is_told_exactly(machine: Machine, file: Path, truth: Sequence[Mapping[str, Any]]) -> None:
    """For other programs: JSON without rounding, and CSV to twelve digits."""
    rungs = machine.toolsync("bench", "show", str(file), "--json").json["data"]["run"]["rungs"]
    lines = csv.DictReader(io.StringIO(machine.toolsync("bench", "show", str(file), "--csv").out))
    for one, rung, cells in zip(truth, rungs, lines, strict=True):
        spreads = [(f"{kind}_{part}", f"{kind}_ms", part) for kind in ("ttft", "itl") for part in ("p50", "p90", "p99")]
        found = {name: rung[kind][part] for name, kind, part in (*spreads, ("tpot_p50", "tpot_ms", "p50"))}
        found |= {"tokens_per_s": rung["system_tokens_per_s"], "each": rung["request_tokens_per_s"], "ok": rung["ok"]}
        assert found == pytest.approx({name: one[name] for name in found})
        for name, kind, part in spreads:
            assert cells[f"{kind}_{part}"] == _cell(rung[kind][part]), name
        assert cells["system_tokens_per_s"] == _cell(rung["system_tokens_per_s"])
        assert cells["gpu_peak_mib"] == _cell(one["peak_memory"])


def _cell(value: float | None) -> str:
    return "" if value is None else str(float(f"{value:.12g}"))


def _is_compared(
    row: Mapping[str, Any], cells: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    name = row["metric"]
    assert (row["before"], row["after"]) == pytest.approx((before[name], after[name]))
    change = (after[name] - before[name]) / before[name] if before[name] else None
    assert row["change"] == pytest.approx(change)
    digits = {"tpot_p50": 2, "peak_memory": 0}.get(name, 1)
    shown = "—" if change is None else f"{row['change']:+.1%}"
    assert cells[2:5] == [f"{before[name]:.{digits}f}", f"{after[name]:.{digits}f}", shown]


def _rows(text: str, count: int) -> list[list[str]]:
    """The rows below the first line of heads."""
    lines = text.replace("\r", "").splitlines()
    start = next(number for number, line in enumerate(lines) if re.match(r"Streams|Concurrency", line))
    return [re.split(r" {2,}", line) for line in lines[start + 1 : start + 1 + count]]


def _tables(page: str) -> dict[str, list[list[str]]]:
    reader = _Reader()
    reader.feed(page)
    return reader.rows


class _Reader(HTMLParser):
    """The rows of cells of each kind of table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self._kind, self._place = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._kind = dict(attrs).get("class") or ""
        if tag in ("thead", "tbody"):
            self._place = tag
        if tag == "tr" and self._place == "tbody":
            self.rows.setdefault(self._kind, []).append([])
        if tag == "td":
            self.rows[self._kind][-1].append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "td" and data.strip():
            self.rows[self._kind][-1][-1] += data
