"""TOML documents: spans of our own place the text, `tomlkit` spells what is written, `tomli` judges every result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import takewhile
from typing import ClassVar, Self, cast

import tomli

from toolsync.document import data as _data
from toolsync.document import splice as _splice
from toolsync.document.base import Document, Source, place
from toolsync.document.data import MISSING, Value
from toolsync.document.keypath import Item, KeyPath
from toolsync.document.splice import Splice
from toolsync.document.toml_judge import data_of
from toolsync.document.toml_layout import Layout
from toolsync.document.toml_lines import (
    dotted_key_added,
    emptied,
    header,
    key_added,
    needless_header,
    removed,
    section_added,
)
from toolsync.document.toml_scan import Node, Pair, Place
from toolsync.document.toml_value import entry_emptied, entry_inserted, entry_removed, pair, spelled, spelled_key
from toolsync.errors import EditRefusedError


class TomlDocument(Document):
    """A TOML file: what is new goes where a person would put it, in the form that its table already has."""

    format: ClassVar[str] = "toml"

    _eol = "\n"
    """What ends new lines where the text has none to follow."""

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.text, self._eol)

    def span(self, path: KeyPath) -> tuple[int, int] | None:
        """Start and end of the value at `path`; None for tables with headers or dotted keys, and where nothing is."""
        node = self._layout.node(self._place(path))
        return (node.start, node.end) if node and self.get(path) is not MISSING else None

    def position(self, path: KeyPath) -> tuple[int, int] | None:
        """1-based line and column of the value at `path`, or of the first key or header that makes it a table."""
        here = super().position(path)
        if here is not None or not path or self.get(path) is MISSING:
            return here
        at = self._place(path)
        inside = [member for node, ahead in self._layout.walk(at)[-1:] for member in node.members_at(ahead)]
        first = inside[0] if inside else self._layout.statements[self._layout.under(at)[0]].key
        return place(self.text, first.start)

    def leaves(self, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
        """As every document's, in the order of the text."""
        for line in self._layout.statements.values():
            if isinstance(line, Pair) and line.start < end and line.end > start:
                yield from (leaf for leaf in _leaves(line.path, line.value) if leaf[1][0] < end and leaf[1][1] > start)

    @classmethod
    def _judge(cls, text: str) -> Value:
        return data_of(text)

    def _parsed(self, source: Source) -> Value:
        try:
            data = tomli.loads(f"value = {source.text}")
        except (ValueError, RecursionError) as error:
            raise EditRefusedError("what should be set is no TOML value", hint="Nothing was changed.") from error
        if data.keys() != {"value"}:
            raise EditRefusedError("what should be set is more than one TOML value", hint="Nothing was changed.")
        return data["value"]

    def _spelled(self, value: Value) -> str:
        return spelled(value)

    def _place(self, path: KeyPath) -> Place:
        """As much of `path` as stands in the data, list items by their position."""
        here, found = self.data, []
        for step in path:
            known = _data.index_of(here, step) if isinstance(here, list) else step
            if known is None or _data.get(here, (known,)) is MISSING:
                break
            found.append(cast("str | int", known))
            here = here[known]
        return tuple(found)

    # Setting.

    def _put(self, path: KeyPath, value: Value | Source) -> Sequence[Splice]:
        if not path:
            raise self.refused(path, "the whole file is not one value")
        at = self._place(path)
        try:
            return self._replaced(at, value) if len(at) == len(path) else self._added(at, path[len(at) :], value)
        except ValueError as error:
            raise self.refused(path, str(error)) from error

    def _replaced(self, at: Place, value: Value | Source) -> Sequence[Splice]:
        node, old = self._layout.node(at), self.get(at)
        if node and (isinstance(value, Source) or "\n" not in self.text[node.start : node.end]):
            return [Splice(node.start, node.end - node.start, self._text(value))]
        new = self._parsed(value) if isinstance(value, Source) else value
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self._since(self._merged_table(at, old, new))
        if (
            isinstance(old, list)
            and isinstance(new, list)
            and new
            and (node or all(isinstance(i, Mapping) for i in new))
        ):
            return self._since(self._merged_list(at, old, new))
        if node:
            return [Splice(node.start, node.end - node.start, self._text(value))]
        if isinstance(at[-1], int):  # a [[table]] that becomes something else takes its list along
            return self._since(self.set(at[:-1], _data.put(self.get(at[:-1]), at[-1:], new)))
        return self._since(self._without(at).set(at, new))

    def _merged_table(self, at: Place, old: Value, new: Value) -> Self:
        """Key by key, so that the comments in the table stay with the keys that stay."""
        document = self
        for key, value in new.items():
            document = document.set((*at, key), value)
        for key in [key for key in old if key not in new]:
            document = document.remove((*at, key))
        return document

    def _merged_list(self, at: Place, old: Value, new: Value) -> Self:
        """Item by item, from the last on; what stays keeps its comment. `[[tables]]` grow and shrink at their end."""
        matcher = SequenceMatcher(
            None, [spelled(item) for item in old], [spelled(item) for item in new], autojunk=False
        )
        is_value = self._layout.node(at) is not None
        blocks = matcher.get_opcodes() if is_value else [("replace", 0, len(old), 0, len(new))]
        document = self
        for kind, start, end, new_start, new_end in reversed(blocks):
            if kind != "equal":
                document = document._items_replaced(at, range(start, end), new[new_start:new_end])
        return document

    def _items_replaced(self, at: Place, positions: range, new: Sequence[Value]) -> Self:
        document = self
        for index, value in zip(positions, new, strict=False):
            document = document.set((*at, index), value)
        for index in reversed(positions[len(new) :]):
            document = document.remove((*at, index))
        for index, value in enumerate(new[len(positions) :], positions.start + len(positions)):
            document = document._then(document._item_inserted(at, index, value))  # noqa: SLF001  of its own kind
        return document

    def _item_inserted(self, at: Place, index: int, value: Value) -> Sequence[Splice]:
        node = self._layout.node(at)
        if node:
            return entry_inserted(self.text, node, spelled(value), index - 1)
        return [self._section("[[{}]]", at, value)]

    def _added(self, at: Place, rest: KeyPath, value: Value | Source) -> Sequence[Splice]:
        """What is new at `rest` under `at`, which is there: in the form that `at` has."""
        way = self._layout.walk(at)
        if way:
            return self._added_in_value(*way[-1], rest, value)
        if isinstance(rest[0], Item):
            return self._added_in_list(at, len(self.get(at)), rest[0], rest[1:], value)
        names = _leading_names(rest)
        if self._layout.kind(at) == "dotted":
            return [dotted_key_added(self._layout, at, spelled_key(names), self._text(value, rest[len(names) :]))]
        if len(names) < len(rest):
            return self._added_in_list((*at, *names), 0, cast("Item", rest[len(names)]), rest[len(names) + 1 :], value)
        if len(rest) == 1 and self._layout.kind(at) == "section" and (at or not isinstance(value, Mapping)):
            return [key_added(self._layout, at, spelled_key(names), self._text(value))]
        if len(rest) == 1 and isinstance(value, Mapping):
            table, body = (*at, *names), value
        else:
            table, body = (*at, *names[:-1]), {names[-1]: value}
        return [self._section("[{}]", table, body)]

    def _added_in_value(self, node: Node, ahead: Place, rest: KeyPath, value: Value | Source) -> Sequence[Splice]:
        if node.kind == "array":
            text = self._text(value, rest[1:]) if len(rest) == 1 else spelled(self._wrapped(rest, value)[0])
        else:
            text = spelled_key(cast("tuple[str, ...]", (*ahead, rest[0]))) + " = " + self._text(value, rest[1:])
        return entry_inserted(self.text, node, text, len(node.members) - 1)

    def _added_in_list(
        self, at: Place, index: int, item: Item, rest: KeyPath, value: Value | Source
    ) -> Sequence[Splice]:
        """A new `[[at]]`; what lies deeper in it is set in a second step, where it finds its table."""
        if not rest:
            body = self._parsed(value) if isinstance(value, Source) else value
            if not isinstance(body, Mapping):
                raise ValueError("a list of tables holds only tables")
            return [self._section("[[{}]]", at, body)]
        section = self._section("[[{}]]", at, {item.key: item.value})
        return self._since(self._then([section]).set((*at, index, *rest), value))

    def _section(self, brackets: str, path: Place, body: Mapping[str, Value | Source]) -> Splice:
        lines = [pair(key, self._text(value)) for key, value in body.items()]
        return section_added(self._layout, path, [brackets.format(header(path)), *lines])

    def _text(self, value: Value | Source, rest: KeyPath = ()) -> str:
        if isinstance(value, Source) and not rest:
            return value.text
        return spelled(self._wrapped(rest, value))

    def _wrapped(self, rest: KeyPath, value: Value | Source) -> Value:
        return _data.put(MISSING, rest, self._parsed(value) if isinstance(value, Source) else value)

    # Removing.

    def _cut(self, path: KeyPath) -> Sequence[Splice]:
        if not path:
            raise self.refused(path, "the whole file cannot be removed")
        at = self._place(path)
        inside = [step for step in self._layout.walk(at) if step[1]]
        return self._cut_in_value(at, *inside[-1]) if inside else self._cut_lines(at)

    def _cut_in_value(self, at: Place, node: Node, ahead: Place) -> Sequence[Splice]:
        if node.kind == "array":
            return entry_removed(self.text, node, cast("int", ahead[0]))
        member, *more = node.members_at(ahead)
        if more:  # a table by dotted keys: one key after the other
            return self._since(self.remove((*at, *member.parts[len(ahead) :])).remove(at))
        if len(ahead) == 1 or len(node.members_at(ahead[:-1])) > 1:
            return entry_removed(self.text, node, node.members.index(member))
        return [entry_emptied(member, len(ahead) - 1)]

    def _cut_lines(self, at: Place) -> Sequence[Splice]:
        """Every line that defines something at `at`; a parent that only they made stays, as an empty one."""
        lines, parent = self._layout.under(at), at[:-1]
        others = set(self._layout.under(parent)).difference(lines)
        if not parent or others:
            return removed(self._layout, [*lines, *needless_header(self._layout, lines[0])])
        if isinstance(at[-1], int):
            return self._since(self._without(parent).set(parent, []))
        first = self._layout.statements[lines[0]]
        names = [step for step in parent if isinstance(step, str)]
        return [*removed(self._layout, lines[1:]), emptied(self._layout, first, len(names))]

    def _without(self, path: KeyPath) -> Self:
        """What is left, with the line ends of what goes: its lines may have been the only ones."""
        without = self.remove(path)
        without._eol = self._layout.nearest_eol(0)  # noqa: SLF001  of our own kind
        return without

    def _then(self, splices: Sequence[Splice]) -> Self:
        return type(self)(_splice.apply(self.text, splices), (*self.log, *splices))

    def _since(self, document: Self) -> Sequence[Splice]:
        return document.log[len(self.log) :]


def _leaves(path: Place, node: Node) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
    waiting = [(path, node)]
    while waiting:
        path, node = waiting.pop()
        if node.kind == "scalar":
            yield path, (node.start, node.end)
        steps = ((member.parts or (n,), member.value) for n, member in enumerate(node.members))
        waiting.extend(reversed([((*path, *step), value) for step, value in steps]))


def _leading_names(path: KeyPath) -> tuple[str, ...]:
    """The keys that `path` begins with, up to the first list item."""
    return tuple(step for step in takewhile(lambda step: isinstance(step, str), path) if isinstance(step, str))
