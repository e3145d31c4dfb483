"""Changes to what stands in a folder: made, handed down, renamed, removed, and kept over a power cut."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from toolsync import disk
from toolsync.patience import patiently

_PRIVATE_FOLDER = 0o700


def missing_folders(real: Path) -> tuple[Path, ...]:
    """The folders that must be made before a file can be, outermost first."""
    missing: list[Path] = []
    for folder in real.parents:
        if disk.is_there(folder):
            break
        missing.append(folder)
    return tuple(reversed(missing))


def private_dir(path: Path) -> None:
    """Make `path` a folder that its owner, and nobody else, can use; one that is not so is made so.

    Raises:
        FileError: it cannot be made, or something else stands there.
    """
    try:
        missing = missing_folders(path / "in it")
        path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        for folder in missing:
            hand_down(folder, folder.parent.stat())
        # A parent's default access list may have widened it, or shut it for ourselves.
        if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) != _PRIVATE_FOLDER:
            path.chmod(_PRIVATE_FOLDER)
    except OSError as error:
        raise disk.file_error(path, error) from error


def hand_down(made: Path | int, folder: os.stat_result) -> None:
    """Give what root made in a folder to whom that belongs: under `sudo`, HOME may be a user's, who goes on there.

    Args:
        made: by its path, or open.
        folder: the one that it was made in.
    """
    if sys.platform == "win32" or os.geteuid() != 0 or folder.st_uid == 0:
        return
    with suppress(OSError):  # nobody's, in a user namespace; a network share that gives nothing away
        os.chown(made, folder.st_uid, folder.st_gid)


def sync_folder(folder: Path) -> None:
    """Let a rename or a new name in `folder` survive a power cut, where the file system can promise it."""
    if sys.platform == "win32":  # folders cannot be opened there, and NTFS journals names itself
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """See `sync_folder`; of one that is open."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems
            raise


def replace(source: Path, target: Path) -> None:
    """Rename `source` over `target`: who looks sees the one or the other, never a part."""

    def rename() -> None:
        source.replace(target)

    patiently(rename)


def unlink(path: Path) -> None:
    """Remove a file; that it is gone already is fine."""
    patiently(lambda: path.unlink(missing_ok=True))
