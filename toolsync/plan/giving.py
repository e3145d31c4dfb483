"""What toolsync wrote, given back: byte for byte where the file still is what it wrote, else value by value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

from toolsync import document as documents
from toolsync.document import MISSING, Document, Item, KeyPath, Missing, Source, Splice, Value, equal
from toolsync.document import splice as splices
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import EditRefusedError
from toolsync.masking import is_reference
from toolsync.plan.astray import gathered
from toolsync.plan.laying import Laid, sha256, stands
from toolsync.plan.model import Left, Place, Row
from toolsync.remembered import FileMemory, LayerMemory, Remembered


def unwound(
    document: Document, memory: FileMemory, rows: Sequence[Row], place: Place
) -> tuple[Document | None, tuple[LayerMemory, ...]]:
    """The document without the layers on top that may go, and the layers that stay.

    A layer may go while its row is in question, the text is exactly what it left, and the way back is known. None
    is a file that toolsync made, taken back to nothing. What goes whole or not at all is kept up in place: what it
    was made from (the file that a store's new row starts as) may be another by now.
    """
    if place.goes_whole and memory.created:
        return document, memory.layers
    layers = list(memory.layers)
    in_question = {row.name for row in rows}
    while layers and (layers[-1].tool, layers[-1].overlay) in in_question:
        top = layers[-1]
        if top.sha256 != sha256(document.text):
            break
        back = _inverse(top, place)
        if back is None:
            break
        layers.pop()
        document = documents.parse(splices.apply(document.text, back).encode(), place.format)
    is_gone = memory.created and not layers and not document.text
    return None if is_gone else document, tuple(layers)


def _inverse(layer: LayerMemory, place: Place) -> list[Splice] | None:
    """The splices that lead back, those in the keyring included; None where they cannot be had."""
    if layer.inverse is None:
        return None
    back: list[Splice] = []
    for splice in layer.inverse:
        if isinstance(splice, Splice):
            back.append(splice)
            continue
        text = place.kept(splice.entry)
        if text is None:
            return None
        back.append(Splice(splice.start, splice.length, text))
    return back


def given_back(document: Document, row: Row, known: LayerMemory, place: Place) -> Laid:
    """The document with everything of the layer given back that the row wants no more.

    What could not be put back, though it still is ours, stays remembered: what the user had there is not lost.
    """
    wanted = {spell(edit.path) for edit in row.edits}
    document, astray = gathered(document, known, place)
    left = list(astray)
    stuck: list[Remembered] = []
    for value in reversed(known.values):
        if value.path not in wanted:
            document, reason = _given_back(document, value, place)
            if reason:
                may_be_key = value.secret and reason == _CHANGED and _may_be_key(document.get(parse_path(value.path)))
                left.append(Left(known.tool, parse_path(value.path), reason, may_be_key))
            if reason.startswith(_STUCK):
                stuck.insert(0, value)
    layer = replace(known, values=tuple(stuck), containers=(), inverse=None) if stuck else None
    return Laid(swept(document, known.containers, [row]), layer, left=tuple(left))


def _may_be_key(now: Value | Missing) -> bool:
    return now != "" and not (isinstance(now, str) and is_reference(now))


def without_start(document: Document, start: str, place: Place) -> Document:
    """The document without what stands in it as it stood in the start of a file that toolsync made."""
    begun = documents.parse(start.encode(), place.format).data
    for path, value in _inside((), begun):
        now = document.get(path)
        is_left = not now if isinstance(value, dict) else equal(now, value)
        if now is not MISSING and is_left:
            with suppress(EditRefusedError):  # a default does no harm
                document = document.remove(path)
    return _without_heading(document, start, place)


def _without_heading(document: Document, start: str, place: Place) -> Document:
    """The document without the comment that the start begins with, where that stands whole still."""
    lines = takewhile(lambda line: line.startswith("#") or not line.strip(), start.splitlines(keepends=True))
    heading = "".join(lines)
    words = heading.strip()
    ours = re.compile(rf"^{re.escape(words)}$\n{{0,{len(heading) - len(heading.rstrip())}}}", re.MULTILINE)
    text = ours.sub("", document.text, count=1) if words else document.text
    rest = documents.parse(text.encode(), place.format)
    return rest if equal(rest.data, document.data) else document


def _inside(path: KeyPath, value: Value) -> Iterator[tuple[KeyPath, Value]]:
    """Everything in a table, innermost first, the last first."""
    for step, child in reversed(value.items()) if isinstance(value, dict) else ():
        yield from _inside((*path, step), child)
        yield (*path, step), child


_STUCK = "was not given back"
_CHANGED = "stays as it is, for it was changed after toolsync wrote it"


def swept(document: Document, containers: Sequence[str], rows: Sequence[Row]) -> Document:
    """The document without those of our containers that are empty now, and that none of the rows needs."""
    needed = {prefix for row in rows for edit in row.edits for prefix in _prefixes(edit.path)}
    for text in reversed(containers):
        path = parse_path(text)
        if path not in needed and _is_empty(document.get(path), path):
            with suppress(EditRefusedError):  # an empty container does no harm
                document = document.remove(path)
    return document


def _given_back(document: Document, value: Remembered, place: Place) -> tuple[Document, str]:
    """The document with one value given back, and why it was not, or not wholly."""
    path = parse_path(value.path)
    now = document.get(path)
    if not stands(value, now, place.key):
        return document, "" if now is MISSING else _CHANGED
    source = place.kept(value.entry) if value.entry else value.origin
    try:
        if source is not None:
            return document.set(path, Source(source)), ""
        document = document.remove(path)
    except EditRefusedError as error:
        return document, f"{_STUCK}: {error.reason.removeprefix(f'{value.path}: ')}"
    return document, "" if value.origin_kept == "memory" else "what stood there before could not be kept, and is lost"


def _prefixes(path: KeyPath) -> set[KeyPath]:
    return {path[:length] for length in range(1, len(path) + 1)}


def _is_empty(value: Value | Missing, path: KeyPath) -> bool:
    last = path[-1]
    if isinstance(last, Item):
        return isinstance(value, dict) and value == {last.key: last.value}
    return isinstance(value, dict | list) and not value
