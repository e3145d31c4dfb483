"""The laws of JSON documents over generated texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from tests.document import oracle
from tests.document.damage import check_damaged, damaged
from tests.document.faithful import undone
from tests.document.strategies import DOCUMENTS, STRICT_DOCUMENTS, VALUES
from toolsync.document import Document, Value, equal, parse
from toolsync.errors import DocumentError

SETTABLE = VALUES.filter(lambda value: not isinstance(value, float) or json.dumps(value) == repr(value))
NEW_KEYS = st.sampled_from(["new", "new key", "日本", "\u2028", '"'])


def jsonc(text: str) -> Document:
    return parse(text.encode(), "jsonc")


def paths(text: str) -> list[tuple[str | int, ...]]:
    return list(oracle.read(text).members)


def containers(text: str) -> list[tuple[str, ...]]:
    """The paths of objects that can be reached by names alone."""
    reading = oracle.read(text)

    def found(value: Value, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        if not isinstance(value, tuple) or value[0] != "{":
            return []
        last = dict(value[1])
        return [path, *(inner for key, item in last.items() for inner in found(item, (*path, key)))]

    return found(reading.value, ())


@given(DOCUMENTS)
def test_an_unedited_document_is_byte_identical(text: str) -> None:
    document = jsonc(text)

    assert document.text == text
    assert oracle.pairs(document.data) == oracle.pairs(plain(oracle.read(text).value))


@given(DOCUMENTS, st.data(), SETTABLE)
def test_setting_a_value_changes_nothing_else(text: str, data: st.DataObject, value: Value) -> None:
    assume(paths(text))
    path = data.draw(st.sampled_from(paths(text)))
    start, end = jsonc(text).span(path) or (0, 0)

    edited = jsonc(text).set(path, value)

    note(edited.text)
    assert edited.text.startswith(text[:start])
    assert edited.text.endswith(text[end:])
    assert undone(edited, jsonc(text)) == text
    if isinstance(value, dict) and isinstance(jsonc(text).get(path), dict) and "/" in text[start:end]:
        assert equal(edited.get(path), value)  # set member by member, for the sake of comments
    elif edited.log:
        assert oracle.read(edited.text).value == oracle.put(oracle.read(text).value, path, value)


@given(DOCUMENTS, st.data(), st.dictionaries(st.sampled_from(["a", "b", "new"]), SETTABLE))
def test_a_table_set_over_a_table_keeps_its_comments(text: str, data: st.DataObject, value: dict[str, Value]) -> None:
    path = data.draw(st.sampled_from(containers(text)))
    old = jsonc(text).get(path)
    assume(len(oracle_items(text, path)) == len(old))
    gone = [start_end for key in old if (start_end := oracle.read(text).members[*path, key])]

    edited = jsonc(text).set(path, value)

    note(edited.text)
    assert equal(edited.get(path), value)
    assert undone(edited, jsonc(text)) == text
    kept = [t.text for t in oracle.read(text).tokens if t.is_comment and not is_near(t.start, gone, text)]
    assert not Counter(kept) - Counter(oracle.read(edited.text).comments)


def is_near(at: int, members: list[tuple[int, int]], text: str) -> bool:
    """Whether an offset lies in a member or on the line where it ends."""
    return any(
        start <= at and not re.search(r"[\r\n]", oracle.without_comments(text[end:at])) for start, end in members
    )


@given(DOCUMENTS, st.data(), NEW_KEYS, SETTABLE)
def test_a_new_member_is_the_last_and_takes_no_comment(text: str, data: st.DataObject, key: str, value: Value) -> None:
    parent = data.draw(st.sampled_from(containers(text)))
    below = data.draw(st.sampled_from([(), ("x",), ("x", "y")]))
    path = (*parent, key, *below)

    edited = jsonc(text).set(path, value)

    note(edited.text)
    assert oracle.read(edited.text).value == oracle.put(oracle.read(text).value, path, value)
    assert oracle.read(edited.text).comments == oracle.read(text).comments
    assert len(oracle.lines_gone(text, edited.text)) <= 1
    assert undone(edited, jsonc(text)) == text
    if oracle.read(text).members and jsonc(text).get(parent):
        assert oracle.neighbours(edited.text) == oracle.neighbours(text)


@given(DOCUMENTS, st.data())
def test_removing_keeps_every_foreign_comment(text: str, data: st.DataObject) -> None:
    assume(paths(text))
    path = data.draw(st.sampled_from(paths(text)))
    is_duplicate = [key for key, _ in oracle_items(text, path[:-1])].count(path[-1]) > 1

    edited = jsonc(text).remove(path)

    note(edited.text)
    assert oracle.read(edited.text).value == oracle.drop(oracle.read(text).value, path)
    assert undone(edited, jsonc(text)) == text
    if not is_duplicate:
        assert not oracle.foreign_comments(text, path) - Counter(oracle.read(edited.text).comments)
    assert not Counter(oracle.read(edited.text).comments) - Counter(oracle.read(text).comments)


@given(DOCUMENTS, st.data(), NEW_KEYS, SETTABLE)
def test_what_was_added_can_be_removed_again(text: str, data: st.DataObject, key: str, value: Value) -> None:
    path = (*data.draw(st.sampled_from(containers(text))), key)

    back = jsonc(text).set(path, value).remove(path)

    note(back.text)
    assert oracle.read(back.text).value == oracle.read(text).value
    assert oracle.read(back.text).comments == oracle.read(text).comments


@given(DOCUMENTS, st.data())
def test_a_source_gives_a_value_back_in_its_own_spelling(text: str, data: st.DataObject) -> None:
    assume(paths(text))
    path = data.draw(st.sampled_from(paths(text)))
    source = jsonc(text).source(path)
    assert source is not None

    back = jsonc(text).set(path, "something else").set(path, source)

    assert back.text == text or jsonc(text).get(path) == "something else"


@given(STRICT_DOCUMENTS, st.data(), NEW_KEYS, SETTABLE)
def test_strict_json_stays_strict(text: str, data: st.DataObject, key: str, value: Value) -> None:
    document = parse(text.encode(), "json")
    assert document.fault is None
    path = (*data.draw(st.sampled_from(containers(text))), key)

    for edited in (document.set(path, value), document.set(path, value).remove(path)):
        assert edited.fault is None
        json.loads(edited.text.removeprefix("\ufeff"))


@given(DOCUMENTS)
def test_leaves_are_the_scalars_in_the_order_of_the_text(text: str) -> None:
    leaves = list(jsonc(text).leaves())
    starts = [start for _, (start, _) in leaves]

    assert starts == sorted(starts)
    assert [json.loads(text[start:end]) for _, (start, end) in leaves] == list(scalars(oracle.read(text).value))


@given(DOCUMENTS, st.data())
def test_a_damaged_text_is_read_as_the_oracle_reads_it_or_refused(text: str, data: st.DataObject) -> None:
    check_damaged(damaged(text, data), data)


def plain(value: Value) -> Value:
    """The oracle's reading as plain data: of duplicates the last."""
    if isinstance(value, tuple):
        return {key: plain(item) for key, item in value[1]} if value[0] == "{" else [plain(item) for item in value[1]]
    return json.loads(value.spelled) if isinstance(value, oracle.Number) else value


def scalars(value: Value) -> Value:
    if not isinstance(value, tuple):
        yield plain(value)
        return
    for item in value[1]:
        yield from scalars(item[1] if value[0] == "{" else item)


def oracle_items(text: str, path: tuple[str | int, ...]) -> list[Any]:
    value = oracle.read(text).value
    for step in path:
        value = value[1][step] if value[0] == "[" else dict(value[1])[step]
    return value[1] if value[0] == "{" else []


@pytest.mark.parametrize("depth", [100, 500, 899])
@pytest.mark.parametrize("opener", ['{"k":', "["])
def test_deep_nesting_is_edited(depth: int, opener: str) -> None:
    closer = "}" if opener[0] == "{" else "]"
    text = '{"a": ' + opener * (depth - 1) + "1" + closer * (depth - 1) + ', "b": 2}'
    assert jsonc(text).set(("b",), 3).text == text.replace('"b": 2', '"b": 3')


@pytest.mark.parametrize("opener", ['{"k":', "[", "/**/[", '{"k"://\n'])
def test_too_deep_nesting_is_refused_with_its_place(opener: str) -> None:
    with pytest.raises(DocumentError, match="nested deeper") as caught:
        jsonc(opener * 100_000)
    assert caught.value.line is not None
