"""The names under which keys were stored, for `key list`: a keyring can be asked for a key, never for what it holds.

The file holds names only. Losing it loses nothing: the profiles name their keys too.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from toolsync.disk import shown
from toolsync.errors import FileError
from toolsync.profile import KeyRef

_FILE = "keys.json"


def known_names(state_dir: Path, references: Iterable[KeyRef] = ()) -> tuple[str, ...]:
    """Every name under which a key may be kept, sorted: those stored from here, and those that `references` name."""
    named = {reference.name for reference in references if reference.kind == "keyring"}
    return tuple(sorted(named | set(recorded(state_dir))))


def recorded(state_dir: Path) -> tuple[str, ...]:
    """The names that the file lists; none where it is missing or damaged."""
    try:
        content = json.loads((state_dir / _FILE).read_bytes())
        names = content["names"]
        return tuple(sorted({name for name in names if isinstance(name, str)}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()


def record(state_dir: Path, name: str) -> None:
    """Add `name` to the file; a new key under a known name writes nothing.

    Raises:
        FileError: it cannot be written.
    """
    if name not in recorded(state_dir):
        _write(state_dir, {*recorded(state_dir), name})


def forget(state_dir: Path, name: str) -> None:
    """Take `name` out of the file.

    Raises:
        FileError: it cannot be written.
    """
    if name in recorded(state_dir):
        _write(state_dir, set(recorded(state_dir)) - {name})


def _write(state_dir: Path, names: set[str]) -> None:
    text = json.dumps({"schema": "toolsync/keys/1", "names": sorted(names)}, indent=2) + "\n"
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(state_dir / _FILE, text)
    except OSError as error:
        raise FileError(
            f"{shown(state_dir / _FILE)}: {error.strerror}",
            hint="The key itself is not affected: only `key list` looks at this file.",
        ) from error


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".keys-", dir=path.parent)  # 0600 from its first byte
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
