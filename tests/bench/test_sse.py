"""Events: whatever their line ends and comments, and wherever they are torn, the same events at the right time."""

from __future__ import annotations

import gzip
from array import array
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.bench.sse import Event, events, unpacked

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=8)
_END = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def _streams(draw: st.DrawFn) -> tuple[bytes, list[tuple[str, str, int]]]:
    """A stream, and its events: name, data, and where each ends."""
    stream, told = "", []
    for _ in range(draw(st.integers(0, 5))):
        end = draw(_END)
        if draw(st.booleans()):
            stream += f":{draw(_TEXT)}{end}"
        name = draw(st.sampled_from(["", "message", "error"]))
        stream += f"event: {name}{end}" if name else ""
        lines = draw(st.lists(_TEXT, min_size=0, max_size=3))
        stream += "".join(f"data: {line}{end}" for line in lines)
        stream += end
        if lines:
            told.append((name, "\n".join(lines), len(stream.encode())))
    return stream.encode(), told


@given(_streams(), st.data())
def test_events_are_those_that_were_sent_however_they_are_torn(
    stream: tuple[bytes, list[tuple[str, str, int]]], data: st.DataObject
) -> None:
    body, told = stream
    cuts = data.draw(st.sets(st.integers(1, max(1, len(body) - 1))).map(sorted)) if len(body) > 1 else []
    ends = [*cuts, len(body)] if body else []
    found = list(events(body, range(len(ends)), ends))
    assert [(one.name, one.data) for one in found] == [(name, text) for name, text, _ in told]
    assert [one.at_ns for one in found] == [bisect_left(ends, end) for _, _, end in told]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: a\n\n\n\n\ndata: b\n\n", [("", "a"), ("", "b")]),
        (b"data: a", [("", "a")]),
        (b"data: a\r\n\ndata: b\n\r\n", [("", "a"), ("", "b")]),
        (b"data\n\n", [("", "")]),
        (b"data:  two\n\n", [("", " two")]),
        (b"datas: x\n\nxdata: y\n\n", []),
        (b"event: end\n\ndata: a\n\n", [("", "a")]),
        (b"data: \xff\xfe\n\n", [("", "��")]),
    ],
    ids=[
        "nothing",
        "empty lines",
        "BOM",
        "more empty lines",
        "no end",
        "mixed ends",
        "bare field",
        "one blank is taken",
        "other fields",
        "a name without data",
        "no UTF-8",
    ],
)
def test_oddities(body: bytes, expected: list[tuple[str, str]]) -> None:
    found = list(events(body, [7] if body else [], [len(body)] if body else []))
    assert found == [Event(7, name, data) for name, data in expected]


def test_what_is_no_gzip_is_not_unpacked() -> None:
    assert unpacked(b"data: x\n\n", array("q", [9]), "gzip", 1000) is None
    assert unpacked(b"x", array("q", [1]), "zstd", 1000) is None


@pytest.mark.parametrize(("length", "is_taken"), [(1000, True), (1001, False), (10_000_000, False)])
def test_no_more_comes_out_than_may(length: int, is_taken: bool) -> None:
    packed = gzip.compress(b" " * length)
    assert (unpacked(packed, array("q", [len(packed)]), "gzip", 1000) is not None) is is_taken
