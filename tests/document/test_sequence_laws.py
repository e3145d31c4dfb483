"""The laws over any sequence of edits: every step is faithful, and all of them can be undone to the byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.document import oracle, oracle_toml
from tests.document.faithful import has_place, removed_or_refused, set_or_refused, undone
from tests.document.faithful_toml import edited, faults
from tests.document.strategies import DOCUMENTS, STRICT_DOCUMENTS
from tests.document.strategies_toml import DOCUMENTS as TOML_DOCUMENTS
from tests.document.strategies_toml import NEW_NAMES
from toolsync.document import Document, Item, KeyPath, Value, equal, parse

MOST_EDITS = 5
KEYS = st.sampled_from(["new", "a", "env", "a.b", "日本", '"'])
VALUES: st.SearchStrategy[Value] = st.sampled_from(
    ["x", "two\nlines", 1, -1.5, True, [], {}, ["a", 1], [["a"], {}], {"x": "y"}, {"a": {"b": [1]}, "c": "d"}]
)
NAMES = st.sampled_from(["a", "ours"])


@pytest.mark.parametrize("format", ["json", "jsonc"])
@given(data=st.data())
def test_any_sequence_of_edits_of_json_is_faithful_and_undone(format: str, data: st.DataObject) -> None:
    text = data.draw(DOCUMENTS if format == "jsonc" else DOCUMENTS | STRICT_DOCUMENTS)
    states = [parse(text.encode(), format)]
    for _ in range(data.draw(st.integers(1, MOST_EDITS))):
        states.append(_json_edit(states[-1], data))
        note(states[-1].text)

    assert [undone(states[-1], state) for state in states] == [state.text for state in states]
    assert all(state.fault is None for state in states) or states[0].fault is not None


@given(TOML_DOCUMENTS, st.data())
def test_any_sequence_of_edits_of_toml_is_faithful_and_undone(text: str, data: st.DataObject) -> None:
    states = [parse(text.encode(), "toml")]
    for _ in range(data.draw(st.integers(1, MOST_EDITS))):
        states.append(_toml_edit(states[-1], data))
        note(states[-1].text)

    assert [undone(states[-1], state) for state in states] == [state.text for state in states]


def _json_edit(document: Document, data: st.DataObject) -> Document:
    known = list(oracle.read(document.text).members)
    path = _path(document.data, known, data, KEYS)
    if known and data.draw(st.integers(0, 2)) == 0:
        gone = data.draw(st.sampled_from(known))
        assert removed_or_refused(document, gone) == ""
        return document.remove(gone)
    if not has_place(document.data, path):
        return document
    after, reason = set_or_refused(document, path, data.draw(VALUES))
    assert reason == ""
    return after


def _toml_edit(document: Document, data: st.DataObject) -> Document:
    known = oracle_toml.paths(document.data)
    kind = "delete" if known and data.draw(st.integers(0, 2)) == 0 else "set"
    path = data.draw(st.sampled_from(known)) if kind == "delete" else _path(document.data, known, data, NEW_NAMES)
    value = data.draw(VALUES)
    if not has_place(document.data, path) or (kind == "set" and equal(document.get(path), value)):
        return document
    after = edited(document, kind, path, value)
    if any(isinstance(step, Item) for step in path):
        assert equal(after.get(path), value)
    else:
        assert faults(document.text, kind, path, value, after.text) == []
    return after


def _path(
    whole: Value, known: list[tuple[str | int, ...]], data: st.DataObject, keys: st.SearchStrategy[str]
) -> KeyPath:
    """To something known, to something new in it, or to an item that is found by its name or appended."""
    path: KeyPath = data.draw(st.sampled_from([(), *known]))
    here: Any = _at(whole, path)
    if isinstance(here, dict) and (not path or data.draw(st.booleans())):
        return (*path, data.draw(keys), *data.draw(st.sampled_from([(), ("x",), ("x", "y")])))
    if isinstance(here, list) and data.draw(st.booleans()):
        return (*path, Item("name", data.draw(NAMES)), data.draw(keys))
    return path


def _at(data: Value, path: KeyPath) -> Value:
    for step in path:
        data = data[step]
    return data
