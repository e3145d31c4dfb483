"""An overlay filled with facts: the edits that a tool's settings need.

The language (restated in `templates/README.md`): `<fact>` is required; `<fact?>` unset means hands off;
`<fact|text>` unset means the text; `<fact|absent>` unset, and plain `<absent>`, mean that the key must not be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from toolsync.document import MISSING, Document, Item, KeyPath, Value, equal
from toolsync.document.keypath import spell
from toolsync.errors import MissingFactError, TemplateError
from toolsync.facts import TYPES, WAYS, Facts


class Want(Enum):
    """What an edit can want beside a value."""

    ABSENT = "absent"
    """Nothing may stand there."""
    TABLE = "table"
    """A table must stand there; its contents are not ours."""
    UNSET = "unset"
    """Hands off: no edit at all."""


ABSENT: Final = Want.ABSENT
TABLE: Final = Want.TABLE
UNSET: Final = Want.UNSET


@dataclass(frozen=True)
class Edit:
    """One path, and what must stand there.

    Attributes:
        path: where.
        value: a parsed value, `ABSENT` or `TABLE`.
        secret: whether what stands there, now or before, may be a key: masked, and remembered as a hash only.
        harmless: whether our own value may be shown all the same (a command that prints the key is not the key).
        facts: the facts it was filled from.
        stamp: whether it is the time of writing, which alone is no reason to write.
    """

    path: KeyPath
    value: Value | Want
    secret: bool = False
    harmless: bool = True
    facts: frozenset[str] = frozenset()
    stamp: bool = False


_PLACEHOLDER = re.compile(r"<([a-z][a-z_]*)(\?|\|[^>]*)?>")
_NOW = "now"
_KEY_FACTS = frozenset({*(f"key_{way}" for way in WAYS), "key_ref"})
_HEADER_FACTS = frozenset({"headers", "headers_lines"})
_HOLDS_KEY = frozenset({"key_plaintext", "key_keyring"})


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
        if not _same(known.value, edit.value):
            raise TemplateError(f"two entries of the overlay become '{spell(edit.path)}', with different values")
    return tuple(wanted.values())


def filled(overlay: Document, facts: Facts, *, now: str) -> Document:
    """The overlay's own text, filled, with its comments: what a file that does not exist starts as."""
    filling = _Filling(facts, now)
    document = overlay
    moved: list[tuple[KeyPath, KeyPath, Value]] = []
    for path, raw in _leaves(overlay.data, ()):
        value, _ = filling.fill(raw)
        target = filling.keys(path)
        if target is None or value in (UNSET, ABSENT):
            document = document.remove(path)
        elif target != path:
            moved.append((path, target, value))
        else:
            document = document.set(path, value)
    for path, target, value in moved:
        document = document.remove(path).set(target, value)
    return _pruned(document, overlay.data, ())


def variables(overlay: Value) -> Iterator[tuple[KeyPath, frozenset[str]]]:
    """Every leaf of an unfilled overlay with the facts that it names; what a derived trace is made of."""
    for path, raw in _leaves(overlay, ()):
        if isinstance(raw, str):
            yield path, frozenset(match[1] for match in _PLACEHOLDER.finditer(raw))


