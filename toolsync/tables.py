"""Columns and counts, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.masking import printable
from toolsync.screen import Line


def columns(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> Iterator[Line]:
    """Left-aligned columns, as wide as they need; nothing is cut, so that a pipe sees everything."""
    if not rows:
        return
    clean = [[printable(cell).replace("\n", " ") for cell in row] for row in (heads, *rows) if row]
    widths = [max(len(row[index]) for row in clean) for index in range(len(clean[0]))]
    for number, row in enumerate(clean):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield Line(text, "dim" if heads and number == 0 else "")


def done_to(files: Sequence[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """How many files and rows something is done to, by kind and action; a row has several parts, and counts once."""
    rows: dict[str, str] = {}
    for file in files:
        if file["row"] and file["action"] != "keep":
            rows.setdefault(file["row"], file["action"] if file["shown"] == file["row"] else "change")
    done = [("file", file["action"]) for file in files if not file["row"] and file["action"] != "keep"]
    return Counter(sorted([*done, *(("row", action) for action in rows.values())], key=_ORDER.index))


_ORDER = [(kind, action) for kind in ("file", "row") for action in ("create", "change", "remove")]


def counted(count: int, kind: str) -> str:
    """`1 file`, `2 files`."""
    return f"1 {kind}" if count == 1 else f"{count} {kind}s"
