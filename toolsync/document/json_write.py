"""New values in JSON's spelling, in the style of the place where they go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from toolsync.document.base import Source
from toolsync.document.data import Value
from toolsync.pattern import late
from toolsync.value import frozen


@frozen
class Style:
    """How a value is laid out: `spread` over lines, or on one line.

    Attributes:
        spread: one member or item a line.
        indent: what the line begins with on which the value starts.
        unit: what one level more adds to that.
        eol: the line end of the neighbourhood.
        colon: what stands between key and value.
        comma: what stands between two members on one line.
        pad: what stands inside the brackets of an object on one line.
    """

    spread: bool = False
    indent: str = ""
    unit: str = "  "
    eol: str = "\n"
    colon: str = ": "
    comma: str = ", "
    pad: str = ""

    def deeper(self) -> Style:
        """The style of what stands one level further in."""
        return replace(self, indent=self.indent + self.unit)


def spelled(value: Value | Source, style: Style) -> str:
    """`value` as JSON text; a `Source` anywhere in it is taken as it is.

    Raises:
        ValueError: JSON has no such value (a date, NaN, a key that is no text).
    """
    if isinstance(value, Source):
        return value.text
    if isinstance(value, Mapping):
        members = [f"{quoted(key)}{style.colon}{spelled(item, style.deeper())}" for key, item in value.items()]
        return _bracketed("{", members, "}", style, style.pad)
    if isinstance(value, list):
        return _bracketed("[", [spelled(item, style.deeper()) for item in value], "]", style, "")
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value, allow_nan=False)
    return quoted(value)


def quoted(text: object) -> str:
    """`text` as a JSON string; what an editor or a reader may trip over is escaped, other letters stay as they are."""
    if not isinstance(text, str):
        raise ValueError(f"JSON cannot hold a {type(text).__name__} here")  # noqa: TRY004  the caller refuses the edit
    return _AWKWARD.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


_AWKWARD = late("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
"""DEL and C1 controls, JavaScript's line ends, half surrogates (no UTF-8 for them), the byte-order mark."""


def _bracketed(opener: str, parts: list[str], closer: str, style: Style, pad: str) -> str:
    if not parts:
        return opener + closer
    if not style.spread:
        return f"{opener}{pad}{style.comma.join(parts)}{pad}{closer}"
    line = f"{style.eol}{style.indent}"
    return f"{opener}{line}{style.unit}{f',{line}{style.unit}'.join(parts)}{line}{closer}"
