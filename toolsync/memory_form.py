"""Memory as plain data and back: the form of `memory.json`, and of those that earlier versions wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsync.document.splice import Splice
from toolsync.remembered import FileMemory, KeptSplice, LayerMemory, Memory, Remembered, vault_entry

VERSION = 6
"""The form of `memory.json`; a newer one is never read, for what it means is not known here.

Version 1 did not name keyring entries: they were called by the place of what they hold. Before version 3 nobody knew
whose key a copy is, before version 4 of other programs' entries in the keyring, before version 5 which of the user's
files were empty, before version 6 which profile a tool without a copy was set to.
"""


def to_json(memory: Memory) -> dict[str, Any]:
    """The memory as plain data, in the form of `schemas/memory.schema.json`."""
    return {
        "version": VERSION,
        "key": memory.key.hex(),
        "profile": memory.profile,
        "applied": dict(sorted(memory.applied.items())),
        "files": {path: _file_to(memory.files[path]) for path in sorted(memory.files)},
        "entries": {name: _file_to(memory.entries[name]) for name in sorted(memory.entries)},
    }


def _file_to(file: FileMemory) -> dict[str, Any]:
    return {
        "created": file.created,
        "begun": file.begun,
        "mode": None if file.mode is None else f"{file.mode:04o}",
        "folders": list(file.folders),
        "layers": [_layer_to(layer) for layer in file.layers],
    }


def _layer_to(layer: LayerMemory) -> dict[str, Any]:
    return {
        "tool": layer.tool,
        "overlay": layer.overlay,
        "sha256": layer.sha256,
        "inverse": None if layer.inverse is None else [_splice_to(splice) for splice in layer.inverse],
        "values": [dict(vars(value)) for value in layer.values],
        "containers": list(layer.containers),
        "applied_at": layer.applied_at,
        "holds_key": layer.holds_key,
    }


def _splice_to(splice: Splice | KeptSplice) -> dict[str, Any]:
    return {"text": None, **vars(splice)}


def from_json(data: Mapping[str, Any]) -> Memory:
    """The memory in data that meets the schema.

    Raises:
        ValueError: a value says something that the schema cannot rule out.
    """
    return Memory(
        key=bytes.fromhex(data["key"]),
        profile=data["profile"],
        files={_real(path): _file_from(path, file) for path, file in data["files"].items()},
        entries={name: _file_from(name, file) for name, file in data.get("entries", {}).items()},
        applied=data.get("applied", data.get("copies", {})),
    )


def _real(path: str) -> str:
    if not (path.startswith("/") or Path(path).is_absolute()):  # it would mean another file in each folder
        raise ValueError("a file without the folder that it is in")
    return path


def _file_from(path: str, data: Mapping[str, Any]) -> FileMemory:
    return FileMemory(
        created=data["created"],
        mode=None if data["mode"] is None else int(data["mode"], 8),
        folders=tuple(data["folders"]),
        layers=tuple(_layer_from(path, layer) for layer in data["layers"]),
        begun=data.get("begun", False),
    )


def _layer_from(path: str, data: Mapping[str, Any]) -> LayerMemory:
    inverse, place = data["inverse"], (path, data["tool"], data["overlay"])
    return LayerMemory(
        tool=data["tool"],
        overlay=data["overlay"],
        sha256=data["sha256"],
        inverse=None if inverse is None else tuple(_splice_from(place, *one) for one in enumerate(inverse)),
        values=tuple(_value_from(place, value) for value in data["values"]),
        containers=tuple(data["containers"]),
        applied_at=data["applied_at"],
        holds_key=data["holds_key"],
    )


def _splice_from(place: tuple[str, ...], index: int, data: Mapping[str, Any]) -> Splice | KeptSplice:
    if data["text"] is None:
        return KeptSplice(data["start"], data["length"], data.get("entry") or _first_name(*place, f"inverse[{index}]"))
    return Splice(data["start"], data["length"], data["text"])


def _value_from(place: tuple[str, ...], data: Mapping[str, Any]) -> Remembered:
    if data["origin_kept"] == "keyring" and "entry" not in data:
        return Remembered(**data, entry=_first_name(*place, data["path"]))
    return Remembered(**data)


def _first_name(*place: str) -> str:
    """What version 1 called the entry for a text: by its file, tool, file row and path, or place in the inverse."""
    return vault_entry(hashlib.sha256("\0".join(place).encode("utf-8", "surrogatepass")).digest())
