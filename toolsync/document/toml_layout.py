"""Where things stand in a TOML text, where new lines may go, and which lines go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from toolsync.document.toml_scan import Comment, Header, Line, Node, Pair, Place, Statement, scan
from toolsync.pattern import late

Kind = Literal["section", "dotted", "implicit"]
"""How a table outside of values is there: by its own header (the root too), by dotted keys, by its sub-tables only."""

_WORD = late(r"[^\W_]+")
_MARKERS = (
    ("end", {"end", "stop"}, late(r"#.*<<<.*|#\s*</[^<>]+>|#\s*endregion\b.*|#.*}}}")),
    ("begin", {"begin", "start"}, late(r"#.*>>>.*|#\s*<[^<>]+>|#\s*region\b.*|#.*{{{\d?")),
)
"""A block's ends as tools and editors write them: `BEGIN x`, `x: start`, `>>> x >>>`, `<x>`, `region x`, `x {{{`."""


class Layout:
    """The lines of one text, and what can be asked of them; `eol` is the line end where it has none to follow."""

    def __init__(self, text: str, eol: str = "\n") -> None:
        self.text = text
        self._eol = eol
        self.lines: Sequence[Line] = list(scan(text))

    @cached_property
    def statements(self) -> dict[int, Statement]:
        """Line number (from 0) to the header or key on it, in order."""
        return {n: line for n, line in enumerate(self.lines) if isinstance(line, Header | Pair)}

    @cached_property
    def pairs(self) -> dict[Place, Pair]:
        """Every key line by the path of its value."""
        return {line.path: line for line in self.statements.values() if isinstance(line, Pair)}

    @cached_property
    def headers(self) -> dict[Place, int]:
        """The line number of every header by its path."""
        return {line.path: n for n, line in self.statements.items() if isinstance(line, Header)}

    def under(self, path: Place) -> list[int]:
        """The numbers of the lines that define `path` or something in it."""
        return [n for n, line in self.statements.items() if line.path[: len(path)] == path]

    def walk(self, path: Place) -> list[tuple[Node, Place]]:
        """The values on the way to `path`, outermost first, each with what of the path still lies ahead of it.

        The last is the value itself (nothing ahead), or the inline table that holds `path` by dotted keys.
        """
        owner = next((self.pairs[path[:n]] for n in range(1, len(path) + 1) if path[:n] in self.pairs), None)
        return list(_descent(owner.value, path[len(owner.path) :])) if owner else []

    def node(self, path: Place) -> Node | None:
        """The value at `path`, if it stands there in one piece."""
        way = self.walk(path)
        return way[-1][0] if way and not way[-1][1] else None

    def kind(self, path: Place) -> Kind:
        """How the table at `path`, which lies in no value, is there."""
        if not path or path in self.headers:
            return "section"
        return "dotted" if self.dotted(path) else "implicit"

    def dotted(self, path: Place) -> list[int]:
        """The lines whose dotted keys define the table at `path`."""
        lines = ((n, self.statements[n]) for n in self.under(path))
        return [n for n, line in lines if isinstance(line, Pair) and len(line.section) < len(path)]

    # Where new lines may go. A spot is the number of the line before which they are put.

    def spot_for_key(self, section: Place, last: int | None) -> int:
        """Where a key of `section` may go, after line `last` or as its first.

        Raises:
            ValueError: only into a block of another tool.
        """
        first, end = self._region(section)
        if last is not None:
            return self._outside_blocks(last + 1, first, end)
        if section or not self.statements:
            return self._outside_blocks(first if section else end, first, end)
        return self._outside_blocks(self._above(end), first, end)

    def spot_for_table(self, path: Place) -> int:
        """Where a header for something under `path` may go: at the end, or at the end of the list item that it is in.

        Raises:
            ValueError: only into a block of another tool.
        """
        for n, step in reversed(list(enumerate(path))):
            following = (*path[:n], step + 1) if isinstance(step, int) else None
            if following in self.headers:
                first = self.under(path[: n + 1])[-1] + 1
                end = self._next_header(first)
                return self._outside_blocks(self._above(end), first, end)
        return len(self.lines)

    def _above(self, number: int) -> int:
        """The first line of the comment that stands directly above line `number`; a directive on line one stays out."""
        while number > 0 and isinstance(self.lines[number - 1], Comment) and not self._is_directive(number - 1):
            number -= 1
        return number

    def _is_directive(self, number: int) -> bool:
        """`#:schema …` and `#!…` on the first line speak to editors and shells, not of what follows."""
        return number == 0 and self._words(0).startswith(("#:", "#!"))

    def _words(self, number: int) -> str:
        return self.text[self.lines[number].start : self.lines[number].end].strip()

    def _region(self, section: Place) -> tuple[int, int]:
        first = self.headers[section] + 1 if section else 0
        return first, self._next_header(first)

    def _next_header(self, number: int) -> int:
        return next((n for n in self.headers.values() if n >= number), len(self.lines))

    def _outside_blocks(self, spot: int, first: int, end: int) -> int:
        """`spot`, or the nearest one between `first` and `end` that no other tool's begin and end enclose."""
        for begin, closing in self._blocks:
            if not begin < spot <= closing:
                continue
            if begin < first:
                raise ValueError(f"its table lies in a block of another tool, which begins on line {begin + 1}")
            return closing + 1 if closing < end else self._above(begin)
        return spot

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """The outermost pairs of comments that say begin and end of the same thing."""
        found: list[tuple[int, int]] = []
        opened: list[tuple[int, list[str]]] = []
        for number in range(len(self.lines)):
            role, label = self._marker(number)
            if role == "begin":
                opened.append((number, label))
            if role == "end":
                begin = next((n for n, name in reversed(opened) if _same(name, label)), None)
                if begin is not None:
                    opened = [entry for entry in opened if entry[0] < begin]
                    found = [*(block for block in found if block[0] < begin), (begin, number)]
        return found

    def _marker(self, number: int) -> tuple[str, list[str]]:
        """Whether a line begins or ends a block, and the words that say of what."""
        comment = self._words(number).lower() if isinstance(self.lines[number], Comment) else ""
        words = _WORD.findall(comment)
        for role, names, form in _MARKERS:
            if names & set(words) or form.fullmatch(comment):
                return role, [word for word in words if word not in names | {"region", "endregion"}]
        return "", []

    def eol(self, number: int) -> str:
        """The end of line `number`; empty for a last line that has none."""
        end = self.lines[number].end
        if self.text.endswith("\r\n", 0, end):
            return "\r\n"
        return "\n" if self.text.endswith("\n", 0, end) else ""

    def nearest_eol(self, spot: int) -> str:
        """The line end of the nearest line before `spot` that has one, else of the first after it, else in a value."""
        order = (*range(spot - 1, -1, -1), *range(spot, len(self.lines)))
        return next(filter(None, map(self.eol, order)), "\r\n" if "\r\n" in self.text else self._eol)


def _descent(node: Node, rest: Place) -> Iterator[tuple[Node, Place]]:
    while True:
        yield node, rest
        step = _step(node, rest)
        if step is None:
            return
        node, rest = step


def _step(node: Node, rest: Place) -> tuple[Node, Place] | None:
    if not rest or node.kind == "scalar":
        return None
    if node.kind == "array":
        return node.members[int(rest[0])].value, rest[1:]
    for member in node.members:
        if rest[: len(member.parts)] == member.parts:
            return member.value, rest[len(member.parts) :]
    return None


def _same(one: list[str], other: list[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
