"""Layers of tools that are not in question, where one in question lies below them in the same file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsync.document import MISSING, Document, Missing
from toolsync.document.keypath import parse as parse_path
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.plan.laying import sha256, stands
from toolsync.plan.model import Place, Row
from toolsync.remembered import ANYTHING, FileMemory, LayerMemory


def standing_above(present: Document, memory: FileMemory, rows: Sequence[Row], place: Place) -> list[Row]:
    """Rows that say again what stands there of the layers above the lowest one in question.

    Lifted and laid again, they let a layer below them go byte for byte. None where that would not be exact: the file
    was touched, it is one that toolsync made, or a layer is no longer what it was.
    """
    in_question = {row.name for row in rows}
    names = [(layer.tool, layer.overlay) for layer in memory.layers]
    lowest = next((index for index, name in enumerate(names) if name in in_question), len(names))
    above = [layer for layer in memory.layers[lowest:] if (layer.tool, layer.overlay) not in in_question]
    if not above or memory.created or memory.layers[-1].sha256 != sha256(present.text):
        return []
    if not all(_stands_whole(layer, present, place) for layer in above):
        return []
    return [Row(layer.tool, layer.overlay, tuple(_edits(layer, present))) for layer in above]


def _stands_whole(layer: LayerMemory, present: Document, place: Place) -> bool:
    return all(stands(value, present.get(parse_path(value.path)), place.key) for value in layer.values)


def _edits(layer: LayerMemory, present: Document) -> list[Edit]:
    values = [(parse_path(value.path), value) for value in layer.values]
    edits = [
        Edit(
            path,
            _wanted(present.get(path)),
            secret=value.secret,
            harmless=not layer.holds_key,
            stamp=value.after == ANYTHING,
        )
        for path, value in values
    ]
    containers = [parse_path(text) for text in layer.containers]
    return edits + [Edit(path, TABLE) for path in containers if isinstance(present.get(path), dict)]


def _wanted(now: object | Missing) -> object:
    return ABSENT if now is MISSING else now


def handed_over(layer: LayerMemory, gone: LayerMemory, document: Document | None) -> LayerMemory:
    """The layer, which now answers for the containers that another one made and that it still uses."""
    if document is None:
        return layer
    paths = [parse_path(value.path) for value in layer.values]
    inherited = [
        text
        for text in gone.containers
        if text not in layer.containers and document.get(parse_path(text)) is not MISSING
        if any(path[: len(parse_path(text))] == parse_path(text) for path in paths)
    ]
    return replace(layer, containers=(*inherited, *layer.containers)) if inherited else layer
