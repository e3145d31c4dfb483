"""What a tool's file must meet: nothing is planned that breaks it, nor is anything given back that would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolsync.document import MISSING, Document, KeyPath
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import EditRefusedError, PlanRefusedError
from toolsync.plan.laying import Laid
from toolsync.plan.model import Left, Place, Row
from toolsync.remembered import LayerMemory


def complaint(row: Row, document: Document) -> str | None:
    """Why the row's tool would not take the document: its form, then its schema; None where it has none, or would."""
    if row.check is None:
        return None
    if document.fault is not None:
        return f"line {document.fault.line}, column {document.fault.column}: {document.fault.reason}"
    return row.check(document.data)


def stop_at_breach(document: Document, rows: Sequence[Row], place: Place) -> None:
    """Let a document pass that the tools which want something of it take.

    Raises:
        PlanRefusedError: one would not.
    """
    for row in rows:
        said = complaint(row, document) if row.edits else None
        if said:
            raise _refusal(row, place, said, f"Mend that in the file first: {_HARM}")


def widened(document: Document, present: Document, row: Row, known: LayerMemory, place: Place) -> Laid:
    """The document from which a row was given back value by value, as its tool takes it.

    What was added meanwhile inside a container of ours may not stand without what goes: then the container goes
    whole, the innermost that will do. One that was not ours but is gone is not made again for what stood in it.

    Args:
        document: without the row.
        present: as it stood before.
        row: which wants nothing more.
        known: what is remembered of it.
        place: where.

    Raises:
        PlanRefusedError: no container will do.
    """
    said = complaint(row, document)
    if said is None or complaint(row, present) is not None:  # what was broken before is not for us to mend
        return Laid(document)
    for path, reason in _containers(document, present, known):
        try:
            narrower = document.remove(path)
        except EditRefusedError:
            continue
        if complaint(row, narrower) is None:
            return Laid(narrower, left=(Left(row.tool, path, reason),))
    raise _refusal(row, place, said, f"Put a value of your own there first, which stays: {_HARM}")


def _containers(document: Document, present: Document, known: LayerMemory) -> Iterator[tuple[KeyPath, str]]:
    """What may go whole, innermost first, and why: what giving back made anew, then what toolsync made."""
    paths = [parse_path(value.path) for value in known.values]
    above = {path[:length] for path in paths for length in range(1, len(path))}
    anew = [path for path in above if document.get(path) is not MISSING and present.get(path) is MISSING]
    for path in sorted(anew, key=len, reverse=True):
        yield path, "was not given back: what it stood in is gone"
    for path in map(parse_path, reversed(known.containers)):
        if document.get(path) is not MISSING:
            yield path, "went whole, with what was added to it: it cannot stand without what toolsync wrote there"


_HARM = "a tool may take a file that breaks its rules for empty, and overwrite it."


def _refusal(row: Row, place: Place, said: str, hint: str) -> PlanRefusedError:
    return PlanRefusedError(f"{place}: {row.tool} would not accept it: {said}", hint=hint)
