"""The new contents beside the old ones, complete and durable, before anything is replaced."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace
from pathlib import Path

from toolsync import directory, disk, own_file
from toolsync.transaction.check import Step
from toolsync.transaction.folder import Folder, Folders
from toolsync.transaction.journal import Entry, Journal, StoreToken

_ACCESS_LIST = "system.posix_acl_access"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_LOOK = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def announced(steps: tuple[Step, ...], store: StoreToken | None) -> Journal:
    """The journal of a transaction that has not begun: every name that it will use."""
    folders = {
        str(folder): None for step in steps if _makes(step) for folder in directory.missing_folders(step.write.path)
    }
    entries = [_entry(step) for step in steps]
    return Journal("staging", tuple(entries), tuple(folders), store)


def _makes(step: Step) -> bool:
    return step.write.content is not None


def _entry(step: Step) -> Entry:
    import secrets  # not on the way of those who write nothing

    write = step.write
    temp = write.path.with_name(disk.TEMP_NAMES.replace("*", secrets.token_hex(8)))
    return Entry(
        target=str(write.path),
        temp=str(temp),
        old=write.expected,
        new=None if write.content is None else disk.digest(write.content),
        mode=step.mode,
        private=write.private,
        in_place=step.in_place,
        prune=tuple(str(folder) for folder in sorted(write.prune, key=_depth, reverse=True)),
    )


def _depth(folder: Path) -> int:
    return len(folder.parts)


def staged(journal: Journal, steps: tuple[Step, ...], folders: Folders) -> Journal:
    """Make the journal's folders and temp files; those whose owner or attributes cannot be kept go in place.

    Raises:
        ChangedError: a folder on the way has become a link.
        FileError: no space, no permission, or another fault of the disk.
    """
    for folder in map(Path, journal.folders):
        private = any(step.write.private and folder in step.write.path.parents for step in steps)
        try:
            folders.at(folder.parent).make_folder(folder.name, 0o700 if private else 0o777)
        except OSError as error:
            raise disk.file_error(folder, error) from error
    entries = tuple(_staged(entry, step, folders) for entry, step in zip(journal.entries, steps, strict=True))
    for folder in sorted({entry.folder for entry in entries if entry.new is not None}):
        folders.at(folder).sync()
    return replace(journal, entries=entries)


def _staged(entry: Entry, step: Step, folders: Folders) -> Entry:
    try:
        folder = folders.at(entry.folder)
        if step.write.content is None:
            return entry
        descriptor = folder.open(entry.temp_name, _CREATE, 0o600)
        try:
            kept = _dress(descriptor, entry, step, folder)
            own_file.write_all(descriptor, step.write.content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise disk.file_error(entry.target, error) from error
    return replace(entry, in_place=entry.in_place or not kept)


def _dress(descriptor: int, entry: Entry, step: Step, folder: Folder) -> bool:
    """Owner, attributes and mode of the original, before any content is there; False when they cannot be given."""
    if sys.platform == "win32":  # a file inherits its folder's access list there
        return True
    if step.before.status is None:
        folder.hand_down(descriptor)
    kept = _give_owner(descriptor, step.before.status) and _give_attributes(descriptor, entry, folder)
    # What cannot be kept is written in place: then the temp file is only ours, and only a carrier.
    os.fchmod(descriptor, entry.mode if kept else 0o600)
    return kept


def _give_owner(descriptor: int, status: os.stat_result | None) -> bool:
    own = os.fstat(descriptor)
    if status is None or (status.st_uid, status.st_gid) == (own.st_uid, own.st_gid):
        return True
    try:
        os.fchown(descriptor, status.st_uid, status.st_gid)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, errno.EINVAL):  # EINVAL: nobody's, in a user namespace
            raise
        return False
    return True


def _give_attributes(descriptor: int, entry: Entry, folder: Folder) -> bool:
    if sys.platform != "linux":
        return True
    wanted = {} if entry.old is None else _attributes(folder, entry.name)
    if entry.private:
        wanted.pop(_ACCESS_LIST, None)
    drop_access_list(descriptor)  # a folder's default list would open what the original keeps shut
    given = _attributes_of(descriptor)
    for name, value in wanted.items():
        if given.get(name) == value:  # a security label, which not everybody may set
            continue
        try:
            os.setxattr(descriptor, name, value)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES, errno.ENOTSUP):
                raise
            return False
    return True


def _attributes(folder: Folder, name: str) -> dict[str, bytes]:
    descriptor = folder.open(name, _LOOK)
    try:
        return _attributes_of(descriptor)
    finally:
        os.close(descriptor)


def _attributes_of(descriptor: int) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
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
