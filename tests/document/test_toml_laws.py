"""The laws of TOML documents over generated texts."""

from __future__ import annotations

from typing import Any, cast

import tomli
from hypothesis import assume, given, note
from hypothesis import strategies as st

from tests.document import oracle_toml as oracle
from tests.document.faithful import undone
from tests.document.strategies_toml import DOCUMENTS, NEW_NAMES, NEW_SCALARS, NEW_VALUES
from toolsync.document import Document, Item, parse
from toolsync.document.toml_scan import scan
from toolsync.errors import DocumentError


def toml(text: str) -> Document:
    return parse(text.encode(), "toml")


def paths(text: str, *kinds: type) -> list[oracle.Path]:
    """The paths of the text's values, of the given kinds only if any are given."""
    data = oracle.data(text)
    return [path for path in [(), *oracle.paths(data)] if not kinds or isinstance(oracle.at(data, path), kinds)]


def scalars(text: str) -> list[tuple[oracle.Path, tuple[int, int]]]:
    """The leaves of the document, whose steps are keys and positions."""
    return [(cast("oracle.Path", path), span) for path, span in toml(text).leaves()]


@given(DOCUMENTS)
def test_an_unedited_document_is_byte_identical(text: str) -> None:
    document = toml(text)

    assert document.text == text
    assert oracle.same(document.data, oracle.data(text))


@given(DOCUMENTS)
def test_the_lines_tile_the_text(text: str) -> None:
    assert "".join(text[line.start : line.end] for line in scan(text)) == text.removeprefix("\ufeff")


@given(DOCUMENTS)
def test_leaves_are_the_scalars_of_the_data_and_their_spans_spell_them(text: str) -> None:
    document = toml(text)
    found = {path: tomli.loads(f"x = {text[start:end]}")["x"] for path, (start, end) in scalars(text)}

    wanted = [path for path in paths(text) if not isinstance(oracle.at(oracle.data(text), path), dict | list)]
    assert set(found) == set(wanted)
    assert all(oracle.same(value, oracle.at(oracle.data(text), path)) for path, value in found.items())
    assert [span for _, span in document.leaves()] == sorted(span for _, span in document.leaves())


@given(DOCUMENTS, st.data(), NEW_VALUES)
def test_setting_a_scalar_replaces_its_span_and_nothing_else(text: str, data: st.DataObject, value: Any) -> None:
    leaves = scalars(text)
    assume(leaves)
    path, (start, end) = data.draw(st.sampled_from(leaves))

    edited = toml(text).set(path, value)

    note(edited.text)
    assert oracle.same(edited.data, oracle.put(oracle.data(text), path, value))
    assert edited.text.startswith(text[:start])
    assert edited.text.endswith(text[end:])
    assert undone(edited, toml(text)) == text


@given(DOCUMENTS, st.data(), NEW_VALUES)
def test_setting_a_container_means_what_was_intended(text: str, data: st.DataObject, value: Any) -> None:
    assume(paths(text, dict, list)[1:])
    path = data.draw(st.sampled_from(paths(text, dict, list)[1:]))

    edited = toml(text).set(path, value)

    note(edited.text)
    assert oracle.same(edited.data, oracle.put(oracle.data(text), path, value))
    assert undone(edited, toml(text)) == text


def test_a_line_that_is_added_among_lines_that_are_alike_takes_none() -> None:
    table = "\n[[a.b]]\na = 20_000 # beside\n"
    assert oracle.gone(f"{table}{table}\n[[a.b]]\n", f'{table}new = ""\n{table}\n[[a.b]]\n') == []
    assert oracle.gone(f"{table}{table}", table) == [3, 4, 5]
    assert oracle.gone(f"x = 1\n{table}", f"x = 2\n{table}") == [0]


@given(DOCUMENTS, st.data(), NEW_NAMES, NEW_VALUES)
def test_what_is_new_displaces_no_line_and_takes_no_comment(
    text: str, data: st.DataObject, name: str, value: Any
) -> None:
    parent = data.draw(st.sampled_from(paths(text, dict)))
    path = (*parent, name, *data.draw(st.sampled_from([(), ("x",), ("x", "y")])))
    assume(toml(text).get((*parent, name)) is not None and name not in oracle.at(oracle.data(text), parent))

    edited = toml(text).set(path, value)

    note(edited.text)
    assert oracle.same(edited.data, oracle.put(oracle.data(text), path, value))
    assert oracle.comments_displaced(text, edited.text) == []
    assert len(oracle.gone(text, edited.text)) <= 2
    assert undone(edited, toml(text)) == text
    given_back = edited.remove((*parent, name))
    assert oracle.same(given_back.data, oracle.data(text))
    assert oracle.comments_lost(text, given_back.text) == []


