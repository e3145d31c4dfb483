"""Whether a tool would have waited for what came: its time limit, held against the waits that it counts for."""

from __future__ import annotations

from collections.abc import Mapping

from toolsync.probe.exchange import Exchange
from toolsync.probe.request import Request


def outwaited(request: Request, asked: Exchange) -> Mapping[str, str] | None:
    """How long it waits and how long it has to, for the cause's sentences; None where it waits long enough.

    Args:
        request: the tool's.
        asked: what it came to, with our patience.
    """
    patience, waited_ms = request.timeout_seconds, _waited_ms(request, asked)
    if patience is None or waited_ms <= patience * 1000:
        return None
    return {"seconds": f"{patience:g}", "needed": f"{waited_ms / 1000:.1f}"}


def _waited_ms(request: Request, asked: Exchange) -> int:
    """The longest of the waits that the limit holds for; what is no stream comes at once, its headers with it."""
    whole = asked.elapsed_ms if asked.headers_ms is None else asked.headers_ms
    waits = {"headers": whole, "first": asked.first_ms or asked.elapsed_ms, "gaps": asked.silence_ms or 0}
    return max(waits[name] for name in request.timeout_of)
