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
    patience, waited_ms = request.timeout_seconds, _waited_ms(asked)
    if patience is None or waited_ms <= patience * 1000:
        return None
    return {"seconds": f"{patience:g}", "needed": f"{waited_ms / 1000:.1f}"}


def _waited_ms(asked: Exchange) -> int:
    return asked.first_ms or asked.elapsed_ms
