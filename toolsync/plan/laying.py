"""One row laid over a document that holds nothing of it: the user's own text, or none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from toolsync import document as documents
from toolsync.document import MISSING, Document, KeyPath, Missing, Splice, Value
from toolsync.document import splice as splices
from toolsync.document.keypath import spell
from toolsync.overlay import ABSENT, TABLE, Edit, edited
from toolsync.plan.model import Left, Place, Row
from toolsync.remembered import (
    ANYTHING,
    NOTHING,
    KeptSplice,
    LayerMemory,
    Remembered,
    holds,
    mark,
    may_lie_in_memory,
    vault_name,
)
from toolsync.value import frozen


@frozen
class Laid:
    """A document with a row laid over it.

    Attributes:
        document: the result; None where there is no file.
        layer: what is remembered of the row; None for nothing.
        kept: texts for the keyring, by entry name.
        left: what was not given back.
        is_begun: whether the document began as a new file does, in one that was empty.
    """

    document: Document | None
    layer: LayerMemory | None = None
    kept: Mapping[str, str] = field(default_factory=dict)
    left: tuple[Left, ...] = ()
    is_begun: bool = False


def made(row: Row, place: Place) -> Laid:
    """The file made anew from the row's start; nothing where the row makes none."""
    if row.start is None or not row.edits or (all(edit.value is ABSENT for edit in row.edits) and not place.goes_whole):
        return Laid(None)
    start = documents.parse(row.start.encode(), place.format)
    return made_whole(start, row, place) if row.start_is_filled or place.goes_whole else _begun(start, "", row, place)


def makes_file(row: Row) -> bool:
    """Whether the row wants anything to stand there, so that there must be a file."""
    return row.start is not None and any(edit.value is not ABSENT for edit in row.edits)


def _begun(start: Document, instead_of: str, row: Row, place: Place) -> Laid:
    """The row laid over a start of its own: what that sets stays for as long as the file does."""
    laid = laid_fresh(start, row, place)
    assert laid.document is not None  # noqa: S101  it was there before
    assert laid.layer is not None  # noqa: S101  the row wants something
    back = (Splice(0, len(laid.document.text), instead_of),)
    return replace(laid, layer=replace(laid.layer, inverse=back), kept=_origins(laid))


def _is_nothing(document: Document) -> bool:
    """Whether the text is empty, or an empty table and no more: a comment is more."""
    return "".join(document.text.split()) in ("", "{}")


def _origins(laid: Laid) -> dict[str, str]:
    """What is kept of single values; the way back to a start needs no text of it."""
    assert laid.layer is not None  # noqa: S101  the caller looked
    names = {value.entry for value in laid.layer.values}
    return {name: text for name, text in laid.kept.items() if name in names}


def made_whole(start: Document, row: Row, place: Place) -> Laid:
    """The row laid over a start of which nothing is the user's: nothing of it is given back but the whole."""
    document = edited(start, row.edits)
    values = tuple(_remembered(edit, place) for edit in row.edits if edit.value is not TABLE)
    parents = dict.fromkeys(parent for edit in row.edits for parent in _parents(edit))
    containers = tuple(spell(parent) for parent in parents if document.get(parent) is not MISSING)
    nothing = (Splice(0, len(document.text), ""),)
    layer = LayerMemory(*row.name, sha256(document.text), nothing, values, containers, place.now)
    return Laid(document, replace(layer, holds_key=row.holds_key))


