"""Files as they stand on the disk: read whole with their circumstances, and every fault in plain words."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from toolsync.complaint import in_words
from toolsync.errors import DocumentError, EditRefusedError, FileError
from toolsync.masking import on_one_line
from toolsync.value import frozen

LIMIT_BYTES = 64 * 2**20
"""A larger file is no settings file."""

TEMP_NAMES = ".toolsync-*.tmp"
"""What a new content is called, beside the file that it will become; `*` stands for random digits."""

_SETTLING_SECONDS = 0.1
"""Between two readings of a file that is being written."""

_MOST_LOOKS = 3
"""How often it is read again."""

_FRESH_SECONDS = 0.5
"""A file that was changed so lately may be in the middle of it; files of the future too, for clocks differ."""

T = TypeVar("T")

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@frozen
class Snapshot:
    """What stood at a path at one moment.

    Attributes:
        path: as it was asked for.
        real: after every link; for a link that leads nowhere, the file that writing would make.
        raw: the whole content; None when there is no file.
        status: mode, owner, inode, times and number of hard links; None when there is no file.
    """

    path: Path
    real: Path
    raw: bytes | None
    status: os.stat_result | None

    @property
    def sha256(self) -> str | None:
        """Of the content, in hexadecimal; None when there is no file."""
        return None if self.raw is None else digest(self.raw)

    @property
    def mode(self) -> int | None:
        """The permission bits; None when there is no file."""
        return None if self.status is None else stat.S_IMODE(self.status.st_mode)


def read(path: Path, *, within: Path | None = None, limit: int = LIMIT_BYTES) -> Snapshot:
    """The file at `path`, links followed.

    Args:
        path: an absolute path.
        within: a folder (a repository) that the links must not lead out of.
        limit: bytes, beyond which it is none of the files that are meant.

    Raises:
        FileError: a folder or a device stands there, it cannot be read, is too large, or lies outside `within`.
    """
    real = resolved_within(path, within)
    try:
        found = _stable(real, limit)
    except FileNotFoundError:
        return Snapshot(path, real, None, None)
    except OSError as error:
        raise file_error(path, error) from error
    return Snapshot(path, real, *found)


def resolved_within(path: Path, within: Path | None) -> Path:
    """The real path behind every link of `path`, which must not lead out of the folder `within`; see `read`."""
    real = resolve(path)
    if within is not None and not real.is_relative_to(resolve(within)):
        raise FileError(
            f"{shown(path)} leads out of {shown(within)}, to {shown(real)}",
            hint="Replace the link by a file if you trust it; what a repository brings must not reach outside.",
        )
    return real


def resolve(path: Path) -> Path:
    """The real path behind every link of `path`, whether or not a file is there.

    Raises:
        FileError: the links lead in a circle, or a file stands where a folder should be.
    """
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except OSError as error:
        raise file_error(path, error) from error
    except ValueError as error:  # a NUL, which no system takes
        raise FileError(f"{shown(path)} is no path", hint="Write it anew, without control characters.") from error


def judged(first: Snapshot, judge: Callable[[Snapshot], T]) -> T:
    """What `judge` makes of a file; one that it calls broken is read again while another program may be writing it.

    Args:
        first: the file as it was read.
        judge: raises DocumentError for what cannot be parsed; what it refuses otherwise is final.

    Raises:
        DocumentError: as `judge`, of the last of four readings at most.
        FileError: it cannot be read any more.
    """
    snapshot = first
    for _ in range(_MOST_LOOKS):
        try:
            return judge(snapshot)
        except EditRefusedError:
            raise
        except DocumentError:
            later = _later(snapshot)
            if later is None:
                raise
            snapshot = later
    return judge(snapshot)


def _later(snapshot: Snapshot) -> Snapshot | None:
    """The file a moment later, unless it has lain there unchanged for a while, or somewhere else."""
    if snapshot.status is None or resolve(snapshot.path) != snapshot.real:
        return None
    try:
        now = snapshot.real.stat()
    except OSError:
        now = snapshot.status
    if _moment(now) == _moment(snapshot.status) and not _is_fresh(now):
        return None
    time.sleep(_SETTLING_SECONDS)
    return read(snapshot.path)


def _is_fresh(status: os.stat_result) -> bool:
    return abs(time.time() - status.st_mtime) < _FRESH_SECONDS


def _stable(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """Content and status, read again while another program writes (three times at most)."""
    raw, status = _once(path, limit)
    for _ in range(_MOST_LOOKS):
        if _moment(path.stat()) == _moment(status) and len(raw) == status.st_size and not _is_cleared(status):
            break
        time.sleep(_SETTLING_SECONDS)
        raw, status = _once(path, limit)
    return raw, status


def _is_cleared(status: os.stat_result) -> bool:
    """Whether it may have been emptied just now, by a program that is about to write it anew in place."""
    return status.st_size == 0 and _is_fresh(status)


def _moment(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _once(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    _refuse_special(
        path, path.stat(), limit
    )  # before it is opened: opening a device or a pipe may already do something
    descriptor = os.open(path, _READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _refuse_special(path, status, limit)
        return file.read(limit + 1)[:limit], status


def _refuse_special(path: Path, status: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{shown(path)} is a folder, not a file", hint="Move it away, or point the tool elsewhere.")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{shown(path)} is a device, pipe or socket, not a file", hint="Point the tool elsewhere.")
    if status.st_size > limit:
        raise FileError(
            f"{shown(path)} has {status.st_size:,} bytes; a settings file has {limit:,} at most",
            hint="See whether it is the right file.",
        )


def is_there(path: Path) -> bool:
    """Whether anything stands at `path`, a dangling link included.

    Raises:
        FileError: its folder does not let us look.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise file_error(path, error) from error
    return True


def is_folder(path: Path) -> bool:
    """Whether a folder stands at `path`, as far as can be seen: where we may not look, there is none."""
    return os.path.isdir(path)  # noqa: PTH112  Path.is_dir raises where a name is too long or a folder is shut


def exists(path: Path) -> bool:
    """Whether something stands at `path`, links followed, as far as can be seen."""
    return os.path.exists(path)  # noqa: PTH110  as above


def digest(raw: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(raw).hexdigest()


def shown(path: Path | str) -> str:
    """A path fit for a message, with `~` for the home folder."""
    home, path = os.path.expanduser("~"), str(path)  # noqa: PTH111  Path.home() raises where nobody knows it
    is_below = len(home) > 1 and path.startswith(home + os.sep)
    return on_one_line(f"~{path[len(home) :]}".replace(os.sep, "/") if is_below else path)


def file_error(path: Path | str, error: OSError) -> FileError:
    """What the operating system said about `path`, in plain words and with what to do."""
    said, hint = in_words(error)
    return FileError(f"{shown(path)}: {said}", hint=hint)
