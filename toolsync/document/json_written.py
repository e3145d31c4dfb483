"""What stands in a JSON text, as it is written: what stands at a path, what it becomes, and when two are the same.

The order of members, duplicates and the spelling of numbers count. Whatever an edit does elsewhere than it should, and
be it to a duplicate that does not count, makes another one.
"""

from __future__ import annotations

import json
from typing import Any

from toolsync.document import data as _data
from toolsync.document.data import MISSING, Value
from toolsync.document.keypath import Item, KeyPath, Step

Written = Any
"""An object as a tuple of its members (key and value), a list, a number as the bytes that spell it, or str, bool, None.

All of them are types of C, and no two of them are ever equal: comparing two readings is exact, and fast.
"""


def at(written: Written, path: KeyPath) -> Written:
    """What stands at `path`, or `MISSING`."""
    for step in path:
        found = index(written, step)
        if found is None:
            return MISSING
        written = written[found][1] if isinstance(step, str) else written[found]
    return written


def index(written: Written, step: Step) -> int | None:
    """The position of the member or item that `step` names, or None; of duplicates the last."""
    if isinstance(step, str):
        names = [name for name, _ in reversed(written)] if isinstance(written, tuple) else []
        return len(names) - 1 - names.index(step) if step in names else None
    if not isinstance(written, list):
        return None
    if isinstance(step, int):
        return step if step < len(written) else None
    return _data.index_of([dict(item) if isinstance(item, tuple) else item for item in written], step)


def scalar(written: Written) -> Value:
    """A scalar as plain data."""
    return number(written.decode()) if isinstance(written, bytes) else written


def put(written: Written, path: KeyPath, value: Written) -> Written:
    """`written` with `value` at `path`: of duplicates the last gives way, and what is new comes last.

    Raises:
        ValueError: something that is no table, or no list of tables, stands in the way.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    holder = _holder(written, step)
    known, below = index(holder, step), at(holder, path[:1])
    if known is None and isinstance(step, int):
        raise ValueError(f"no item {step}")
    if known is None and isinstance(step, Item):
        below = ((step.key, step.value),)
    new = put(below, rest, value)
    behind = len(holder) if known is None else known
    return type(holder)((*holder[:behind], (step, new) if isinstance(step, str) else new, *holder[behind + 1 :]))


def drop(written: Written, path: KeyPath) -> Written:
    """`written` without what stands at `path`, which is there, its duplicates included; containers stay."""
    step, rest = path[0], path[1:]
    if rest:
        # An item by its place: whether others have such a key too matters only where one is added.
        known = index(written, step) if isinstance(step, Item) else step
        below = drop(at(written, path[:1]), rest)
        return written if known is None else put(written, (known,), below)
    if isinstance(step, str):
        return tuple(member for member in written if member[0] != step)
    gone = index(written, step)
    return [item for number, item in enumerate(written) if number != gone]


def same(one: Written, other: Written) -> bool:
    """Whether two readings are equal, however deep they are nested."""
    try:
        return bool(one == other)
    except RecursionError:
        return _same(one, other)


def _holder(written: Written, step: Step) -> Written:
    """The table, or the list, in which `step` has its place; a new one if nothing is there."""
    if isinstance(step, str):
        members = () if written is MISSING else written
        if not isinstance(members, tuple):
            raise ValueError(_data.no_table(step, members))  # noqa: TRY004  the data's fault, not the caller's
        return members
    items = [] if written is MISSING and isinstance(step, Item) else written
    if not isinstance(items, list):
        raise ValueError("no list")  # noqa: TRY004  likewise
    if isinstance(step, Item) and not all(isinstance(item, tuple) and step.key in dict(item) for item in items):
        raise ValueError(f"the list holds something that is no table with '{step.key}'")
    return items


def _same(one: Written, other: Written) -> bool:
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if not (isinstance(one, (list, tuple)) and type(one) is type(other)):
            if one != other:
                return False
        elif len(one) != len(other):
            return False
        else:
            pairs.extend(zip(one, other, strict=True))
    return True


def number(digits: str) -> int | float:
    """A number by its digits; as a float where Python reads no more of an integer (sys.set_int_max_str_digits)."""
    try:
        found: int | float = json.loads(digits)
    except ValueError:
        return float(digits)
    return found
