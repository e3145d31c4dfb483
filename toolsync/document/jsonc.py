"""JSON and JSONC documents, edited by span.

Both read comments and trailing commas: people have them in strict files too. What differs is whether that is a
fault, and that nothing of the kind is ever written into a strict file that has none.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Self

from toolsync.document import data as _data
from toolsync.document import json_judge as judge
from toolsync.document import json_written as as_written
from toolsync.document.base import Document, Fault, Source, place
from toolsync.document.data import MISSING, Value
from toolsync.document.json_edit import Editor
from toolsync.document.json_judge import Reading
from toolsync.document.json_layout import breaks, eol_before, indent_of, on_own_line, style_at
from toolsync.document.json_scan import DEEPEST, Entry, Node, comments, scan
from toolsync.document.json_write import Style, quoted, spelled
from toolsync.document.keypath import Item, KeyPath
from toolsync.document.splice import Splice, apply
from toolsync.errors import DocumentError


class JsoncDocument(Document):
    """JSON with comments and trailing commas, as VS Code, Zed and opencode read it."""

    format: ClassVar[str] = "jsonc"
    _keeps_trailing_comma: ClassVar[bool] = True

    @cached_property
    def _root(self) -> Node | None:
        return scan(self.text)

    @cached_property
    def _reading(self) -> Reading:
        return _read(self.text, is_shallow=self._is_no_deeper_than_parsed)

    @property
    def _is_no_deeper_than_parsed(self) -> bool:
        """Whether edits brought no bracket into a text whose depth was looked at when it was parsed."""
        return bool(self.log) and not any("{" in splice.text or "[" in splice.text for splice in self.log)

    @cached_property
    def data(self) -> Value:
        """What the text means, as plain data; of duplicates the last counts."""
        return self._reading.data

    def _check(self) -> None:
        _ = self._reading

    def get(self, path: KeyPath) -> Value:
        """The parsed value at `path`, or `MISSING`."""
        found = as_written.at(self._reading.written, path)
        return super().get(path) if isinstance(found, (tuple, list)) else as_written.scalar(found)

    def set(self, path: KeyPath, value: Value | Source) -> Self:
        """As every document's `set`; a table set whole over one with comments in it keeps them, member by member."""
        old = self.get(path)
        if isinstance(value, dict) and isinstance(old, dict) and self._holds_comment(path):
            return self._merged(path, old, value)
        return super().set(path, value)

    def _merged(self, path: KeyPath, old: dict[str, Value], value: dict[str, Value]) -> Self:
        document = self
        for key in [key for key in old if key not in value]:
            document = document.remove((*path, key))
        for key, item in value.items():
            document = document.set((*path, key), item)
        return document

    def _holds_comment(self, path: KeyPath) -> bool:
        start, end = self.span(path) or (0, 0)
        return any(comments(self.text, start, end))

    def _intended(self, path: KeyPath, value: Value | Source) -> Value:
        """As every document's, order, duplicates and the spelling of numbers included."""
        before = self._reading.written
        if value is MISSING:
            return as_written.drop(before, path)
        return as_written.put(
            before, path, _read(value.text).written if isinstance(value, Source) else judge.written(value)
        )

    def _agrees(self, edited: Self, intended: Value) -> bool:
        return as_written.same(edited._reading.written, intended)

    def span(self, path: KeyPath) -> tuple[int, int] | None:
        """Start and end offset of the value at `path`; of duplicates the last, which is the one that counts."""
        chain = self._chain(path)
        return (chain[-1].start, chain[-1].end) if len(chain) == len(path) + 1 else None

    def leaves(self, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
        """As every document's, in the order of the text; duplicates too."""
        waiting: list[tuple[KeyPath, Node]] = [((), self._root)] if self._root else []
        while waiting:
            path, node = waiting.pop()
            if node.start >= end or node.end <= start:
                continue
            if not node.bracket:
                yield path, (node.start, node.end)
            steps = [(*path, index if entry.key is None else entry.key) for index, entry in enumerate(node.entries)]
            waiting.extend(reversed(list(zip(steps, (entry.value for entry in node.entries), strict=True))))

    def _put(self, path: KeyPath, value: Value | Source) -> Sequence[Splice]:
        chain = self._chain(path)
        try:
            if not chain:
                return [self._new_root(_data.put({}, path, value))]
            if len(chain) == len(path) + 1:
                return [self._replaced(chain, value)]
            return self._appended(chain, path[len(chain) - 1 :], value)
        except ValueError as error:
            raise self.refused(path, str(error)) from error

    def _new_root(self, value: Value) -> Splice:
        eol = eol_before(self.text, len(self.text))
        is_line_begun = self.text.removeprefix("\ufeff").rstrip(" \t")[-1:] not in ("", "\n", "\r")
        body = spelled(value, Style(spread=True, eol=eol))
        return Splice(len(self.text), 0, (eol if is_line_begun else "") + body + eol)

    def _replaced(self, chain: Sequence[Node], value: Value | Source) -> Splice:
        old = chain[-1]
        style = style_at(
            self.text, chain[:-1], spread=self._is_spread_value(chain), indent=indent_of(self.text, old.start)
        )
        return Splice(old.start, old.end - old.start, spelled(value, style))

    def _is_spread_value(self, chain: Sequence[Node]) -> bool:
        """Whether what replaces a value may take several lines: as it did, else as its container does."""
        old = chain[-1]
        if old.entries or len(chain) == 1:
            return breaks(self.text, old.start, old.end) or len(chain) == 1
        index = next(i for i, entry in enumerate(chain[-2].entries) if entry.value is old)
        return on_own_line(self.text, chain[-2], index)

    def _appended(self, chain: Sequence[Node], rest: KeyPath, value: Value | Source) -> list[Splice]:
        step, below = rest[0], rest[1:]
        content = _data.put({step.key: step.value} if isinstance(step, Item) else MISSING, below, value)

        def body(style: Style) -> str:
            key = f"{quoted(step)}{style.colon}" if isinstance(step, str) else ""
            return key + spelled(content, style)

        is_compact = not isinstance(content, (dict, list)) or not content
        return self._editor.append(chain, body, is_compact=is_compact)

    def _cut(self, path: KeyPath) -> Sequence[Splice]:
        """Duplicates go one after the other, all of them: else an older value would come to life."""
        if not path:
            raise self.refused(path, "the document as a whole cannot be removed")
        container, node = self._chain(path)[-2:]
        index = next(i for i, entry in enumerate(container.entries) if entry.value is node)
        splices = self._editor.remove(container, index)
        if not any(entry.key == path[-1] for entry in container.entries[:index]):
            return splices
        rest = type(self)(apply(self.text, splices))
        return [*splices, *rest._cut(path)]  # noqa: SLF001  of our own kind

    @property
    def _editor(self) -> Editor:
        return Editor(self.text, self._keeps_trailing_comma)

    def _chain(self, path: KeyPath) -> list[Node]:
        """The nodes from the root towards `path`, as far as they are there."""
        chain = [self._root] if self._root else []
        for root in chain:
            root.enter(path)
        for depth in range(1, len(path) + 1):
            entry = self._entry(chain[-1], path[:depth]) if chain else None
            if entry is None:
                break
            chain.append(entry.value)
        return chain

    def _entry(self, container: Node, path: KeyPath) -> Entry | None:
        """What the last step of `path` names in the container that the others lead to."""
        step = path[-1]
        if not isinstance(step, Item):
            return container.named.get(step)
        number = as_written.index(as_written.at(self._reading.written, path[:-1]), step)
        return None if number is None else container.entries[number]

    @classmethod
    def _judge(cls, text: str) -> Value:
        return _read(text).data

    def _parsed(self, source: Source) -> Value:
        if scan(source.text) is None:
            raise DocumentError("no value to set")
        return self._judge(source.text)

    def _spelled(self, value: Value) -> str:
        return spelled(value, Style())


class StrictJsonDocument(JsoncDocument):
    """JSON as Claude Code reads it: one comment or trailing comma, and the whole file is ignored without a word.

    A byte-order mark, CRLF and an empty file are taken.
    """

    format: ClassVar[str] = "json"
    _keeps_trailing_comma: ClassVar[bool] = False

    @cached_property
    def fault(self) -> Fault | None:
        """The first thing that such a reader does not know."""
        return self._found_fault()

    def _found_fault(self) -> Fault | None:
        if self._reading.is_strict:
            return None
        from toolsync.document.json_mistake import oddities  # few files need it

        odd = oddities(self.text)
        found = [(odd.comment, "a comment"), (odd.trailing_comma, "a trailing comma")]
        offset, name = min((offset, name) for offset, name in found if offset is not None)
        return Fault(*place(self.text, offset), f"{name}, which strict JSON does not know")

    def _edited(self, path: KeyPath, splices: Sequence[Splice], intended: Value) -> Self:
        edited = super()._edited(path, splices, intended)
        if edited.fault and not self.fault:
            raise self.refused(path, f"the result would hold {edited.fault.reason}")
        return edited


class BomlessJsonDocument(StrictJsonDocument):
    """JSON as JavaScript's `JSON.parse` reads a file: a byte-order mark is no JSON either (Cline)."""

    format: ClassVar[str] = "json-no-bom"

    def _found_fault(self) -> Fault | None:
        if self.text.startswith("\ufeff"):
            return Fault(1, 1, "a byte-order mark, which it does not skip")
        return super()._found_fault()


class WideJsonDocument(StrictJsonDocument):
    """The same, also in UTF-16LE with its mark, as PowerShell 5 writes it; Claude Code 2.1.112 reads no UTF-16BE."""

    format: ClassVar[str] = "json-utf-16"
    marks: ClassVar[Mapping[bytes, str]] = {codecs.BOM_UTF16_LE: "utf-16-le"}


def _read(text: str, *, is_shallow: bool = False) -> Reading:
    try:
        return judge.read(text, is_shallow=is_shallow)
    except (ValueError, RecursionError) as error:
        from toolsync.document.json_mistake import oddities  # few files need it

        oddities(text)  # says what is wrong in plain words
        line, column = place(text, getattr(error, "pos", 0))
        reason = f"nested deeper than {DEEPEST} levels" if isinstance(error, RecursionError) else str(error)
        raise DocumentError(reason, line=line, column=column) from error
