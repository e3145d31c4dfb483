"""Where a value stands in a document: keys, list positions, and list items found by a key of theirs."""

from __future__ import annotations

import re
from functools import lru_cache

from toolsync.errors import TemplateError
from toolsync.pattern import late
from toolsync.value import frozen


@frozen
class Item:
    """The item of a list of tables whose `key` holds `value`."""

    key: str
    value: str


Step = str | int | Item
KeyPath = tuple[Step, ...]

_BARE = late(r"[A-Za-z0-9_<>|?$-]+")
_TOKEN = late(
    r"""
    (?P<dot>\.)?
    (?: (?P<bare>[A-Za-z0-9_<>|?$-]+)
      | (?P<quoted>"(?:[^"\\]|\\.)*")
      | \[(?P<index>\d+)\]
      | \[(?P<key>"(?:[^"\\]|\\.)*"|[^]="]+)=(?P<value>"(?:[^"\\]|\\.)*"|[^]"][^]]*|)\]
    )""",
    re.VERBOSE,
)
_PLAIN_KEY = late(r"[^]=\"]+")
_PLAIN_VALUE = late(r"(?:[^]\"][^]]*)?")


@lru_cache(4096)  # a trace asks for the same few hundred again and again
def parse(text: str) -> KeyPath:
    """`a.b."dotted.key"[name=value][0]` as a path.

    Raises:
        TemplateError: the text is no path.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or (match["dot"] and not steps) or (bool(steps) == (match["dot"] is None) and text[at] != "["):
            raise TemplateError(f"'{text}' is no path: cannot read on at character {at + 1}")
        steps.append(_step(match))
        at = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["index"] is not None:
        return int(match["index"])
    if match["key"] is not None:
        return Item(_unquoted(match["key"]), _unquoted(match["value"]))
    return _unquoted(match["quoted"]) if match["quoted"] is not None else match["bare"]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def spell(path: KeyPath) -> str:
    """The path as `parse` reads it, and as people are shown it."""
    text = ""
    for step in path:
        match step:
            case int():
                text += f"[{step}]"
            case Item():
                text += f"[{_quoted(step.key, _PLAIN_KEY)}={_quoted(step.value, _PLAIN_VALUE)}]"
            case str():
                text += ("." if text else "") + _quoted(step, _BARE)
    return text


def _quoted(key: str, plain: re.Pattern[str]) -> str:
    if plain.fullmatch(key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
