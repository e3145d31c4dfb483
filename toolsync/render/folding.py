"""Text folded to the width of a terminal: words whole, commands whole, wide characters counted as two columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolsync.pattern import late

_WIDE = "\u1100-\u115f\u2e80-\uff60"
"""Scripts without spaces, in which a line may end after every character."""
_OPENING, _CLOSING = "（《「『【", "、。，；：？！）》」』】"  # noqa: RUF001  Chinese has its own
"""What ends no line, and what begins none."""
_WORD = rf"\s*[{_OPENING}]*(?:[^\s`{_WIDE}]*`[^`\n]*`[^\s`{_WIDE}]*|[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*"
"""Compiled where it is needed: that takes as long as the interpreter does to start."""
_PART = late(r"[^/,]*[/,]*")
_NARROWEST = 6
"""Columns that are narrower are not worth reading."""


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """The text, filled up with spaces."""
    return text + " " * (width - cells(text))


def prose(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Sentences in lines of at most `width` columns, the later ones indented.

    A word, an address or a command in backticks that is longer than a line stays in one piece: it is to be copied.
    """
    if "\n" in text:
        return [line for part in text.split("\n") for line in prose(part, width, indent=indent)]
    if cells(text) <= width:
        return [text]
    return _filled((word[0] for word in re.finditer(_WORD, text)), width, " " * indent)


def cell(text: str, width: int) -> list[str]:
    """A table's cell in lines of at most `width` columns: broken at spaces, else after `/` and `,`, else anywhere."""
    return _filled(_pieces(text, width), width, "")


def fitted(widths: Sequence[int], room: int) -> list[int]:
    """The widths of columns that share `room`: the widest give way, as far as they can."""
    if sum(widths) <= room:
        return list(widths)
    caps = range(max(widths), _NARROWEST - 1, -1)
    cap = next((cap for cap in caps if sum(min(width, cap) for width in widths) <= room), None)
    return list(widths) if cap is None else [min(width, cap) for width in widths]


def _filled(pieces: Iterator[str], width: int, indent: str) -> list[str]:
    lines: list[str] = []
    line = ""
    for piece in pieces:
        if line.strip() and (piece.startswith("\n") or cells((line + piece).rstrip()) > width):
            lines.append(line.rstrip())
            line = indent + piece.lstrip()
        else:
            line += piece.lstrip("\n")
            line = line if cells(line.rstrip()) <= width else line.lstrip()
    return [*lines, line.rstrip()]


def _pieces(text: str, width: int) -> Iterator[str]:
    """Words; one that is longer than a line in parts, from the start of a line on."""
    for word in re.findall(r"\s*\S+", text):
        if cells(word.strip()) <= width:
            yield word
            continue
        for part in _PART.findall(f"\n{word.lstrip()}"):
            yield from [part] if cells(part.strip()) <= width else _cut(part, width)


def _cut(text: str, width: int) -> Iterator[str]:
    piece = ""
    for character in text:
        if piece.strip() and cells((piece + character).strip()) > width:
            yield piece
            piece = ""
        piece += character
    yield piece
