"""Where everything stands in a JSON or JSONC text: containers, members, values, commas, comments, as spans.

The text is trusted to be valid, which the judge has said before. A container is read when somebody looks into it, and
what stands beside is skipped, so that an edit of a large file does not cost a walk through all of it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from toolsync.pattern import late
from toolsync.value import frozen

DEEPEST = 900
"""More levels than this are refused: the standard parser, which judges every edit, ends at about a thousand."""

Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Node:
    """A value; `bracket` is `{`, `[` or, for a scalar, empty."""

    text: str = field(repr=False)
    start: int
    bracket: str = ""

    @cached_property
    def end(self) -> int:
        """The offset after it."""
        if "_inside" in self.__dict__:
            return self._inside.end
        return _container_end(self.text, self.start) if self.bracket else _after(_SCALAR, self.text, self.start)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Its members or items."""
        return self._inside.entries if self.bracket else ()

    @cached_property
    def named(self) -> dict[str | int, Entry]:
        """Its members by their keys, of duplicates the last; its items by their numbers."""
        return {number if entry.key is None else entry.key: entry for number, entry in enumerate(self.entries)}

    @property
    def comments(self) -> tuple[Span, ...]:
        """The comments between its members or items."""
        return self._inside.comments if self.bracket else ()

    def enter(self, path: Sequence[object]) -> None:
        """Look at once into what lies on the way along `path`: it is then gone through once, not twice."""
        if self.bracket and "_inside" not in self.__dict__:
            self.__dict__["_inside"] = _inside(self.text, self.start, self.bracket, path)

    @cached_property
    def _inside(self) -> _Inside:
        return _inside(self.text, self.start, self.bracket)


@frozen
class Entry:
    """A member of an object, or an item of a list (`key` is None, `start` the value's)."""

    start: int
    key: str | None
    key_end: int
    value: Node
    comma: int | None
    """The offset of the comma behind it."""

    @property
    def end(self) -> int:
        """The offset after its value."""
        return self.value.end


@frozen
class _Inside:
    """What was found between a container's brackets; `end` is the offset after the closing one."""

    entries: tuple[Entry, ...]
    comments: tuple[Span, ...]
    end: int


def scan(text: str) -> Node | None:
    """The root of a valid `text`; None if it holds nothing but white space and comments."""
    at = _after(_GAP, text, 1 if text.startswith("\ufeff") else 0)
    return _node(text, at) if at < len(text) else None


def comments(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """The comments between two offsets of a valid text, neither of which is inside a string or comment."""
    at, end = start, len(text) if end is None else end
    while text.find("/", at, end) >= 0:
        at = _after(_UP_TO_COMMENT, text, at, end)
        comment = _COMMENT.match(text, at, end)
        if comment is None:
            return
        yield comment.span()
        at = comment.end()


_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NOTE = r"//[^\r\n]*+|/\*.*?\*/"
_GAP = late(rf"[ \t\r\n]*+(?:(?:{_NOTE})[ \t\r\n]*+)*+", re.DOTALL)
_SCALAR = late(rf"{_STRING}|[^ \t\r\n,:\[\]{{}}\"/]++", re.DOTALL)
_COMMENT = late(_NOTE, re.DOTALL)
_UP_TO_COMMENT = late(rf'[^"/]*+(?:{_STRING}[^"/]*+)*+', re.DOTALL)
_UP_TO_BRACKET = late(rf'[^"/{{}}\[\]]*+(?:(?:{_STRING}|{_NOTE})[^"/{{}}\[\]]*+)*+', re.DOTALL)
_QUICK = json.JSONDecoder(object_pairs_hook=len, parse_int=str, parse_float=str)  # nothing is kept: half the time


def _node(text: str, at: int) -> Node:
    return Node(text, at, text[at] if text[at] in "{[" else "")


def _inside(text: str, start: int, bracket: str, ahead: Sequence[object] = ()) -> _Inside:
    entries: list[Entry] = []
    notes: list[Span] = []
    at = _over_gap(text, start + 1, notes)
    while text[at] not in "}]":
        entry_start = key_end = at
        key = None
        if bracket == "{":
            key_end = _after(_SCALAR, text, at)
            key = json.loads(text[at:key_end])
            colon = _over_gap(text, key_end, notes)
            at = _over_gap(text, colon + 1, notes)
        value = _node(text, at)
        if ahead and key == ahead[0]:
            value.enter(ahead[1:])
        at = _over_gap(text, value.end, notes)
        comma = at if text[at] == "," else None
        entries.append(Entry(entry_start, key, key_end, value, comma))
        at = at if comma is None else _over_gap(text, comma + 1, notes)
    return _Inside(tuple(entries), tuple(notes), at + 1)


def _over_gap(text: str, at: int, notes: list[Span]) -> int:
    """The offset behind white space and comments; the comments join the `notes`."""
    end = _after(_GAP, text, at)
    notes.extend(comments(text, at, end))
    return end


def _container_end(text: str, at: int) -> int:
    """The offset behind a container: quickly by the standard parser, unless a comment or trailing comma is in it."""
    try:
        return _QUICK.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        depth = 0
    while True:
        at = _after(_UP_TO_BRACKET, text, at) + 1
        depth += 1 if text[at - 1] in "{[" else -1
        if depth == 0:
            return at


def _after(pattern: re.Pattern[str], text: str, at: int, limit: int = sys.maxsize) -> int:
    match = pattern.match(text, at, limit)
    if match is None:
        raise ValueError(f"no JSON at offset {at}")
    return match.end()
