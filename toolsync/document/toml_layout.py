"""Where things stand in a TOML text, where new lines may go, and which lines go together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from toolsync.document.splice import Splice
from toolsync.document.toml_scan import Blank, Comment, Header, Line, Node, Pair, Place, Statement, scan

Kind = Literal["section", "dotted", "implicit"]
"""How a table outside of values is there: by its own header (the root too), by dotted keys, by its sub-tables only."""

_WORD = re.compile(r"[^\W_]+")
_MARKERS = (
    ("end", {"end", "stop"}, re.compile(r"#.*<<<.*|#\s*</[^<>]+>|#\s*endregion\b.*|#.*}}}")),
    ("begin", {"begin", "start"}, re.compile(r"#.*>>>.*|#\s*<[^<>]+>|#\s*region\b.*|#.*{{{\d?")),
)
"""A block's ends as tools and editors write them: `BEGIN x`, `x: start`, `>>> x >>>`, `<x>`, `region x`, `x {{{`."""


class Layout:
    """The lines of one text, and what can be asked of them."""

    def __init__(self, text: str) -> None:
        self.text = text
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

    def spot_for_key(self, section: Place, last: int | None) -> int | None:
        """Where a key of `section` may go, after line `last` or as its first; None: only in a block of another tool."""
        first, end = self._region(section)
        if last is not None:
            return self._outside_blocks(last + 1, first, end)
        if section or not self.statements:
            return self._outside_blocks(first if section else end, first, end)
        return self._outside_blocks(self.above(end), first, end)

    def spot_for_table(self, path: Place) -> int | None:
        """Where a header for something under `path` may go: at the end, or at the end of the list item that it is in."""
        for n, step in enumerate(path):
            following = (*path[:n], step + 1) if isinstance(step, int) else None
            if following in self.headers:
                first = self.under(path[: n + 1])[-1] + 1
                end = self._next_header(first)
                return self._outside_blocks(self.above(end), first, end)
        return len(self.lines)

    def above(self, number: int) -> int:
        """The first line of the comment that stands directly above line `number`; a file's own first line stays out."""
        while number > 0 and self._is_comment(number - 1) and not self._speaks_of_file(number - 1):
            number -= 1
        return number

    def _region(self, section: Place) -> tuple[int, int]:
        first = self.headers[section] + 1 if section else 0
        return first, self._next_header(first)

    def _next_header(self, number: int) -> int:
        return next((n for n in self.headers.values() if n >= number), len(self.lines))

    def _outside_blocks(self, spot: int, first: int, end: int) -> int | None:
        """`spot`, or the nearest one between `first` and `end` that no other tool's begin and end enclose."""
        for begin, closing in self._blocks:
            if not begin < spot <= closing:
                continue
            if begin < first:
                return None
            return closing + 1 if closing < end else self.above(begin)
        return spot

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """The outermost pairs of comments that say begin and end of the same thing."""
        found: list[tuple[int, int]] = []
        opened: list[tuple[int, list[str]]] = []
        for number in range(len(self.lines)):
            role, label = self._marker(number) if self._is_comment(number) else ("", [])
            if role == "begin":
                opened.append((number, label))
            if role == "end":
                begin = next((n for n, name in reversed(opened) if _same(name, label)), None)
                if begin is not None:
                    opened = [entry for entry in opened if entry[0] < begin]
                    found = [*(block for block in found if block[0] < begin), (begin, number)]
        return found

    def _marker(self, number: int) -> tuple[str, list[str]]:
        """Whether a comment begins or ends a block, and the words that say of what."""
        comment = self.text[self.lines[number].start : self.lines[number].end].strip().lower()
        words = _WORD.findall(comment)
        for role, names, form in _MARKERS:
            if names & set(words) or form.fullmatch(comment):
                return role, [word for word in words if word not in names | {"region", "endregion"}]
        return "", []

    def _is_comment(self, number: int) -> bool:
        return isinstance(self.lines[number], Comment)

    def _speaks_of_file(self, number: int) -> bool:
        """`#:schema …` and `#!…` are directives for editors and shells, not about what follows."""
        return number == 0 and self.text[self.lines[0].start : self.lines[0].end].lstrip().startswith(("#:", "#!"))

    # Splices that add and take whole lines.

    def inserted(self, spot: int, new: Sequence[str]) -> Splice:
        """`new` lines at `spot`, with the line ends around it; a file without a final line end stays so."""
        eol = self._eol(spot)
        if spot < len(self.lines):
            return Splice(self.lines[spot].start, 0, "".join(line + eol for line in new))
        if self.lines and not self._ends_line(len(self.lines) - 1):
            return Splice(len(self.text), 0, "".join(eol + line for line in new))
        return Splice(len(self.text), 0, "".join(line + eol for line in new))

    def removed(self, numbers: Iterable[int]) -> list[Splice]:
        """Those lines gone, last first, and one of two blank lines that would then meet."""
        gone = set(numbers)
        for first, end in _runs(gone):
            extra = self._superfluous_blank(first, end, gone)
            if extra is not None:
                gone.add(extra)
        return [self._run_removed(first, end) for first, end in reversed(_runs(gone))]

    def _superfluous_blank(self, first: int, end: int, gone: set[int]) -> int | None:
        before = next((n for n in range(first - 1, -1, -1) if n not in gone), None)
        after = next((n for n in range(end, len(self.lines)) if n not in gone), None)
        blank_before = before is not None and isinstance(self.lines[before], Blank)
        blank_after = after is not None and isinstance(self.lines[after], Blank)
        if before is None:
            return after if blank_after else None
        if after is None:
            is_separator = blank_before and any(not isinstance(line, Blank) for line in self.lines[:before])
            return before if is_separator else None
        if not (blank_before and blank_after):
            return None
        return before if isinstance(self.lines[first], Header) else after

    def _run_removed(self, first: int, end: int) -> Splice:
        start, stop = self.lines[first].start, self.lines[end - 1].end
        if end == len(self.lines) and first > 0 and not self._ends_line(end - 1):
            start -= len(self._line_end(first - 1))
        return Splice(start, stop - start, "")

    def _eol(self, spot: int) -> str:
        """The line end of the nearest line before `spot` that has one, else of the first after it."""
        order = (*range(spot - 1, -1, -1), *range(spot, len(self.lines)))
        return next((self._line_end(n) for n in order if self._ends_line(n)), "\n")

    def _ends_line(self, number: int) -> bool:
        return self.text[self.lines[number].end - 1] == "\n"

    def _line_end(self, number: int) -> str:
        return "\r\n" if self.text.endswith("\r\n", 0, self.lines[number].end) else "\n"


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
        parts = member.key.parts if member.key else ()
        if rest[: len(parts)] == parts:
            return member.value, rest[len(parts) :]
    return None


def _same(one: list[str], other: list[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as ranges without gaps: first, and one after the last."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs
