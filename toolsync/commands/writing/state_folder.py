"""toolsync's own folder: what in it is ours, and how it goes. On some systems the profile lies in it too."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from toolsync import directory, disk, own_file
from toolsync.errors import FileError
from toolsync.secret import filled

MEMORY, INDEX, NOTE, LOCK = "memory.json", "keys.json", "forgetting.json", "lock"
_DRAFT = f"{NOTE}.draft"
ENTRIES = "entries.json"
"""What is going on with other programs' entries in the keyring; see `entering`."""

_OURS = (
    *(MEMORY, INDEX, NOTE, _DRAFT, ENTRIES, f"{ENTRIES}.draft", filled.FILE, f"{filled.FILE}.draft"),
    *("crash-*.txt", ".keys-*", LOCK),
)
"""What is made there, the lock last: a journal is ended, not removed."""


def own_files(state: Path) -> tuple[Path, ...]:
    """The files of ours that are there."""
    return tuple(path for pattern in _OURS for path in sorted(_matching(state, pattern)))


def other_files(state: Path) -> tuple[Path, ...]:
    """What is there and not ours: a memory that somebody moved aside, a profile."""
    return tuple(sorted(set(_matching(state, "*")) - set(own_files(state))))


def _matching(state: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError):
        yield from state.glob(pattern)


def noted(state: Path) -> frozenset[str]:
    """The keyring entries of old values that may be there without anybody needing them; see `forgetting`."""
    try:
        names = json.loads(own_file.read(state / NOTE) or b"{}")["names"]
        return frozenset(name for name in names if isinstance(name, str))
    except (FileError, ValueError, TypeError, KeyError, RecursionError):
        return frozenset()


def has_note(state: Path) -> bool:
    """Whether there is such a note, or the draft of one."""
    return disk.is_there(state / NOTE) or disk.is_there(state / _DRAFT)


def has_entries(state: Path) -> bool:
    """Whether a change of other programs' entries is not at its end, or the draft of its note is there."""
    return disk.is_there(state / ENTRIES) or disk.is_there(state / f"{ENTRIES}.draft")


def note(state: Path, names: frozenset[str]) -> None:
    """Write them down, durably, under the lock that the caller holds; none: the note goes.

    Raises:
        FileError: it cannot be written.
    """
    try:
        if not names:
            directory.unlink(state / _DRAFT)
            directory.unlink(state / NOTE)
        elif names != noted(state):
            content = json.dumps({"schema": "toolsync/forgetting/1", "names": sorted(names)}, indent=2) + "\n"
            own_file.put(state / NOTE, content.encode())
    except OSError as error:
        raise disk.file_error(state / NOTE, error) from error


def cleared(files: Iterable[Path]) -> tuple[list[Path], list[FileError]]:
    """The files removed, under the lock that the caller holds, and why others could not be."""
    gone: list[Path] = []
    problems: list[FileError] = []
    for path in files:
        if path.name == LOCK and sys.platform == "win32":
            continue  # it is open; see `closed`
        try:
            directory.unlink(disk.resolve(path))
            directory.unlink(path)
        except OSError as error:
            problems.append(disk.file_error(path, error))
        except FileError as error:
            problems.append(error)
        else:
            gone.append(path)
    return gone, problems


def closed(state: Path) -> bool:
    """Remove the folder if nothing is left in it, after the lock was let go; whether it is gone."""
    if sys.platform == "win32":
        with suppress(OSError):  # another toolsync has it open
            (state / LOCK).unlink(missing_ok=True)
    with suppress(OSError):
        state.rmdir()
    return not disk.is_there(state)
