"""Readings of JSON texts, by which edits are judged: equal only where order, duplicates and numbers' spelling are."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import takes
from toolsync.document import Item, KeyPath, parse
from toolsync.document.json_judge import read
from toolsync.document.json_written import drop, put, same

DIFFERENT: dict[str, tuple[str, str]] = {
    "a number and a boolean": ("[1]", "[true]"),
    "nought and a boolean": ("[0]", "[false]"),
    "a number and a text": ("[1]", '["1"]'),
    "a number spelled otherwise": ("[1.0]", "[1.00]"),
    "a whole number and one with a fraction": ("[1]", "[1.0]"),
    "the sign of nought": ("[0.0]", "[-0.0]"),
    "an object and a list": ("{}", "[]"),
    "an object and a list of pairs": ('{"a": "b"}', '[["a", "b"]]'),
    "the order of members": ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    "a duplicate that does not count": ('{"a": 1, "a": 2}', '{"a": 2}'),
    "nothing and a text": ("[null]", '["null"]'),
}

SAME: dict[str, tuple[str, str]] = {
    "comments": ('{"a": 1 /* "b": 2 */} // c', '{"a": 1}'),
    "trailing commas": ('{"a": [1,],}', '{"a": [1]}'),
    "both, among strings that look like them": (
        '{"a": "// \\\\", /* , */ "b\\"//": ",]", "c": [",}" /*"*/ , // "\n ] , }',
        '{"a": "// \\\\", "b\\"//": ",]", "c": [",}"]}',
    ),
    "a byte-order mark, and line ends": ("\ufeff{\r\n}", "{}"),
    "nothing and an empty object": ("// c\n", "{}"),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_readings_differ(one: str, other: str) -> None:
    assert not same(read(one).written, read(other).written)


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_readings_are_the_same(one: str, other: str) -> None:
    assert same(read(one).written, read(other).written)


@pytest.mark.parametrize(
    "text", ["[,]", "{,}", "[1,,]", '{"a":,}', ",", "[1]/", "/* ", '["\0\0"]', '["\1\1"]', '["a', "[1] // \n]"]
)
def test_what_is_no_json_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)


PUT: dict[str, tuple[str, KeyPath, str]] = {
    "a new member is the last": ('{"b": 1}', ("a",), '{"b": 1, "a": 0}'),
    "of duplicates the last gives way": ('{"a": 1, "b": 1, "a": 2}', ("a",), '{"a": 1, "b": 1, "a": 0}'),
    "tables on the way are made": ("{}", ("a", "b"), '{"a": {"b": 0}}'),
    "an item by its position": ("[1, [2]]", (1, 0), "[1, [0]]"),
    "an item that is found": ('[{"n": "x"}, {"n": "y"}]', (Item("n", "y"), "v"), '[{"n": "x"}, {"n": "y", "v": 0}]'),
    "an item that is appended": ('[{"n": "x"}]', (Item("n", "y"), "v"), '[{"n": "x"}, {"n": "y", "v": 0}]'),
}


@pytest.mark.parametrize(("text", "path", "expected"), PUT.values(), ids=PUT)
def test_put(text: str, path: KeyPath, expected: str) -> None:
    assert put(read(text).written, path, read("0").written) == read(expected).written


def test_drop_takes_duplicates_along_and_leaves_containers() -> None:
    assert drop(read('{"a": {"b": 1, "c": 2, "b": 3}}').written, ("a", "b")) == read('{"a": {"c": 2}}').written
    assert drop(read('[[1], {"a": 0}]').written, (0, 0)) == read('[[], {"a": 0}]').written


@pytest.mark.parametrize("depth", [1, 400, 900])
def test_readings_are_compared_however_deep_they_are(depth: int) -> None:
    one, other = ('{"a":' * (depth - 1) + f'{{"a":{leaf}}}' + "}" * (depth - 1) for leaf in (1, 2))

    assert same(read(one).written, read(one).written)
    assert not same(read(one).written, read(other).written)


@pytest.mark.parametrize(("format", "most"), [("json", 10), ("jsonc", 25)])
def test_an_edit_of_a_large_file_costs_as_much_as_a_few_parses(format: str, most: float) -> None:
    takes("edits large files again and again")
    items: list[Any] = [{"display": f"what was asked, {n}", "pasted": {}, "list": [n, True]} for n in range(8_000)]
    text = json.dumps({"env": {"A": "b"}, "history": items}, indent=2)
    raw = (text if format == "json" else text.replace('"pasted"', '/* c */ "pasted"')).encode()

    base = min(_cpu(lambda: json.dumps(json.loads(text))) for _ in range(5))
    edit = min(_cpu(lambda: parse(raw, format).set(("env", "A"), "c")) for _ in range(5))

    assert edit / base < most  # about 2 and 8; a walk through every token, as it once was, took twenty and fifty


def _cpu(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()  # what other tests left behind is none of this one's business
    start = time.process_time()
    work()
    spent = time.process_time() - start
    gc.enable()
    return spent
