"""A workload for other engines."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.bench.records import record, request, rung
from toolsync.commands.bench import export
from toolsync.commands.bench.records import described


def test_the_workload_for_aiperf_is_as_long_as_ours_and_like_no_other() -> None:
    one = record(rung(1, *(request(),) * 10), rung(2, *(request(),) * 11, request(fault="cut")))
    lines = [json.loads(line) for _ in range(2) for line in export.aiperf(described(one)).splitlines()]
    assert len(lines) == 2 * (10 + 12 + 1 + 2)  # twice those that were measured, and those that warmed them up
    assert all(line["extra"] == {"max_tokens": 256} for line in lines)
    assert {len(line["text"].partition("\n\n")[0].split()) for line in lines} == {480}
    assert len({line["text"] for line in lines}) == len(lines)
    assert len({line["text"].split()[0] for line in lines[: len(lines) // 2]}) == len(lines) // 2
    at_a_rate = replace(one, parameters=replace(one.parameters, rate=5.0, warm_up=5))
    assert export.aiperf(described(at_a_rate)).count("\n") == 10 + 12 + 5 + 5
