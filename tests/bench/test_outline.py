"""What plots are drawn from: the table's figures, and no peak that is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bench.records import record, request, rung
from toolsync.bench.metrics import spread, summary
from toolsync.bench.outline import (
    Track,
    box,
    cache_shares,
    highest,
    itl_values,
    stream_rates,
    system_rates,
    tracks,
    ttft_values,
)
from toolsync.bench.record import GpuUse

UNEVEN = rung(4, *(request(ttft_ms=100.0 + number**2, itl_ms=5.0 + number) for number in range(50)))


@pytest.mark.parametrize(
    ("values", "of"), [(ttft_values, "ttft_ms"), (itl_values, "itl_ms")], ids=["first token", "gaps"]
)
def test_a_box_lies_where_the_table_says(values: object, of: str) -> None:
    assert callable(values)
    found, told = box(values(UNEVEN)), getattr(summary(UNEVEN, 4), of)
    assert found is not None
    assert (found.p50, found.p90) == (told.p50, told.p90)
    assert found.p10 < found.p25 < found.p50 < found.p75 < found.p90
    assert (min(found.beyond), max(found.beyond)) == (min(values(UNEVEN)), max(values(UNEVEN)))
    assert not any(found.p10 <= value <= found.p90 for value in found.beyond)


def test_of_many_values_the_outermost_are_drawn() -> None:
    values = [float(number) for number in range(100_000)]
    found = box(values)
    assert found is not None
    assert len(found.beyond) <= 80
    assert (min(found.beyond), max(found.beyond)) == (0.0, 99_999.0)
    assert found.p50 == spread(values).p50


def test_what_failed_is_in_no_box() -> None:
    failed = rung(1, request(fault="cut"))
    assert box(ttft_values(failed)) is None
    assert box(itl_values(failed)) is None


def test_a_line_goes_through_the_tables_figures() -> None:
    one = record(UNEVEN, rung(8, request(fault="cut")))
    told = summary(UNEVEN, 4)
    assert system_rates(one) == [(4, told.system_tokens_per_s), (8, None)]
    assert stream_rates(one) == [(4, told.request_tokens_per_s), (8, None)]
    assert cache_shares(record(rung(1, kv_cache_peak=0.25), rung(2))) == [(1, 25.0), (2, None)]


def test_memory_stands_where_its_rung_stood() -> None:
    card = GpuUse("u", "a card", 4096.0, 1024.0, 2048.0, ((0.0, 1024.0), (500.0, 2048.0)))
    first = rung(1, gpus=(card,))
    later = replace(rung(2, gpus=(replace(card, samples=()), card)), started_ns=4_000_000_000, ended_ns=5_000_000_000)
    assert tracks(record(first, later)) == [
        Track(0, ((0.0, 1.0), (0.5, 2.0))),
        Track(1, ((3.0, 1.0), (3.5, 2.0))),
    ]
    assert tracks(record()) == []


@pytest.mark.parametrize("count", [0, 1, 7, 8, 1000])
def test_thinned_samples_keep_the_peak(count: int) -> None:
    samples = [(float(at), 5000.0 if at == count // 3 else float(at % 7)) for at in range(count)]
    kept = highest(samples, 8)
    assert len(kept) <= 8
    assert set(kept) <= set(samples)
    assert max(samples, key=lambda one: one[1], default=None) == max(kept, key=lambda one: one[1], default=None)
