"""A change of text as a span and what replaces it; the inverse gives the old text back, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolsync.value import frozen


@frozen
class Splice:
    """`length` characters from `start` on give way to `text`."""

    start: int
    length: int
    text: str

    @property
    def end(self) -> int:
        """The offset after the last character that goes."""
        return self.start + self.length


def apply(text: str, splices: Iterable[Splice]) -> str:
    """`text` after each splice in turn; each speaks of the text that the one before it left."""
    for splice in splices:
        text = "".join((text[: splice.start], splice.text, text[splice.end :]))
    return text


def inverse(text: str, splices: Sequence[Splice]) -> tuple[Splice, ...]:
    """The splices that lead from `apply(text, splices)` back to `text`."""
    back: list[Splice] = []
    for splice in splices:
        back.append(Splice(splice.start, len(splice.text), text[splice.start : splice.end]))
        text = apply(text, [splice])
    return tuple(reversed(back))
