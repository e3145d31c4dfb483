"""A transaction brought to its end, from the journal alone: all old, or all new. After a crash it is the same walk."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from toolsync import disk, own_file
from toolsync.errors import TransactionError
from toolsync.transaction import journal as journals
from toolsync.transaction.folder import SPECIAL, Folder, Folders
from toolsync.transaction.journal import Entry, Journal, StoreToken
from toolsync.transaction.stage import drop_access_list
from toolsync.value import frozen

_NOT_BY_RENAME = (errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES)
"""A bind-mounted file, another file system, a sticky folder: the file can still be written through."""

_NOT_OURS_TO_REMOVE = (errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY, errno.ENOTDIR)
"""A folder that is in use, and what is no folder: a link that came in its place."""

_OVERWRITING_SECONDS, _CLOCK_SECONDS = 10.0, 2.0
"""How long writing in place may take, from the touch of the temp file on; how coarse a file system's clock may be."""

_MOST_SWAPS = 100
"""Another program would have to write once between any two of them."""

Standing = Literal["old", "new", "foreign", "displacing"]
"""`displacing`: the new content is there, and what came out for it is not what was planned from."""


@frozen
class Recovery:
    """How an interrupted transaction was ended.

    Attributes:
        outcome: `finished` (all new) or `undone` (all old).
        files: the files that it was about.
        foreign: those of them that another program changed meanwhile; they were left as they are.
        store_changed: the store's rows are neither the old nor the new ones; the files are new if one was, else old.
    """

    outcome: Literal["finished", "undone"]
    files: tuple[Path, ...]
    foreign: tuple[Path, ...] = ()
    store_changed: bool = False


def settled(state_dir: Path, token_now: Callable[[str], str] | None, folders: Folders) -> Recovery | None:
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
        changed = token not in (journal.store.old, journal.store.new)
        committed = _has_begun(journal, folders) if changed else token == journal.store.new
    else:
        committed, changed = journal.phase != "staging", False
    if journal.store is not None:
        _give_mode(journal.store, is_new=committed)
    if committed:
        return Recovery("finished", files, forward(state_dir, journal, folders), store_changed=changed)
    _back(state_dir, journal, folders)
    return Recovery("undone", files, store_changed=changed)


def _token(store: StoreToken, token_now: Callable[[str], str] | None) -> str:
    if token_now is None:
        raise TransactionError(
            f"an interrupted run wrote to {disk.shown(store.path)} too, and this command cannot look there",
            hint="Run `toolsync apply`: it ends what was begun.",
        )
    return token_now(store.path)


def _has_begun(journal: Journal, folders: Folders) -> bool:
    """Whether a file is new already, as none was before the COMMIT; rows that were changed since tell nothing of it."""
    changing = (entry for entry in journal.entries if entry.new not in (None, entry.old))
    return any(_hash(folders.find(entry.folder), entry.name) == entry.new for entry in changing)


def _give_mode(store: StoreToken, *, is_new: bool) -> None:
    """The permission bits that go with the store's rows, unless somebody gave it others."""
    path = Path(store.path)
    if store.modes is None or not disk.exists(path) or stat.S_IMODE(path.stat().st_mode) not in store.modes:
        return
    path.chmod(store.modes[is_new])


def _back(state_dir: Path, journal: Journal, folders: Folders) -> None:
    for entry in journal.entries:
        _drop_temp(entry, folders)
    _remove_empty(reversed(journal.folders), folders)
    journals.remove(state_dir)


def forward(state_dir: Path, journal: Journal, folders: Folders) -> tuple[Path, ...]:
    """Put every new content in its place; the files that are neither old nor new, left alone, are returned."""
    foreign, later = [], []
    for entry in journal.entries:
        folder = folders.find(entry.folder)
        standing = _standing(entry, journal, folder)
        if folder is not None and standing in ("old", "displacing") and not entry.in_place:
            standing = _put(entry, folder, standing)
        if standing == "foreign":
            foreign.append(entry)
        elif standing == "old":
            later.append(entry)
    if later:
        # The mark is durable before the first byte is: from now on a file of neither content is a torn one.
        journals.save(state_dir, journal.overwriting({entry.target for entry in later}))
    foreign += [entry for entry in later if not _written_through(entry, journal, folders.at(entry.folder))]
    return _verified(state_dir, journal, foreign, folders)


def _verified(state_dir: Path, journal: Journal, foreign: list[Entry], folders: Folders) -> tuple[Path, ...]:
    """Sync, read back and tidy up."""
    for path in sorted({entry.folder for entry in journal.entries}):
        if folder := folders.find(path):
            folder.sync()
    overtaken = [
        entry
        for entry in journal.entries
        if entry not in foreign and _hash(folders.find(entry.folder), entry.name) != entry.new
    ]
    for entry in journal.entries:
        _drop_temp(entry, folders)
        if entry.new is None and entry not in foreign:
            _remove_empty(entry.prune, folders)
    journals.remove(state_dir)
    return tuple(Path(entry.target) for entry in (*foreign, *overtaken))


