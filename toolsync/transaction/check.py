"""What is asked of a transaction, and whether it can be had: looked at before the first byte is written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from toolsync import disk
from toolsync.errors import ChangedError, FileError, TransactionError
from toolsync.masking import on_one_line
from toolsync.value import frozen

_PRIVATE = 0o600
_ANY_WRITE = 0o222


@frozen
class Write:
    """One file as it is to be.

    Attributes:
        path: the real path (`Snapshot.real`).
        expected: SHA-256 of what the plan was made from; None when nothing was there.
        content: what the file is to hold; None removes it.
        private: a key is inside: 0600 or less, and no named ACLs.
        mode: the permission bits to give; None keeps those it has.
        prune: folders that go with a removed file when they are empty, in any order.
    """

    path: Path
    expected: str | None
    content: bytes | None
    private: bool = False
    mode: int | None = None
    prune: tuple[Path, ...] = ()


@frozen
class Step:
    """A write that changes something: what stands there now, and the permission bits that it will have."""

    write: Write
    before: disk.Snapshot
    mode: int

    @property
    def in_place(self) -> bool:
        """Whether renaming over it would cut a hard link."""
        return self.write.content is not None and self.before.status is not None and self.before.status.st_nlink > 1


def steps(writes: Sequence[Write]) -> tuple[Step, ...]:
    """The writes that change anything, each known to be possible as far as can be told without writing.

    Raises:
        ChangedError: a file is not what the plan was made from.
        FileError: a file or folder is read-only, or no file at all; a file belongs to somebody else.
        TransactionError: two writes mean one file.
    """
    found = tuple(step for write in writes if (step := _step(write)) is not None)
    _refuse_twins(found)
    for step in found:
        _refuse_strangers(step)
        stop_at_read_only(step.write.path, step.before.status)
    return found


def unchanged(write: Write) -> disk.Snapshot:
    """The file that `write` is about, still as planned.

    Raises:
        ChangedError: it is another one, has come, or has gone.
    """
    snapshot = disk.read(write.path)
    if snapshot.real != write.path:
        raise _changed(write, "is now a link, or lies behind one")
    if snapshot.sha256 == write.expected:
        return snapshot
    if write.expected is None:
        raise _changed(write, "was made by another program meanwhile")
    raise _changed(write, "is gone" if snapshot.raw is None else "was changed by another program meanwhile")


def _changed(write: Write, what: str) -> ChangedError:
    return ChangedError(f"{disk.shown(write.path)} {what}", hint="Run the command again: it plans anew.")


def _step(write: Write) -> Step | None:
    before = unchanged(write)
    mode = _mode(write, before.mode)
    same_mode = before.mode is None or before.mode == mode or sys.platform == "win32"
    if before.raw == write.content and same_mode:
        return None
    return Step(write, before, mode)


def _mode(write: Write, before: int | None) -> int:
    wanted = write.mode if write.mode is not None else before
    if wanted is None:
        wanted = _PRIVATE if write.private else 0o666 & ~_umask()
    return wanted & _PRIVATE if write.private else wanted


def _umask() -> int:
    umask = os.umask(0o077)  # it can only be read by setting it
    os.umask(umask)
    return umask


def _refuse_twins(found: tuple[Step, ...]) -> None:
    seen: dict[object, Path] = {}
    for step in found:
        status = step.before.status
        # Two names of one hard link are one file, though their paths differ.
        identity = step.write.path if status is None else (status.st_dev, status.st_ino)
        if identity in seen:
            raise TransactionError(
                f"{disk.shown(seen[identity])} and {disk.shown(step.write.path)} are one file",
                hint="Leave one of the two tools out, or give each a file of its own.",
            )
        seen[identity] = step.write.path


def _refuse_strangers(step: Step) -> None:
    """A file of another user's is not ours to change, even where it lets us; root may, and its owner stays."""
    status = step.before.status
    if status is None or _is_own(status) or os.geteuid() == 0:
        return
    raise FileError(
        f"{disk.shown(step.write.path)} belongs to {_user(status.st_uid)}, not to you",
        hint="Let its owner run toolsync, or leave this tool out.",
    )


def _is_own(status: os.stat_result) -> bool:
    return sys.platform == "win32" or os.geteuid() == status.st_uid


def _user(number: int) -> str:
    import pwd

    try:
        return on_one_line(pwd.getpwuid(number).pw_name)
    except KeyError:
        return f"user {number}"


def stop_at_read_only(path: Path, status: os.stat_result | None) -> None:
    """Let a file pass that can be written, as far as can be told; `status` is None where none is there.

    Raises:
        FileError: it or its folder is read-only.
    """
    if status is not None:
        _stop_at_read_only_file(path, status.st_mode)
    folder = next(parent for parent in path.parents if disk.is_there(parent))
    if not folder.is_dir():
        raise FileError(f"{disk.shown(folder)} is a file where a folder should be", hint="Move it away.")
    found = folder.stat()
    if not found.st_mode & _ANY_WRITE or (_is_own(found) and not os.access(folder, os.W_OK | os.X_OK)):
        raise FileError(
            f"{disk.shown(folder)} is read-only: {disk.shown(path.name)} cannot be replaced in it",
            hint=f"Make it writable (`chmod u+w {disk.shown(folder)}`), or leave this tool out.",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(
            f"{disk.shown(folder)} belongs to {_user(found.st_uid)}, and does not let you write in it",
            hint=f"Have it given to you (`sudo chown $USER {disk.shown(folder)}`), or leave this tool out.",
        )


def _stop_at_read_only_file(path: Path, mode: int) -> None:
    # Root may write to a file that is 0444, and whoever made it so would not thank us for it.
    if not stat.S_IMODE(mode) & _ANY_WRITE:
        raise FileError(
            f"{disk.shown(path)} is read-only",
            hint=f"Make it writable (`chmod u+w {disk.shown(path)}`), or leave this tool out.",
        )
    try:
        os.close(os.open(path, os.O_WRONLY))  # says what a mode cannot: immutable, mounted read-only, an ACL
    except OSError as error:
        raise disk.file_error(path, error) from error
