"""Tables of measurements: nothing unknown is a nought, nothing from outside is a formula or markup."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from tests.bench.records import record, request, rung
from toolsync.bench.gpu.rungs import UNSEEN, notes
from toolsync.bench.record import Client, Gpu, GpuUse, Record
from toolsync.commands.bench.records import described
from toolsync.render import measurement

_CARD = GpuUse("GPU-1", "a card", 81920.0, 1000.0, 2000.0, ((0.0, 1000.0),))
_SILENT = replace(_CARD, uuid="GPU-2", peak_mib=None, baseline_mib=None, samples=(), why="nvidia-smi says [N/A]")


def _lines(one: Record) -> str:
    return "\n".join(line.text for line in measurement.run_lines({"run": described(one)}))


def _cells(one: Record) -> list[dict[str, str]]:
    run = described(one)
    return [dict(zip(measurement.heads(run), row, strict=False)) for row in measurement.rows(run)]


def test_a_row_for_each_rung() -> None:
    told = _cells(record(rung(1), rung(2, request(ttft_ms=50.0))))
    assert [(row["Streams"], row["TTFT p50"], row["ITL p50"], row["Each"]) for row in told] == [
        ("1", "100.0", "5.00", "200.0"),
        ("2", "50.0", "5.00", "200.0"),
    ]


@pytest.mark.parametrize(
    ("changed", "column", "cell"),
    [
        ({}, "GPU MiB", "—"),
        ({"gpus": (_CARD,)}, "GPU MiB", "2000 (+1000)"),
        ({"gpus": (replace(_CARD, baseline_mib=None),)}, "GPU MiB", "2000"),
        ({"gpus": (_CARD, replace(_CARD, peak_mib=None))}, "GPU MiB", "2000 (+1000), —"),
        ({"requests": (request(fault="cut"),)}, "TTFT p50", "—"),
        ({"requests": (request(fault="cut"),)}, "Tokens/s", "—"),
        ({"requests": (request(), request(fault="cut"), request(tokens=2))}, "Done", "2, 1 failed, 2 short"),
        ({"client": Client(0.99, 0.1, None, is_limit=True)}, "Streams", "1 !"),
    ],
    ids=["no GPU", "peak", "no baseline", "one unknown", "all failed", "no tokens", "counted", "the client"],
)
def test_a_cell(changed: dict[str, Any], column: str, cell: str) -> None:
    (told,) = _cells(record(replace(rung(1), **changed)))
    assert told[column] == cell


def test_columns_that_only_some_runs_have() -> None:
    thinks = record(rung(1, request(ttfo_ms=300.0)))
    lumpy = record(rung(1, request(tokens=4, chunks=2)))
    assert "TTFO p50" in _cells(thinks)[0]
    assert "TTFO p50" not in _cells(record())[0]
    assert "Gap p50" in _cells(lumpy)[0]
    assert "several tokens: 2.00 at 1." in _lines(lumpy)
    assert _cells(record(token_source="events"))[0]["Tokens/s"].startswith("~")


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (
            record(rung(1, client=Client(0.9, 3.0, None, is_limit=True))),
            "! at 1: this client was the limit (up to 90% of a",
        ),
        (record(rung(1, request(cached_tokens=256))), "Prompts came out of the server's cache: 50% at 1."),
        (record(rung(1, request(tokens=3))), "Replies that were shorter than asked: 1 of 1 at 1."),
        (record(rung(1, request(itl_ms=0.0))), "as where something on the way buffers: 100% at 1."),
        (record(rung(1, *(request(tokens=257),) * 2)), "for the server does not keep to the limit: 2 of 2 at 1."),
        (record(rung(1, request(completion_tokens=None))), "so that Tokens/s is unknown: 1 of 1 at 1."),
        (record(rung(1, request(t0_ms=40.0))), "(half of the requests by so much or more): 40.0 ms at 1."),
        (record(parameters=replace(record().parameters, rate=2.5)), "Open loop: 2.5 requests a second"),
        (record(parameters=replace(record().parameters, refused=("ignore_eos",))), "; not taken: ignore_eos."),
        (record(target=replace(record().target, answered_model="b-model")), "a-model (which answers as b-model) by"),
        (record(), "a-model by openai-chat"),
        (record(), "fewer than 100 requests"),
        (record(gpu=Gpu("", "no NVIDIA driver is here", None)), "GPU memory: no NVIDIA driver is here"),
        (record(notes=("Through a proxy.",)), "Through a proxy."),
        (
            record(rung(1, gpus=(_CARD, _SILENT)), rung(2, gpus=(_SILENT, _SILENT)), rung(4, gpus=(_CARD, _SILENT))),
            "GPU 1: its memory at 1, 2, 4 is unknown: nvidia-smi says [N/A].",
        ),
    ],
    ids=[
        "client",
        "cache",
        "short",
        "bunched",
        "long",
        "uncounted",
        "late",
        "rate",
        "refused",
        "another model",
        "the model",
        "p99",
        "gpu",
        "note",
        "a card",
    ],
)
def test_what_must_be_known_is_said(one: Record, says: str) -> None:
    assert says in _lines(one)


def test_chunks_that_a_busy_client_fetched_together_are_not_laid_to_others() -> None:
    busy = rung(1, request(itl_ms=0.0), client=Client(0.9, 3.0, None, is_limit=True))
    assert "buffers" not in _lines(record(busy))


def test_what_a_note_says_of_rungs_is_not_said_of_each_card() -> None:
    unseen = replace(_SILENT, why=UNSEEN)
    made = rung(1, gpus=(unseen, unseen))
    assert _lines(record(made, notes=tuple(notes([made])))).count(UNSEEN) == 1


def test_what_is_said_of_all_cards_is_not_said_of_each() -> None:
    ended = "nvidia-smi ended midway (exit status 15)"
    one = record(rung(1, gpus=(replace(_SILENT, why=ended),)), gpu=Gpu("nvidia-smi", f"{ended}.", 500))
    assert _lines(one).count("ended midway") == 1


@pytest.mark.parametrize("label", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_no_cell_is_a_formula(label: str) -> None:
    run = described(record(label=label))
    head, *rows = csv.reader(io.StringIO(measurement.csv_text(run)))
    assert head[:3] == ["Record", "Label", "concurrency"]
    assert all(
        not cell.startswith(("=", "+", "@", "\t", "\r")) and (cell == "" or cell[0] != "-")
        for row in rows
        for cell in row
    )


def test_csv_holds_every_figure_and_leaves_what_nobody_knows_empty() -> None:
    (told,) = csv.DictReader(io.StringIO(measurement.csv_text(described(record(rung(1, gpus=(_CARD,)))))))
    assert (told["ttft_ms_p50"], told["ttft_ms_p99"], told["gpu_peak_mib"], told["ok"]) == ("100.0", "", "2000.0", "10")


@pytest.mark.parametrize(
    ("value", "cell"),
    [(0.1 + 0.2, "0.3"), (0.10884999999999961, "0.10885"), (2000.0, "2000.0"), (7, "7"), (True, "True"), (None, "")],
)
def test_a_figure_in_csv_has_no_digits_that_nobody_measured(value: float | None, cell: str) -> None:
    assert measurement.number(value) == cell


def test_markdown_is_a_table_and_no_markup_of_others() -> None:
    run = described(record(rung(1), label="a|b <script> **x** [y](z)"))
    text = measurement.markdown_text(run)
    assert "<script>" not in text
    assert r"a\|b &lt;script&gt; \*\*x\*\* \[y\](z)" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {len(measurement.heads(run)) + 1}


def test_a_list_of_nothing_says_how_to_begin() -> None:
    (line,) = measurement.list_lines({"records": []})
    assert "bench run" in line.text
