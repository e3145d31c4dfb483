"""What mends what `doctor` found: each command line is said once, and referred to where it is needed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from toolsync.render.screen import Line, sentence

JOINT = " && "


class WaysOut:
    """The ways out that were said already.

    Args:
        words: of the language in which they are said.
    """

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self._of_program: set[str] = set()
        self._of_all: set[str] = set()

    def begin(self) -> None:
        """From here on it is of another program."""
        self._of_program = set()

    def line(self, text: str) -> Iterator[Line]:
        """What mends it: nothing where this program's lines say it already; what others share is referred to."""
        chain = steps(text) or [text]
        if self._of_program.issuperset(chain):
            return
        self._of_program.update(chain)
        shared = [*takewhile(self._of_all.__contains__, chain)]
        self._of_all.update(step for step in steps(text) if "--tool " not in step)
        if not shared:
            yield _way_out(text)
            return
        above = f"{self._words['above']}{self._words['colon']}{JOINT.join(shared)}"
        left = chain[len(shared) :]
        if left:
            yield Line(f"    {above}")
            yield _way_out(JOINT.join(left))
        else:
            yield Line(f"    → {above}", "place")


def _way_out(text: str) -> Line:
    """What mends it; a command stays on one line, for it is copied."""
    return Line(f"    → {text}", "place") if is_command(text) else sentence(f"    → {text}", "place", indent=6)


def steps(fix: str) -> Sequence[str]:
    """The commands of a chain; none of a sentence."""
    return fix.split(JOINT) if is_command(fix) else ()


def is_command(text: str) -> bool:
    """Whether it is to be copied, and no sentence."""
    return not text.endswith((".", "。"))
