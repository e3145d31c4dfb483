"""NVIDIA's DCGM exporter, or a Prometheus that collects several (`/federate`), by HTTP: the GPUs of a cluster."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence

from toolsync.bench.gpu.exposition import Point, points
from toolsync.bench.gpu.reading import Holder, Reading, UnreadableError, known_mib
from toolsync.bench.gpu.scrape import Scraper
from toolsync.bench.record import GpuSource
from toolsync.masking import on_one_line

_USED, _FREE, _TOTAL, _RESERVED = (f"DCGM_FI_DEV_FB_{what}" for what in ("USED", "FREE", "TOTAL", "RESERVED"))
NAMES = (_USED, _FREE, _TOTAL, _RESERVED)


def readings(text: str) -> list[Reading]:
    """Every GPU that the text tells of, in its order, in MiB as DCGM counts."""
    gpus: dict[str, dict[str, Point]] = {}
    for point in points(text, NAMES):
        gpus.setdefault(_called(point), {})[point.name] = point
    return [_reading(gpu, list(found.values())) for gpu, found in gpus.items()]


def _called(point: Point) -> str:
    label = point.labels.get
    host = label("Hostname") or label("hostname") or label("instance") or ""
    whole = label("UUID") or f"{_unnamed(host)}:{label('gpu', '')}"
    part = label("GPU_I_ID")
    return f"{whole}/{part}" if part else whole


_SALT = secrets.token_bytes(16)


def _unnamed(host: str) -> str:
    """What tells hosts apart in one run: their names are in no record."""
    return hmac.digest(_SALT, host.encode(), "sha256").hex()[:8]


def _reading(gpu: str, found: Sequence[Point]) -> Reading:
    values = {point.name: point.value for point in found if known_mib(point.value) is not None}
    used, total = values.get(_USED), values.get(_TOTAL)
    if total is None and used is not None and _FREE in values:
        total = used + values[_FREE] + values.get(_RESERVED, 0)
    labels = found[0].labels
    name = on_one_line(labels.get("modelName", ""), limit=100)
    why = "" if used is not None else "the exporter does not say how much is in use"
    return Reading(gpu, used, total, values.get(_RESERVED), name, labels.get("gpu", ""), why)


class Dcgm:
    """The exporter at an address."""

    way = ""
    notes: tuple[str, ...] = (
        "An exporter shows what it collected last, by default every 30 s: shorter peaks are missed.",
    )

    def __init__(self, url: str) -> None:
        is_prometheus = url.split("?", maxsplit=1)[0].rstrip("/").endswith("/federate")
        self.source: GpuSource = "prometheus" if is_prometheus else "dcgm"
        self._scraper = Scraper(url, NAMES)

    def open(self) -> None:
        """Nothing has to be ready."""

    def read(self) -> Sequence[Reading]:
        """Every GPU, as collected last.

        Raises:
            UnreadableError: no answer, or one without GPUs.
        """
        found = readings(self._scraper.text())
        if not found:
            raise UnreadableError(f"the exporter answers, and names no {_USED}")
        return found

    def holders(self) -> Sequence[Holder] | None:
        """An exporter knows no processes."""
        return None

    def close(self) -> None:
        """Hang up."""
        self._scraper.close()
