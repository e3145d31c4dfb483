"""Columns and counts, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from toolsync.masking import masked, printable
from toolsync.render import folding
from toolsync.render.screen import Line


def columns(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> Iterator[Line]:
    """Left-aligned columns, as wide as they need, so that a pipe sees everything; a terminal folds what is too wide."""
    if not rows:
        return
    clean, widths = _clean(rows, heads)
    for number, row in enumerate(clean):
        style = "dim" if heads and number == 0 else ""
        yield Line(_beside(row, widths), style, partial(_folded, row, widths))


def cards(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> Iterator[Line]:
    """Columns; on a terminal that is too narrow for so many, each row is its cells, by name."""
    clean, widths = _clean(rows, heads)
    for row, line in zip(clean, columns(rows, heads), strict=False):
        told = "; ".join(f"{head} {cell}" for head, cell in zip(clean[0], row, strict=True))
        yield replace(line, fold=partial(_carded, told if row is not clean[0] else "", row, widths))


def _clean(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> tuple[list[list[str]], list[int]]:
    """The cells, those of the heads first, and how wide each column is."""
    clean = [[printable(masked(cell)).replace("\n", " ") for cell in row] for row in (heads, *rows) if row]
    return clean, [max(folding.cells(row[index]) for row in clean) for index in range(len(clean[0]))]


def _carded(told: str, row: Sequence[str], widths: Sequence[int], text: str, width: int) -> list[str]:
    room = width - len(_GAP) * (len(widths) - 1)
    if sum(folding.fitted(widths, room)) <= room:
        return _folded(row, widths, text, width)
    return folding.prose(told, width, indent=4) if told else []


def _folded(row: Sequence[str], widths: Sequence[int], _text: str, width: int) -> list[str]:
    """The row in lines that a terminal of that width can show, its cells folded where they must be."""
    narrow = folding.fitted(widths, width - len(_GAP) * (len(widths) - 1))
    cells = [folding.cell(cell, size) for cell, size in zip(row, narrow, strict=True)]
    return [_beside(line, narrow) for line in zip_longest(*cells, fillvalue="")]


_GAP = "  "


def _beside(row: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(folding.padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()


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
