"""The oracle sees what editors are known to do wrong: else its silence would prove nothing."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.document import oracle

TEXT = '{\r\n  // above\r\n  "a": 1, // beside\r\n  "b": 1.0\r\n}\r\n'
WRONG = {
    "comment migrates": '{\r\n  // above\r\n  "a": 1,\r\n  "b": 1.0,\r\n  "new": 0 // beside\r\n}\r\n',
    "comment lost": '{\r\n  // above\r\n  "a": 1,\r\n  "b": 1.0,\r\n  "new": 0\r\n}\r\n',
    "comment adopted": '{\r\n  // above\r\n  "new": 0,\r\n  "a": 1, // beside\r\n  "b": 1.0\r\n}\r\n',
    "line ends changed": TEXT.replace("1.0\r\n", '1.0,\r\n  "new": 0\r\n').replace("above\r\n", "above\n"),
    "number spelled anew": TEXT.replace("1.0\r\n", '1,\r\n  "new": 0\r\n'),
    "order changed": '{\r\n  "b": 1.0,\r\n  // above\r\n  "a": 1, // beside\r\n  "new": 0\r\n}\r\n',
    "member twice": TEXT.replace("1.0\r\n", '1.0,\r\n  "new": 0,\r\n  "new": 0\r\n'),
    "spacing changed": TEXT.replace("1.0\r\n", '1.0,\r\n  "new": 0\r\n').replace('"a": 1', '"a":1'),
}


def is_faithful(before: str, after: str) -> bool:
    """Whether `after` is `before` with a new member `new` of value 0, by all that the laws ask."""
    one, other = oracle.read(before), oracle.read(after)
    return (
        other.value == oracle.put(one.value, ("new",), 0)
        and other.comments == one.comments
        and oracle.neighbours(after) == oracle.neighbours(before)
        and len(oracle.lines_gone(before, after)) <= 1
    )


def test_the_oracle_takes_the_right_edit() -> None:
    assert is_faithful(TEXT, TEXT.replace("1.0\r\n", '1.0,\r\n  "new": 0\r\n'))


@pytest.mark.parametrize("after", WRONG.values(), ids=WRONG)
def test_the_oracle_sees_a_wrong_edit(after: str) -> None:
    assert not is_faithful(TEXT, after)


def test_the_oracle_tells_own_comments_from_foreign_ones() -> None:
    assert oracle.foreign_comments(TEXT, ("a",)) == Counter(["// above"])
    assert oracle.foreign_comments(TEXT, ("b",)) == Counter(["// above", "// beside"])


@pytest.mark.parametrize("text", ["{", "{'a': 1}", "[1 2]", "[,]", "{} {}", "NaN", "/* ", '{"a" 1}', "[01]", '"\t"'])
def test_the_oracle_refuses_what_is_no_json(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  whatever it says
        oracle.read(text)
