"""A TOML text cut into lines with spans; it trusts that the text is valid (1.1), which a parser has said before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import tomli

from toolsync.pattern import late
from toolsync.value import frozen

Place = tuple[str | int, ...]
"""Where something stands in the data: keys and list positions, no `Item`."""


@frozen
class Key:
    """A key as written: `a . "b"` has two parts; `ends` are the offsets after each."""

    parts: tuple[str, ...]
    start: int
    ends: tuple[int, ...]


@frozen
class Node:
    """A value as written; an array or inline table has members."""

    kind: Literal["scalar", "array", "table"]
    start: int
    end: int
    members: tuple[Member, ...] = ()

    def members_at(self, names: Place) -> list[Member]:
        """The members of an inline table that its keys, dotted or not, put at `names` or below."""
        return [member for member in self.members if member.parts[: len(names)] == names]


@frozen
class Member:
    """What stands between two commas: a value, in an inline table with its key; and the offset of the comma after."""

    key: Key | None
    value: Node
    comma: int | None

    @property
    def parts(self) -> tuple[str, ...]:
        """The keys it is reached by; none in an array."""
        return self.key.parts if self.key else ()

    @property
    def start(self) -> int:
        """The offset of its first character."""
        return self.key.start if self.key else self.value.start

    @property
    def end(self) -> int:
        """The offset after its last character, the comma included."""
        return self.value.end if self.comma is None else self.comma + 1


@frozen
class Line:
    """A line; `end` is the offset after its line end."""

    start: int
    end: int


@frozen
class Blank(Line):
    """A line with nothing but blanks."""


@frozen
class Comment(Line):
    """A comment on a line of its own."""


@frozen
class Header(Line):
    """`[path]` or `[[path]]`; for the latter `path` ends in the item's position."""

    path: Place
    key: Key


@frozen
class Pair(Line):
    """`key = value`, over as many lines as the value has; `section` is the path of the header above it."""

    path: Place
    key: Key
    value: Node
    section: Place


Statement = Header | Pair

_BLANKS = late(r"[ \t]*")
_REST = late(r"[ \t]*(?:#[^\n]*)?(?:\r?\n)?")
_TRIVIA = late(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_PART = late(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*+"|'[^']*'""")
_DOT = late(r"[ \t]*\.[ \t]*")
_EQUALS = late(r"[ \t]*=[ \t]*")
# Greedy, not possessive, around look-aheads: early 3.11 (Debian 12's) matches those wrongly (python/cpython#100061).
_SCALAR = late(
    r'''"""(?:[^"\\]++|\\.|"(?!""))*"{3,5}'''
    r"""|'''(?:[^']++|'(?!''))*'{3,5}"""
    r"""|"(?:[^"\\]++|\\.)*+"|'[^']*'"""
    r"|\d{4}-\d\d-\d\d[ ]\d\d:[0-9:.Zz+-]*|[^\s,\]}#]+",
    re.DOTALL,
)
_CLOSERS = {"[": "]", "{": "}"}


def scan(text: str) -> Iterator[Line]:
    """The lines of a valid TOML text in order; together they are the text, a byte-order mark aside."""
    at = 1 if text.startswith("\ufeff") else 0
    section: Place = ()
    counts: dict[Place, int] = {}
    while at < len(text):
        line = _line(text, at, section, counts)
        if isinstance(line, Header):
            section = line.path
        yield line
        at = line.end


def _line(text: str, start: int, section: Place, counts: dict[Place, int]) -> Line:
    at = _after(_BLANKS, text, start)
    first = text[at : at + 1]
    if first == "#":
        return Comment(start, _after(_REST, text, at))
    if first in {"", "\r", "\n"}:
        return Blank(start, _after(_REST, text, at))
    if first == "[":
        return _header(text, start, at, counts)
    key = _key(text, at)
    value = _value(text, _after(_EQUALS, text, key.ends[-1]))
    return Pair(start, _after(_REST, text, value.end), section + key.parts, key, value, section)


def _header(text: str, start: int, at: int, counts: dict[Place, int]) -> Header:
    is_item = text.startswith("[[", at)
    brackets = 2 if is_item else 1
    key = _key(text, _after(_BLANKS, text, at + brackets))
    end = _after(_REST, text, _after(_BLANKS, text, key.ends[-1]) + brackets)
    path = _table_path(key.parts, counts)
    if is_item:
        counts[path] = counts.get(path, -1) + 1
        path += (counts[path],)
    return Header(start, end, path, key)


def _table_path(parts: tuple[str, ...], counts: dict[Place, int]) -> Place:
    """The path that a header names: on its way through an array of tables it means the last item so far."""
    path: Place = ()
    for part in parts[:-1]:
        path += (part,)
        if path in counts:
            path += (counts[path],)
    return path + parts[-1:]


def _key(text: str, at: int) -> Key:
    start, parts, ends = at, [], []
    while True:
        end = _after(_PART, text, at)
        parts.append(_unquoted(text[at:end]))
        ends.append(end)
        dot = _DOT.match(text, end)
        if dot is None:
            return Key(tuple(parts), start, tuple(ends))
        at = dot.end()


@lru_cache(maxsize=4096)
def _unquoted(part: str) -> str:
    if part[0] not in "\"'":
        return part
    return next(iter(tomli.loads(f"{part} = 0")))


@dataclass(slots=True)
class _Open:
    """An array or inline table whose closing bracket has not been met."""

    start: int
    closer: str
    members: list[Member]
    key: Key | None = None


def _value(text: str, at: int) -> Node:
    """The value at `at`; a stack instead of recursion, so that no depth of nesting overflows."""
    stack: list[_Open] = []
    while True:
        closer = _CLOSERS.get(text[at])
        if closer is None:
            node = Node("scalar", at, _after(_SCALAR, text, at))
        else:
            stack.append(_Open(at, closer, []))
            node = None
        at, node = _closed(text, at, node, stack)
        if node is not None:
            return node


def _closed(text: str, at: int, node: Node | None, stack: list[_Open]) -> tuple[int, Node | None]:
    """Hand `node` to the containers that it completes; where the next value starts, or the outermost node."""
    while stack:
        top = stack[-1]
        if node is None:
            at = _after(_TRIVIA, text, at + 1)
        else:
            at = _after(_TRIVIA, text, node.end)
            comma = at if text[at] == "," else None
            top.members.append(Member(top.key, node, comma))
            at = at if comma is None else _after(_TRIVIA, text, comma + 1)
        if text[at] != top.closer:
            if top.closer == "}":
                top.key = _key(text, at)
                at = _after(_EQUALS, text, top.key.ends[-1])
            return at, None
        stack.pop()
        node = Node("array" if top.closer == "]" else "table", top.start, at + 1, tuple(top.members))
    return at, node


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(f"no TOML at offset {at}")
    return match.end()
