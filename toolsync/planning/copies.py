"""Copies that other programs made of settings files: found beside them, named, and never touched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from toolsync import disk
from toolsync.errors import FileError
from toolsync.plan import FilePlan
from toolsync.remembered import FileMemory

_BACKUPS = "backups"
"""A folder that several tools keep beside their settings (Claude Code, CC Switch)."""


def copies(files: Iterable[FilePlan]) -> tuple[Path, ...]:
    """Files beside the planned ones that hold something of ours; the folder, where they lie in `backups` there.

    Something of ours is an address that we wrote, or our name, which stands in commands, providers and rows.
    """
    ours = [file for file in files if file.remembered and file.format != "gitignore"]
    known = {Path(file.container or file.path) for file in ours}
    marks = {b"toolsync"} | addresses(ours)
    found: dict[Path, None] = {}
    for path in sorted(known):
        beside = (copy for copy in _beside(path) if copy not in known)
        found |= dict.fromkeys(copy for copy in beside if _holds(copy, marks))
        if any(_holds(copy, marks) for copy in _listed(path.parent / _BACKUPS)):
            found[path.parent / _BACKUPS] = None
    return tuple(found)


def addresses(files: Iterable[FilePlan]) -> set[bytes]:
    """Those that toolsync wrote into planned files."""
    return {address for file in files if file.remembered for address in _addresses(file.remembered)}


def _addresses(memory: FileMemory) -> Iterator[bytes]:
    for layer in memory.layers:
        for value in layer.values:
            if not value.secret and "://" in value.after and isinstance(text := json.loads(value.after), str):
                yield text.encode("utf-8", "surrogatepass")


def _beside(path: Path) -> Iterator[Path]:
    """`settings.json.bak`, `settings.json~`, `.settings.json.swp`."""
    heads = (f"{path.name}.", f"{path.name}~", f".{path.name}.")
    return (one for one in _listed(path.parent) if one.name.startswith(heads))


def _listed(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return []


def _holds(path: Path, marks: Iterable[bytes]) -> bool:
    try:
        raw = disk.read(path).raw or b""
    except FileError:  # a folder, too large, not ours to read
        return False
    return any(mark in raw for mark in marks)
