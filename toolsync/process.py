"""The user's own programs that are running just now, as the operating system names them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from toolsync.value import frozen

if TYPE_CHECKING:
    import psutil

    from toolsync.tool.running import Processes


def _unreadable() -> None:
    return None


@frozen
class Process:
    """A running program.

    Attributes:
        pid: its number.
        names: what it may be called: its own name, its file's name, that of the script that it runs, and `FOLDER/` for
            each folder that the file lies in.
        parent: the number of the program that started it, if that is known.
        started: when, in seconds since 1970; None where the system does not say.
        words: of its command line, behind the program.
        environ: the variables that it was started with; None where they are not ours to read, or not there yet.
        folder: the one that it works in; None where that is not ours to read.
        called: what the system calls it, for people.
    """

    pid: int
    names: frozenset[str]
    parent: int | None = None
    started: float | None = None
    words: frozenset[str] = field(default=frozenset(), repr=False)
    environ: Callable[[], Mapping[str, str] | None] = field(default=_unreadable, repr=False, compare=False)
    folder: Callable[[], Path | None] = field(default=_unreadable, repr=False, compare=False)
    called: str = ""

    def is_called(self, name: str) -> bool:
        """Whether `name` is one of its names; capitals do not count."""
        return name.lower() in self.names

    def is_of_job(self) -> bool:
        """Whether it is we, or another program of the line that we were typed in: one end of a pipe."""
        try:
            return self.pid == os.getpid() or os.getpgid(self.pid) == os.getpgrp()
        except (OSError, AttributeError):  # it has ended, or the system has no such groups
            return False

    def is_of_network(self) -> bool:
        """Whether it has the same network as we; not so in a container, as far as Linux shows (namespaces(7))."""
        try:
            return Path(f"/proc/{self.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink()
        except OSError:
            return True

    def has(self, folder: Path) -> bool:
        """Whether the folder is the same for it as for us; a container has folders of its own, likewise."""
        root = Path(f"/proc/{self.pid}/root")
        try:
            is_known = root.is_dir() and folder.is_dir()
            return not is_known or root.joinpath(*folder.parts[1:]).samefile(folder)
        except FileNotFoundError:
            return False
        except OSError:
            return True


Running = Callable[[], Iterable[Process]]
"""Lists them, in order of their numbers."""


def mains(processes: Sequence[Process]) -> list[Process]:
    """Those that no other of them started: of an editor its main process, whose variables all windows have."""
    pids = {process.pid for process in processes}
    return [process for process in processes if process.parent not in pids]


def above(process: Process, processes: Sequence[Process]) -> Iterator[Process]:
    """The program that started it, the one that started that, and so on, as far as they run still."""
    by_pid, seen = {one.pid: one for one in processes}, set[int]()
    while process.parent in by_pid and process.pid not in seen:
        seen.add(process.pid)
        process = by_pid[process.parent]
        yield process


def asking(processes: Iterable[Process], of: Processes) -> list[Process]:
    """Those of a tool's programs that run and make its requests, but for what another of them started.

    Args:
        processes: what runs.
        of: what its template says of them.
    """
    return mains([one for one in processes if any(map(one.is_called, of.names)) and not one.words & of.idle_as])


def is_live(process: Process, of: Processes) -> bool:
    """Whether it takes up changed settings by itself."""
    return of.is_live or bool(process.words & of.live_as)


def running() -> Sequence[Process]:
    """Every process of this user that can be seen, in order of their numbers; none where the system does not say."""
    try:
        import psutil  # costs as much as a start

        return sorted(_found(psutil.process_iter()), key=lambda process: process.pid)
    except Exception:  # noqa: BLE001  without /proc its import alone raises an IndexError
        return ()


def _found(processes: Iterable[psutil.Process]) -> Iterator[Process]:
    import psutil

    has_numbers = hasattr(os, "getuid")
    user = os.getuid() if has_numbers else psutil.Process().username()
    for process in processes:
        try:
            with process.oneshot():
                if (process.uids().real if has_numbers else process.username()) == user:
                    yield _process(process)
        except psutil.Error:  # it has ended meanwhile, or is not ours to look at
            continue


def _process(process: psutil.Process) -> Process:
    import psutil

    try:
        file, argv = process.exe(), process.cmdline()
    except psutil.AccessDenied:
        file, argv = "", []
    return Process(
        pid=process.pid,
        names=names(process.name(), file, argv),
        parent=process.ppid(),
        started=process.create_time(),
        words=frozenset(argv[1:]),
        environ=partial(_environ, process),
        folder=partial(_folder, process),
        called=process.name(),
    )


def _environ(process: psutil.Process) -> Mapping[str, str] | None:
    import psutil

    try:
        return process.environ() or None  # one that has none at all is only just starting
    except (psutil.Error, OSError):
        return None


def _folder(process: psutil.Process) -> Path | None:
    import psutil

    try:
        folder = Path(process.cwd())
    except (psutil.Error, OSError):
        return None
    return folder if folder.is_absolute() and os.path.isdir(folder) else None  # noqa: PTH112  is_dir may raise


def names(name: str, file: str, argv: Sequence[str]) -> frozenset[str]:
    """What a program may be called, in lower case.

    Args:
        name: what the system calls it.
        file: its file, or "".
        argv: its command line, or nothing.
    """
    path = _path(file)
    found = {_bare(name), _bare(path.name), *(f"{folder.name.lower()}/" for folder in path.parents if folder.name)}
    return frozenset({*found, *_script(path, argv)} - {""})


_INTERPRETERS = ("node", "bun", "deno", "python", "ruby")


def _script(file: PurePath, argv: Sequence[str]) -> Iterator[str]:
    """What an interpreter runs, by the name that people call it by: a link without a suffix, or a package's program."""
    if not _bare(file.name).startswith(_INTERPRETERS):
        return
    script = _path(next((word for word in argv[1:] if not word.startswith("-")), ""))
    if not script.suffix or "node_modules" in script.parts:
        yield script.stem.lower()


def _path(text: str) -> PurePath:
    return PureWindowsPath(text) if "\\" in text else PurePosixPath(text)


def _bare(name: str) -> str:
    return name.lower().removesuffix(".exe")
