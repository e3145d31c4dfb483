"""The files that a tool's layers are on this machine: one for each, or all that a folder of drop-ins holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from toolsync import disk
from toolsync.errors import TemplateError
from toolsync.masking import on_one_line
from toolsync.paths import Places, candidates
from toolsync.tool import Layer


def placed(layers: Sequence[Layer], places: Places) -> Iterator[tuple[Layer, Path | None]]:
    """Each layer with its file, lowest first; None for one that is no file of its own, or has no place here.

    A layer whose file is a pattern (`settings.d/*.json`) becomes as many as there are files, in the order of their
    names, each called after its own; where there is none it stays, with the pattern as its file.

    Args:
        layers: as the template has them, lowest first.
        places: what their paths are relative to.
    """
    for layer in layers:
        path = existing(layer.path, places) if layer.kind == "file" else None
        files = _dropped_in(path) if path is not None and "*" in path.name else []
        for file in files:
            yield replace(layer, name=f"{layer.name}: {on_one_line(file.name, limit=100)}"), file
        if not files:
            yield layer, path


def existing(spec: str | Sequence[str], places: Places) -> Path | None:
    """The file that the spec means: the one that exists, else the first; None where it means none here."""
    paths = spelled(spec, places)
    return next((path for path in paths if disk.exists(path)), paths[0] if paths else None)


def spelled(spec: str | Sequence[str], places: Places) -> tuple[Path, ...]:
    """The files that the spec may mean on this machine."""
    try:
        return tuple(path for path in candidates(spec, places) if "\0" not in str(path))
    except TemplateError:  # a variable that is not set here, or holds no path
        return ()


def _dropped_in(pattern: Path) -> list[Path]:
    """The files of that folder: hidden ones, and folders, are none (Claude Code 2.1.112; so do systemd and cron)."""
    try:
        names = sorted(entry.name for entry in pattern.parent.iterdir())
    except OSError:
        return []  # what we may not list, the tool may not either
    files = [pattern.with_name(name) for name in names if not name.startswith(".")]
    return [file for file in files if fnmatchcase(file.name, pattern.name) and not disk.is_folder(file)]
