"""Where two texts differ: whole lines, with some around them."""

from __future__ import annotations

import re
from itertools import takewhile

from toolsync.value import frozen


@frozen
class Excerpt:
    """The lines that count; what stands before them, and behind them, is the same in both texts.

    Attributes:
        start: the offset of the first, in either text.
        tail: how many characters stand behind the last, in either text.
    """

    start: int
    tail: int

    def of(self, text: str) -> tuple[int, int]:
        """Its start and end offset in one of the texts."""
        return self.start, len(text) - self.tail

    def widened(self, text: str, start: int, end: int) -> Excerpt:
        """The same, with the lines of `text` that a span stands on."""
        own_start, own_end = self.of(text)
        line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        line_end = _LINE.match(text, end)
        return Excerpt(min(own_start, line_start), len(text) - max(own_end, line_end.end() if line_end else len(text)))


def difference(before: str, after: str, context: int) -> Excerpt:
    """Where both differ, with `context` lines before and behind."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    shared = _shared(old, new)
    behind = _shared(old[shared:][::-1], new[shared:][::-1])
    start = sum(map(len, old[: max(0, shared - context)]))
    tail = sum(map(len, old[len(old) - max(0, behind - context) :]))
    return Excerpt(start, tail)


def line_count(text: str) -> int:
    """How many lines end in a text."""
    return len(_LINE_END.findall(text))


_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++")


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
