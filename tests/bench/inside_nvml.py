"""Inside a process of its own, whose loader finds the library under test: every mode in turn, told as JSON.

Arguments: the endpoint that is measured, and the modes: `NAME=VALUE;…` of the environment before the rung, and after
each `|` what changes during it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from toolsync.bench.gpu import Watch, Wish
from toolsync.bench.gpu.polling import Poller
from toolsync.bench.record import Client, Rung


def seen(endpoint: str, before: Mapping[str, str], during: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    for name in [name for name in os.environ if name.startswith("FAKE_NVML_")]:
        del os.environ[name]
    os.environ.update(before)
    watch = Watch(Wish(endpoint, interval_ms=10))
    trouble = watch.start()
    began = time.perf_counter_ns()
    for change in during or ({},):
        os.environ.update(change)
        _sample(watch)
    watched = watch.stop()
    healthy = Client(cpu_share=0.1, loop_lag_p99_ms=0.2, skew_ms=0.3, is_limit=False)
    (rung,) = watched.filled([Rung(1, began, time.perf_counter_ns(), "", "", (), healthy)])
    gpus = [
        {
            "uuid": one.uuid,
            "name": one.name,
            "total": one.total_mib,
            "baseline": one.baseline_mib,
            "peak": one.peak_mib,
            "reserved": one.reserved_mib,
            "serves": one.serves,
            "why": one.why,
        }
        for one in rung.gpus
    ]
    held = [[holder.gpu, holder.pid, holder.used_mib] for holder in watched.memory.holders or ()]
    gpu = watched.gpu
    return {"trouble": trouble, "source": gpu.source, "way": gpu.way, "reason": gpu.reason, "gpus": gpus, "held": held}


def _sample(watch: Watch) -> None:
    """Wait for two samples, of which the second was begun after now; or for the end of the sampling."""
    poller = watch._memory
    if not isinstance(poller, Poller):
        return
    wanted = len(poller._samples) + 2
    until = time.monotonic() + 20
    while len(poller._samples) < wanted and poller._thread.is_alive() and time.monotonic() < until:
        time.sleep(0.002)


def main() -> None:
    endpoint, *modes = sys.argv[1:]
    told = []
    for mode in modes:
        before, *during = [dict(pair.split("=") for pair in part.split(";") if pair) for part in mode.split("|")]
        told.append(seen(endpoint, before, during))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
