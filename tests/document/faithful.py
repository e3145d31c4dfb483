"""Edits of JSON and JSONC documents, each held to the laws by an oracle that knows nothing of the editor."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from tests.document import oracle
from toolsync.document import MISSING, Document, Item, KeyPath, Value
from toolsync.document.splice import apply, inverse
from toolsync.errors import EditRefusedError


def set_or_refused(document: Document, path: KeyPath, value: Value) -> tuple[Document, str]:
    """The document after an edit, and an empty reason; or as it was, and why the edit was refused.

    Raises:
        AssertionError: it was made, but not faithfully.
    """
    try:
        edited = document.set(path, value)
    except EditRefusedError as error:
        return document, error.reason
    before, after = oracle.read(document.text), oracle.read(edited.text)
    lost = Counter(before.comments) - Counter(after.comments)
    place, new = _in_positions(document, path, value)
    if isinstance(new, dict) and "/" in _old_container(document, place):  # set member by member, for the comments' sake
        assert oracle.unordered(after.value, place) == oracle.unordered(oracle.put(before.value, place, new), place)
    else:
        assert after.value == oracle.put(before.value, place, new)
    assert after.comments == before.comments or (lost and not lost - _comments_that_may_go(document, path))
    assert not Counter(after.comments) - Counter(before.comments)
    assert len(oracle.lines_gone(document.text, edited.text)) <= _lines_that_may_change(document, path)
    assert _comments_stand_where_they_stood(document, edited, path)
    assert undone(edited, document) == document.text
    return edited, ""


def removed_or_refused(document: Document, path: tuple[str | int, ...]) -> str:
    """Removes `path`; the reason if that was refused, else nothing.

    Raises:
        AssertionError: it was removed, but not faithfully.
    """
    try:
        edited = document.remove(path)
    except EditRefusedError as error:
        return error.reason
    before, after = oracle.read(document.text), oracle.read(edited.text)
    if path not in before.members:
        assert edited.text == document.text
        return ""
    assert after.value == oracle.drop(before.value, path)
    assert not oracle.foreign_comments(document.text, path) - Counter(after.comments)
    assert not Counter(after.comments) - Counter(before.comments)
    assert undone(edited, document) == document.text
    return ""


def has_place(data: Value, path: KeyPath) -> bool:
    """Whether nothing stands in the way of a value at `path`: objects on the way, and lists of objects for items."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(data, list) or step >= len(data):
                return False
            data = data[step]
        elif data is MISSING:
            continue
        elif isinstance(step, Item):
            if not isinstance(data, list) or not all(isinstance(item, dict) and step.key in item for item in data):
                return False
            data = next((item for item in data if item[step.key] == step.value), MISSING)
        elif isinstance(data, dict):
            data = data.get(step, MISSING)
        else:
            return False
    return True


def undone(edited: Document, document: Document) -> str:
    """What the inverse of all edits since `document` gives."""
    return apply(edited.text, inverse(document.text, edited.log[len(document.log) :]))


def _in_positions(document: Document, path: KeyPath, value: Value) -> tuple[tuple[str | int, ...], Value]:
    """The path with a list item by its position; or that behind the last, and the whole of the new item as value."""
    for end, step in enumerate(path):
        if not isinstance(step, Item):
            continue
        items: list[Any] = document.get(path[:end]) or []
        at = next((n for n, item in enumerate(items) if item[step.key] == step.value), len(items))
        rest = path[end + 1 :]
        if at < len(items):
            return _in_positions(document, (*path[:end], at, *rest), value)
        for key in reversed(rest):
            value = {key: value}
        new = {step.key: step.value, **value}
        here = _plain(path[:end])
        return (here, [new]) if document.get(here) is MISSING else ((*here, at), new)
    return _plain(path), value


def _plain(path: KeyPath) -> tuple[str | int, ...]:
    return tuple(step for step in path if not isinstance(step, Item))


def _comments_that_may_go(document: Document, path: KeyPath) -> Counter[str]:
    """The comments inside an object or list that gives way to something else."""
    text = _old_container(document, path)
    return Counter(oracle.read(text).comments if text else [])


def _comments_stand_where_they_stood(document: Document, edited: Document, path: KeyPath) -> bool:
    """Whether each comment is beside, or above, what it was; in an empty container that was opened it was neither."""
    if document.get(path) is MISSING:
        opened = next(path[:end] for end in range(len(path), -1, -1) if document.get(path[:end]) is not MISSING)
        return not document.get(opened) or oracle.neighbours(edited.text) == oracle.neighbours(document.text)
    if _old_container(document, path) or isinstance(edited.get(path), dict | list):
        return True
    old, new = (it.text[slice(*(it.span(path) or (0, 0)))] for it in (document, edited))
    before, after = (
        [tuple(new if text == old else text for text in neighbour) for neighbour in oracle.neighbours(it.text)]
        for it in (document, edited)
    )
    return before == after


def _lines_that_may_change(document: Document, path: KeyPath) -> int:
    """One; or as many as an object or list has that gives way."""
    return len(re.findall(r"\r\n|\r|\n", _old_container(document, path))) + 1


def _old_container(document: Document, path: KeyPath) -> str:
    span = document.span(path)
    return document.text[slice(*span)] if span and isinstance(document.get(path), dict | list) else ""
