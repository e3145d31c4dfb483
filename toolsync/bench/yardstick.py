"""By what runs are compared: the figures, what they are called, and where they stand in a rung; pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from toolsync.bench.gpu import peak_mib
from toolsync.bench.metrics import Summary
from toolsync.bench.record import Request, Rung
from toolsync.value import frozen

LEAST_EFFECT = 0.02
"""A change that is smaller counts as none."""

MetricName = Literal["ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "tokens_per_s", "peak_memory"]


@frozen
class Metric:
    """A figure that is compared.

    Attributes:
        name: for programs.
        title: for people.
        unit: of its values.
        is_better_higher: whether more of it is good.
    """

    name: MetricName
    title: str
    unit: str
    is_better_higher: bool = False


METRICS = (
    Metric("ttft_p50", "TTFT p50", "ms"),
    Metric("ttft_p90", "TTFT p90", "ms"),
    Metric("ttft_p99", "TTFT p99", "ms"),
    Metric("tpot_p50", "TPOT p50", "ms"),
    Metric("tokens_per_s", "Output tokens/s", "tokens/s", is_better_higher=True),
    Metric("peak_memory", "Peak memory", "MiB"),
)


def value(metric: Metric, rung: Rung, told: Summary) -> float | None:
    """The figure of a rung that is summed up already; None where nobody knows it."""
    if metric.name == "peak_memory":
        return peak_mib(rung)
    return {
        "ttft_p50": told.ttft_ms.p50,
        "ttft_p90": told.ttft_ms.p90,
        "ttft_p99": told.ttft_ms.p99,
        "tpot_p50": told.tpot_ms.p50,
        "tokens_per_s": told.system_tokens_per_s,
    }[metric.name]


SHARES: dict[MetricName, tuple[Callable[[Request], float | None], float]] = {
    "ttft_p50": (lambda one: one.ttft_ms, 0.5),
    "ttft_p90": (lambda one: one.ttft_ms, 0.9),
    "ttft_p99": (lambda one: one.ttft_ms, 0.99),
    "tpot_p50": (lambda one: one.tpot_ms, 0.5),
}
"""Those that are a percentile: of which figure of each request, and which one, as a share."""
