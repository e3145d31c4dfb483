"""Overlay x disk x memory: what a file becomes, what of it changes, and what is remembered to give it back.

The rule: everything that toolsync wrote and that is no longer wanted gets back what the user had; then the wanted
edits are laid over what is there. A file that still is exactly what toolsync wrote is first taken back to the user's
own text, byte for byte, so that the result depends on that text and the overlay alone, never on the history. Undo is
the plan that wants nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from toolsync import document as documents
from toolsync.document import MISSING, Document, KeyPath, Value, equal
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import EditRefusedError, PlanRefusedError
from toolsync.overlay import TABLE, Edit
from toolsync.plan.giving import swept, unwound, without_start
from toolsync.plan.laying import Laid, laid_fresh, made, made_whole, makes_file, sha256, stands
from toolsync.plan.meeting import complaint, stop_at_breach, widened
from toolsync.plan.model import Change, FilePlan, Left, Place, Row
from toolsync.plan.relaying import laid_in_place
from toolsync.plan.standing import handed_over, standing_above
from toolsync.remembered import FileMemory, LayerMemory, vault_names

__all__ = ["Change", "FilePlan", "Left", "Place", "Row", "plan_file", "sha256", "stands"]


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
    try:
        quiet = _planned(place, present, [_with_present_stamps(row, present) for row in rows], memory)
    except PlanRefusedError:  # the file's schema refuses the stamps that stand there
        return stamped
    return stamped if quiet.is_change else quiet


def _agree(place: Place, rows: Sequence[Row]) -> None:
    wanted = [(row, edit) for row in rows for edit in row.edits]
    for (row, edit), (other, known) in combinations(wanted, 2):
        if row is not other and _are_at_odds(edit, known):
            raise PlanRefusedError(
                f"{place}: {row.tool} and {other.tool} want different values at {spell(known.path)}",
                hint="Apply one of them only, or give them different files.",
            )


def _are_at_odds(one: Edit, other: Edit) -> bool:
    if one.path == other.path:
        return not (one.stamp and other.stamp) and not equal(one.value, other.value)
    outer, inner = sorted((one, other), key=lambda edit: len(edit.path))
    return inner.path[: len(outer.path)] == outer.path and outer.value is not TABLE


def _with_present_stamps(row: Row, present: Document) -> Row:
    """The row with the time stamps that stand there: they change only together with something else."""
    kept = (
        replace(edit, value=present.get(edit.path)) if edit.stamp and present.get(edit.path) is not MISSING else edit
        for edit in row.edits
    )
    return replace(row, edits=tuple(kept))


def _planned(place: Place, present: Document | None, rows: Sequence[Row], memory: FileMemory | None) -> FilePlan:
    known = memory or FileMemory()
    if place.goes_whole and known.created and not any(row.edits for row in rows):
        return _gone_whole(place, present, rows, known)
    done = _done(place, present, rows, known)
    document, layers = done.document, tuple(done.layers.values())
    document = None if _goes(done, rows, place) else document
    if document is not None:
        stop_at_breach(document, rows, place)
    after = replace(known, created=done.created, begun=done.begun, layers=layers) if document and layers else None
    after = memory if after and memory and _untimed(after) == _untimed(memory) else after
    return FilePlan(
        path=place.path,
        format=place.format,
        before=present.text if present else None,
        after=document.text if document else None,
        changes=tuple(_changes(present, document, rows, known)),
        remembered=memory,
        memory=after,
        kept={name: text for name, text in done.kept.items() if name in _entries(after)},
        forgotten=_entries(memory) - _entries(after),
        left=tuple(done.left),
        edits={row.name: row.edits for row in rows if row.edits},
        fault=document.fault if document else None,
        holds_key=after is not None and any(layer.holds_key for layer in after.layers),
        open=dict(_open(present, known, place)),
    )


def _gone_whole(place: Place, present: Document | None, rows: Sequence[Row], known: FileMemory) -> FilePlan:
    """What we made, taken away whole."""
    return FilePlan(
        path=place.path,
        format=place.format,
        before=present.text if present else None,
        after=None,
        changes=tuple(_changes(present, None, rows, known)),
        remembered=known,
        forgotten=_entries(known),
        open=dict(_open(present, known, place)),
    )


@dataclass
class _Work:
    """A file while rows are laid over it one after the other."""

    document: Document | None
    layers: dict[tuple[str, str], LayerMemory] = field(default_factory=dict)
    created: bool = False
    begun: bool = False
    kept: dict[str, str] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)


def _done(place: Place, present: Document | None, rows: Sequence[Row], known: FileMemory) -> _Work:
    """All rows laid; those that lie above one of them are lifted for it and laid again, if that can be done."""
    above = [] if present is None else standing_above(present, known, rows, place)
    try:
        return _worked(place, present, [*rows, *above], known)
    except EditRefusedError:
        if not above:
            raise
        return _worked(place, present, rows, known)


def _worked(place: Place, present: Document | None, rows: Sequence[Row], known: FileMemory) -> _Work:
    work = _Work(None)
    staying: tuple[LayerMemory, ...] = ()
    if present is not None:
        document, staying = unwound(present, known, rows, place)
        is_ours = known.created and (place.goes_whole or bool(staying))
        layers = {(layer.tool, layer.overlay): layer for layer in staying}
        work = _Work(document, layers, is_ours, begun=known.begun and bool(staying))
    for row in _in_order(rows, known, is_there=work.document is not None):
        work.created = work.created or work.document is None
        before = work.layers.pop(row.name, None) if not row.edits else work.layers.get(row.name)
        laid = _laid(work, row, before, place)
        work.document = laid.document
        work.begun = work.begun or laid.is_begun
        if laid.layer is not None:
            work.layers[row.name] = laid.layer
        elif before is not None:
            work.layers = {name: handed_over(layer, before, laid.document) for name, layer in work.layers.items()}
        work.kept.update(laid.kept)
        work.left.extend(laid.left)
    _sweep(work, rows, known)
    if present is not None:
        _mend(work, present, rows, place, staying)
        _sweep(work, rows, known)
        _clear(work, rows, known, place)
    return work


def _mend(work: _Work, present: Document, rows: Sequence[Row], place: Place, staying: Sequence[LayerMemory]) -> None:
    """Let what is left of a file, of which rows were given back value by value, be one that their tools take."""
    known = {(layer.tool, layer.overlay): layer for layer in staying}
    for row in rows:
        if row.edits or row.name not in known or work.document is None or _goes(work, rows, place):
            continue
        wide = widened(work.document, present, row, known[row.name], place)
        if wide.document is not None and wide.left:
            gone = wide.left[0].path
            work.left = [*(one for one in work.left if one.path[: len(gone)] != gone), *wide.left]
            _replace(work, wide.document)


def _clear(work: _Work, rows: Sequence[Row], known: FileMemory, place: Place) -> None:
    """Take out what a file that we made or began started as, where its user added something; if its tools allow."""
    begun = [row for row in rows if not row.edits and row.start and not row.start_is_filled]
    if work.document is None or not (known.created or known.begun) or work.layers or _goes(work, rows, place):
        return
    clean = work.document
    for row in begun:
        clean = without_start(clean, row.start or "", place)
    if all(complaint(row, clean) is None or complaint(row, work.document) is not None for row in begun):
        work.document = clean


def _sweep(work: _Work, rows: Sequence[Row], known: FileMemory) -> None:
    """Take out what containers of ours several rows emptied together."""
    if work.document is None:
        return
    asked = {row.name for row in rows}
    ours = [path for layer in known.layers if (layer.tool, layer.overlay) in asked for path in layer.containers]
    clean = swept(work.document, ours, rows)
    if clean.text == work.document.text:
        return
    _replace(work, clean)


def _replace(work: _Work, clean: Document) -> None:
    """Go on with a document from which something went that no layer remembers."""
    work.document = clean
    for name, layer in work.layers.items():
        there = tuple(path for path in layer.containers if clean.get(parse_path(path)) is not MISSING)
        work.layers[name] = replace(layer, containers=there)
    if work.layers:
        name, top = list(work.layers.items())[-1]
        work.layers[name] = replace(top, sha256=sha256(clean.text), inverse=None)


def _in_order(rows: Sequence[Row], memory: FileMemory, *, is_there: bool) -> list[Row]:
    """The rows in the order in which they were laid before, new ones last: unwinding and laying must mirror.

    A file that is not there is made by a row that wants one, and the others are laid over that.
    """
    order = {(layer.tool, layer.overlay): index for index, layer in enumerate(memory.layers)}
    laid_before = sorted(rows, key=lambda row: order.get(row.name, len(order)))
    return laid_before if is_there else sorted(laid_before, key=lambda row: not makes_file(row))


def _laid(work: _Work, row: Row, known: LayerMemory | None, place: Place) -> Laid:
    if work.document is None:
        return made(row, place)
    if known is not None:
        return laid_in_place(work.document, row, known, place)
    if place.goes_whole and work.created and row.edits:  # an earlier apply made it, and nobody here remembers that
        return made_whole(work.document, row, place)
    return laid_fresh(work.document, row, place)


def _goes(work: _Work, rows: Sequence[Row], place: Place) -> bool:
    """Whether nothing is left in a file that we made, or only what it started as; another's comment is something."""
    document = work.document
    if document is None or not work.created or work.layers:
        return False
    starts = [row.start for row in rows if row.start and not row.start_is_filled]
    if not place.goes_whole and _comments(document.text) - _comments("\n".join(starts)):
        return False
    started = (documents.parse(start.encode(), place.format).data for start in starts)
    return document.data in ({}, None) or any(equal(document.data, data) for data in started)


def _comments(text: str) -> set[str]:
    """The lines that are comments, in any of the formats."""
    return {stripped for line in text.splitlines() if (stripped := line.strip()).startswith(("#", "//", "/*"))}


def _open(present: Document | None, memory: FileMemory, place: Place) -> Iterator[tuple[KeyPath, Value]]:
    """What we wrote at secret places, still stands there, and is no key: a command, a variable's name."""
    for layer in memory.layers if present else ():
        for value in layer.values:
            path = parse_path(value.path)
            now = present.get(path) if present else MISSING
            if value.secret and not layer.holds_key and now is not MISSING and stands(value, now, place.key):
                yield path, now


def _untimed(memory: FileMemory) -> FileMemory:
    return replace(memory, layers=tuple(replace(layer, applied_at="") for layer in memory.layers))


def _entries(memory: FileMemory | None) -> frozenset[str]:
    """The keyring entries that a file's memory needs."""
    return vault_names(memory) if memory else frozenset()


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
