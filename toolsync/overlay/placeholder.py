"""Placeholders: `<fact>`, `<fact?>`, `<fact|text>`, `<fact|absent>`, `<absent>` and `<now>`, and what fills them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolsync.document import Value
from toolsync.errors import MissingFactError, TemplateError
from toolsync.facts import TYPES, WAYS, Facts
from toolsync.overlay.model import ABSENT, UNSET, Want
from toolsync.pattern import late
from toolsync.profile.wording import close

NOW = "now"
"""The time of writing, as the tool spells it."""

_ABSENT = "absent"
_PLACEHOLDER = late(r"<([a-z][a-z_]*)(\?|\|[^>]*)?>")
_KEYS = frozenset({*(f"key_{way}" for way in WAYS), "key_ref", "key_variable"})
_HEADERS = frozenset({"headers", "headers_lines"})
_KNOWN = frozenset(TYPES) | _KEYS
_GIVES_AWAY = _HEADERS | {"key_plaintext", "key_keyring"}
"""The facts whose value may be a key itself; the others of `_KEYS` only say where one is to be had."""


def names(text: str) -> frozenset[str]:
    """The facts that `text` names, `now` included."""
    return frozenset(match[1] for match in _PLACEHOLDER.finditer(text)) - {_ABSENT}


def is_plain(text: str) -> bool:
    """Whether there is nothing to fill in `text`."""
    return _PLACEHOLDER.search(text) is None


def check(text: str) -> None:
    """Look at every placeholder in `text`.

    Raises:
        TemplateError: an unknown fact, or a text for an unset fact that its type does not have.
    """
    for match in _PLACEHOLDER.finditer(text):
        _otherwise(match[1], match[2])


def is_secret(facts: frozenset[str]) -> bool:
    """Whether the place that these facts fill is one at which a key may stand, ours or the user's own."""
    return bool(facts & (_KEYS | _HEADERS))


def gives_away(named: frozenset[str], facts: Facts) -> bool:
    """Whether what these facts make may be a key; a fact that is unset gives nothing away."""
    if "key_ref" in named:
        named |= {"key_plaintext", "key_keyring"}
    return any(name in facts for name in named & _GIVES_AWAY)


def fill(text: str, facts: Facts, *, now: str) -> Value | Want:
    """What `text` becomes: exactly one placeholder takes the fact as it is, among other text it is spelled.

    Raises:
        MissingFactError: a required fact is unset.
        TemplateError: an unknown fact, or a table or list among other text.
    """
    whole = _PLACEHOLDER.fullmatch(text)
    if whole:
        return _value(whole, facts, now)
    values = [_value(match, facts, now) for match in _PLACEHOLDER.finditer(text)]
    for want in (ABSENT, UNSET):
        if want in values:
            return want
    rest = iter(values)
    return _PLACEHOLDER.sub(lambda match: _spelled(match[0], next(rest)), text)


def fill_key(text: str, facts: Facts, *, now: str) -> str | None:
    """What a key becomes; None if a fact in it is unset: the whole entry is left out.

    Raises:
        MissingFactError, TemplateError: as `fill` raises them.
    """
    value = fill(text, facts, now=now)
    return None if isinstance(value, Want) else _spelled(text, value)


def _value(match: re.Match[str], facts: Facts, now: str) -> Value | Want:
    name, otherwise = match[1], match[2]
    unset = _otherwise(name, otherwise)
    if name == _ABSENT:
        return ABSENT
    if name == NOW:
        return now
    if name in facts:
        return facts[name].value
    if otherwise is None:
        raise MissingFactError(name)
    return unset


def _otherwise(name: str, otherwise: str | None) -> Value | Want:
    """What stands for the fact where it is unset."""
    if name not in _KNOWN and name not in (NOW, _ABSENT):
        near = close(name, _KNOWN)
        meant = f"Did you mean '<{near}>'? " if near else ""
        raise TemplateError(f"'<{name}>' is no fact", hint=f"{meant}Known: {', '.join(sorted(_KNOWN))}.")
    if otherwise is None or otherwise == "?":
        return UNSET
    if otherwise == f"|{_ABSENT}":
        return ABSENT
    return _typed(name, otherwise[1:])


def _typed(name: str, text: str) -> Value:
    """The text in the fact's type."""
    kind = TYPES.get(name, str)
    try:
        return _READERS[kind](text)
    except (KeyError, ValueError) as error:
        raise TemplateError(
            f"'<{name}|{text}>': '{text}' is no {_NAMES[kind]}", hint="The text stands for the fact where it is unset."
        ) from error


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


_READERS: Mapping[type, Any] = {str: str, int: int, float: _number, bool: {"true": True, "false": False}.__getitem__}
_NAMES: Mapping[type, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    dict: "table",
    list: "list",
}


def _spelled(placeholder: str, value: Value) -> str:
    """A value among other text, as every format that we write spells it."""
    if isinstance(value, Mapping | list):
        raise TemplateError(f"'{placeholder}' is a table or a list, and stands where only text can")
    return str(value).lower() if isinstance(value, bool) else str(value)
