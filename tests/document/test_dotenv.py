"""Files of variables: what programs that load them make of each line, and where it stands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.document import Source, parse
from toolsync.errors import EditRefusedError

LINES: dict[str, tuple[str, dict[str, str]]] = {
    "plain": ("A=x", {"A": "x"}),
    "export": ("export A=x", {"A": "x"}),
    "spaces": ("  A = x ", {"A": "x"}),
    "empty": ("A=\nB=", {"A": "", "B": ""}),
    "a comment": ("# A=x\n#B=y", {}),
    "a comment behind": ("A=x # y", {"A": "x"}),
    "a hash inside": ("A=x#y", {"A": "x#y"}),
    "only a comment": ("A= # y", {"A": ""}),
    "single quotes": ("A='x # \\n'", {"A": "x # \\n"}),
    "double quotes": ('A="x # \\"y\\"\\n"', {"A": 'x # "y"\n'}),
    "an open quote": ("A='x", {"A": "'x"}),
    "an equals sign inside": ("A=x=y==", {"A": "x=y=="}),
    "the last one counts": ("A=x\nA=y", {"A": "y"}),
    "no assignment": ("A\nnot a line\n=x\n1=y", {}),
    "a byte-order mark": ("\ufeffA=x", {"A": "x"}),
    "a reference stays": ("A=${B}", {"A": "${B}"}),
}


@pytest.mark.parametrize(("text", "expected"), LINES.values(), ids=LINES)
def test_what_a_line_means(text: str, expected: dict[str, str]) -> None:
    assert parse(text.encode(), "dotenv").data == expected
    assert parse(text.replace("\n", "\r\n").encode(), "dotenv-crlf").data == expected


@pytest.mark.parametrize(
    ("text", "kept"), {"A=x\r\n": "x\r", 'A="x"\r\n': "x\r", "A=\r\n": "\r", "A=x # y\r\n": "x\r"}.items()
)
def test_a_carriage_return_belongs_to_the_value_unless_crlf_ends_lines(text: str, kept: str) -> None:
    assert parse(text.encode(), "dotenv").data == {"A": kept}
    assert parse(text.encode(), "dotenv-crlf").data == {"A": kept.removesuffix("\r")}


def test_where_it_stands() -> None:
    document = parse(b"\xef\xbb\xbf# mine\r\nexport A = x\r\nB='y'\n", "dotenv")
    assert document.position(("A",)) == (2, 12)
    assert document.source(("B",)) == Source("'y'")
    assert document.position(("C",)) is None


def test_it_is_never_written() -> None:
    document = parse(b"A=x\n", "dotenv")
    with pytest.raises(EditRefusedError, match="read only"):
        document.set(("A",), "y")
    with pytest.raises(EditRefusedError, match="read only"):
        document.remove(("A",))
    assert document.set(("A",), "x") is document


@given(st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,5}", fullmatch=True), st.text("abc #='\"\\$", max_size=8)))
def test_what_is_quoted_is_read_back(variables: dict[str, str]) -> None:
    escaped = [f'{name}="' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for name, value in variables.items()]
    assert parse("\n".join(escaped).encode(), "dotenv").data == variables


@pytest.mark.parametrize(
    "text",
    ["A=" + " " * 200_000 + "x", 'A="' + "\\" * 200_001, "A=" + " #" * 100_000],
    ids=["spaces", "slashes", "hashes"],
)
def test_a_long_line_takes_no_time(text: str) -> None:
    before = time.thread_time()
    parse(text.encode(), "dotenv")
    assert time.thread_time() - before < 2
