"""An overlay filled with facts: the edits that a tool's settings need.

The language (restated in `templates/README.md`): `<fact>` is required; `<fact?>` unset means hands off;
`<fact|text>` unset means the text; `<fact|absent>` unset, and plain `<absent>`, mean that the key must not be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.document import Document, Item, KeyPath, Value, equal
from toolsync.document import data as _data
from toolsync.document.keypath import Step, spell
from toolsync.errors import TemplateError
from toolsync.facts import Facts
from toolsync.overlay import placeholder
from toolsync.overlay.laying import edited
from toolsync.overlay.model import ABSENT, TABLE, UNSET, Edit, Want
from toolsync.overlay.placeholder import is_plain

__all__ = [
    "ABSENT",
    "TABLE",
    "UNSET",
    "Edit",
    "Want",
    "check",
    "edited",
    "edits",
    "facts_named",
    "filled",
    "is_plain",
    "variables",
]


def edits(overlay: Value, facts: Facts, *, now: str) -> tuple[Edit, ...]:
    """What the overlay wants, in its order.

    Args:
        overlay: the overlay's parsed data.
        facts: what fills it.
        now: the time stamp for `<now>`, as the tool writes it.

    Raises:
        MissingFactError: a required fact is unset.
        TemplateError: an unknown fact, or two entries whose keys became equal with different values.
    """
    wanted: dict[KeyPath, Edit] = {}
    for edit in _Filling(facts, now).walk(overlay, ()):
        known = wanted.setdefault(edit.path, edit)
        if not equal(known.value, edit.value):
            raise TemplateError(f"two entries of the overlay become '{spell(edit.path)}', with different values")
    return tuple(wanted.values())


def filled(overlay: Document, facts: Facts, *, now: str) -> Document:
    """The overlay's own text, filled, with its comments: what a file that does not exist starts as.

    Raises:
        MissingFactError, TemplateError: as `edits` raises them.
    """
    wanted = edits(overlay.data, facts, now=now)
    filling = _Filling(facts, now)
    document = overlay
    for path, raw in _leaves(overlay.data, ()):
        value, _ = filling.fill(raw)
        is_out = value in (UNSET, ABSENT) or not all(is_plain(step) for step in path if isinstance(step, str))
        document = document.remove(path) if is_out else document.set(path, value)
    return edited(_pruned(document, overlay.data, ()), wanted)  # what stands under keys that were filled comes last


def variables(overlay: Value) -> Iterator[tuple[KeyPath, frozenset[str]]]:
    """Every text of an unfilled overlay with the facts that it names; what a derived trace is made of.

    Items of lists are named by their first key, as edits name them.
    """
    for path, raw in _leaves(overlay, ()):
        if isinstance(raw, str):
            yield _with_items(path, overlay), placeholder.names(raw)


def facts_named(overlay: Value) -> frozenset[str]:
    """Every fact that an unfilled overlay names, in keys too."""
    return frozenset[str]().union(*map(placeholder.names, _texts(overlay)))


def check(overlay: Value) -> None:
    """Look at every placeholder of an unfilled overlay, in keys too.

    Raises:
        TemplateError: an unknown fact, or a text for an unset fact that its type does not have.
    """
    for text in _texts(overlay):
        placeholder.check(text)


class _Filling:
    def __init__(self, facts: Facts, now: str) -> None:
        self._facts = facts
        self._now = now

    def walk(self, value: Value, path: KeyPath) -> Iterator[Edit]:
        if isinstance(value, Mapping):
            yield from self._table(value, path)
        elif _is_list_of_tables(value):
            for item in value:
                yield from self._item(item, path)
        else:
            yield from self._leaf(value, path)

    def _table(self, table: Mapping[str, Value], path: KeyPath) -> Iterator[Edit]:
        if not table:
            yield Edit(path, TABLE)
        for raw_key, child in table.items():
            key = self._key(raw_key)
            if key is not None:
                yield from self.walk(child, (*path, key))

    def _item(self, item: Mapping[str, Value], path: KeyPath) -> Iterator[Edit]:
        first = next(iter(item), "")
        identity, _ = self.fill(item.get(first))
        if identity in (UNSET, ABSENT):
            return
        if not isinstance(identity, str):
            raise TemplateError(
                f"'{spell(path)}': the first value of each item in a list of tables must be a text",
                hint="It is what the item is found by in the user's file.",
            )
        rest = {key: child for key, child in item.items() if key != first}
        yield from self._table(rest, (*path, Item(first, identity)))

    def _leaf(self, raw: Value, path: KeyPath) -> Iterator[Edit]:
        value, names = self.fill(raw)
        if value is UNSET:
            return
        yield Edit(
            path,
            value,
            secret=placeholder.is_secret(names),
            harmless=not placeholder.gives_away(names, self._facts),
            facts=names,
            stamp=placeholder.NOW in names,
        )

    def _key(self, raw: str) -> str | None:
        return placeholder.fill_key(raw, self._facts, now=self._now)

    def fill(self, raw: Value) -> tuple[Value | Want, frozenset[str]]:
        """The value with its placeholders filled, and the facts that it names; `UNSET` if nothing of it is left."""
        if isinstance(raw, str):
            return placeholder.fill(raw, self._facts, now=self._now), placeholder.names(raw)
        if not isinstance(raw, Mapping | list) or not raw:
            return raw, frozenset()
        filled = list(self._filled_children(raw))
        names = frozenset[str]().union(*(named for _, _, named in filled))
        kept = [(key, value) for key, value, _ in filled if key is not None and value not in (UNSET, ABSENT)]
        if not kept:
            return UNSET, names
        return dict(kept) if isinstance(raw, Mapping) else [value for _, value in kept], names

    def _filled_children(self, raw: Any) -> Iterator[tuple[str | int | None, Value | Want, frozenset[str]]]:
        for step, child in _children(raw):
            value, names = self.fill(child)
            yield self._key(step) if isinstance(step, str) else step, value, names


def _texts(overlay: Value) -> Iterator[str]:
    """Every key and every text of an overlay."""
    if isinstance(overlay, str):
        yield overlay
    for step, child in _children(overlay):
        yield from _texts(step)
        yield from _texts(child)


def _is_list_of_tables(value: Value) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _is_merged(value: Value) -> bool:
    """Whether an overlay's value is laid over the user's entry by entry, not set whole."""
    return _is_list_of_tables(value) or (isinstance(value, Mapping) and bool(value))


def _children(value: Value) -> list[tuple[Any, Value]]:
    if isinstance(value, Mapping):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _leaves(value: Value, path: KeyPath) -> Iterator[tuple[KeyPath, Value]]:
    """What an overlay sets whole, empty tables included, with list items by position."""
    if _is_merged(value):
        for step, child in _children(value):
            yield from _leaves(child, (*path, step))
    elif path:
        yield path, value


def _with_items(path: KeyPath, overlay: Value) -> KeyPath:
    """The path with positions in lists replaced by what names the item there."""
    steps: list[Step] = []
    for position, step in enumerate(path):
        if isinstance(step, int):
            item = _data.get(overlay, path[: position + 1])
            first = next(iter(item))
            steps.append(Item(first, str(item[first])))
        else:
            steps.append(step)
    return tuple(steps)


def _pruned(document: Document, overlay: Value, path: KeyPath) -> Document:
    """Without the tables that filling emptied; those that the overlay itself writes empty stay."""
    for step, child in reversed(_children(overlay)):
        if _is_merged(child):
            document = _pruned(document, child, (*path, step))
            now = document.get((*path, step))
            if now in ({}, []) or (isinstance(step, int) and _is_idle(now, step, child, document.get(path))):
                document = document.remove((*path, step))
    return document


def _is_idle(now: Value, index: int, overlay: Value, items: Value) -> bool:
    """Whether filling left nothing of an item: its first key does not count, and one of that name is enough."""
    first = next(iter(overlay))
    if first not in now:
        return True
    if len(overlay) > 1 and list(now) == [first]:
        return True
    return _data.index_of(items, Item(first, now[first])) != index
