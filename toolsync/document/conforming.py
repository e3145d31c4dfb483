"""Whether parsed data surely meet a JSON Schema: the yes of most days, without the library that explains a no.

`jsonschema` costs eight starts of the interpreter. What is not sure here is left to it: a keyword that is not known,
and what can be read in two ways (is 3.0 an integer?).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from toolsync.document.data import Value
from toolsync.value import frozen

Rules = Any
"""A piece of JSON Schema: a mapping, or true or false."""


Match = Callable[[str, str], re.Match[str] | None]
"""Finds a pattern in a text: anywhere (JSON Schema), or as the whole of it (`re.fullmatch`)."""


class _UnsureError(Exception):
    """The library has to say."""


@frozen
class _Whole:
    """The schema that a rule is part of, and how patterns are looked for in texts."""

    rules: Rules
    match: Match


def surely_conforms(data: Value, schema: Rules, match: Match = re.search) -> bool:
    """Whether the library would find nothing; False also where that is not sure. `match` looks for patterns."""
    try:
        return _meets(data, schema, _Whole(schema, match))
    except (_UnsureError, RecursionError, re.error):
        return False


def _meets(data: Value, rules: Rules, whole: _Whole) -> bool:
    if isinstance(rules, bool):
        return rules
    if not rules.keys() <= _KNOWN:
        raise _UnsureError
    return all(_KEYWORDS[keyword](data, rules[keyword], rules, whole) for keyword in rules if keyword in _KEYWORDS)


def _referred(data: Value, name: str, _: Rules, whole: _Whole) -> bool:
    where, _, definition = name.rpartition("/")
    if where != "#/$defs" or definition not in whole.rules.get("$defs", {}):
        raise _UnsureError
    return _meets(data, whole.rules["$defs"][definition], whole)


def _is_of_type(data: Value, names: str | list[str], _: Rules, __: _Whole) -> bool:
    return any(_TYPES[name](data) for name in ([names] if isinstance(names, str) else names))


def _is_number(data: Value) -> bool:
    if isinstance(data, float) and not math.isfinite(data):
        raise _UnsureError
    return isinstance(data, int | float) and not isinstance(data, bool)


def _is_integer(data: Value) -> bool:
    if isinstance(data, float):
        raise _UnsureError
    return _is_number(data)


def _is_same(data: Value, value: Value) -> bool:
    if isinstance(value, dict | list):
        raise _UnsureError
    if _is_number(value):
        return _is_number(data) and bool(data == value)
    return type(data) is type(value) and bool(data == value)


def _are_unique(items: list[Value], is_asked: bool) -> bool:  # noqa: FBT001  the keyword's value
    if is_asked and not all(isinstance(item, str) for item in items):
        raise _UnsureError
    return not is_asked or len(set(items)) == len(items)


def _others(data: Mapping[str, Value], rules: Rules) -> list[Value]:
    return [value for key, value in data.items() if key not in rules.get("properties", {})]


_TYPES: dict[str, Callable[[Value], bool]] = {
    "object": lambda data: isinstance(data, dict),
    "array": lambda data: isinstance(data, list),
    "string": lambda data: isinstance(data, str),
    "boolean": lambda data: isinstance(data, bool),
    "null": lambda data: data is None,
    "integer": _is_integer,
    "number": _is_number,
}

_Check = Callable[[Any, Any, Rules, _Whole], bool]


def _of(is_kind: Callable[[Value], bool], check: _Check) -> _Check:
    """A check that has nothing against data of another kind."""
    return lambda data, limit, rules, whole: not is_kind(data) or check(data, limit, rules, whole)


_OBJECT, _ARRAY, _STRING = _TYPES["object"], _TYPES["array"], _TYPES["string"]
_KEYWORDS: dict[str, _Check] = {
    "$ref": _referred,
    "type": _is_of_type,
    "const": lambda data, value, _, __: _is_same(data, value),
    "enum": lambda data, values, _, __: any(_is_same(data, value) for value in values),
    "allOf": lambda data, ways, _, whole: all(_meets(data, way, whole) for way in ways),
    "anyOf": lambda data, ways, _, whole: any(_meets(data, way, whole) for way in ways),
    "oneOf": lambda data, ways, _, whole: sum(_meets(data, way, whole) for way in ways) == 1,
    "not": lambda data, way, _, whole: not _meets(data, way, whole),
    "if": lambda data, way, rules, whole: not _meets(data, way, whole) or _meets(data, rules.get("then", True), whole),
    "required": _of(_OBJECT, lambda data, names, _, __: data.keys() >= set(names)),
    "properties": _of(
        _OBJECT, lambda data, of, _, whole: all(_meets(data[key], of[key], whole) for key in of if key in data)
    ),
    "additionalProperties": _of(
        _OBJECT, lambda data, below, rules, whole: all(_meets(value, below, whole) for value in _others(data, rules))
    ),
    "propertyNames": _of(_OBJECT, lambda data, below, _, whole: all(_meets(key, below, whole) for key in data)),
    "items": _of(_ARRAY, lambda data, below, _, whole: all(_meets(item, below, whole) for item in data)),
    "minItems": _of(_ARRAY, lambda data, least, _, __: len(data) >= least),
    "uniqueItems": _of(_ARRAY, lambda data, is_asked, _, __: _are_unique(data, is_asked)),
    "minLength": _of(_STRING, lambda data, least, _, __: len(data) >= least),
    "pattern": _of(_STRING, lambda data, pattern, _, whole: whole.match(pattern, data) is not None),
    "minimum": _of(_is_number, lambda data, least, _, __: data >= least),
    "maximum": _of(_is_number, lambda data, most, _, __: data <= most),
    "exclusiveMinimum": _of(_is_number, lambda data, least, _, __: data > least),
}
_SILENT = {"$schema", "$id", "$comment", "$defs", "title", "description", "default", "examples", "format", "writeOnly"}
_SILENT |= {"errorMessage", "then"}
_KNOWN = _KEYWORDS.keys() | _SILENT
