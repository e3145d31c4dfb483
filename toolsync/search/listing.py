"""Files by patterns: `*` within a name, `**` for folders of any depth; links to folders are not followed."""

from __future__ import annotations

import fnmatch
import heapq
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

MOST_FILES = 20_000
"""Of one pattern."""

_MOST_SEEN = 10 * MOST_FILES
"""Among so many the newest are sought: to ask for an age costs little beside a look into a file."""

_MOST_DEPTH = 12

_PASSED = frozenset({"node_modules", ".git", ".venv", "__pycache__"})
"""Folders that `**` does not go into: what programs fetched and made."""


@dataclass
class Listing:
    """What a pattern means on this machine.

    Attributes:
        files: those that are there, links to files among them; the newest, and they first.
        shut: folders that do not let us look.
        is_cut: whether there are more than are named.
    """

    files: list[Path] = field(default_factory=list)
    shut: list[Path] = field(default_factory=list)
    is_cut: bool = False


def listed(pattern: Path, most: int = MOST_FILES) -> Listing:
    """The files that an absolute pattern means; without `*` the one file, if anything is there.

    Args:
        pattern: a path, in whose parts `*`, `?` and `**` may stand.
        most: how many files are named.
    """
    found = Listing()
    parts = (*pattern.parts, "*") if pattern.name == "**" else pattern.parts
    fixed = next((index for index, part in enumerate(parts) if _is_pattern(part)), len(parts))
    root = Path(*parts[:fixed])
    if fixed == len(parts):
        found.files = [root] if os.path.lexists(root) else []
        return found
    seen = list(islice(_matching(root, parts[fixed:], found, 0), _MOST_SEEN))
    found.files = heapq.nlargest(most, seen, key=_modified)
    found.is_cut |= len(seen) > most
    return found


def _is_pattern(part: str) -> bool:
    return "*" in part or "?" in part


def _matching(folder: Path, parts: tuple[str, ...], found: Listing, depth: int) -> Iterator[Path]:
    part, *rest = parts
    if depth > _MOST_DEPTH:
        found.is_cut = True
        return
    if part == "**":
        yield from _matching(folder, tuple(rest), found, depth + 1)
    elif not _is_pattern(part):
        yield from _below(folder / part, tuple(rest), found, depth)
        return
    matches = re.compile(fnmatch.translate("*" if part == "**" else part)).match
    for entry in _entries(folder, found):
        is_folder = _is_folder(entry)
        if part == "**" and is_folder and entry.name not in _PASSED:
            yield from _matching(Path(entry.path), parts, found, depth + 1)
        elif part != "**" and matches(entry.name) and (is_folder or not rest):
            yield from _below(Path(entry.path), tuple(rest), found, depth, is_folder=is_folder)


def _below(
    path: Path, rest: tuple[str, ...], found: Listing, depth: int, *, is_folder: bool | None = None
) -> Iterator[Path]:
    if rest:
        yield from _matching(path, rest, found, depth + 1)
    elif is_folder is False or (is_folder is None and os.path.lexists(path)):
        yield path


def _entries(folder: Path, found: Listing) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        if folder not in found.shut:  # `**` comes by twice
            found.shut.append(folder)
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
