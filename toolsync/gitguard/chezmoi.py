"""chezmoi's source folder: a copy of a file under a name of its own, which `chezmoi re-add` brings up to date."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolsync import disk
from toolsync.pattern import late

# https://www.chezmoi.io/reference/source-state-attributes/ (those of regular files and folders). `encrypted_` is left
# out, for such a copy gives nothing away; so is `.tmpl`, which `re-add` does not write to.
_ATTRIBUTES = late(r"^((create|modify|external|exact|private|readonly|empty|executable|remove)_)*")


def source(real: Path, home: Path, environ: Mapping[str, str]) -> Path | None:
    """The source folder in which chezmoi keeps `real` in clear, by its usual place; None where it does not.

    Raises:
        FileError: the folder cannot be read.
    """
    data = environ.get("XDG_DATA_HOME") or str(home / ".local" / "share")
    root, home = Path(data) / "chezmoi", disk.resolve(home)
    if not disk.is_folder(root) or not real.is_relative_to(home):
        return None
    try:
        copies = _copies(root / _inner(root), real.relative_to(home).parts)
        return root if any(copy.is_file() for copy in copies) else None
    except OSError as error:
        raise disk.file_error(root, error) from error


def _copies(folder: Path, steps: Sequence[str]) -> list[Path]:
    """The entries below the source's `folder` that stand for `steps` below the home."""
    places = [folder]
    for step in steps:
        entries = [entry for place in places if disk.is_folder(place) for entry in place.iterdir()]
        places = [entry for entry in entries if _name(entry) == step]
    return places


def _inner(root: Path) -> str:
    """The folder below that holds the home's files, where there is one."""
    raw = disk.read(root / ".chezmoiroot").raw or b""
    return raw.decode(errors="replace").strip()


def _name(entry: Path) -> str:
    """What an entry is called in the home."""
    name = _ATTRIBUTES.sub("", entry.name)
    if name.startswith("literal_"):
        return name.removeprefix("literal_")
    return re.sub(r"^dot_", ".", name)
