"""Parsed settings as plain data: what stands at a path, what it becomes, and when two values are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final

from toolsync.document.keypath import Item, KeyPath, Step

Value = Any
"""dict, list, str, int, float, bool, None, or TOML's dates and times."""


class Missing(Enum):
    """Nothing stands there; not even a null."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing.MISSING


def get(data: Value, path: KeyPath) -> Value:
    """What stands at `path`, or `MISSING`."""
    for step in path:
        data = _child(data, step)
        if data is MISSING:
            return MISSING
    return data


def put(data: Value, path: KeyPath, value: Value) -> Value:
    """A copy of `data` with `value` at `path`; tables and list items on the way are made.

    Raises:
        ValueError: something that is no table, or no list of tables, stands in the way.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        if data is MISSING:
            data = {}
        if not isinstance(data, Mapping):
            raise ValueError(no_table(step, data))  # noqa: TRY004  the data's fault, not the caller's
        return {**data, step: put(data.get(step, MISSING), rest, value)}
    if data is MISSING and isinstance(step, Item):
        data = []
    if not isinstance(data, list):
        raise ValueError("no list")  # noqa: TRY004  likewise
    index = index_of(data, step)
    if isinstance(step, Item) and not all(isinstance(item, Mapping) and step.key in item for item in data):
        raise ValueError(f"the list holds something that is no table with '{step.key}'")
    if index is None:
        if not isinstance(step, Item):
            raise ValueError(f"no item {step}")
        return [*data, put({step.key: step.value}, rest, value)]
    return [*data[:index], put(data[index], rest, value), *data[index + 1 :]]


def no_table(step: str, found: Value) -> str:
    """The refusal to set `step` in what is no table, and never what stands there: it may be a secret.

    Args:
        step: the key that a table would hold.
        found: what stands in its place, as data or as `json_written` has it.
    """
    return f"no table to hold '{step}'; {_kind(found)} stands there"


def _kind(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, bytes)):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a date or time"


def drop(data: Value, path: KeyPath) -> Value:
    """A copy of `data` without what stands at `path`; containers stay, empty or not."""
    step, rest = path[0], path[1:]
    child = _child(data, step)
    if child is MISSING:
        return data
    if isinstance(step, str):
        if rest:
            return {**data, step: drop(child, rest)}
        return {key: value for key, value in data.items() if key != step}
    index = index_of(data, step)
    assert index is not None  # noqa: S101  the child was found there
    kept = [drop(child, rest)] if rest else []
    return [*data[:index], *kept, *data[index + 1 :]]


def equal(one: Value, other: Value) -> bool:
    """Whether two parsed values are the same: `true` is not `1`, `1` is not `1.0`, NaN is NaN; key order is free.

    Without recursion: files may be nested deeper than Python's stack.
    """
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif not _same_scalar(one, other):
            return False
    return True


def index_of(items: Sequence[Value], step: Step) -> int | None:
    """The position that `step` names in a list, or None."""
    if isinstance(step, int):
        return step if step < len(items) else None
    if isinstance(step, Item):
        for index, item in enumerate(items):
            if isinstance(item, Mapping) and item.get(step.key) == step.value:
                return index
    return None


def _same_scalar(one: Value, other: Value) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, float) and isinstance(other, float):
        same_sign = math.copysign(1, one) == math.copysign(1, other)
        return (math.isnan(one) and math.isnan(other)) or (one == other and same_sign)
    return bool(one == other)


def _child(data: Value, step: Step) -> Value:
    if isinstance(step, str):
        return data.get(step, MISSING) if isinstance(data, Mapping) else MISSING
    if not isinstance(data, list):
        return MISSING
    index = index_of(data, step)
    return MISSING if index is None else data[index]