def laid_fresh(document: Document, row: Row, place: Place) -> Laid:
    """The row laid over a document that holds nothing of it; the way back is remembered byte for byte."""
    if not row.edits:
        return Laid(document)
    if row.start and not row.start_is_filled and _is_nothing(document):  # it begins as a new file does
        begun = _begun(documents.parse(row.start.encode(), place.format), document.text, row, place)
        return replace(begun, is_begun=True)
    kept: dict[str, str] = {}
    values: list[Remembered] = []
    containers: list[str] = []
    back: list[tuple[Splice, bool]] = []
    result = document
    for edit in row.edits:
        remembered, secrets = with_origin(result, edit, row, place)
        values.extend(remembered)
        kept.update(secrets)
        containers.extend(path for path in missing_parents(result, edit) if path not in containers)
        before, result = result, edited(result, [edit])
        undone = splices.inverse(before.text, result.log[len(before.log) :])
        back = [*((splice, edit.secret) for splice in undone), *back]
    layer = LayerMemory(
        *row.name, sha256(result.text), None, tuple(values), tuple(containers), place.now, row.holds_key
    )
    return Laid(result, replace(layer, inverse=tuple(_inverse(back, row, place, kept))), kept)


def _inverse(
    back: Sequence[tuple[Splice, bool]], row: Row, place: Place, kept: dict[str, str]
) -> Iterable[Splice | KeptSplice]:
    """The inverse as memory may hold it: what may be a key goes to `kept`."""
    for splice, is_secret in back:
        if splice.text.strip() and not may_lie_in_memory(splice.text, secret=is_secret):
            entry = vault_name(place.key, place.path, row.name, splice.text)
            kept[entry] = splice.text
            yield KeptSplice(splice.start, splice.length, entry)
        else:
            yield splice


def stands(remembered: Remembered, now: Value | Missing, key: bytes) -> bool:
    """Whether what stands at a remembered path is what toolsync left there: its value, or nothing.

    Args:
        remembered: the value.
        now: what stands there, `MISSING` included.
        key: this machine's hash key.
    """
    if now is MISSING or remembered.after == NOTHING:
        return now is MISSING and remembered.after == NOTHING
    return holds(remembered, now, key)


def sha256(text: str) -> str:
    """Of the text as it lies on disk, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def with_origin(
    document: Document, edit: Edit, row: Row, place: Place, earlier: Remembered | None = None
) -> tuple[tuple[Remembered, ...], Mapping[str, str]]:
    """What is remembered of the edit, and what of that goes to the keyring: what it sets, and what the user had there.

    Args:
        document: as it is before the edit.
        edit: what is set.
        row: whose edit.
        place: where.
        earlier: what is remembered of this path already; its origin stays while its value still stands there.
    """
    if edit.value is TABLE:
        return (), {}
    fresh = _remembered(edit, place)
    if earlier is not None and stands(earlier, document.get(edit.path), place.key):
        if earlier.origin is None:
            return (replace(fresh, origin_kept=earlier.origin_kept, entry=earlier.entry),), {}
        return _with_text(fresh, earlier.origin, row, place)
    source = document.source(edit.path)
    return ((fresh,), {}) if source is None else _with_text(fresh, source.text, row, place)


def _with_text(
    fresh: Remembered, text: str, row: Row, place: Place
) -> tuple[tuple[Remembered, ...], Mapping[str, str]]:
    """The user's own text remembered: here, or in the keyring if it may be a key."""
    if not may_lie_in_memory(text, secret=fresh.secret):
        entry = vault_name(place.key, place.path, row.name, text)
        return (replace(fresh, origin_kept="keyring", entry=entry),), {entry: text}
    return (replace(fresh, origin=text),), {}


def _remembered(edit: Edit, place: Place) -> Remembered:
    return Remembered(spell(edit.path), None, "memory", _after(edit, place), edit.secret)


def _after(edit: Edit, place: Place) -> str:
    if edit.value is ABSENT:
        return NOTHING
    return ANYTHING if edit.stamp else mark(edit.value, place.key if edit.secret else None)


def missing_parents(document: Document, edit: Edit) -> list[str]:
    """The containers that setting `edit` will make, outermost first."""
    if edit.value is ABSENT or document.get(edit.path) is not MISSING:
        return []
    return [spell(parent) for parent in _parents(edit) if document.get(parent) is MISSING]


def _parents(edit: Edit) -> list[KeyPath]:
    """The containers that `edit` needs, outermost first; a table that must merely exist is one itself."""
    last = len(edit.path) + (edit.value is TABLE)
    return [edit.path[:length] for length in range(1, last)]
