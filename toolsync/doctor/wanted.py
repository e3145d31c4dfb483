"""What the profile would have at each of a tool's questions, whatever stands on the disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from toolsync.document import data as _data
from toolsync.errors import TemplateError
from toolsync.facts import Fact, Facts
from toolsync.overlay import ABSENT, TABLE, Edit, edits
from toolsync.tool import Reader, Tool
from toolsync.trace import Tree, answers
from toolsync.trace.credential import CREDENTIALS

_KEY = {"key_ref": Fact("key_ref", "<key>", "the key")}
"""Stands for the key where a template needs it: what is wanted of a key is no text."""


def wanted_edits(tool: Tool, given: Facts) -> Mapping[str, Sequence[Edit]]:
    """What the tool's overlays want of each of its rows; a row that the facts cannot fill wants nothing."""
    found: dict[str, Sequence[Edit]] = {}
    for row in tool.files if given else ():
        with suppress(TemplateError):
            found[row.overlay] = edits(row.document.data, {**_KEY, **given}, now="1970-01-01T00:00:00.000Z")
    return found


def wanted(tool: Tool, reader: Reader, by_overlay: Mapping[str, Sequence[Edit]]) -> dict[str, str]:
    """What the reader would answer if nothing but the profile had a say, credentials aside."""
    trees = [Tree(layer, _laid(by_overlay.get(layer.overlay, ()))) for layer in tool.layers if layer.overlay]
    found = answers(reader, trees, {})
    return {
        question: answer.value
        for question, answer in found.items()
        if answer.value and answer.layer and question not in CREDENTIALS
    }


def _laid(wanted: Sequence[Edit]) -> _data.Value:
    laid: _data.Value = {}
    for edit in wanted:
        if edit.value not in (ABSENT, TABLE) and not edit.secret:
            with suppress(ValueError):
                laid = _data.put(laid, edit.path, edit.value)
    return laid
