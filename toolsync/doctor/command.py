"""Command lines of ours that mend something: as words, and as people type them."""

from __future__ import annotations

import re
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


def words_for(profile: str, tool: str, words: Words) -> Words:
    """The command line for a tool that was set to `profile`; `apply` has to name what is not active."""
    if words[:1] != ("apply",) or "--profile" in words:
        return words
    return (*words, *(() if "--tool" in words else ("--tool", tool)), "--profile", profile)


def text_for(profile: str, tool: str, told: str) -> str:
    """The same of every command line that a sentence names."""
    told = re.sub(_APPLY, lambda match: spelled(words_for(profile, tool, tuple(match[1].split()))), told)
    return re.sub(_BY_ACTIVE, rf"\g<0> --profile {profile}", re.sub(_OF_ACTIVE, rf"\g<0> {profile}", told))


_APPLY = r"toolsync (apply(?: --?[a-z][a-z-]*(?: [A-Za-z0-9._-]+)?)*)"
_BY_ACTIVE = r"toolsync (?:exec|env|ping)(?! --profile)(?=[ `])"
_OF_ACTIVE = r"toolsync (?:profile edit(?= --set|`)|profile show(?=`)|key rotate(?=`))"