@given(DOCUMENTS, st.data(), NEW_SCALARS)
def test_a_list_item_is_found_by_its_key_or_appended(text: str, data: st.DataObject, value: Any) -> None:
    parent = data.draw(st.sampled_from(paths(text, dict)))
    step = Item("name", "ours")
    assume("items" not in oracle.at(oracle.data(text), parent))

    once = toml(text).set((*parent, "items", step, "url"), value)
    twice = once.set((*parent, "items", Item("name", "other"), "deep", "url"), value).set(
        (*parent, "items", step, "more"), 1
    )

    note(twice.text)
    wanted = [{"name": "ours", "url": value, "more": 1}, {"name": "other", "deep": {"url": value}}]
    assert oracle.same(twice.data, oracle.put(oracle.data(text), (*parent, "items"), wanted))
    assert oracle.comments_displaced(text, twice.text) == []
    assert undone(twice, toml(text)) == text
    assert oracle.same(twice.remove((*parent, "items")).data, oracle.data(text))


@given(DOCUMENTS, st.data())
def test_a_list_of_tables_takes_one_more(text: str, data: st.DataObject) -> None:
    lists = [path for path in paths(text, list) if all(isinstance(i, dict) for i in oracle.at(oracle.data(text), path))]
    assume(lists)
    path = data.draw(st.sampled_from(lists))
    items = oracle.at(oracle.data(text), path)
    named = toml(text)
    for n, item in enumerate(items):
        named = named.set((*path, n, "name"), f"item {n}")
        items = [*items[:n], {**item, "name": f"item {n}"}, *items[n + 1 :]]

    edited = named.set((*path, Item("name", "ours"), "url"), "u")

    note(edited.text)
    wanted = [*items, {"name": "ours", "url": "u"}]
    assert oracle.same(edited.data, oracle.put(oracle.data(text), path, wanted))
    assert oracle.comments_lost(text, edited.text) == []
    assert oracle.same(edited.remove((*path, Item("name", "ours"))).data, oracle.put(oracle.data(text), path, items))


@given(DOCUMENTS, st.data())
def test_a_removal_takes_no_foreign_comment(text: str, data: st.DataObject) -> None:
    assume(paths(text)[1:])
    path = data.draw(st.sampled_from(paths(text)[1:]))

    edited = toml(text).remove(path)

    note(edited.text)
    assert oracle.same(edited.data, oracle.drop(oracle.data(text), path))
    assert oracle.comments_lost_by_removal(text, edited.text) == []
    assert undone(edited, toml(text)) == text


@given(DOCUMENTS, st.data())
def test_a_source_is_given_back_as_it_was(text: str, data: st.DataObject) -> None:
    leaves = scalars(text)
    assume(leaves)
    path, _ = data.draw(st.sampled_from(leaves))
    source = toml(text).source(path)
    assert source is not None

    assert toml(text).set(path, "something else entirely").set(path, source).text == text


@given(DOCUMENTS, st.data())
def test_a_position_is_in_the_text(text: str, data: st.DataObject) -> None:
    assume(paths(text)[1:])
    path = data.draw(st.sampled_from(paths(text)[1:]))

    line, column = toml(text).position(path) or (0, 0)

    assert 1 <= line <= len(oracle.lines(text))
    assert 1 <= column <= len(oracle.lines(text)[line - 1])


@given(DOCUMENTS, st.data())
def test_whatever_happens_to_a_text_it_is_read_rightly_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
        piece = data.draw(
            st.sampled_from(["", "", "\n", "[", "]", "{", "}", '"', "'", "#", "=", ",", ".", "\r", "a", '"""'])
        )
        text = text[:at] + piece + text[at + length * data.draw(st.integers(0, 1)) :]
    try:
        document = toml(text)
    except DocumentError as error:
        assert min(error.line or 0, error.column or 0) >= 1  # noqa: PT017  valid or not, by chance
        return
    assert oracle.same(document.data, oracle.data(text))
    assert "".join(text[line.start : line.end] for line in scan(text)) == text.removeprefix("\ufeff")
    edited = document.set(("brand-new", "key"), 1)
    assert oracle.same(edited.data, oracle.put(oracle.data(text), ("brand-new", "key"), 1))
