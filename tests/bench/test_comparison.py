"""Verdicts against known truth: planted changes, equal runs, ties, few and failed requests, rungs that are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.bench.records import record, request, rung
from tests.conftest import thorough
from toolsync.bench.comparison import compared
from toolsync.bench.record import Client, Fault, Gpu, GpuUse, Record, Request, Rung

Draw = Callable[[Random], float]


def run(seed: str, ttft: Draw, *, itl: float = 5.0, steps: tuple[int, ...] = (1, 8), each: int = 3) -> Record:
    """A run whose requests follow each other on each stream without a gap."""
    random = Random(seed)
    rungs = [rung(step, *_requests(random, ttft, itl, step, each)) for step in steps]
    return replace(record(*rungs), id=seed)


def _requests(random: Random, ttft: Draw, itl: float, streams: int, each: int) -> list[Request]:
    made = []
    for _ in range(streams):
        at = 0.0
        for _ in range(max(10 // streams, each)):
            own = itl * random.gauss(1, 0.005)
            made.append(request(ttft(random), own, 20, t0_ms=at, intended_ms=at))
            at += made[-1].e2e_ms or 0
    return made


def steady(factor: float = 1.0, share: float = 0.01) -> Draw:
    return lambda random: 20 * factor * random.gauss(1, share)


def verdicts(before: Record, after: Record) -> dict[str, str]:
    return {f"{row.metric.name}@{row.concurrency}": row.verdict for row in compared(before, after).rows}


def test_a_change_that_was_planted_is_found_where_it_is_and_nowhere_else() -> None:
    assert verdicts(run("a", steady()), run("b", steady(1.08))) == {
        "ttft_p50@1": "worse",
        "ttft_p90@1": "no verdict",
        "tpot_p50@1": "no difference shown",
        "tokens_per_s@1": "no difference shown",
        "peak_memory@1": "no verdict",
        "ttft_p50@8": "worse",
        "ttft_p90@8": "worse",
        "tpot_p50@8": "no difference shown",
        "tokens_per_s@8": "no difference shown",
        "peak_memory@8": "no verdict",
    }


@pytest.mark.parametrize(
    ("after", "name", "expected"),
    [
        pytest.param(run("b", steady(0.9), steps=(8,)), "ttft_p50@8", "better", id="ttft-falls"),
        pytest.param(run("b", steady(), itl=5.5, steps=(8,)), "tpot_p50@8", "worse", id="tpot-rises"),
        pytest.param(
            run("b", steady(), itl=5.5, steps=(8,), each=10), "tokens_per_s@8", "worse", id="and-so-throughput-falls"
        ),
        pytest.param(
            run("b", steady(), itl=4.5, steps=(8,), each=10), "tokens_per_s@8", "better", id="more-throughput-is-better"
        ),
        pytest.param(
            run("b", steady(1.01), steps=(8,)), "ttft_p50@8", "no difference shown", id="less-than-the-least-effect"
        ),
        pytest.param(run("b", steady(1.08, 0.3), steps=(8,)), "ttft_p50@8", "no difference shown", id="lost-in-noise"),
    ],
)
def test_a_verdict(after: Record, name: str, expected: str) -> None:
    assert verdicts(run("a", steady(), steps=(8,), each=10), after)[name] == expected


NOISES: dict[str, Draw] = {
    "steady": steady(),
    "rough": steady(share=0.1),
    "a-tail": lambda random: 20 + random.expovariate(0.2),
    "two-speeds": lambda random: random.choice((20.0, 30.0)) + random.gauss(0, 0.2),
}


@pytest.mark.parametrize("noise", NOISES)
def test_runs_that_are_equal_get_no_verdict(noise: str) -> None:
    seen = []
    for number in range(thorough(12, 3)):
        pair = [run(f"{noise} {number} {side}", NOISES[noise], steps=(8,)) for side in "ab"]
        seen += [name for name, verdict in verdicts(*pair).items() if verdict in ("better", "worse")]
    assert seen == []


def in_step(seed: str, factor: float = 1.0, waves: int = 5) -> Record:
    """Streams that start together each time, all a little slower or faster at once."""
    random, made = Random(seed), []
    for number in range(waves):
        ttft = 20 * factor * random.gauss(1, 0.003)
        made += [
            request(ttft * random.gauss(1, 0.0005), 5.0, 20, t0_ms=number * 200.0, intended_ms=number * 200.0)
            for _ in range(8)
        ]
    return replace(record(rung(8, *made)), id=seed)


def test_of_streams_in_step_medians_are_compared_wave_by_wave() -> None:
    assert verdicts(in_step("a"), in_step("b", 1.08))["ttft_p50@8"] == "worse"
    assert verdicts(in_step("a"), in_step("b", 0.92))["ttft_p50@8"] == "better"
    assert verdicts(in_step("a"), in_step("b"))["ttft_p50@8"] == "no difference shown"
    (row, *_) = compared(in_step("a"), in_step("b", 1.08)).rows
    assert row.change is not None
    assert row.low is not None
    assert row.high is not None
    assert 0.05 < row.low < row.change < row.high < 0.11


def test_of_too_few_waves_in_step_nothing_is_said() -> None:
    (row, *_) = compared(in_step("a", waves=4), in_step("b", 1.08, waves=9)).rows
    assert (row.verdict, row.why) == ("no verdict", "too few requests (32, alike in each wave: worth 4)")


def test_a_disturbance_that_hits_one_wave_is_no_verdict() -> None:
    before, after = (run(seed, steady(), steps=(8,)) for seed in "ab")
    (hit,) = after.rungs
    by_wave = sorted(hit.requests, key=lambda one: one.t0_ms or 0)
    slow = tuple(replace(one, ttft_ms=(one.ttft_ms or 0) * 2) for one in by_wave[-8:])
    after = replace(after, rungs=(replace(hit, requests=(*by_wave[:-8], *slow)),))
    rows = {row.metric.name: row for row in compared(before, after).rows}
    assert rows["ttft_p90"].verdict == "no verdict"
    assert rows["ttft_p90"].why.startswith("too few requests (24, alike in each wave: worth ")
    assert rows["ttft_p50"].verdict in ("no difference shown", "no verdict")


def test_values_that_are_all_equal_differ_by_nothing() -> None:
    flat = run("a", lambda _: 20.0, steps=(8,))
    rows = compared(flat, replace(flat, id="b")).rows
    ttft = rows[0]
    assert (ttft.change, ttft.low, ttft.high, ttft.verdict) == (0.0, 0.0, 0.0, "no difference shown")


def test_the_intervals_are_those_of_all_rows_together_and_the_same_at_every_reading() -> None:
    before, after = run("a", steady()), run("b", steady())
    found = compared(before, after)
    tested = sum(row.low is not None for row in found.rows)
    assert tested == 7
    assert found.confidence == pytest.approx(1 - 0.05 / tested)
    assert compared(before, after) == found


def few(count: int, **more: Any) -> Record:
    return record(rung(1, *(request(100.0, **more) for _ in range(count))))


@pytest.mark.parametrize(
    ("before", "after", "name", "why"),
    [
        pytest.param(few(7), few(90), "ttft_p50", "too few requests (7)", id="few"),
        pytest.param(few(19), few(90), "ttft_p90", "too few requests (19)", id="few-for-a-p90"),
        pytest.param(few(150), few(150), "ttft_p99", "too few requests (150)", id="few-for-a-p99"),
        pytest.param(few(10), record(rung(1, *(request(fault="cut"),) * 10)), "ttft_p50", "unknown in one", id="none"),
        pytest.param(
            few(90),
            record(rung(1, *(request(),) * 80, *(request(fault="cut"),) * 10)),
            "ttft_p50",
            "10 of 90 requests failed",
            id="failed",
        ),
        pytest.param(few(10), few(10, tpot_ms=0.0), "tpot_p50", "", id="zero-after"),
        pytest.param(few(10, tpot_ms=0.0), few(10), "tpot_p50", "it was 0 before", id="zero-before"),
        pytest.param(few(10), few(10), "peak_memory", "sampled in neither run", id="memory-unknown"),
    ],
)
def test_why_there_is_no_verdict(before: Record, after: Record, name: str, why: str) -> None:
    (found,) = [row for row in compared(before, after).rows if row.metric.name == name]
    assert why in found.why if why else found.why == ""
    assert (found.verdict == "no verdict") == bool(why)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@pytest.mark.parametrize("fault", ["", "cut"])
def test_however_few_requests_there_are_nothing_is_said_of_them(count: int, fault: Fault) -> None:
    one = record(replace(rung(1), requests=tuple(request(t0_ms=1.0 * at, fault=fault) for at in range(count))))
    assert {row.verdict for row in compared(one, one).rows} <= {"no verdict", "no difference shown"}


def test_some_failures_do_not_hide_the_rest() -> None:
    before = few(90)
    after = record(rung(1, *(request(),) * 87, *(request(fault="cut"),) * 3))
    assert verdicts(before, replace(after, id="b"))["ttft_p50@1"] == "no difference shown"


def test_a_p99_is_hidden_below_a_hundred_requests() -> None:
    for count, is_shown in ((99, False), (100, True)):
        names = [row.metric.name for row in compared(few(count), few(count)).rows]
        assert ("ttft_p99" in names) == is_shown


def test_a_client_that_was_the_limit_says_nothing_of_the_server() -> None:
    limit = Client(cpu_share=0.99, loop_lag_p99_ms=9.0, skew_ms=1.0, is_limit=True)
    before = run("a", steady(), steps=(8,))
    after = run("b", steady(1.5), steps=(8,))
    after = replace(after, rungs=tuple(replace(one, client=limit) for one in after.rungs))
    rows = compared(before, after).rows
    assert {row.verdict for row in rows} == {"no verdict"}
    assert rows[0].why == "the client was the limit"
    assert rows[0].change == pytest.approx(0.5, abs=0.02)


def test_at_a_rate_throughput_is_what_was_asked_for() -> None:
    before, after = (run(one, steady(), itl=itl, steps=(8,)) for one, itl in (("a", 5.0), ("b", 9.0)))
    open_loop = [replace(one, parameters=replace(one.parameters, rate=5.0)) for one in (before, after)]
    (row,) = [row for row in compared(*open_loop).rows if row.metric.name == "tokens_per_s"]
    assert (row.verdict, row.why) == ("no verdict", "at a rate the load decides it, not the server")


@pytest.mark.parametrize(
    ("late", "rate", "why"),
    [
        (12, 5.0, "12 of 100 requests were sent late: the rate was not kept"),
        (10, 5.0, ""),
        (12, None, ""),
    ],
    ids=["too much", "now and then", "no rate"],
)
def test_a_rate_that_was_not_kept_up_hides_what_waited(late: int, rate: float | None, why: str) -> None:
    made = [request(100.0, t0_ms=10.0 * at, intended_ms=10.0 * at - 11 * (at < late)) for at in range(100)]
    asked = replace(record().parameters, rate=rate)
    runs = [record(rung(8, *requests), parameters=asked) for requests in (made[late:] + made[late:], made)]
    assert compared(*runs).rows[0].why == why


def test_rungs_that_only_one_of_them_finished_are_named() -> None:
    before, after = run("a", steady(), steps=(1, 2, 4)), run("b", steady(), steps=(1, 4, 8))
    found = compared(before, after)
    assert (sorted({row.concurrency for row in found.rows}), found.missing) == ([1, 4], (2, 8))


def with_memory(peak: float | None) -> Rung:
    use = GpuUse("A", "H200", 1000.0, 1.0, peak, why="" if peak is not None else "[N/A]")
    return replace(rung(1), gpus=(use,))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(500.0, 510.0, (0.02, "no difference shown", ""), id="the-least-effect"),
        pytest.param(500.0, 520.0, (0.04, "worse", ""), id="more"),
        pytest.param(500.0, 400.0, (-0.2, "better", ""), id="less"),
        pytest.param(500.0, None, (None, "no verdict", "[N/A]"), id="unknown-is-not-0"),
    ],
)
def test_peak_memory(before: float, after: float | None, expected: tuple[float | None, str, str]) -> None:
    rows = compared(record(with_memory(before)), record(with_memory(after))).rows
    (row,) = [row for row in rows if row.metric.name == "peak_memory"]
    assert (row.change, row.verdict, row.why) == expected
    assert row.low is None


@pytest.mark.parametrize(
    ("intervals", "why"),
    [((500, 500), ""), ((500, 50), "sampled every 500 ms before, every 50 ms after"), ((None, 50), "")],
    ids=["alike", "more often", "unknown"],
)
def test_who_looks_more_often_sees_higher_peaks(intervals: tuple[int | None, int | None], why: str) -> None:
    runs = [record(with_memory(500.0), gpu=Gpu("nvml", "", interval)) for interval in intervals]
    last = compared(*runs).rows[-1]
    assert (last.metric.name, last.why) == ("peak_memory", why)
    assert last.verdict == ("no verdict" if why else "no difference shown")


@pytest.mark.parametrize(
    ("tokens", "chunks", "why"),
    [
        (32, (32, 32), ""),
        (32, (32, 8), "a chunk held 1.00 tokens before, 4.00 after"),
        (32, (32, 31), ""),
        (512, (512, 128), ""),
        (512, (512, 64), "a chunk held 1.00 tokens before, 8.00 after"),
    ],
    ids=["alike", "short replies", "nearly alike", "long replies", "long replies of large chunks"],
)
def test_chunks_of_another_size_are_no_other_speed(tokens: int, chunks: tuple[int, int], why: str) -> None:
    runs = [record(rung(1, *(request(tokens=tokens, chunks=count),) * 10)) for count in chunks]
    (row,) = [one for one in compared(*runs).rows if one.metric.name == "tpot_p50"]
    assert (row.why, row.verdict == "no verdict") == (why, bool(why))
    exact = [replace(one, token_source="continuous-usage") for one in runs]
    assert not any(one.why for one in compared(*exact).rows if one.metric.name == "tpot_p50")


def _cards(*serves: bool | None) -> Rung:
    return rung(
        1, gpus=tuple(GpuUse(f"GPU-{n}", "H200", 1e5, 1.0, 500.0, (), None, one) for n, one in enumerate(serves))
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            _cards(None),
            _cards(None, None),
            ("no verdict", "not as many GPUs were watched: 1 before, 2 after"),
            id="nobody-knows-which-serve",
        ),
        pytest.param(_cards(True, True), _cards(True, False), ("better", ""), id="one-card-less-serves"),
        pytest.param(_cards(None, None), _cards(None, None), ("no difference shown", ""), id="as-many"),
    ],
)
def test_the_memory_of_more_cards_is_no_more_memory(before: Rung, after: Rung, expected: tuple[str, str]) -> None:
    last = compared(record(before), record(after)).rows[-1]
    assert (last.metric.name, (last.verdict, last.why)) == ("peak_memory", expected)
