"""How hard a rung asks: streams that send one request after the other, or requests at a rate."""

from __future__ import annotations

from math import ceil

from toolsync.value import frozen

PER_STREAM, LEAST = 5, 10
"""A rung has five requests per stream, and ten at least: with fewer, waves that are each alike tell no median."""


@frozen
class Load:
    """How hard a rung asks.

    Attributes:
        concurrency: streams; with a rate, the most requests that are under way at once.
        requests_min: at least so many; None: as many as `count` says.
        duration_seconds: at least so long; None: as its requests take.
        rate: requests per second, started whatever came back; None: each stream waits for its reply.
    """

    concurrency: int
    requests_min: int | None = None
    duration_seconds: float | None = None
    rate: float | None = None

    @property
    def count(self) -> int:
        """How many requests there are at least."""
        if self.requests_min is not None:
            return max(self.requests_min, self.concurrency if self.rate is None else 1)
        if self.duration_seconds is not None:
            return self.concurrency if self.rate is None else 1
        return max(PER_STREAM * self.concurrency, LEAST)

    @property
    def warm_up(self) -> int:
        """How many requests are thrown away first: one per stream, and at a rate as many as a second brings."""
        if self.rate is None:
            return self.concurrency
        return min(self.concurrency, ceil(self.rate), self.requests_min or self.concurrency)
