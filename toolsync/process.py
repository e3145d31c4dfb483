"""The user's own programs that are running just now, as the operating system names them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

_SECONDS = 5.0
"""How long the system's own program may take to list them."""


@dataclass(frozen=True)
class Process:
    """A running program.

    Attributes:
        pid: its number.
        names: what it may be called: its own name, its file's name, and `FOLDER/` for each folder that this lies in.
    """

    pid: int
    names: frozenset[str]

    def is_called(self, name: str) -> bool:
        """Whether `name` is one of its names; capitals do not count."""
        return name.lower() in self.names


Running = Callable[[], Iterable[Process]]
"""Lists them, in order of their numbers."""


def running() -> Sequence[Process]:
    """Every process of this user that can be seen, in order of their numbers; none where the system does not say."""
    try:
        return sorted(_found(), key=lambda process: process.pid)
    except (OSError, ValueError):
        return ()


def _found() -> Iterator[Process]:
    if sys.platform == "win32":
        return _of_windows()
    return _of_proc(Path("/proc")) if Path("/proc/self/comm").exists() else _of_ps()


def _of_proc(proc: Path) -> Iterator[Process]:
    """What Linux says (proc(5)): `comm` is the program's name, cut to 15 bytes, and `exe` its file."""
    user = os.getuid()
    for folder in os.scandir(proc):
        if not folder.name.isdecimal():
            continue
        try:
            if folder.stat().st_uid != user:
                continue
            comm = Path(folder.path, "comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:  # it has ended meanwhile
            continue
        yield Process(int(folder.name), frozenset({comm.lower(), *_names(_file(folder.path))}))


def _file(folder: str) -> PurePath:
    try:
        return PurePosixPath(str(Path(folder, "exe").readlink()).removesuffix(" (deleted)"))
    except OSError:  # not for us to see
        return PurePosixPath()


def _of_ps() -> Iterator[Process]:
    """What macOS and the BSDs say (ps(1)): `comm` is the program's file."""
    for line in _listed("ps", "-U", str(os.getuid()), "-o", "pid=,comm=").splitlines():
        pid, _, file = line.strip().partition(" ")
        yield Process(int(pid), frozenset(_names(PurePosixPath(file.strip()))))


def _of_windows() -> Iterator[Process]:
    import csv

    for row in csv.reader(_listed("tasklist", "/FO", "CSV", "/NH").splitlines()):
        if len(row) > 1 and row[1].isdecimal():
            yield Process(int(row[1]), frozenset(_names(PurePosixPath(row[0]))))


def _listed(*argv: str) -> str:
    import subprocess

    try:
        return subprocess.check_output(
            argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=_SECONDS
        )
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from error


def _names(file: PurePath) -> Iterator[str]:
    if file.name:
        yield file.name.lower().removesuffix(".exe")
    yield from (f"{folder.name.lower()}/" for folder in file.parents if folder.name)
