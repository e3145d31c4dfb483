"""A transaction brought to its end, from the journal alone: all old, or all new. After a crash it is the same walk."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolsync import disk
from toolsync.errors import FileError, TransactionError
from toolsync.transaction import journal as journals
from toolsync.transaction.journal import Entry, Journal, StoreToken
from toolsync.transaction.stage import drop_access_list

_NOT_BY_RENAME = (errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES)
"""A bind-mounted file, another file system, a sticky folder: the file can still be written through."""

Standing = Literal["old", "new", "foreign"]


@dataclass(frozen=True)
class Recovery:
    """How an interrupted transaction was ended.

    Attributes:
        outcome: `finished` (all new) or `undone` (all old).
        files: the files that it was about.
        foreign: those of them that another program changed meanwhile; they were left as they are.
        store_changed: the store's rows are neither the old nor the new ones, so the files were left old.
    """

    outcome: Literal["finished", "undone"]
    files: tuple[Path, ...]
    foreign: tuple[Path, ...] = ()
    store_changed: bool = False


def settled(state_dir: Path, token_now: Callable[[str], str] | None) -> Recovery | None:
    """End the transaction that the journal of `state_dir` speaks of; None when there is none.

    Raises:
        TransactionError: the journal cannot be read, or its store must be asked and `token_now` is not given.
        FileError, OSError, StoreError: disk or store do not let it be ended; the journal stays, and the next call goes
            on.
    """
    journal = journals.load(state_dir)
    if journal is None:
        journals.remove(state_dir)  # a draft that never became one
        return None
    files = tuple(Path(entry.target) for entry in journal.entries)
    if journal.store is not None and journal.phase != "staging":  # before that its rows cannot be new
        token = _token(journal.store, token_now)
        committed = token == journal.store.new
        changed = not committed and token != journal.store.old
    else:
        committed, changed = journal.phase != "staging", False
    if committed:
        return Recovery("finished", files, forward(state_dir, journal))
    _back(state_dir, journal)
    return Recovery("undone", files, store_changed=changed)


def _token(store: StoreToken, token_now: Callable[[str], str] | None) -> str:
    if token_now is None:
        raise TransactionError(
            f"an interrupted run wrote to {disk.shown(store.path)} too, and this command cannot look there",
            hint="Run `toolsync apply`: it ends what was begun.",
        )
    return token_now(store.path)


def _back(state_dir: Path, journal: Journal) -> None:
    for entry in journal.entries:
        _drop_temp(entry)
    _remove_empty(reversed(journal.folders))
    journals.remove(state_dir)


def forward(state_dir: Path, journal: Journal) -> tuple[Path, ...]:
    """Put every new content in its place; the files that are neither old nor new, left alone, are returned."""
    foreign, later = [], []
    for entry in journal.entries:
        standing = _standing(entry, journal)
        if standing == "foreign":
            foreign.append(entry)
        elif standing == "old" and (entry.in_place or not _renamed(entry)):
            later.append(entry)
    if later:
        # The mark is durable before the first byte is: from now on a file of neither content is a torn one.
        journals.save(state_dir, journal.overwriting({entry.target for entry in later}))
    for entry in later:
        _overwrite(entry)
    return _verified(state_dir, journal, foreign)


def _verified(state_dir: Path, journal: Journal, foreign: list[Entry]) -> tuple[Path, ...]:
    """Sync, read back and tidy up."""
    for folder in sorted({Path(entry.target).parent for entry in journal.entries}):
        if folder.is_dir():
            disk.sync_folder(folder)
    overtaken = [entry for entry in journal.entries if entry not in foreign and _hash(entry.target) != entry.new]
    for entry in journal.entries:
        _drop_temp(entry)
        if entry.new is None and entry not in foreign:
            _remove_empty(entry.prune)
    journals.remove(state_dir)
    return tuple(Path(entry.target) for entry in (*foreign, *overtaken))


def _standing(entry: Entry, journal: Journal) -> Standing:
    now = _hash(entry.target)
    has_temp = entry.temp is not None and _hash(entry.temp) == entry.new
    if now == entry.new and (entry.new != entry.old or not has_temp):
        return "new"
    if now == entry.old or (entry.in_place and journal.phase == "overwriting" and now != "special"):
        return "old" if has_temp or entry.new is None else "foreign"
    return "foreign"


def _hash(path: str) -> str | None:
    """SHA-256 of the file itself; `special` for a link, a folder or a device."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            return "special"
        return disk.read(Path(path)).sha256
    except (FileNotFoundError, NotADirectoryError):
        return None
    except FileError:  # too large: certainly not ours
        return "special"


def _renamed(entry: Entry) -> bool:
    """Replace or remove the target; False when it can only be written through."""
    target = Path(entry.target)
    if entry.temp is None:
        disk.unlink(target)
        return True
    try:
        disk.replace(Path(entry.temp), target)
    except OSError as error:
        if entry.old is None or error.errno not in _NOT_BY_RENAME:
            raise
        return False
    return True


def _overwrite(entry: Entry) -> None:
    """Write the temp file's content through the target, whose inode, owner and attributes so stay."""
    assert entry.temp is not None  # noqa: S101  a removal is never written through
    raw = Path(entry.temp).read_bytes()
    descriptor = os.open(entry.target, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    try:
        _narrow(descriptor, entry)
        journals.write_all(descriptor, raw)
        os.ftruncate(descriptor, len(raw))
        if sys.platform != "win32" and stat.S_IMODE(os.fstat(descriptor).st_mode) != entry.mode:
            os.fchmod(descriptor, entry.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _narrow(descriptor: int, entry: Entry) -> None:
    """Shut a file before a key goes in."""
    if not entry.private or sys.platform == "win32":
        return
    drop_access_list(descriptor)
    os.fchmod(descriptor, entry.mode)


def _drop_temp(entry: Entry) -> None:
    if entry.temp is not None:
        disk.unlink(Path(entry.temp))


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in folders:
        try:
            Path(folder).rmdir()
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY):
                raise
            return
