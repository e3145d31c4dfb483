"""The key that another has replaced: kept in the keyring for a while, so that there is a way back.

It lies in one of two entries that are called after its successor, and no profile can name either. Two, because a
rotation puts the key in use into the free one before it changes anything, and empties the other when all is done: at
every instant, both keys between which it moves are in the keyring, and the note says in which direction it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolsync.secret import index
from toolsync.secret.vault import Vault
from toolsync.value import frozen


@frozen
class Former:
    """What is noted of the key that another has replaced; no secret is among it.

    Attributes:
        entry: the keyring entry that holds it; "" where none does.
        since: when it was replaced, ISO 8601, UTC.
        until: when it is to be forgotten.
        going: the entry that a rotation under way puts the key in use into; "" where none is.
        is_back: whether that rotation goes back to the key that was replaced.
    """

    entry: str = ""
    since: str = ""
    until: str = ""
    going: str = ""
    is_back: bool = False


def entries(name: str) -> tuple[str, str]:
    """The keyring entries in which the key may lie that the key `name` has replaced; no name of a key has an `@`."""
    return f"{name}@former-1", f"{name}@former-2"


def read(state_dir: Path, name: str, vault: Vault) -> Former:
    """What is noted; where the note is lost, what the keyring says.

    Raises:
        SecretError: the keyring does not answer.
    """
    said = index.noted(state_dir).get(name)
    if said is not None:
        return _parsed(name, said)
    return Former(entry=next((entry for entry in entries(name) if vault.get(entry) is not None), ""))


def noted(state_dir: Path) -> dict[str, Former]:
    """What is noted, by the name of the key in use."""
    return {name: _parsed(name, said) for name, said in index.noted(state_dir).items()}


def kept(state_dir: Path, names: Iterable[str]) -> tuple[str, ...]:
    """The keyring entries with keys that others have replaced, as far as they are noted."""
    found = noted(state_dir)
    return tuple(entry for name in names if name in found for entry in (found[name].entry, found[name].going) if entry)


def note(state_dir: Path, name: str, former: Former) -> None:
    """Note it; one that says nothing goes.

    Raises:
        FileError: it cannot be written.
    """
    index.note(state_dir, name, asdict(former) if former.entry or former.going else None)


def _parsed(name: str, said: Any) -> Former:
    """The note; what somebody else made of it counts as unsaid."""
    table: Mapping[str, Any] = said if isinstance(said, dict) else {}
    texts = {field: value for field in ("since", "until") if isinstance(value := table.get(field), str)}
    slots = {field: value for field in ("entry", "going") if (value := table.get(field)) in entries(name)}
    return Former(**texts, **slots, is_back=table.get("is_back") is True)


def free(name: str, former: Former) -> str:
    """The entry into which the key in use can go without anything being lost."""
    return next(entry for entry in entries(name) if entry != former.entry)


def settled(state_dir: Path, name: str, vault: Vault) -> Former:
    """What is noted once a rotation that was cut short counts as done, if it had come to the new key, or as not begun.

    The caller holds the lock.

    Raises:
        SecretError, FileError: the keyring or the folder does not allow it.
    """
    former = read(state_dir, name, vault)
    if not former.going:
        return former
    now, put = vault.get(name), vault.get(former.going)
    if put is None or put == now:
        if put is not None:
            vault.remove(former.going)
        kept = replace(former, going="", is_back=False)
        note(state_dir, name, kept)
        return kept
    return closed(state_dir, name, vault, former)


def closed(state_dir: Path, name: str, vault: Vault, former: Former) -> Former:
    """A rotation ended: what it put away is the key that was replaced, and the one before that is forgotten.

    Raises:
        SecretError, FileError: the keyring or the folder does not allow it; the next rotation sees to it.
    """
    if former.entry:
        vault.remove(former.entry)
    kept = replace(former, entry=former.going, going="", is_back=False)
    note(state_dir, name, kept)
    return kept


def forgotten(state_dir: Path, name: str, vault: Vault) -> bool:
    """Keep no key that `name` has replaced; whether there was one.

    The caller holds the lock.

    Raises:
        SecretError, FileError: the keyring or the folder does not allow it.
    """
    settled(state_dir, name, vault)
    was_there = [vault.remove(entry) for entry in entries(name)]
    note(state_dir, name, Former())
    return any(was_there)


def is_due(former: Former, now: datetime) -> bool:
    """Whether the time has come to forget it; a time that cannot be read has."""
    try:
        until = datetime.fromisoformat(former.until)
    except ValueError:
        return True
    return now >= (until if until.tzinfo else until.replace(tzinfo=UTC))
