"""Which lines an edit took: none more than it must have, however alike the lines are that stand around it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def gone(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """The numbers of the lines of `before` that `after` does not have in the same order.

    What both begin and end with is set aside first: `difflib` pairs the longest runs it finds, and where lines repeat
    these may be others than those that were there.
    """
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - head) if before[-1 - at] != after[-1 - at]), most - head)
    one, other = before[head : len(before) - tail], after[head : len(after) - tail]
    blocks = SequenceMatcher(a=one, b=other, autojunk=False).get_opcodes()
    return [head + at for kind, start, end, _, _ in blocks if kind != "equal" for at in range(start, end)]
