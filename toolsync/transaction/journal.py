"""What a transaction is about to do, on disk before it does it: names and hashes, never a content or a secret."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from toolsync import directory, disk, own_file
from toolsync.errors import FileError, TransactionError
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
    own_file.put(path_in(state_dir), json.dumps({"version": VERSION, **asdict(journal)}, indent=1).encode())


def load(state_dir: Path) -> Journal | None:
    """The journal that an interrupted transaction left, or None.

    Raises:
        TransactionError: it is damaged, or of a newer toolsync.
    """
    path = path_in(state_dir)
    try:
        raw = own_file.read(path)
    except FileError as error:
        raise TransactionError(error.message, hint=error.hint) from error
    if raw is None:
        return None
    try:
        return _journal(json.loads(raw))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise TransactionError(
            f"{disk.shown(path)}: the journal of an interrupted run cannot be read",
            hint="If a newer toolsync wrote it, run that one; else remove it, and any .toolsync-*.tmp that it names.",
        ) from error


def _journal(data: dict[str, Any]) -> Journal:
    """The journal in the data.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: toolsync did not write it so.
    """
    if data.pop("version") != VERSION:
        raise ValueError("another version")
    entries = tuple(_entry(**entry) for entry in data["entries"])
    store = data["store"] and StoreToken(**{**data["store"], "modes": _pair(data["store"]["modes"])})
    if data["phase"] not in get_args(Phase):
        raise ValueError("no such phase")
    return Journal(data["phase"], entries, tuple(map(_absolute, data["folders"])), store)


def _entry(prune: list[str], **known: Any) -> Entry:
    """An entry whose temp file is none but one of ours: it is removed unseen."""
    entry = Entry(**known, prune=tuple(map(_absolute, prune)))
    target, temp = Path(_absolute(entry.target)), Path(_absolute(entry.temp))
    if temp.parent != target.parent or not fnmatchcase(temp.name, disk.TEMP_NAMES) or not isinstance(entry.mode, int):
        raise ValueError("no temp file of ours")
    return entry


def _absolute(path: str) -> str:
    if not Path(path).is_absolute():
        raise ValueError("no place on the disk")
    return path


def _pair(modes: list[int] | None) -> tuple[int, int] | None:
    return None if modes is None else (modes[0], modes[1])


def remove(state_dir: Path) -> None:
    """Forget the transaction: it is over. Survives no power cut on purpose: recovery then finds nothing left to do."""
    directory.unlink(own_file.draft(path_in(state_dir)))
    directory.unlink(path_in(state_dir))


def traces(state_dir: Path) -> bool:
    """Whether a transaction left anything: a journal, or the draft of one."""
    return disk.is_there(path_in(state_dir)) or disk.is_there(own_file.draft(path_in(state_dir)))
