"""A record's workload, for an engine that puts more load on than one process can."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from toolsync.bench.workload import prompt


def aiperf(run: Mapping[str, Any]) -> str:
    """The same workload as aiperf reads it (`single_turn`): as many prompts as long, all new, and what held the output.

    A line is a request; aiperf asks for the usage itself.

    Args:
        run: a record, as `record_file` has it.
    """
    asked = run["parameters"]
    seed, extra = secrets.randbits(48), {name: it for name, it in asked["accepted"].items() if name != "stream_options"}
    count = sum(one["ok"] + one["failed"] + _warm_up(one, asked) for one in run["rungs"])
    lines = ({"text": prompt(asked["words"], seed, number), "extra": extra} for number in range(count))
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _warm_up(rung: Mapping[str, Any], asked: Mapping[str, Any]) -> int:
    return int(rung["concurrency"] if asked["warm_up"] < 0 else asked["warm_up"])
