"""Other programs' entries in the keyring, written: they go the way of the files, whatever happens on the way."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolsync import directory, disk, own_file
from toolsync import memory as memories
from toolsync.commands.writing import forgetting, state_folder
from toolsync.errors import ChangedError, FileError, ToolsyncError
from toolsync.masking import Secret
from toolsync.plan import FilePlan
from toolsync.planning.entries import document_of, value_in
from toolsync.remembered import mark
from toolsync.secret.vault import Entry, Vault
from toolsync.session import Session
from toolsync.transaction import Alongside, lock
from toolsync.value import frozen

_WAIT_SECONDS = 10.0


class Entries(Alongside):
    """Entries go the way of the files; what they held lies in the keyring, and is noted, until all is new.

    Killed on the way, the next command looks at memory: if it is the new one, so are they, else they become old again.
    """

    def __init__(self, session: Session, plans: Sequence[FilePlan], memory: bytes) -> None:
        """Nothing is done yet.

        Args:
            session: whose keyring and folder.
            plans: of the entries.
            memory: the content of memory's file, once all is new.
        """
        self._session, self._memory = session, memory
        self._plans = [plan for plan in plans if plan.is_change]

    def prepare(self) -> None:
        """Put away what they hold, and make them new.

        Raises:
            ChangedError: one holds something else than when it was planned.
            SecretError, FileError: the keyring or the folder does not allow it.
        """
        if not self._plans:
            return
        vault = self._session.open_vault()
        for plan in self._plans:
            if document_of(vault.get(Entry(plan.path))) != plan.before:
                text = f"{plan.path} was changed by another program meanwhile"
                raise ChangedError(text, hint="Run the command again.")
        note = _Note.of(self._plans, disk.digest(self._memory))
        forgetting.expect(self._session, note.names)
        for plan, noted in zip(self._plans, note.entries, strict=True):
            before = value_in(plan.before)
            if before is not None:
                vault.set(noted["before"], before)
        note.save(self._session.state)
        for plan in self._plans:
            _put(vault, Entry(plan.path), value_in(plan.after))

    def take_back(self) -> None:
        """What cannot be taken back now is by the next command."""
        with suppress(ToolsyncError):
            _back(self._session)

    def finish(self) -> None:
        """What they held is remembered, as far as undo needs it."""
        with suppress(FileError):
            _Note.remove(self._session.state)


def _put(vault: Vault, entry: Entry, value: Secret | None) -> None:
    if value is None:
        vault.remove(entry)
    elif vault.get(entry) != value:
        vault.set(entry, value)


def settle(session: Session) -> bool:
    """End what an interrupted run began, once the files are all old or all new; whether entries became old again.

    Raises:
        SecretError, FileError: it cannot be ended yet.
        TransactionError: another toolsync is at work.
    """
    if not state_folder.has_entries(session.state):
        return False
    with lock.held(session.state, _WAIT_SECONDS):
        note = _Note.load(session.state)
        is_new = note is not None and memories.seen(memories.path_in(session.state)).sha256 == note.memory
        if is_new:
            _Note.remove(session.state)
            return False
        return _back(session)


def _back(session: Session) -> bool:
    """Make the noted entries old again, those aside that somebody changed since, under the lock that the caller holds.

    Raises:
        SecretError, FileError: it cannot be done.
    """
    note, is_back = _Note.load(session.state), False
    for one in note.entries if note else ():
        vault, entry = session.open_vault(), Entry(one["entry"])
        before = vault.get(one["before"]) if one["before"] else None
        is_known = before is not None or not one["before"]
        if note and is_known and note.is_after(one, vault.get(entry)):
            _put(vault, entry, before)
            is_back = True
    _Note.remove(session.state)
    return is_back


@frozen
class _Note:
    """What is going on with entries, without a secret.

    Attributes:
        memory: the hash of memory's file once all is new.
        salt: for the hashes of what the entries become, hexadecimal.
        entries: each with the name under which the keyring holds what it held, and the hash of what it becomes; "" for
            nothing.
    """

    memory: str
    salt: str
    entries: tuple[Mapping[str, str], ...]

    @classmethod
    def of(cls, plans: Sequence[FilePlan], memory: str) -> _Note:
        salt = secrets.token_hex(32)
        return cls(memory, salt, tuple(cls._entry(plan, salt) for plan in plans))

    @staticmethod
    def _entry(plan: FilePlan, salt: str) -> Mapping[str, str]:
        key, name = bytes.fromhex(salt), f"{plan.path}\0{plan.before}"
        before = "" if plan.before is None else f"before-{hmac.digest(key, name.encode(), 'sha256').hex()[:32]}"
        return {"entry": plan.path, "before": before, "after": _hash(salt, value_in(plan.after))}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(one["before"] for one in self.entries if one["before"])

    def is_after(self, one: Mapping[str, str], now: Secret | None) -> bool:
        return hmac.compare_digest(one["after"], _hash(self.salt, now))

    def save(self, state: Path) -> None:
        data = {"schema": "toolsync/entries/1", "memory": self.memory, "salt": self.salt, "entries": [*self.entries]}
        path = state / state_folder.ENTRIES
        try:
            own_file.put(path, (json.dumps(data, indent=2) + "\n").encode())
        except OSError as error:
            raise disk.file_error(path, error) from error

    @classmethod
    def load(cls, state: Path) -> _Note | None:
        """The note; None where there is none, or only a draft of one."""
        raw = own_file.read(state / state_folder.ENTRIES)
        if raw is None:
            return None
        data: Any = json.loads(raw)
        return cls(data["memory"], data["salt"], tuple(data["entries"]))

    @staticmethod
    def remove(state: Path) -> None:
        path = state / state_folder.ENTRIES
        try:
            directory.unlink(own_file.draft(path))
            directory.unlink(path)
        except OSError as error:
            raise disk.file_error(path, error) from error


def _hash(salt: str, value: Secret | None) -> str:
    return "" if value is None else mark(value.reveal(), bytes.fromhex(salt))
