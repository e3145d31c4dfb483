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
