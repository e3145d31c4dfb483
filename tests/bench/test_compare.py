"""`bench compare`: conditions and exit codes, the refusal, its tables."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from tests.bench.records import record, request
from tests.bench.test_comparison import run, steady, with_memory
from toolsync.bench.comparison import Row, Verdict
from toolsync.bench.condition import outcome, parse
from toolsync.bench.record import Client, Record
from toolsync.bench.yardstick import METRICS
from toolsync.commands.bench.compare import held
from toolsync.errors import UsageError
from toolsync.render.contrast import HEADS, comparison_lines, csv_text, markdown_text, remarks
from toolsync.result import Result

METRIC = {metric.name: metric for metric in METRICS}


@pytest.mark.parametrize(
    ("text", "metric", "at", "is_above", "limit"),
    [
        ("ttft_p50>+10%", "ttft_p50", None, True, 0.1),
        ("ttft_p50 > 10 %", "ttft_p50", None, True, 0.1),
        ("ttft_p90@32>+2.5%", "ttft_p90", 32, True, 0.025),
        ("tokens_per_s<-5%", "tokens_per_s", None, False, -0.05),
        ("peak_memory>0%", "peak_memory", None, True, 0.0),
        (" worse ", "worse", None, True, 0.0),
    ],
)
def test_a_condition(text: str, metric: str, at: int | None, is_above: bool, limit: float) -> None:
    found = parse(text)
    assert (found.metric, found.concurrency, found.is_above) == (metric, at, is_above)
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    "text",
    [
        *("", "ttft_p50", "ttft_p50>10", "ttft_p50>+10ms", "ttft_p50=10%", "ttft_p50>=10%", ">10%", "ttft_p50@x>1%"),
        *("ttft_p50>1e9%", "ttft_p50>10%,x", "ttft_p50>--10%", "\x1b[31m>1%"),
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-if does not understand '") as caught:
        parse(text)
    assert "ttft_p50, ttft_p90" in caught.value.hint
    assert "\x1b" not in caught.value.message


def test_a_metric_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="there is no metric 'latency'"):
        parse("latency>10%")


def row(change: float | None, verdict: Verdict = "no difference shown", at: int = 1) -> Row:
    return Row(at, METRIC["ttft_p50"], 100.0, 100.0, change, verdict=verdict)


@pytest.mark.parametrize(
    ("text", "rows", "state"),
    [
        pytest.param("ttft_p50>+10%", [row(0.2, "worse")], "met", id="beyond"),
        pytest.param("ttft_p50>+10%", [row(0.1, "worse")], "not met", id="at-the-limit"),
        pytest.param("ttft_p50>+10%", [row(0.2)], "not met", id="beyond-by-chance"),
        pytest.param("ttft_p50>+10%", [row(0.2, "no verdict")], "unknown", id="beyond-and-nobody-can-say"),
        pytest.param("ttft_p50>+10%", [row(-0.2, "no verdict")], "unknown", id="within-and-nobody-can-say"),
        pytest.param("ttft_p50>+10%", [row(0.0), row(0.2, "no verdict", 8)], "not met", id="nobody-can-say-of-one"),
        pytest.param("ttft_p50>-5%", [row(-0.2, "no verdict")], "unknown", id="a-gain-of-which-nobody-can-say"),
        pytest.param("ttft_p50>+10%", [row(-0.2, "better")], "not met", id="the-other-way"),
        pytest.param("ttft_p50>+10%", [row(0.0), row(0.2, "worse", 8)], "met", id="at-one-of-two"),
        pytest.param("ttft_p50@1>+10%", [row(0.0), row(0.2, "worse", 8)], "not met", id="at-another"),
        pytest.param("ttft_p50@4>+10%", [row(0.2, "worse")], "unknown", id="at-none"),
        pytest.param("ttft_p50>+10%", [row(None, "no verdict")], "unknown", id="unknown"),
        pytest.param("tpot_p50>+10%", [row(0.2, "worse")], "unknown", id="no-such-row"),
        pytest.param("ttft_p50>-5%", [row(0.0)], "met", id="a-gain-that-did-not-come"),
        pytest.param("ttft_p50>-5%", [row(-0.2, "better")], "not met", id="a-gain-that-came"),
        pytest.param("worse", [row(0.0), row(0.03, "worse")], "met", id="worse"),
        pytest.param("worse", [row(-0.2, "better")], "not met", id="not-worse"),
        pytest.param("worse", [row(0.2, "no verdict")], "unknown", id="no-verdict-at-all"),
    ],
)
def test_whether_a_condition_is_met(text: str, rows: list[Row], state: str) -> None:
    assert outcome(parse(text), rows).state == state


BEFORE, AFTER = run("before-1", steady(), steps=(8,)), run("after-1", steady(1.2), steps=(8,))
OTHER = replace(AFTER, token_source="events")
LADDER = run("before-3", steady())
SHORTER = replace(run("after-3", steady()), rungs=run("after-3", steady()).rungs[:1])


def compared(after: Record = AFTER, *conditions: str, anyway: bool = False) -> Result:
    return held(BEFORE, after, [parse(text) for text in conditions], anyway=anyway)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        pytest.param(compared(), 0, id="fine"),
        pytest.param(compared(AFTER, "tpot_p50>+10%"), 0, id="not-met"),
        pytest.param(compared(AFTER, "ttft_p50>+10%"), 1, id="met"),
        pytest.param(compared(AFTER, "peak_memory>+10%"), 3, id="unknown"),
        pytest.param(compared(AFTER, "peak_memory>+10%", "ttft_p50>+10%"), 1, id="met-and-unknown"),
        pytest.param(held(LADDER, SHORTER, [parse("worse")]), 3, id="a-rung-is-missing"),
        pytest.param(held(LADDER, SHORTER, [parse("ttft_p50>+10%")]), 3, id="a-rung-that-is-asked-for-is-missing"),
        pytest.param(
            held(LADDER, SHORTER, [parse("ttft_p50@1>+10%")]), 0, id="a-rung-that-is-not-asked-for-is-missing"
        ),
        pytest.param(held(LADDER, SHORTER, []), 0, id="a-rung-is-missing-and-nothing-asked"),
        pytest.param(compared(OTHER), 3, id="refused"),
        pytest.param(compared(OTHER, "ttft_p50>+10%"), 3, id="refused-whatever-was-asked"),
        pytest.param(compared(OTHER, anyway=True), 0, id="anyway"),
        pytest.param(compared(OTHER, "ttft_p50>+10%", anyway=True), 1, id="anyway-and-met"),
        pytest.param(compared(run("x", steady(), steps=(4,)), anyway=True), 3, id="no-rung-in-common"),
    ],
)
def test_how_it_ends(result: Result, code: int) -> None:
    assert result.exit_code == code


def test_a_refusal_has_no_figures_and_every_reason() -> None:
    worse = replace(OTHER, parameters=replace(OTHER.parameters, output_tokens=64))
    refused = compared(worse)
    assert refused.data["rows"] == []
    assert [one["what"] for one in refused.data["differences"]] == ["lengths", "token source"]
    assert [message.text for message in refused.messages] == [
        "not the same lengths: 512 in, 256 out before, 512 in, 64 out after; longer prompts and replies take longer",
        "not the same token source: usage before, events after; they count differently",
        "so the two runs are not compared",
    ]


def test_a_run_held_against_itself_is_called_what_it_is() -> None:
    told = held(BEFORE, BEFORE, []).messages[0].text
    assert told == f"the same run: {BEFORE.id} before, {BEFORE.id} after; held against itself, it shows nothing"


def test_anyway_marks_every_row() -> None:
    shown = [line.text for line in comparison_lines(compared(OTHER, anyway=True).data)]
    table = [line for line in shown if line.startswith("8 ")]
    assert len(table) == 5
    assert all("not comparable: " in line for line in table)


def test_what_may_be_chance_is_said() -> None:
    result = held(BEFORE, run("b", steady(1.2, 0.5), steps=(8,)), [parse("ttft_p50>+1%")])
    assert result.exit_code == 0
    (only,) = result.messages
    assert "which may be chance and does not count" in only.text


def test_what_has_no_verdict_does_not_count_for_the_reason_that_there_is_none() -> None:
    busy = replace(AFTER, rungs=tuple(replace(one, client=replace(one.client, is_limit=True)) for one in AFTER.rungs))
    result = compared(busy, "ttft_p50>+10%")
    assert result.exit_code == 3
    told = [message.text for message in result.messages]
    assert told[0] == "--fail-if ttft_p50>+10%: nothing that it asks for has a verdict, so nobody can say"
    assert told[1].endswith("which does not count: the client was the limit")
    assert len(told) == 2


def _with_failures(run: Record, count: int) -> Record:
    bad = [replace(one, requests=(*one.requests, *(request(fault="status", t0_ms=None),) * count)) for one in run.rungs]
    return replace(run, rungs=tuple(bad))


@pytest.mark.parametrize(
    ("failed", "conditions", "code", "says"),
    [
        ((0, 24), ("worse",), 1, "--fail-if worse is met at concurrency 8 (requests fail)"),
        ((0, 24), ("ttft_p50>+10%",), 3, "--fail-if ttft_p50>+10%: nobody can say of concurrency 8 (requests fail)"),
        ((0, 24), ("ttft_p50@1>+10%",), 3, "nothing that it asks for has a verdict"),
        ((0, 24), (), 0, "concurrency 8: 0 of 24 requests failed before, 24 of 48 after"),
        ((24, 0), ("worse",), 3, "nothing that it asks for has a verdict"),
        ((0, 1), ("worse",), 0, ""),
    ],
    ids=["worse", "asked there", "asked elsewhere", "not asked", "it was so before", "one"],
)
def test_a_candidate_that_fails_does_not_pass(
    failed: tuple[int, int], conditions: tuple[str, ...], code: int, says: str
) -> None:
    one, other = _with_failures(BEFORE, failed[0]), _with_failures(run("b", steady(), steps=(8,)), failed[1])
    result = held(one, other, [parse(text) for text in conditions])
    assert result.exit_code == code
    assert any(says in message.text for message in result.messages) is bool(says)


def test_a_candidate_that_fails_at_one_of_two_does_not_pass() -> None:
    runs = [run(seed, steady(), steps=(1, 8)) for seed in ("before-2", "after-2")]
    first, last = runs[1].rungs
    (failing,) = _with_failures(replace(runs[1], rungs=(last,)), 24).rungs
    after = replace(runs[1], rungs=(first, failing))
    assert held(runs[0], after, [parse("worse")]).exit_code == 1
    assert held(runs[0], after, [parse("ttft_p50>+10%")]).exit_code == 3
    assert held(runs[0], after, [parse("ttft_p50@1>+10%")]).exit_code == 0


def test_the_table_for_people() -> None:
    lines = [line.text for line in comparison_lines(compared().data)]
    assert lines[0] == "Before: before (before-1). After: before (after-1)."
    assert lines[2].split("  ")[0] == "Concurrency"
    assert lines[3].startswith("8            TTFT p50 ms")
    assert lines[3].endswith("worse")
    assert lines[7].split()[4:] == [*"————", *["no", "verdict", "(sampled", "in", "neither", "run)"]]
    assert any("Bonferroni" in line for line in lines)


def test_what_can_be_done_where_there_is_no_verdict_is_said() -> None:
    limit = Client(cpu_share=0.99, loop_lag_p99_ms=9.0, skew_ms=1.0, is_limit=True)
    busy = replace(AFTER, rungs=tuple(replace(rung, client=limit) for rung in AFTER.rungs))
    few = replace(AFTER, rungs=tuple(replace(rung, requests=rung.requests[:6]) for rung in AFTER.rungs))
    told = [{text.partition(":")[0] for text in remarks(compared(run).data)} for run in (AFTER, busy, few)]
    remedies = {"Where the client was the limit", "Where there are too few requests"}
    assert [one & remedies for one in told] == [
        set(),
        {"Where the client was the limit"},
        {"Where there are too few requests"},
    ]


def test_the_table_for_a_page_keeps_text_from_outside_as_text() -> None:
    hostile = replace(AFTER, label="a|b <script>\n*x*")
    text = markdown_text(compared(hostile).data)
    assert "a\\|b &lt;script&gt;\ufffd\\*x\\*" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 5
    assert {line.count(" | ") for line in table} == {len(HEADS) - 1}


def test_the_table_for_a_spreadsheet_holds_no_formula() -> None:
    hostile = replace(AFTER, id='=HYPERLINK("x")')
    rows = list(csv.DictReader(io.StringIO(csv_text(compared(hostile).data), newline="")))
    assert [one["metric"] for one in rows] == ["ttft_p50", "ttft_p90", "tpot_p50", "tokens_per_s", "peak_memory"]
    assert {one["candidate"] for one in rows} == {'\'=HYPERLINK("x")'}
    assert float(rows[0]["change"]) == pytest.approx(0.2, abs=0.02)
    assert (rows[4]["before"], rows[4]["verdict"]) == ("", "no verdict")


def test_memory_is_said_to_have_no_interval() -> None:
    result = held(record(with_memory(500.0)), replace(record(with_memory(600.0)), id="b"), [])
    lines = [line.text for line in comparison_lines(result.data)]
    assert any(line.startswith("1            Peak memory MiB") and line.endswith("worse") for line in lines)
    assert any(line.startswith("Peak memory is one figure for each rung") for line in lines)
