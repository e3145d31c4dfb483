"""Folders held open: what is done in one is done there, whatever its path has come to lead to since."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolsync import directory, disk, patience
from toolsync.errors import ChangedError
from toolsync.transaction import swap

SPECIAL: Final = "special"
"""In the place of a hash: a link, a folder, a device, or a file that is too large to be settings."""

_CAN_BE_HELD = os.open in os.supports_dir_fd  # not on Windows, where paths say each time what is meant
_ITSELF = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER | _ITSELF
"""`O_PATH` (Linux) asks for no more than passing through: `/home` may be shut for reading."""
_READ = os.O_RDONLY | _ITSELF | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK_AT_ALL = getattr(os, "O_NOFOLLOW_ANY", None)
"""macOS can say in one word what elsewhere takes a walk from the root."""


class Folder:
    """One folder; names are those of its own entries, and are never followed as links."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        """`descriptor`: the folder, opened; None where the system has no such thing."""
        self.path, self._descriptor = path, descriptor

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """See `os.open`."""
        return os.open(self._named(name), flags | _ITSELF, mode, dir_fd=self._descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """What stands there, or None."""
        try:
            return os.stat(self._named(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def sha256(self, name: str) -> str | None:
        """Of the content, in hexadecimal; None where nothing is, `SPECIAL` where something else than a file is."""
        status = self.status(name)
        if status is None:
            return None
        if not stat.S_ISREG(status.st_mode) or status.st_size > disk.LIMIT_BYTES:
            return SPECIAL
        try:
            with os.fdopen(self.open(name, _READ), "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ELOOP:  # a link since
                raise
            return SPECIAL

    def read(self, name: str) -> bytes:
        """The whole content."""
        with os.fdopen(self.open(name, _READ), "rb") as file:
            return file.read()

    def replace(self, source: str, target: str) -> None:
        """Rename over: who looks sees the one or the other, never a part."""
        names, here = (self._named(source), self._named(target)), self._descriptor
        patience.patiently(lambda: os.replace(*names, src_dir_fd=here, dst_dir_fd=here))

    def exchange(self, one: str, other: str) -> bool:
        """Swap two entries in one instant; False where that cannot be had."""
        return self._descriptor is not None and swap.exchange(self._descriptor, one, other)

    def place(self, source: str, target: str) -> None:
        """Rename where nothing may stand.

        Raises:
            FileExistsError: something does. Where the system cannot rename so, it is only looked for before.
        """
        if self._descriptor is not None and swap.place(self._descriptor, source, target):
            return
        if self.status(target) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path / target))
        self.replace(source, target)

    def touch(self, name: str) -> None:
        """Let a file have been changed just now."""
        os.utime(self._named(name), dir_fd=self._descriptor)

    def unlink(self, name: str) -> None:
        """Remove a file; that it is gone already is fine."""
        patience.patiently(lambda: self._unlink(name))

    def _unlink(self, name: str) -> None:
        try:
            os.unlink(self._named(name), dir_fd=self._descriptor)
        except FileNotFoundError:
            return

    def make_folder(self, name: str, mode: int) -> None:
        """Make a folder, durably, unless something stands there."""
        try:
            os.mkdir(self._named(name), mode, dir_fd=self._descriptor)
        except FileExistsError:
            return
        self._hand_down(name)
        self.sync()

    def _hand_down(self, name: str) -> None:
        if self._descriptor is not None and os.geteuid() == 0:
            made = self.open(name, _FOLDER)
            try:
                directory.hand_down(made, os.fstat(self._descriptor))
            finally:
                os.close(made)

    def hand_down(self, descriptor: int) -> None:
        """Give a file that was made here to whom the folder belongs, as `directory.hand_down` does."""
        if self._descriptor is not None:
            directory.hand_down(descriptor, os.fstat(self._descriptor))

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._named(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Let renames and new names survive a power cut, where the file system can promise it."""
        if self._descriptor is not None:
            directory.sync(self._descriptor)

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _named(self, name: str) -> str:
        return name if self._descriptor is not None else str(self.path / name)


class Folders:
    """The folders of one transaction, each opened when it is first asked for."""

    def __init__(self, *, follow: bool) -> None:
        """`follow`: whether links on the way are followed."""
        self.follow = follow
        self._open: dict[Path, Folder] = {}

    def at(self, path: Path) -> Folder:
        """The folder at `path`.

        Raises:
            ChangedError: a link is on the way, and must not be.
            OSError: it is not there, or cannot be opened.
        """
        if path not in self._open:
            self._open[path] = Folder(path, _opened(path, follow=self.follow) if _CAN_BE_HELD else None)
        return self._open[path]

    def find(self, path: Path) -> Folder | None:
        """The folder at `path`; None where there is none."""
        try:
            folder = self.at(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return folder if _CAN_BE_HELD or path.is_dir() else None

    def close(self) -> None:
        """Let go of all."""
        while self._open:
            self._open.popitem()[1].close()


@contextmanager
def held(*, follow: bool) -> Iterator[Folders]:
    """Folders for as long as they are needed.

    Args:
        follow: whether links on the way are followed: a recovery does, for a folder may have been moved since, and a
            link left in its place. Files are planned by paths without links, so that a link is a change.
    """
    folders = Folders(follow=follow)
    try:
        yield folders
    finally:
        folders.close()


def _opened(path: Path, *, follow: bool) -> int:
    if follow:
        return os.open(path, _FOLDER)
    try:
        return os.open(path, _FOLDER | _NO_LINK_AT_ALL) if _NO_LINK_AT_ALL is not None else _walked(path)
    except OSError as error:
        if os.path.realpath(path) == str(path):
            raise
        raise ChangedError(
            f"{disk.shown(path)} is now a link, or lies behind one", hint="Run the command again: it plans anew."
        ) from error


def _walked(path: Path) -> int:
    """Open a folder name by name from the root: a name that has become a link is refused by the system itself."""
    *on_the_way, last = (path.anchor, *path.parts[1:])
    here = None
    try:
        for name in on_the_way:
            here = _stepped(here, name, _ON_THE_WAY)
        return _stepped(here, last, _FOLDER | _ITSELF)
    except OSError as error:
        error.filename = str(path)
        raise


def _stepped(here: int | None, name: str, flags: int) -> int:
    """From one folder, which is let go, into the next."""
    try:
        return os.open(name, flags, dir_fd=here)
    finally:
        if here is not None:
            os.close(here)
