"""Figures: each as it is defined, on requests whose figures can be told by hand."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.records import request, rung
from toolsync.bench.metrics import Timing, percentile, source_of, spread, summary
from toolsync.bench.metrics import request as figures
from toolsync.bench.record import Request, TokenSource
from toolsync.bench.tokens import Reply, Usage

_MS = 1_000_000
_TIMING = Timing(origin_ns=0, intended_ns=2 * _MS, t0_ns=5 * _MS, status=200)


def _reply(*at_ms: float, completion: int | None = None, **more: Any) -> Reply:
    at_ns = tuple(round(one * _MS) for one in at_ms)
    return Reply(at_ns, at_ns[0] if at_ns else None, Usage(512, completion), is_ended=True, **more)


@pytest.mark.parametrize(
    ("reply", "source", "tpot_ms", "tokens"),
    [
        (_reply(105, 110, 115, completion=3), "usage", 5.0, 3),
        (_reply(105, 125, completion=5), "usage", 5.0, 5),
        (_reply(105, 125, completion=8, first_usage=4), "continuous-usage", 5.0, 8),
        (_reply(105, 125, completion=8, first_usage=4), "usage", round(20 / 7, 4), 8),
        (_reply(105, 110, 115), "events", 5.0, 3),
        (_reply(105, 110, 115), "usage", None, None),
        (_reply(105, 110, 115, completion=9), "events", 5.0, 3),
        (_reply(105, completion=1), "usage", None, 1),
        (_reply(105, completion=7), "usage", None, 7),
        (_reply(105, 110, completion=1), "usage", None, 1),
    ],
    ids=[
        "a token a chunk",
        "several",
        "counted all along",
        "that counted at the end",
        "by events",
        "silent",
        "never mixed",
        "one token",
        "one chunk",
        "fewer than chunks",
    ],
)
def test_time_per_token(reply: Reply, source: TokenSource, tpot_ms: float | None, tokens: int | None) -> None:
    found = figures(_TIMING, reply, "", source)
    assert (found.tpot_ms, found.completion_tokens, found.ttft_ms, found.dispatch_delay_ms) == (tpot_ms, tokens, 100, 3)


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        (_reply(1, 2), "events"),
        (_reply(1, 2, completion=2), "usage"),
        (_reply(1, 2, completion=2, first_usage=1), "continuous-usage"),
    ],
    ids=["nobody", "at the end", "all along"],
)
def test_who_counts(reply: Reply, source: TokenSource) -> None:
    assert source_of(reply) == source


def test_what_was_never_sent_has_no_figures() -> None:
    found = figures(Timing(0, 2 * _MS, None, None), Reply(), "unsent", "usage")
    assert found == Request(2.0, fault="unsent")
    assert found.dispatch_delay_ms is None


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50))
def test_percentiles_lie_as_the_standard_library_has_them(values: list[float]) -> None:
    expected = statistics.quantiles(values, n=100, method="inclusive")
    found = [percentile(sorted(values), percent) for percent in range(1, 100)]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("count", "is_told"), [(1, False), (99, False), (100, True)])
def test_p99_of_few_is_not_told(count: int, is_told: bool) -> None:
    told = spread([1.0] * count)
    assert (told.n, told.p50, told.p99 is not None) == (count, 1.0, is_told)
    assert spread([]).p50 is None


def test_system_tokens_are_all_tokens_from_the_first_start_to_the_last_token() -> None:
    one = request(ttft_ms=100, itl_ms=5, tokens=21)  # ends 200 ms after its start
    told = summary(rung(2, one, request(ttft_ms=100, itl_ms=5, tokens=21, t0_ms=300.0)), 21)
    assert told.system_tokens_per_s == pytest.approx(42 / 0.5)
    assert told.request_tokens_per_s == pytest.approx(200)
    assert told.tokens_per_chunk == 1


def test_the_steady_rate_leaves_out_the_beginning_and_the_end() -> None:
    """Two streams, two requests each; the second stream begins late, and the first ends early."""
    long = {"ttft_ms": 10, "itl_ms": 10, "tokens": 10}  # a token every 10 ms, for 100 ms
    starts = (0.0, 50.0, 100.0, 150.0)
    told = summary(rung(2, *(request(**long, t0_ms=start) for start in starts)), 10)
    assert told.system_tokens_per_s == pytest.approx(40 / 0.25)
    assert told.steady_tokens_per_s == pytest.approx(2 * 15 / 0.15)
    bare = [replace(request(**long, t0_ms=start), itl_ms=()) for start in starts]
    assert summary(rung(2, *bare), 10).steady_tokens_per_s is None, "nobody knows when their chunks came"


def test_streams_that_were_never_all_busy_have_no_steady_rate() -> None:
    """At a rate, 2 may be under way at once, and only one is."""
    apart = [request(ttft_ms=10, itl_ms=10, tokens=10, t0_ms=200.0 * number) for number in range(8)]
    assert summary(rung(2, *apart), 10).steady_tokens_per_s is None
    assert summary(rung(1, *apart), 10).steady_tokens_per_s is not None


@pytest.mark.parametrize(
    ("tokens", "told"),
    [((4, 4), (0, 0, 0)), ((3, 5), (1, 1, 0)), ((None, 4), (0, 0, 1)), ((9, 9), (0, 2, 0))],
    ids=["as asked", "one of each", "one that nobody counted", "the limit is not kept to"],
)
def test_replies_of_another_length_are_counted(tokens: tuple[int | None, ...], told: tuple[int, int, int]) -> None:
    seen = summary(rung(1, *(request(completion_tokens=one) for one in tokens)), 4)
    assert (seen.short, seen.long, seen.uncounted) == told


def test_chunks_that_came_at_once_are_told_from_those_that_came_one_by_one() -> None:
    seen = [replace(request(), itl_ms=gaps) for gaps in ((0.0, 0.0, 20.0), (5.0, 5.0, 0.0001))]
    assert summary(rung(1, *seen), 4).bunched_share == pytest.approx(2 / 6)
    assert summary(rung(1, replace(request(), itl_ms=())), 4).bunched_share is None


def test_what_failed_is_counted_and_in_no_figure() -> None:
    bad = request(ttft_ms=9999, fault="event", t0_ms=9999.0)
    told = summary(rung(1, request(), request(completion_tokens=2), bad, Request(0.0, fault="unsent")), 4)
    assert (told.ok, told.failed, told.short) == (2, 2, 1)
    assert (told.ttft_ms.n, told.ttft_ms.p90) == (2, 100.0)


@pytest.mark.parametrize(
    ("changes", "rate", "per_chunk", "cached"),
    [
        ({"completion_tokens": None}, None, None, 0.0),
        ({"cached_tokens": None}, 4 / 0.115, 1.0, None),
        ({"cached_tokens": 128}, 4 / 0.115, 1.0, 0.25),
        ({"completion_tokens": 8}, 8 / 0.115, 2.0, 0.0),
    ],
    ids=["uncounted", "nothing said of a cache", "a quarter cached", "two a chunk"],
)
def test_unknown_is_not_nought(
    changes: dict[str, Any], rate: float | None, per_chunk: float | None, cached: float | None
) -> None:
    told = summary(rung(1, request(**changes)), 4)
    expected = pytest.approx(rate) if rate else None
    assert (told.system_tokens_per_s, told.tokens_per_chunk, told.cached_share) == (expected, per_chunk, cached)


@pytest.mark.parametrize(
    ("source", "finish", "tokens", "is_short"),
    [
        ("usage", "length", 4, False),
        ("usage", "stop", 4, False),
        ("usage", "length", 3, True),
        ("events", "length", 1, False),
        ("events", "max_tokens", 1, False),
        ("events", "stop", 9, True),
        ("events", None, 1, False),
    ],
)
def test_chunks_are_not_taken_for_tokens(source: TokenSource, finish: str, tokens: int, is_short: bool) -> None:
    one = request(finish_reason=finish, completion_tokens=tokens)
    assert summary(rung(1, one), 4, source).short == is_short


def test_a_rung_in_which_all_failed_has_no_figures() -> None:
    told = summary(rung(1, Request(0.0, fault="unsent")), 4)
    assert (told.ok, told.failed, told.ttft_ms.p50, told.system_tokens_per_s) == (0, 1, None, None)
