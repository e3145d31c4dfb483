"""Where a tool's own file holds a table that stands for its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsync.document import KeyPath, parse_path
from toolsync.tool import Tool


def mounts(tool: Tool) -> list[tuple[str, KeyPath]]:
    """Where one of its own files stands for the environment: the overlay, and the path of the table in it."""
    tables = [parse_path(layer.at) for layer in tool.layers if layer.kind == "environment"]
    own = [(layer.overlay, parse_path(layer.at) if layer.at else ()) for layer in tool.layers if layer.overlay]
    return [
        (overlay, table[len(at) :])
        for table in tables
        for overlay, at in own
        if table[: len(at)] == at and _holds(tool, overlay, table[len(at) :])
    ]


def _holds(tool: Tool, overlay: str, path: KeyPath) -> bool:
    value: Any = next(row.document.data for row in tool.files if row.overlay == overlay)
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return isinstance(value, Mapping) and bool(path)
