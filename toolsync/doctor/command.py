"""Command lines of ours that mend something: as words, and as people type them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from toolsync.doctor.model import Fix

Words = tuple[str, ...]
"""One command line, behind `toolsync`."""


def spelled(words: Sequence[str]) -> str:
    """The command line as a person types it."""
    return f"toolsync {shlex.join(words)}"


def commands(first: Words, *then: Words) -> Fix:
    """What mends it: the first command line, and those without which it mends nothing."""
    return Fix(" && ".join(map(spelled, (first, *then))), first, then)


def applied(*tools: str) -> Words:
    """`apply` for these tools alone."""
    return ("apply", *(word for tool in sorted({*tools}) for word in ("--tool", tool)))
