"""Other programs' entries in the keyring: planned, remembered and given back as files are, together with them.

What a plan holds of an entry is a document with one value in it; nothing of it is ever on disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from toolsync.masking import Secret
from toolsync.overlay import Edit
from toolsync.plan import FilePlan, Place, Row, plan_file
from toolsync.remembered import Memory
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.value import frozen

OVERLAY = "keyring"
"""What memory files an entry's layer under, where it has the overlay's name for a file."""

_FIELD = "key"


@frozen
class Wanted:
    """What a tool's entry is to hold.

    Attributes:
        tool: which.
        entry: where the tool looks.
        key: what it is to find there.
    """

    tool: str
    entry: Entry
    key: Secret


def entry_plans(
    session: Session, memory: Memory, in_scope: set[str], wanted: Iterable[Wanted] = ()
) -> tuple[FilePlan, ...]:
    """What becomes of the entries: those that are wanted, and what is given back of the tools in question.

    Raises:
        SecretError: the keyring does not answer.
    """
    rows: dict[str, list[Row]] = {}
    for one in wanted:
        edit = Edit((_FIELD,), one.key.reveal(), secret=True, harmless=False)
        rows.setdefault(str(one.entry), []).append(Row(one.tool, OVERLAY, (edit,), start=document_of(one.key)))
    for name, file in memory.entries.items():
        there = rows.setdefault(name, [])
        seated = {row.tool for row in there}
        there += [Row(one.tool, OVERLAY) for one in file.layers if one.tool in in_scope and one.tool not in seated]
    return tuple(_planned(session, memory, name, some) for name, some in sorted(rows.items()) if some)


def _planned(session: Session, memory: Memory, name: str, rows: Sequence[Row]) -> FilePlan:
    vault = session.open_vault()

    def kept(entry: str) -> str | None:
        found = vault.get(entry)
        return None if found is None else found.reveal()

    place = Place(Entry(name), "json", memory.key, session.now(), kept)
    return plan_file(place, document_of(vault.get(Entry(name))), rows, memory.entries.get(name))


def document_of(value: Secret | None) -> str | None:
    """An entry as a document."""
    return None if value is None else json.dumps({_FIELD: value.reveal()}, ensure_ascii=False) + "\n"


def text_of(session: Session, name: str) -> str | None:
    """What an entry holds, as a document; None where it is not there.

    Raises:
        SecretError: the keyring does not answer.
    """
    return document_of(session.open_vault().get(Entry(name)))


def value_in(document: str | None) -> Secret | None:
    """What the document of an entry says that it is to hold; None where it is to go."""
    value = None if document is None else json.loads(document).get(_FIELD)
    return Secret(value) if isinstance(value, str) else None
