"""JSON Web Tokens: whether one opens anything; they say so themselves, to whoever holds them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import Any

_LONGEST_SECONDS = 20 * 365 * 86_400.0
"""What is good for longer was written down as an example."""

_ROUND_SECONDS = 3600
"""What ends on the hour was written down, too; what a server gives out ends so many seconds after it was asked."""

_MILLISECONDS = 1e11
"""A moment beyond this is not counted in seconds, as some write it."""


def is_open(token: str, now: float) -> bool:
    """Whether a token is signed, and good now for whoever has it.

    Args:
        token: header, payload and signature.
        now: seconds since 1970.
    """
    header, payload = (_part(text) for text in token.split(".")[:2])
    until = payload.get("exp")
    if not isinstance(header.get("alg"), str) or header["alg"].lower() == "none" or payload.get("role") == "anon":
        return False  # of Supabase's, that is the role that every visitor has
    if isinstance(until, bool) or not isinstance(until, int | float):
        return False  # what never ends is an example, nearly always
    seconds = until / 1000 if until > _MILLISECONDS else until
    return bool(seconds % _ROUND_SECONDS) and now < seconds < now + _LONGEST_SECONDS


def _part(text: str) -> dict[str, Any]:
    try:
        part = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, RecursionError):
        return {}
    return part if isinstance(part, dict) else {}
