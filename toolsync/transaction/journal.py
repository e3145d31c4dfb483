"""What a transaction is about to do, on disk before it does it: names and hashes, never a content or a secret."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from toolsync import disk
from toolsync.errors import TransactionError
from toolsync.value import frozen

VERSION = 2

Phase = Literal["staging", "prepared", "overwriting"]
"""`staging`: all old on recovery. `prepared`: the commit point is passed, all new. `overwriting`: so too, and files
that are written in place may be torn."""


@frozen
class Entry:
    """One file of the transaction.

    Attributes:
        target: the real path.
        temp: a name of our own beside it: of the new content, then of what it displaced, until that is known to be what
            was planned from.
        old: SHA-256 of what it replaces; None when nothing is there.
        new: SHA-256 of the new content; None when the file goes.
        mode: the permission bits that the file is to have.
        private: whether nobody but the owner may read it, named ACLs included.
        in_place: whether it is written through instead of renamed over.
        prune: folders that go with the file when they are empty, innermost first.
    """

    target: str
    temp: str
    old: str | None
    new: str | None
    mode: int
    private: bool
    in_place: bool
    prune: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where both names are."""
        return Path(self.target).parent

    @property
    def name(self) -> str:
        """The target's, in its folder."""
        return Path(self.target).name

    @property
    def temp_name(self) -> str:
        """The temp file's, in the same folder."""
        return Path(self.temp).name


@frozen
class StoreToken:
    """The store whose COMMIT is the commit point.

    Attributes:
        path: where it is.
        old: its token before.
        new: its token after.
        modes: its permission bits before and after, where they change.
    """

    path: str
    old: str
    new: str | None = None
    modes: tuple[int, int] | None = None


@frozen
class Journal:
    """A transaction under way.

    Attributes:
        phase: how far it is.
        entries: the files, in the order in which they are replaced.
        folders: those that it makes, outermost first.
        store: what decides in place of `phase`, if a store takes part.
    """

    phase: Phase
    entries: tuple[Entry, ...]
    folders: tuple[str, ...] = ()
    store: StoreToken | None = None

    def prepared(self, token: str | None = None) -> Journal:
        """This journal at the commit point; `token` is the store's new one."""
        store = self.store and replace(self.store, new=token)
        return replace(self, phase="prepared", store=store)

    def overwriting(self, in_place: set[str]) -> Journal:
        """This journal with the targets that are now written through."""
        entries = (replace(entry, in_place=entry.in_place or entry.target in in_place) for entry in self.entries)
        return replace(self, phase="overwriting", entries=tuple(entries))


def path_in(state_dir: Path) -> Path:
    """Where the journal of `state_dir` lies while there is one."""
    return state_dir / "journal.json"


def save(state_dir: Path, journal: Journal) -> None:
    """Put `journal` on the disk, whole or not at all, and durably."""
    path = path_in(state_dir)
    draft = _draft(state_dir)
    raw = json.dumps({"version": VERSION, **asdict(journal)}, indent=1).encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(draft, flags, 0o600)
    try:
        write_all(descriptor, raw)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    disk.replace(draft, path)
    disk.sync_folder(state_dir)


def write_all(descriptor: int, raw: bytes) -> None:
    """Write every byte; the system may take them in pieces."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def load(state_dir: Path) -> Journal | None:
    """The journal that an interrupted transaction left, or None.

    Raises:
        TransactionError: it is damaged, or of a newer toolsync.
    """
    path = path_in(state_dir)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.file_error(path, error) from error
    try:
        return _journal(json.loads(raw))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TransactionError(
            f"{disk.shown(path)}: the journal of an interrupted run cannot be read",
            hint="If a newer toolsync wrote it, run that one; else remove it, and any .toolsync-*.tmp that it names.",
        ) from error


def _journal(data: dict[str, Any]) -> Journal:
    if data.pop("version") != VERSION:
        raise ValueError("another version")
    entries = tuple(Entry(**{**entry, "prune": tuple(entry["prune"])}) for entry in data["entries"])
    store = data["store"] and StoreToken(**{**data["store"], "modes": _pair(data["store"]["modes"])})
    return Journal(data["phase"], entries, tuple(data["folders"]), store)


def _pair(modes: list[int] | None) -> tuple[int, int] | None:
    return None if modes is None else (modes[0], modes[1])


def remove(state_dir: Path) -> None:
    """Forget the transaction: it is over. Survives no power cut on purpose: recovery then finds nothing left to do."""
    disk.unlink(_draft(state_dir))
    disk.unlink(path_in(state_dir))


def traces(state_dir: Path) -> bool:
    """Whether a transaction left anything: a journal, or the draft of one."""
    return disk.is_there(path_in(state_dir)) or disk.is_there(_draft(state_dir))


def _draft(state_dir: Path) -> Path:
    return state_dir / "journal.json.draft"
