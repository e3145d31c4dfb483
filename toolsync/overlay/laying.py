"""Edits laid over a document."""

from __future__ import annotations

from collections.abc import Iterable

from toolsync.document import MISSING, Document, Item, KeyPath
from toolsync.overlay.model import ABSENT, TABLE, Edit


def edited(document: Document, edits: Iterable[Edit]) -> Document:
    """The document after the edits.

    Raises:
        EditRefusedError: one of them cannot be made faithfully.
    """
    for edit in edits:
        if edit.value is ABSENT:
            document = document.remove(edit.path)
        elif edit.value is TABLE:
            document = _with_table(document, edit.path)
        else:
            document = document.set(edit.path, edit.value)
    return document


def _with_table(document: Document, path: KeyPath) -> Document:
    present = document.get(path)
    if isinstance(present, dict):
        return document
    if present is not MISSING:
        raise document.refused(path, "a table must stand here")
    last = path[-1]
    return document.set(path, {last.key: last.value} if isinstance(last, Item) else {})
