"""What toolsync wrote and that lost its way: an item without the key it is known by, lines without their header."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from toolsync.document import MISSING, Document, Item, KeyPath, Value
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import EditRefusedError
from toolsync.plan.model import Left, Place
from toolsync.remembered import NOTHING, LayerMemory, Remembered, holds
from toolsync.value import frozen

_TELLING = 8
"""A text of so many characters is not the same by chance; of shorter ones, numbers and the like it takes two."""


def gathered(document: Document, known: LayerMemory, place: Place) -> tuple[Document, tuple[Left, ...]]:
    """The document without what lost its way and is ours for certain; what else may be ours elsewhere is named."""
    left: list[Left] = []
    for lost in _lost(document, known):
        if lost.item is not None:
            document, reason = _without_item(document, lost, lost.item, place)
        else:
            reason = _elsewhere(document, lost, place)
        if reason:
            left.append(Left(known.tool, lost.path, reason))
    return document, tuple(left)


@frozen
class _Lost:
    """What toolsync wrote into a table or an item and is not there any more.

    Attributes:
        path: of the table or item.
        values: by the way from it.
        is_made: whether toolsync made it.
        taken: where else toolsync wrote something.
    """

    path: KeyPath
    values: Mapping[KeyPath, Remembered]
    is_made: bool
    taken: frozenset[KeyPath]

    @property
    def item(self) -> Item | None:
        """What the item is known by; None for a table."""
        last = self.path[-1] if self.path else None
        return last if isinstance(last, Item) else None


def _lost(document: Document, known: LayerMemory) -> Iterator[_Lost]:
    places = {parse_path(value.path): value for value in known.values}
    made = set(map(parse_path, known.containers))
    homes: dict[KeyPath, dict[KeyPath, Remembered]] = {}
    for path, value in places.items():
        if value.after != NOTHING and document.get(path) is MISSING:
            home = _home(path)
            homes.setdefault(home, {})[path[len(home) :]] = value
    for home, values in homes.items():
        yield _Lost(home, values, home in made, frozenset(places))


def _home(path: KeyPath) -> KeyPath:
    """The item that the value is part of, or its table."""
    items = [index for index, step in enumerate(path[:-1]) if isinstance(step, Item)]
    return path[: items[-1] + 1] if items else path[:-1]


def _without_item(document: Document, lost: _Lost, item: Item, place: Place) -> tuple[Document, str]:
    """Without an item that holds what we wrote and nothing else; the reason where that is not certain."""
    around = lost.path[:-1]
    items = document.get(around)
    if not isinstance(items, list) or document.get(lost.path) is not MISSING:
        return document, ""
    reason = ""
    for index, one in enumerate(items):
        if not isinstance(one, Mapping) or item.key in one or not (held := _held(one, lost, place)):
            continue
        where = f"stands in an item without '{item.key}' now, and stays"
        reason = f"{where}, for that is no longer only what toolsync wrote"
        if lost.is_made and len(held) == sum(1 for _ in _leaves(one)):
            try:
                return document.remove((*around, index)), ""
            except EditRefusedError as error:
                reason = f"{where}: {error.reason}"
    return document, reason


def _elsewhere(document: Document, lost: _Lost, place: Place) -> str:
    """Where else the same stands, as under the header before one that is gone."""
    for path, table in _tables(document.data):
        held = {rest: now for rest, now in _held(table, lost, place).items() if (*path, *rest) not in lost.taken}
        if len(held) > 1 or any(isinstance(now, str) and len(now) >= _TELLING for now in held.values()):
            where = f"under '{spell(path)}'" if path else "at the top"
            return f"is not where toolsync wrote it, and the same stands {where}: see whether that is a leftover"
    return ""


def _held(table: Mapping[str, Value], lost: _Lost, place: Place) -> dict[KeyPath, Value]:
    """What stands in the table of that which is lost."""
    found = ((rest, _at(table, rest), value) for rest, value in lost.values.items())
    return {rest: now for rest, now, value in found if now is not MISSING and holds(value, now, place.key)}


def _at(table: Value, rest: KeyPath) -> Value:
    for step in rest:
        table = table.get(step, MISSING) if isinstance(table, Mapping) and isinstance(step, str) else MISSING
    return table


def _leaves(table: Mapping[str, Value]) -> Iterator[Value]:
    """What stands in the table, the tables in it taken apart."""
    for value in table.values():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield value


def _tables(data: Value) -> Iterator[tuple[KeyPath, Mapping[str, Value]]]:
    """Every table, the outermost first."""
    waiting: deque[tuple[KeyPath, Value]] = deque([((), data)])
    while waiting:
        path, one = waiting.popleft()
        if isinstance(one, Mapping):
            yield path, one
            waiting.extend(((*path, step), child) for step, child in one.items())
        elif isinstance(one, list):
            waiting.extend(((*path, index), child) for index, child in enumerate(one))
