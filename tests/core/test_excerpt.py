"""Excerpts: what differs is in them, what is outside is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.excerpt import difference, line_count

TEXTS = st.text(st.sampled_from("ab\n\r"), max_size=40)


@given(TEXTS, TEXTS, TEXTS, TEXTS, st.integers(0, 3))
def test_what_is_outside_is_the_same_and_ends_at_lines(head: str, old: str, new: str, tail: str, context: int) -> None:
    before, after = head + old + tail, head + new + tail
    part = difference(before, after, context)
    starts, ends = zip(part.of(before), part.of(after), strict=True)
    assert starts[0] <= ends[0] <= len(before)
    assert starts[1] <= ends[1] <= len(after)
    assert before[: starts[0]] == after[: starts[1]]
    assert before[ends[0] :] == after[ends[1] :]
    for cut in (starts[0], ends[0]):
        assert before[:cut][-1:] in ("", "\n", "\r") or cut == len(before)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        pytest.param(0, ("B\n", "X\n"), id="the line alone"),
        pytest.param(1, ("a\nB\nc\n", "a\nX\nc\n"), id="with one around"),
        pytest.param(9, ("0\na\nB\nc\nd", "0\na\nX\nc\nd"), id="more than there are"),
    ],
)
def test_an_excerpt_has_as_many_lines_around_as_asked_for(context: int, expected: tuple[str, str]) -> None:
    texts = "0\na\nB\nc\nd", "0\na\nX\nc\nd"
    part = difference(*texts, context)
    assert tuple(text[slice(*part.of(text))] for text in texts) == expected


def test_lines_are_counted_by_their_ends() -> None:
    assert line_count("a\r\nb\nc\rd") == 3
