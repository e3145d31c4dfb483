"""Overlay x disk x memory: what a file becomes, what of it changes, and what is remembered to give it back.

The rule: everything that toolsync wrote and that is no longer wanted gets back what the user had; then the wanted
edits are laid over what is there. A file that still is exactly what toolsync wrote is first taken back to the user's
own text, byte for byte, so that the result depends on that text and the overlay alone, never on the history. Undo is
the plan that wants nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolsync import document as documents
from toolsync.document import MISSING, Document, KeyPath, equal
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import PlanRefusedError
from toolsync.overlay import Edit
from toolsync.plan.giving import unwound
from toolsync.plan.laying import Laid, laid_fresh, made, stands
from toolsync.plan.model import Change, FilePlan, Left, Place, Row
from toolsync.plan.relaying import laid_in_place
from toolsync.remembered import FileMemory, KeptSplice, LayerMemory, vault_name

__all__ = ["Change", "FilePlan", "Left", "Place", "Row", "plan_file", "stands"]


def plan_file(place: Place, before: str | None, rows: Sequence[Row], memory: FileMemory | None) -> FilePlan:
    """What `rows` make of a file.

    Args:
        place: the file, and what may be looked up.
        before: the file's text, or None when it does not exist.
        rows: everything that is wanted of it by the tools in question; a row without edits gives its tool's back.
        memory: what is remembered of the file.

    Raises:
        DocumentError: the file cannot be parsed, or an edit cannot be made faithfully.
        PlanRefusedError: the result would not meet the file's schema, or two rows disagree.
    """
    _agree(place, rows)
    present = None if before is None else documents.parse(before.encode(), place.format)
    stamped = _planned(place, present, rows, memory)
    if present is None or not stamped.is_change or not any(edit.stamp for row in rows for edit in row.edits):
        return stamped
    quiet = _planned(place, present, [_with_present_stamps(row, present) for row in rows], memory)
    return stamped if quiet.is_change else quiet


def _agree(place: Place, rows: Sequence[Row]) -> None:
    wanted: dict[KeyPath, tuple[Row, Edit]] = {}
    for row in rows:
        for edit in row.edits:
            other, known = wanted.setdefault(edit.path, (row, edit))
            if not equal(known.value, edit.value) and not (known.stamp and edit.stamp):
                raise PlanRefusedError(
                    f"{place.path}: {other.tool} and {row.tool} want different values at {spell(edit.path)}",
                    hint="Apply one of them only, or give them different files.",
                )


def _with_present_stamps(row: Row, present: Document) -> Row:
    """The row with the time stamps that stand there: they change only together with something else."""
    kept = (
        replace(edit, value=present.get(edit.path)) if edit.stamp and present.get(edit.path) is not MISSING else edit
        for edit in row.edits
    )
    return replace(row, edits=tuple(kept))


def _planned(place: Place, present: Document | None, rows: Sequence[Row], memory: FileMemory | None) -> FilePlan:
    known = memory or FileMemory()
    document: Document | None = present
    layers: dict[tuple[str, str], LayerMemory] = {}
    if present is not None:
        document, staying = unwound(present, known, rows, place)
        layers = {(layer.tool, layer.overlay): layer for layer in staying}
    created = known.created and bool(layers)
    kept: dict[str, str] = {}
    left: list[Left] = []
    for row in _in_order(rows, known):
        created = created or document is None
        laid = _laid(document, row, layers.get(row.name), place)
        document = laid.document
        layers = _with_layer(layers, row, laid)
        kept.update(laid.kept)
        left.extend(laid.left)
    if document is not None and created and not layers and _is_ours_alone(document, rows, place):
        document = None
    _meet(document, rows, place)
    after = replace(known, created=created, layers=tuple(layers.values())) if document and layers else None
    after = memory if after and memory and _untimed(after) == _untimed(memory) else after
    return FilePlan(
        path=place.path,
        format=place.format,
        before=present.text if present else None,
        after=document.text if document else None,
        changes=tuple(_changes(present, document, rows, known)),
        remembered=memory,
        memory=after,
        kept={name: text for name, text in kept.items() if name in _entries(place, after)},
        forgotten=_entries(place, memory) - _entries(place, after),
        left=tuple(left),
        edits={row.name: row.edits for row in rows if row.edits},
        fault=document.fault if document else None,
    )


def _in_order(rows: Sequence[Row], memory: FileMemory) -> list[Row]:
    """The rows in the order in which they were laid before, new ones last: unwinding and laying must mirror."""
    order = {(layer.tool, layer.overlay): index for index, layer in enumerate(memory.layers)}
    return sorted(rows, key=lambda row: order.get(row.name, len(order)))


def _laid(document: Document | None, row: Row, known: LayerMemory | None, place: Place) -> Laid:
    if document is None:
        return made(row, place)
    if known is None:
        return laid_fresh(document, row, place)
    return laid_in_place(document, row, known, place)


def _with_layer(layers: dict[tuple[str, str], LayerMemory], row: Row, laid: Laid) -> dict[tuple[str, str], LayerMemory]:
    if laid.layer is None:
        return {name: layer for name, layer in layers.items() if name != row.name}
    return {**layers, row.name: laid.layer}


def _is_ours_alone(document: Document, rows: Sequence[Row], place: Place) -> bool:
    """Whether nothing is left in a file that we made, or only what it started as."""
    starts = [row.start for row in rows if row.start and not row.start_is_filled]
    started = (documents.parse(start.encode(), place.format).data for start in starts)
    return document.data in ({}, None) or any(equal(document.data, data) for data in started)


def _meet(document: Document | None, rows: Sequence[Row], place: Place) -> None:
    for row in rows:
        complaint = row.check(document.data) if row.check and document else None
        if complaint:
            raise PlanRefusedError(f"{place.path}: {row.tool} would not accept it: {complaint}")


def _untimed(memory: FileMemory) -> FileMemory:
    return replace(memory, layers=tuple(replace(layer, applied_at="") for layer in memory.layers))


def _entries(place: Place, memory: FileMemory | None) -> frozenset[str]:
    """The keyring entries that a file's memory needs."""
    names: set[str] = set()
    for layer in memory.layers if memory else ():
        at = (place.path, layer.tool, layer.overlay)
        names |= {vault_name(*at, value.path) for value in layer.values if value.origin_kept == "keyring"}
        names |= {
            vault_name(*at, f"inverse[{index}]")
            for index, splice in enumerate(layer.inverse or ())
            if isinstance(splice, KeptSplice)
        }
    return frozenset(names)


def _changes(
    before: Document | None, after: Document | None, rows: Sequence[Row], memory: FileMemory
) -> Iterator[Change]:
    paths = {edit.path: (row.tool, edit.secret, edit.harmless) for row in rows for edit in row.edits}
    for layer in memory.layers:
        for value in layer.values:
            paths.setdefault(parse_path(value.path), (layer.tool, value.secret, False))
    for path, (tool, secret, harmless) in paths.items():
        old = before.get(path) if before else MISSING
        new = after.get(path) if after else MISSING
        if not equal(old, new):
            yield Change(tool, path, old, new, secret, harmless)
