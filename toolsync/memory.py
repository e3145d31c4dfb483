"""Memory's file: read with suspicion, written by the transaction, set aside only when a person asks."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from toolsync import directory, disk, memory_form
from toolsync.asked import asked_for
from toolsync.document.conforming import surely_conforms
from toolsync.errors import DamagedMemoryError, FileError, MemoryFileError
from toolsync.masking import printable
from toolsync.remembered import Memory
from toolsync.resources import schema

_ASIDE = "`toolsync apply --new-memory` sets it aside and begins anew; what was applied before cannot be undone then."


def path_in(state_dir: Path) -> Path:
    """Where memory lies."""
    return state_dir / "memory.json"


def fresh() -> Memory:
    """A memory of nothing, with a new random key for its hashes."""
    import secrets  # few need a new one

    return Memory(key=secrets.token_bytes(32))


def read(path: Path) -> Memory:
    """What is remembered in `path`; a fresh memory where there is no such file.

    Raises:
        MemoryFileError: it is damaged, or a newer toolsync wrote it.
        FileError: it cannot be read.
    """
    return parsed(seen(path))


def seen(path: Path) -> disk.Snapshot:
    """Memory's file as it stands.

    Raises:
        DamagedMemoryError: a folder, a device or something huge stands there.
        FileError: it cannot be read.
    """
    try:
        return disk.read(path)
    except FileError as error:
        if isinstance(error.__cause__, OSError):  # the system's word on it says what to do
            raise
        raise DamagedMemoryError(error.message, hint=_ASIDE) from error


def parsed(snapshot: disk.Snapshot) -> Memory:
    """The same of a file that was read already (whose hash the next write needs).

    Raises:
        MemoryFileError: it is damaged, or a newer toolsync wrote it.
    """
    if snapshot.raw is None:
        return fresh()
    return _understood(snapshot.raw, disk.shown(snapshot.path))


@lru_cache(1)  # a command asks for the same more than once, and nobody changes what is frozen
def _understood(raw: bytes, name: str) -> Memory:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:  # bytes that are no UTF-8 included
        raise DamagedMemoryError(f"{name}: damaged, it is no JSON ({printable(str(error))})", hint=_ASIDE) from error
    if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > memory_form.VERSION:
        raise MemoryFileError(f"{name}: a newer toolsync wrote it", hint="Update toolsync, and run the command again.")
    problem = _problem(data)
    if problem:
        raise DamagedMemoryError(f"{name}: damaged, {problem}", hint=_ASIDE)
    try:
        memory = memory_form.from_json(data)
    except ValueError as error:
        raise DamagedMemoryError(f"{name}: damaged, {printable(str(error))}", hint=_ASIDE) from error
    return memory if "applied" in data else _recorded(memory)


def _recorded(memory: Memory) -> Memory:
    """What an earlier version remembers, with the profile of each tool as far as files and the others tell.

    Whose key a copy is, they say themselves or nobody knows: the consent to it hangs on that.
    """
    layers = [(path, layer) for path, file in memory.everything.items() for layer in file.layers]
    tools = {layer.tool for _, layer in layers} - {layer.tool for _, layer in layers if layer.holds_key}
    asking = {layer.tool: name for path, layer in layers if layer.tool in tools and (name := asked_for(path))}
    known = {**asking, **memory.applied}
    if memory.profile and {*known.values()} <= {memory.profile}:  # else any of several may be a silent one's
        known = {**dict.fromkeys(sorted(tools), memory.profile), **known}
    return replace(memory, applied=known)


def _problem(data: object) -> str:
    """The first thing that the schema does not allow, without the value itself; empty when all is well."""
    if surely_conforms(data, schema("memory")):
        return ""
    import jsonschema

    found = jsonschema.Draft202012Validator(schema("memory")).iter_errors(data)
    first = next(iter(sorted(found, key=lambda error: error.json_path)), None)
    return "" if first is None else printable(f"{first.json_path} breaks the rule '{first.validator}'")


def dump(memory: Memory) -> bytes:
    """The content of memory's file: the same memory gives the same bytes."""
    return (json.dumps(memory_form.to_json(memory), indent=1) + "\n").encode()


def set_aside(path: Path) -> Path:
    """Move a memory that cannot be read out of the way, keeping it; its new name.

    Raises:
        FileError: it cannot be moved.
    """
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in range(1000))
    aside = next(name for name in names if not disk.is_there(name))
    try:
        directory.replace(path, aside)
    except OSError as error:
        raise disk.file_error(path, error) from error
    return aside
