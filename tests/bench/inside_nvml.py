"""Inside a process of its own, whose loader finds the library under test: every mode in turn, told as JSON.

Arguments: the endpoint that is measured, and the modes, each as `NAME=VALUE;…` of the environment.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from toolsync.bench.gpu import Watch, Wish
from toolsync.bench.record import Client, Rung


def seen(endpoint: str, variables: Mapping[str, str]) -> dict[str, Any]:
    for name in [name for name in os.environ if name.startswith("FAKE_NVML_")]:
        del os.environ[name]
    os.environ.update(variables)
    watch = Watch(Wish(endpoint, interval_ms=10))
    trouble = watch.start()
    began = time.perf_counter_ns()
    time.sleep(float(variables.get("FAKE_NVML_SECONDS", "0.03")))
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


def main() -> None:
    endpoint, *modes = sys.argv[1:]
    told = [seen(endpoint, dict(pair.split("=") for pair in mode.split(";") if pair)) for mode in modes]
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
