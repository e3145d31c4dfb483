"""Our own lines where nothing, or something older, is remembered of them: not the user's, and undo takes them away.

Memory may be lost, and dotfiles bring one machine's settings to another. A helper command of ours that stands there
then, whichever machine's, was written by a toolsync; so was what stands beside it as the profile wants it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolsync import document as documents
from toolsync.asked import is_our_command
from toolsync.document import MISSING, Document, Missing, Value, equal
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.plan import Place, Row, sha256, stands
from toolsync.remembered import ANYTHING, NOTHING, FileMemory, LayerMemory, Remembered, mark


def known_again(memory: FileMemory | None, rows: Sequence[Row], text: str | None, place: Place) -> FileMemory | None:
    """What is remembered of a file, and of what stands there that is ours; `memory` itself where that is no more.

    Args:
        memory: what is remembered.
        rows: what is wanted of the file.
        text: what stands in it; None where it does not exist.
        place: the file.
    """
    known = memory or FileMemory()
    is_as_left = bool(known.layers) and known.layers[-1].sha256 == sha256(text or "")
    if text is None or place.goes_whole or is_as_left or "toolsync" not in text:
        return memory
    document = documents.parse(text.encode(), place.format)
    layers = {(layer.tool, layer.overlay): layer for layer in known.layers}
    found = {row.name: _layer(row, layers.get(row.name), document, place) for row in rows if _is_ours(row, document)}
    given = {row.name: layers[row.name] for row in rows if not row.edits and row.name in layers}
    found |= {name: _before_undo(layer, document, place) for name, layer in given.items()}
    return replace(known, layers=tuple({**layers, **found}.values())) if found else memory


def _before_undo(layer: LayerMemory, document: Document, place: Place) -> LayerMemory:
    """The layer, with another machine's command in the place of ours; beside another address or key, as it was."""
    there = [(value, document.get(parse_path(value.path))) for value in layer.values]
    telling = [(value, now) for value, now in there if value.secret or "://" in value.after]
    if not all(now in (MISSING, "") or is_our_command(now) or stands(value, now, place.key) for value, now in telling):
        return layer
    values = (_put_in(value, now, place) if value.secret and is_our_command(now) else value for value, now in there)
    return replace(layer, values=tuple(values))


def _put_in(value: Remembered, now: Value | Missing, place: Place) -> Remembered:
    return replace(value, after=mark(now, place.key)) if now is not MISSING else value


def _is_ours(row: Row, document: Document) -> bool:
    """Whether a command of ours stands there, and no address or key that is another: that one may be the user's."""
    there = [(edit, document.get(edit.path)) for edit in row.edits if edit.value is not TABLE]
    telling = [(edit, now) for edit, now in there if edit.secret or "://" in str(edit.value)]
    asks = any(edit.secret and is_our_command(now) for edit, now in there)
    return asks and all(now in (MISSING, "") or _is_wanted(edit, now) for edit, now in telling)


def _is_wanted(edit: Edit, now: Value | Missing) -> bool:
    if now is MISSING or edit.value is ABSENT:
        return (now is MISSING and edit.value is ABSENT) or (edit.secret and is_our_command(now))
    return edit.stamp or equal(now, edit.value) or (edit.secret and is_our_command(now))


def _layer(row: Row, known: LayerMemory | None, document: Document, place: Place) -> LayerMemory:
    """What is remembered of the row, with what stands there in the place of what it wrote once."""
    earlier = {value.path: value for value in known.values} if known else {}
    for edit in row.edits:
        now = document.get(edit.path)
        path = spell(edit.path)
        if edit.value is TABLE or not _is_wanted(edit, now) or _stands(earlier.get(path), now, place):
            continue
        value = earlier.get(path) or Remembered(path, None, "memory", NOTHING, edit.secret)
        earlier[path] = replace(value, after=_after(edit, now, place.key if value.secret else None))
    if known is not None:
        return replace(known, values=tuple(earlier.values()))
    parents = (edit.path[:length] for edit in row.edits for length in range(1, len(edit.path)))
    containers = tuple(spell(path) for path in dict.fromkeys(parents) if document.get(path) is not MISSING)
    return LayerMemory(*row.name, sha256(document.text), None, tuple(earlier.values()), containers, place.now)


def _stands(value: Remembered | None, now: Value | Missing, place: Place) -> bool:
    return value is not None and stands(value, now, place.key)


def _after(edit: Edit, now: Value | Missing, key: bytes | None) -> str:
    if now is MISSING:
        return NOTHING
    return ANYTHING if edit.stamp else mark(now, key)