def _standing(entry: Entry, journal: Journal, folder: Folder | None) -> Standing:
    now, temp = _hash(folder, entry.name), _hash(folder, entry.temp_name)
    if now == entry.new and _has_mode(entry, folder):
        return "new" if temp in (None, entry.new, entry.old) else "displacing"
    if entry.new is not None and temp != entry.new:
        return "foreign"
    may_be_torn = entry.in_place and journal.phase == "overwriting"
    is_torn = may_be_torn and now != SPECIAL and folder is not None and _is_torn(entry, folder)
    return "old" if now == entry.old or is_torn else "foreign"


def _is_torn(entry: Entry, folder: Folder) -> bool:
    """Whether a file of neither content was last written when we wrote it; later, it is another program's."""
    temp, now = folder.status(entry.temp_name), folder.status(entry.name)
    if temp is None or now is None:
        return False
    return -_CLOCK_SECONDS <= now.st_mtime - temp.st_mtime < _OVERWRITING_SECONDS


def _hash(folder: Folder | None, name: str) -> str | None:
    return None if folder is None else folder.sha256(name)


def _has_mode(entry: Entry, folder: Folder | None) -> bool:
    """Whether the target has the mode that it is to have, where that is not settled by its content."""
    if sys.platform == "win32" or not (entry.in_place or entry.new == entry.old):
        return True
    status = folder.status(entry.name) if folder else None
    return status is not None and stat.S_IMODE(status.st_mode) == entry.mode


def _put(entry: Entry, folder: Folder, standing: Standing) -> Standing:
    """Put the new content where the old one is, or take it back again where it displaced another program's."""
    try:
        return _placed(entry, folder) if standing == "old" else _taken_back(entry, folder)
    except FileNotFoundError:  # gone, or come and gone, since it was looked at
        return "foreign"
    except OSError as error:
        if entry.old is None or entry.new is None or error.errno not in _NOT_BY_RENAME:
            raise
        return "old"


def _placed(entry: Entry, folder: Folder) -> Standing:
    if entry.new is None:
        return _removed(entry, folder)
    if entry.old is None:
        return _made(entry, folder)
    if not folder.exchange(entry.temp_name, entry.name):
        folder.replace(entry.temp_name, entry.name)  # what comes between the look and this is lost; see `swap`
        return "new"
    out = folder.sha256(entry.temp_name)
    return "new" if out == entry.old else _taken_back(entry, folder)


def _made(entry: Entry, folder: Folder) -> Standing:
    try:
        folder.place(entry.temp_name, entry.name)
    except FileExistsError:
        return "foreign"
    return "new"


def _removed(entry: Entry, folder: Folder) -> Standing:
    """Out of the way first: what goes for ever is only what was planned from."""
    folder.replace(entry.name, entry.temp_name)
    return "new" if folder.sha256(entry.temp_name) == entry.old else _taken_back(entry, folder)


def _taken_back(entry: Entry, folder: Folder) -> Standing:
    """What we displaced is another program's: it goes back, and so does what that program wrote meanwhile.

    With every swap something comes out. While that is not what the swap before put in, it is newer than that.
    """
    if entry.new is None:
        _returned(entry, folder)
        return "foreign"
    put: str | None = entry.new
    for _ in range(_MOST_SWAPS):
        out = folder.sha256(entry.temp_name)
        folder.exchange(entry.temp_name, entry.name)
        if folder.sha256(entry.temp_name) == put:
            return "foreign"
        put = out
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), entry.target)


def _returned(entry: Entry, folder: Folder) -> None:
    with suppress(FileExistsError):  # made anew since: what it was before is of no use any more
        folder.place(entry.temp_name, entry.name)


def _written_through(entry: Entry, journal: Journal, folder: Folder) -> bool:
    """Write the new content through the target; False where another program wrote there since it was looked at."""
    may_be_torn = journal.phase == "overwriting"
    if not may_be_torn and folder.sha256(entry.name) != entry.old:
        return False
    _overwrite(entry, folder)
    return True


def _overwrite(entry: Entry, folder: Folder) -> None:
    """Write the temp file's content through the target, whose inode, owner and attributes so stay."""
    raw = folder.read(entry.temp_name)
    folder.touch(entry.temp_name)  # so that a half-written target can be told from a later one, by the same clock
    descriptor = folder.open(entry.name, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    try:
        _narrow(descriptor, entry)
        own_file.write_all(descriptor, raw)
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


def _drop_temp(entry: Entry, folders: Folders) -> None:
    if folder := folders.find(entry.folder):
        folder.unlink(entry.temp_name)


def _remove_empty(paths: Iterable[str], folders: Folders) -> None:
    for path in map(Path, paths):
        parent = folders.find(path.parent)
        try:
            if parent is not None:
                parent.remove_folder(path.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            if error.errno not in _NOT_OURS_TO_REMOVE:
                raise
            return
