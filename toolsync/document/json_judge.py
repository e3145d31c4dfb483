"""What a JSON or JSONC text means, by the standard library's parser: the judge, which knows nothing of spans."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from toolsync.document.data import Value, index_of
from toolsync.document.json_scan import DEEPEST
from toolsync.document.keypath import KeyPath


class Members(list[tuple[str, Any]]):
    """An object as it is written: its members in order, duplicates too."""


def data_of(text: str) -> Value:
    """The meaning of `text`; an empty object if nothing stands in it. Of duplicate members the last one counts.

    Raises:
        ValueError: it is no JSON, comments and trailing commas aside.
        RecursionError: it is nested deeper than `DEEPEST` levels, or than the parser can go here.
    """
    data = _loaded(text, None)
    if text.count("{") + text.count("[") > DEEPEST and _depth(data) > DEEPEST:
        raise RecursionError  # later Pythons parse deeper than earlier ones; the limit is ours
    return data


def members_of(text: str) -> Value:
    """As `data_of`, with every object as `Members`."""
    return _loaded(text, Members)


def is_strict(text: str) -> bool:
    """Whether a strict reader takes `text`, which `data_of` has read: no comment, no trailing comma."""
    text = text.removeprefix("\ufeff").strip(" \t\r\n")
    try:
        if text:
            _parsed(text, None)
    except (ValueError, RecursionError):
        return False
    return True


def same_elsewhere(one: Value, other: Value, path: KeyPath) -> bool:
    """Whether two `members_of` differ at most in what stands at `path`: order and duplicates are as they were.

    A member that `one` does not have is the last of its object in `other`; one that went is gone with its duplicates.
    """
    for step in path:
        if isinstance(one, Members) and isinstance(other, Members) and isinstance(step, str):
            if not _same_members(one, other, step):
                return False
            one, other = _last(one, step), _last(other, step)
        elif type(one) is list and type(other) is list:
            index = index_of([dict(item) if isinstance(item, Members) else item for item in one], step)
            index = len(one) if index is None else index
            rest = len(one) - index - 1
            if not _same(one[:index], other[:index]) or (rest > 0 and not _same(one[-rest:], other[-rest:])):
                return False
            if len(other) != max(len(one), index + 1):
                return len(other) == len(one) - 1
            one, other = (one[index] if index < len(one) else None), other[index]
        else:
            break
    return True


def _same_members(one: Members, other: Members, key: str) -> bool:
    """Whether all but the last member named `key` are the same, in the same order."""
    keys, now = [name for name, _ in one], [name for name, _ in other]
    if key not in now:
        return _same([pair for pair in one if pair[0] != key], list(other))
    if now != (keys if key in keys else [*keys, key]):
        return False
    changed = len(now) - 1 - now[::-1].index(key)
    return _same([*one[:changed], *one[changed + 1 :]], [*other[:changed], *other[changed + 1 :]])


def _last(members: Members, key: str) -> Value:
    return next((value for name, value in reversed(members) if name == key), None)


def _same(one: Value, other: Value) -> bool:
    """Equality without recursion, and of one type: `true` is not `1`."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, (list, tuple)):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


def _depth(data: Value) -> int:
    """How many containers stand inside one another, without recursion."""
    depth, level = 0, [data]
    while level := [node for node in level if isinstance(node, (dict, list))]:
        depth += 1
        level = [child for node in level for child in (node.values() if isinstance(node, dict) else node)]
    return depth


def _loaded(text: str, hook: Callable[[list[tuple[str, Any]]], Any] | None) -> Value:
    text = " " + text[1:] if text.startswith("\ufeff") else text
    if not text.strip(" \t\r\n"):
        return {} if hook is None else hook([])
    try:
        return _parsed(text, hook)
    except ValueError:
        text = _plain(text)
    if not text.strip(" \t\r\n"):
        return {} if hook is None else hook([])
    return _parsed(text, hook)


def _parsed(text: str, hook: Callable[[list[tuple[str, Any]]], Any] | None) -> Value:
    return json.loads(text, object_pairs_hook=hook, parse_int=_integer, parse_constant=_no_constant)


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # Python reads no more than 4300 digits (sys.set_int_max_str_digits)
        return float(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|//[^\r\n]*|/\*.*?\*/|[^ \t\r\n]', re.DOTALL)


def _plain(text: str) -> str:
    """`text` with spaces for comments and trailing commas, so that every offset stays."""
    kept = list(text)
    before, comma = "", None  # the token before this one; the comma, if that was one with something before it
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece[:2] in ("//", "/*"):
            kept[match.start() : match.end()] = " " * len(piece)
            continue
        if piece in ("}", "]") and comma is not None:
            kept[comma] = " "
        comma = match.start() if piece == "," and before not in ("", ",", ":", "{", "[") else None
        before = piece
    return "".join(kept)
