"""An engine's own `/metrics`: how full its KV cache is, which tells of load where memory is reserved at start."""

from __future__ import annotations

from collections.abc import Sequence

from toolsync.bench.gpu.exposition import points
from toolsync.bench.gpu.reading import Holder, Reading, UnreadableError
from toolsync.bench.gpu.scrape import Scraper
from toolsync.bench.record import GpuSource

NAMES = (
    "vllm:kv_cache_usage_perc",
    "vllm:gpu_cache_usage_perc",  # the same in older vLLM
    "sglang:token_usage",
)
"""Each from 0 to 1, whatever its name says."""


def kv_cache_share(text: str) -> float | None:
    """The fullest of the engine's caches (one per data-parallel replica), 0 to 1; None where it says nothing of one."""
    return max((point.value for point in points(text, NAMES) if 0 <= point.value <= 1), default=None)


class Engine:
    """The engine's address; a cache is read as if it were a GPU of size 1."""

    source: GpuSource = "prometheus"
    way = ""
    notes: tuple[str, ...] = ()

    def __init__(self, url: str) -> None:
        self._scraper = Scraper(url, NAMES)

    def open(self) -> None:
        """Nothing has to be ready."""

    def read(self) -> Sequence[Reading]:
        """The share in use, now.

        Raises:
            UnreadableError: no answer, or one that says nothing of a KV cache.
        """
        share = kv_cache_share(self._scraper.text())
        if share is None:
            raise UnreadableError("it answers, and says nothing of a KV cache (vLLM and SGLang do)")
        return [Reading("kv-cache", share, 1.0)]

    def holders(self) -> Sequence[Holder] | None:
        """None is known."""
        return None

    def close(self) -> None:
        """Hang up."""
        self._scraper.close()
