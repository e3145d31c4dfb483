"""Two versions of one program, either of which may run: whether they find the same."""

from __future__ import annotations

from collections.abc import Mapping

from toolsync.tool import Reader
from toolsync.trace import Answer


def finds_the_same(reader: Reader, own: Mapping[str, Answer], other: Mapping[str, Answer]) -> bool:
    """Whether a version of a program finds what another does, so that nothing is to be said of it.

    Args:
        reader: the program.
        own: its answers.
        other: those of the version of which it is another.
    """
    if all(own[question].value == answer.value for question, answer in other.items()):
        return True
    asked = {question: own[question].value for question in reader.expect}
    is_same = all(other[question].value == value for question, value in asked.items())
    return is_same and asked != {**reader.expect}  # both lead elsewhere, and take nothing of what is ours
