"""`schema`: the JSON Schemas of the files that toolsync reads and of what its commands say with `--json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolsync import resources
from toolsync.errors import UsageError
from toolsync.masking import printable
from toolsync.result import Result

_ENVELOPE = "envelope"
_SUFFIX = ".schema.json"


def schema(name: str | None) -> Result:
    """One schema, whole in itself, or the names of all.

    Raises:
        UsageError: there is no such schema.
    """
    files = _files()
    content = None if name is None else _content(files, name.replace(" ", "-"))
    return Result("schema", {"names": sorted(files), "name": name, "content": content})


def _files() -> dict[str, Path]:
    """Schema files by name; the one of `profile list`'s result is `profile-list`."""
    folder = resources.folder("schemas")
    files = (*folder.glob(f"*{_SUFFIX}"), *(folder / "results").glob(f"*{_SUFFIX}"))
    return {file.name.removesuffix(_SUFFIX): file for file in files}


def _content(files: dict[str, Path], name: str) -> dict[str, Any]:
    if name not in files:
        raise UsageError(f"there is no schema '{printable(name)}'", hint=f"There are: {', '.join(sorted(files))}.")
    content = _read(files[name])
    if files[name].parent.name != "results" or name == _ENVELOPE:
        return content
    # Bundled as JSON Schema 2020-12, section 9.3 describes it: the reference finds the resource by its $id.
    return {**content, "$defs": {**content.get("$defs", {}), _ENVELOPE: _read(files[_ENVELOPE])}}


def _read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_bytes())
    return content
