"""Files that toolsync keeps for itself: read with suspicion, and put in place whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from toolsync import directory, disk
from toolsync.errors import FileError

_ITSELF = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would hold us for ever
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ITSELF


def read(path: Path) -> bytes | None:
    """The whole content; None where nothing stands.

    Raises:
        FileError: see `opened`.
    """
    try:
        descriptor = opened(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def opened(path: Path, flags: int) -> int:
    """A descriptor of the file, not of what a link in its place leads to; `flags` are those of `os.open`.

    Raises:
        FileNotFoundError: nothing stands there, and `flags` make nothing.
        FileError: it is no file, somebody else's (who could tell us what to do with it), or cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _ITSELF | _AT_ONCE, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _no_file(path) if path.is_symlink() else _fault(path, error) from error
    try:
        _stop_at_strange(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    if flags & os.O_CREAT:
        directory.hand_down(descriptor, path.parent.stat())
    return descriptor


def _fault(path: Path, error: OSError) -> FileError:
    fault = disk.file_error(path, error)
    if error.errno == errno.EROFS:
        fault.hint = "Mount it writable: toolsync keeps there what `undo` needs."
    return fault


def _stop_at_strange(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _no_file(path)
    if not _is_ours(path, status):
        raise FileError(
            f"{disk.shown(path)} is not yours, and nothing is taken from it",
            hint="See who made it (`ls -l`); give it to yourself (`sudo chown`) if you trust it, or remove it.",
        )
    if status.st_size > disk.LIMIT_BYTES:
        raise FileError(f"{disk.shown(path)} has {status.st_size:,} bytes, and so is none of ours", hint=_AWAY)


def _is_ours(path: Path, status: os.stat_result) -> bool:
    """Some file systems give everything to one user; then its folder, which nobody else can use, is theirs too."""
    return sys.platform == "win32" or status.st_uid in (os.geteuid(), path.parent.stat().st_uid)


_AWAY = "toolsync makes only files there: look at it, and move it away."


def _no_file(path: Path) -> FileError:
    return FileError(f"{disk.shown(path)} is a link, folder, device or pipe, not a file", hint=_AWAY)


def put(path: Path, raw: bytes) -> None:
    """The file made anew, durably; who looks sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    descriptor = _made_anew(draft(path))
    try:
        directory.hand_down(descriptor, path.parent.stat())
        write_all(descriptor, raw)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    directory.replace(draft(path), path)
    directory.sync_folder(path.parent)


def draft(path: Path) -> Path:
    """What the new one is called until it is whole."""
    return path.with_name(f"{path.name}.draft")


def _made_anew(path: Path) -> int:
    try:
        return os.open(path, _CREATE, 0o600)
    except FileExistsError:  # of a run that died, or a link in its place, which is not written through
        directory.unlink(path)
        return os.open(path, _CREATE, 0o600)


def write_all(descriptor: int, raw: bytes) -> None:
    """Write every byte; the system may take them in pieces."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
