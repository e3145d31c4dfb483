"""Patterns that are compiled when they are first used: at each start, all of them would take two starts of Python."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, for the modules that every command loads; a mistake in it shows at its first use.

    It does all that a pattern does, but the functions of `re` do not take it in a pattern's place.
    """
    return cast("re.Pattern[AnyStr]", _Late(text, flags))


class _Late:
    """In a pattern's place: each method is the pattern's own, fetched once."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = found
        return found


PLACE = late(r"[/~.]|[A-Za-z]:[\\/]|[A-Za-z][\w+.-]*://")
"""A program or an address in the place of a key: a part of it may be a part of many others."""
