"""Ignore files: lines added at the end and taken out again, and every other byte as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync import document
from toolsync.document import splice
from toolsync.document.gitignore import GitignoreDocument
from toolsync.errors import EditRefusedError

SET = {
    "empty": ("", "/a\n"),
    "after others": ("x\n", "x\n/a\n"),
    "no final newline": ("x", "x\n/a\n"),
    "CRLF": ("x\r\n", "x\r\n/a\r\n"),
    "CRLF, no final newline": ("x\r\ny", "x\r\ny\r\n/a\r\n"),
    "half a CRLF at the end": ("x\r\ny\r", "x\r\ny\r\n/a\r\n"),
    "as the last line ends": ("x\r\ny\n", "x\r\ny\n/a\n"),
    "a byte-order mark alone": ("\ufeff", "\ufeff/a\n"),
    "a byte-order mark": ("\ufeffx\n", "\ufeffx\n/a\n"),
    "there already": ("/a\nx\n", "/a\nx\n"),
    "there already, behind a byte-order mark": ("\ufeff/a\r\nx", "\ufeff/a\r\nx"),
    "there already, last": ("x\n/a", "x\n/a"),
    "a comment is no pattern": ("#/a\n", "#/a\n/a\n"),
    "a blank line at the end": ("x\n\n", "x\n\n/a\n"),
}


@pytest.mark.parametrize(("before", "after"), SET.values(), ids=SET)
def test_a_pattern_is_added_once(before: str, after: str) -> None:
    assert document.parse(before.encode(), "gitignore").set(("/a",), value=True).text == after


REMOVE = {
    "alone": ("/a\n", ""),
    "first": ("/a\nx\n", "x\n"),
    "last, no final newline": ("x\n/a", "x\n"),
    "CRLF": ("x\r\n/a\r\ny\r\n", "x\r\ny\r\n"),
    "behind a byte-order mark": ("\ufeff/a\nx\n", "\ufeffx\n"),
    "not there": ("# /a\nx\n", "# /a\nx\n"),
}


@pytest.mark.parametrize(("before", "after"), REMOVE.values(), ids=REMOVE)
def test_a_pattern_is_taken_out(before: str, after: str) -> None:
    assert document.parse(before.encode(), "gitignore").remove(("/a",)).text == after


def test_a_pattern_that_stands_there_twice_is_not_ours_alone() -> None:
    with pytest.raises(EditRefusedError, match="stands there more than once"):
        document.parse(b"/a\n/a\n", "gitignore").remove(("/a",))


@pytest.mark.parametrize("line", ["", "  ", "# x", "a\nb", "a\r", "a\u2028b"])
def test_what_is_no_pattern_is_refused(line: str) -> None:
    with pytest.raises(EditRefusedError):
        document.parse(b"", "gitignore").set((line,), value=True)


_TEXT = st.text(st.sampled_from("ab/#! \\\r\n\ufeff\u2028é"), max_size=40)
_LINE = st.text(st.sampled_from("ab/*é"), min_size=1, max_size=4)


@given(text=_TEXT, lines=st.lists(_LINE, max_size=3))
def test_what_was_added_is_there_and_the_way_back_leads_to_the_same_bytes(text: str, lines: list[str]) -> None:
    before = GitignoreDocument(text)
    after = before
    for line in lines:
        after = after.set((line,), value=True)
    assert after.text.startswith(text)
    assert {*after.data} == {*before.data, *lines}
    assert splice.apply(after.text, splice.inverse(text, after.log)) == text


def test_the_format_is_known_by_the_name() -> None:
    assert document.format_of("dots/.gitignore") == "gitignore"
