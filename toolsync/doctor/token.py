"""A token that says until when it holds (a JWT): whether two clocks that differ disagree about it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

_PARTS = 3
"""Header, claims, signature (RFC 7519, 3)."""


def claims(key: str) -> Mapping[str, Any]:
    """What a token says of itself, its signature unread; nothing for a key that is none."""
    parts = key.split(".")
    if len(parts) != _PARTS:
        return {}
    try:
        said = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def is_disputed(key: str, here: float, there: float) -> bool:
    """Whether it holds by one clock, and by the other it does not yet, or no longer.

    Args:
        key: the credential.
        here: this machine's time, in seconds since the epoch.
        there: the gateway's.
    """
    return _holds(key, here) and not _holds(key, there)


def _holds(key: str, now: float) -> bool:
    said = claims(key)
    has_begun = all(start <= now for start in _moments(said, "nbf", "iat"))
    return has_begun and all(now < end for end in _moments(said, "exp"))


def _moments(said: Mapping[str, Any], *names: str) -> list[float]:
    """Those of the claims that are moments, in seconds since the epoch."""
    found = [said.get(name) for name in names]
    return [one for one in found if isinstance(one, int | float) and not isinstance(one, bool)]
