"""The names under which keys were stored, for `key list`: a keyring can be asked for a key, never for what it holds.

The file holds names and dates only. Losing it loses nothing: the profiles name their keys too, and the entry of a key
that was replaced is called after its successor (`former`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolsync import own_file
from toolsync.disk import shown
from toolsync.errors import FileError
from toolsync.profile import KeyRef

_FILE, _DRAFT = "keys.json", ".keys-"


def known_names(state_dir: Path, references: Iterable[KeyRef] = ()) -> tuple[str, ...]:
    """Every name under which a key may be kept, sorted: those stored from here, and those that `references` name."""
    named = {reference.name for reference in references if reference.kind == "keyring"}
    return tuple(sorted(named | set(recorded(state_dir))))


def recorded(state_dir: Path) -> tuple[str, ...]:
    """The names that the file lists; none where it is missing or damaged."""
    names = _content(state_dir).get("names")
    return tuple(sorted({name for name in names if isinstance(name, str)})) if isinstance(names, list) else ()


def noted(state_dir: Path) -> Mapping[str, Any]:
    """What `former` has noted of keys that were replaced, by the name of their successor."""
    former = _content(state_dir).get("former")
    return former if isinstance(former, dict) else {}


def record(state_dir: Path, name: str) -> None:
    """Add `name` to the file; a new key under a known name writes nothing.

    Raises:
        FileError: it cannot be written.
    """
    if name not in recorded(state_dir):
        _write(state_dir, {*recorded(state_dir), name}, noted(state_dir))


def forget(state_dir: Path, name: str) -> None:
    """Take `name` out of the file.

    Raises:
        FileError: it cannot be written.
    """
    if name in recorded(state_dir):
        _write(state_dir, set(recorded(state_dir)) - {name}, noted(state_dir))


def note(state_dir: Path, name: str, what: Mapping[str, Any] | None) -> None:
    """Note something of the key that `name` replaced; None: nothing any more.

    Raises:
        FileError: it cannot be written.
    """
    now = noted(state_dir)
    rest = {other: said for other, said in now.items() if other != name}
    then = rest if what is None else {**rest, name: what}
    if then != now:
        _write(state_dir, set(recorded(state_dir)), then)


def _content(state_dir: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(own_file.read(state_dir / _FILE) or b"{}")
    except (FileError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(state_dir: Path, names: set[str], former: Mapping[str, Any]) -> None:
    content = {"schema": "toolsync/keys/1", "names": sorted(names), **({"former": former} if former else {})}
    text = json.dumps(content, indent=2) + "\n"
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(state_dir / _FILE, text)
    except OSError as error:
        raise FileError(
            f"{shown(state_dir / _FILE)}: {error.strerror}",
            hint="The key itself is not affected: only `key list` looks at this file.",
        ) from error


def drafts(state_dir: Path) -> tuple[Path, ...]:
    """What was to become the file, and did not: another process may be just at it, and begins anew if it goes."""
    return tuple(state_dir.glob(f"{_DRAFT}*"))


def _replace(path: Path, text: str) -> None:
    try:
        _put(path, text)
    except FileNotFoundError:
        _put(path, text)


def _put(path: Path, text: str) -> None:
    import tempfile  # only by those who write

    handle, temporary = tempfile.mkstemp(prefix=_DRAFT, dir=path.parent)  # 0600 from its first byte
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
