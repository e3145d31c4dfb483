"""The new contents beside the old ones, complete and durable, before anything is replaced."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from dataclasses import replace
from pathlib import Path

from toolsync import disk
from toolsync.transaction import journal as journals
from toolsync.transaction.check import Step
from toolsync.transaction.journal import Entry, Journal, StoreToken

_ACCESS_LIST = "system.posix_acl_access"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def announced(steps: tuple[Step, ...], store: StoreToken | None) -> Journal:
    """The journal of a transaction that has not begun: every name that it will use."""
    folders = {str(folder): None for step in steps if _makes(step) for folder in disk.missing_folders(step.write.path)}
    entries = [_entry(step) for step in steps]
    return Journal("staging", tuple(entries), tuple(folders), store)


def _makes(step: Step) -> bool:
    return step.write.content is not None


def _entry(step: Step) -> Entry:
    write = step.write
    temp = write.path.with_name(disk.TEMP_NAMES.replace("*", secrets.token_hex(8)))
    return Entry(
        target=str(write.path),
        temp=None if write.content is None else str(temp),
        old=write.expected,
        new=None if write.content is None else disk.digest(write.content),
        mode=step.mode,
        private=write.private,
        in_place=step.in_place,
        prune=tuple(str(folder) for folder in sorted(write.prune, key=_depth, reverse=True)),
    )


def _depth(folder: Path) -> int:
    return len(folder.parts)


def staged(journal: Journal, steps: tuple[Step, ...]) -> Journal:
    """Make the journal's folders and temp files; those whose owner or attributes cannot be kept go in place.

    Raises:
        FileError: no space, no permission, or another fault of the disk.
    """
    for folder in map(Path, journal.folders):
        _make_folder(folder, private=any(step.write.private and folder in step.write.path.parents for step in steps))
    entries = tuple(_staged(entry, step) for entry, step in zip(journal.entries, steps, strict=True))
    for folder in sorted({Path(entry.temp).parent for entry in entries if entry.temp}):
        disk.sync_folder(folder)
    return replace(journal, entries=entries)


def _make_folder(folder: Path, *, private: bool) -> None:
    try:
        folder.mkdir(mode=0o700 if private else 0o777, exist_ok=True)
        disk.sync_folder(folder.parent)
    except OSError as error:
        raise disk.file_error(folder, error) from error


def _staged(entry: Entry, step: Step) -> Entry:
    if entry.temp is None or step.write.content is None:
        return entry
    try:
        descriptor = os.open(entry.temp, _CREATE, 0o600)
        try:
            kept = _dress(descriptor, entry, step)
            journals.write_all(descriptor, step.write.content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise disk.file_error(entry.target, error) from error
    return replace(entry, in_place=entry.in_place or not kept)


def _dress(descriptor: int, entry: Entry, step: Step) -> bool:
    """Owner, attributes and mode of the original, before any content is there; False when they cannot be given."""
    if sys.platform == "win32":  # a file inherits its folder's access list there
        return True
    kept = _give_owner(descriptor, step.before.status) and _give_attributes(descriptor, entry, step)
    # What cannot be kept is written in place: then the temp file is only ours, and only a carrier.
    os.fchmod(descriptor, entry.mode if kept else 0o600)
    return kept


def _give_owner(descriptor: int, status: os.stat_result | None) -> bool:
    own = os.fstat(descriptor)
    if status is None or (status.st_uid, status.st_gid) == (own.st_uid, own.st_gid):
        return True
    try:
        os.fchown(descriptor, status.st_uid, status.st_gid)
    except PermissionError:
        return False
    return True


def _give_attributes(descriptor: int, entry: Entry, step: Step) -> bool:
    if sys.platform != "linux":
        return True
    wanted = {} if step.before.status is None else _attributes(step.before.real)
    if entry.private:
        wanted.pop(_ACCESS_LIST, None)
    drop_access_list(descriptor)  # a folder's default list would open what the original keeps shut
    for name, value in wanted.items():
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOTSUP):
                raise
            return False
    return True


def _attributes(path: Path) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}


def drop_access_list(descriptor: int) -> None:
    """Take every named user and group off a file's access list."""
    if sys.platform != "linux":
        return
    try:
        os.removexattr(descriptor, _ACCESS_LIST)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