class _Filling:
    def __init__(self, facts: Facts, now: str) -> None:
        self._facts = facts
        self._now = now

    def walk(self, value: Value, path: KeyPath) -> Iterator[Edit]:
        if isinstance(value, Mapping):
            yield from self._table(value, path)
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                yield from self._item(item, path)
        else:
            yield from self._leaf(value, path)

    def _table(self, table: Mapping[str, Value], path: KeyPath) -> Iterator[Edit]:
        if not table:
            yield Edit(path, TABLE)
        for raw_key, child in table.items():
            key, _ = self.fill(raw_key)
            if key not in (UNSET, ABSENT):
                yield from self.walk(child, (*path, str(key)))

    def _item(self, item: Mapping[str, Value], path: KeyPath) -> Iterator[Edit]:
        first = next(iter(item))
        identity, _ = self.fill(item[first])
        if identity in (UNSET, ABSENT):
            return
        rest = {key: child for key, child in item.items() if key != first}
        yield from self._table(rest, (*path, Item(first, str(identity))))

    def _leaf(self, raw: Value, path: KeyPath) -> Iterator[Edit]:
        value, names = self.fill(raw)
        if value is UNSET:
            return
        yield Edit(
            path,
            value,
            secret=bool(names & (_KEY_FACTS | _HEADER_FACTS)),
            harmless=not names & (_HEADER_FACTS | _HOLDS_KEY) and not self._ref_holds_key(names),
            facts=names,
            stamp=_NOW in names,
        )

    def _ref_holds_key(self, names: frozenset[str]) -> bool:
        return "key_ref" in names and any(fact in self._facts for fact in _HOLDS_KEY)

    def keys(self, path: KeyPath) -> KeyPath | None:
        """The path with the placeholders in its keys filled; None if one is unset."""
        steps: list[Any] = []
        for step in path:
            key = self.fill(step)[0] if isinstance(step, str) else step
            if key in (UNSET, ABSENT):
                return None
            steps.append(key)
        return tuple(steps)

    def fill(self, raw: Value) -> tuple[Value | Want, frozenset[str]]:
        """The value with its placeholders filled, and the facts that it names."""
        if isinstance(raw, list):
            pairs = [self.fill(item) for item in raw]
            kept = [value for value, _ in pairs if value not in (UNSET, ABSENT)]
            return kept, frozenset().union(*(names for _, names in pairs))
        if not isinstance(raw, str):
            return raw, frozenset()
        names = frozenset(match[1] for match in _PLACEHOLDER.finditer(raw)) - {"absent"}
        whole = _PLACEHOLDER.fullmatch(raw)
        if whole:
            return self._value(whole), names
        return self._text(raw), names

    def _text(self, raw: str) -> str | Want:
        values = [self._value(match) for match in _PLACEHOLDER.finditer(raw)]
        for want in (ABSENT, UNSET):
            if want in values:
                return want
        rest = iter(values)
        return _PLACEHOLDER.sub(lambda _: str(next(rest)), raw)

    def _value(self, match: re.Match[str]) -> Value | Want:
        name, otherwise = match[1], match[2]
        if name == "absent":
            return ABSENT
        if name == _NOW:
            return self._now
        if name not in TYPES and name not in _KEY_FACTS:
            raise TemplateError(f"'<{name}>' is no fact", hint=f"Known: {', '.join(sorted({*TYPES, *_KEY_FACTS}))}.")
        if name in self._facts:
            return self._facts[name].value
        if otherwise is None:
            raise MissingFactError(name)
        if otherwise == "?":
            return UNSET
        if otherwise == "|absent":
            return ABSENT
        return _typed(name, otherwise[1:])


def _typed(name: str, text: str) -> Value:
    kind = TYPES.get(name, str)
    if kind is bool:
        return text == "true"
    if kind is float:
        number = float(text)
        return int(number) if number.is_integer() and "." not in text else number
    if kind is int:
        return int(text)
    return text


def _leaves(value: Value, path: KeyPath) -> Iterator[tuple[KeyPath, Value]]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(child, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _pruned(document: Document, overlay: Value, path: KeyPath) -> Document:
    """Without the tables that filling emptied; those that the overlay itself writes empty stay."""
    children: Iterable[tuple[Any, Value]] = ()
    if isinstance(overlay, Mapping):
        children = overlay.items()
    elif isinstance(overlay, list):
        children = reversed(list(enumerate(overlay)))
    for step, child in children:
        if isinstance(child, Mapping | list) and child:
            document = _pruned(document, child, (*path, step))
            if _is_left_out(document.get((*path, step)), child, is_item=isinstance(step, int)):
                document = document.remove((*path, step))
    return document


def _is_left_out(now: Value, overlay: Value, *, is_item: bool) -> bool:
    """Whether filling left nothing: an item's first key, which only names it, does not count."""
    if now in ({}, []):
        return True
    return is_item and len(overlay) > 1 and isinstance(now, Mapping) and list(now) == [next(iter(overlay))]


def _same(one: Value | Want, other: Value | Want) -> bool:
    if isinstance(one, Want) or isinstance(other, Want):
        return one is other
    return one is not MISSING and equal(one, other)
