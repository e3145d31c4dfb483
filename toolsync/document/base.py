"""What every format's document is: immutable text, its data, and edits by span that an independent parser judges."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Self

from toolsync.document import data as _data
from toolsync.document import splice as _splice
from toolsync.document.data import MISSING, Value
from toolsync.document.keypath import KeyPath, spell
from toolsync.document.splice import Splice
from toolsync.errors import EditRefusedError
from toolsync.value import frozen


@frozen
class Source:
    """A value in a document's own spelling: what `source` returned, white space and comments inside it included."""

    text: str


@frozen
class Fault:
    """Why a tool that reads this format strictly would ignore or misread the file."""

    line: int
    column: int
    reason: str


class Document(ABC):
    """A settings file as text, and as data; every edit returns a new document.

    The laws that each subclass holds (and that the tests hold it to):

    1. Nothing edited, nothing changed: `text` is what was parsed, byte-order mark and line ends included.
    2. After an edit every untouched line is the same, and every foreign comment is still beside what it spoke of.
    3. After every edit the text is parsed again by a parser that knows nothing of spans, and must mean exactly what
       was intended; else the edit is refused.
    4. Nothing is written that the format's strict readers choke on.

    Attributes:
        marks: the byte-order marks by which the format's readers know another encoding than UTF-8. Such a file is read
            as they read it; nothing writes one.
        text: the whole file, decoded.
        log: the splices made since the text was parsed, in order.
    """

    format: ClassVar[str]
    marks: ClassVar[Mapping[bytes, str]] = {}

    def __init__(self, text: str, log: tuple[Splice, ...] = ()) -> None:
        self.text = text
        self.log = log
        self._check()

    def _check(self) -> None:
        """Raises `DocumentError` if the text cannot be parsed; a format may find that out with less than all `data`."""
        _ = self.data

    @cached_property
    def data(self) -> Value:
        """What the text means, as plain data."""
        return self._judge(self.text)

    @property
    def fault(self) -> Fault | None:
        """What a strict reader would choke on, though this document can be edited (a comment in strict JSON)."""
        return None

    def get(self, path: KeyPath) -> Value:
        """The parsed value at `path`, or `MISSING`."""
        return _data.get(self.data, path)

    def set(self, path: KeyPath, value: Value | Source) -> Self:
        """This document with `value` at `path`; tables and list items on the way are made. Equal already: itself.

        Raises:
            EditRefusedError: the place cannot hold it, or the result would not mean what was intended.
        """
        if _data.equal(self.get(path), self._meaning(value)):
            return self
        try:
            intended = self._intended(path, value)
        except ValueError as error:
            raise self.refused(path, str(error)) from error
        return self._edited(path, self._put(path, value), intended)

    def remove(self, path: KeyPath) -> Self:
        """This document without what stands at `path`, and without the comment that stood on its line only.

        Raises:
            EditRefusedError: it cannot go without taking something foreign along.
        """
        if self.get(path) is MISSING:
            return self
        return self._edited(path, self._cut(path), self._intended(path, MISSING))

    def _meaning(self, value: Value | Source) -> Value:
        return self._parsed(value) if isinstance(value, Source) else value

    def _intended(self, path: KeyPath, value: Value | Source) -> Value:
        """What the judge is to find after an edit: `value` at `path`, or nothing if that is `MISSING`.

        Raises:
            ValueError: something is in the way.
        """
        return _data.drop(self.data, path) if value is MISSING else _data.put(self.data, path, self._meaning(value))

    def _edited(self, path: KeyPath, splices: Sequence[Splice], intended: Value) -> Self:
        text = _splice.apply(self.text, splices)
        try:
            edited = type(self)(text, (*self.log, *splices))
        except Exception as error:  # a parser that chokes on our own output, in whatever way, is a refusal
            raise self.refused(path, f"the result could not be read back ({error})") from error
        if not self._agrees(edited, intended):
            raise self.refused(path, "the result would not mean what was intended")
        return edited

    def _agrees(self, edited: Self, intended: Value) -> bool:
        return _data.equal(edited.data, intended)

    def refused(self, path: KeyPath, reason: str) -> EditRefusedError:
        """That an edit at the path cannot be made, and why; to be raised."""
        line, column = self.position(path) or (None, None)
        return EditRefusedError(
            f"{spell(path)}: {reason}", line=line, column=column, hint="Change by hand what stands there."
        )

    def position(self, path: KeyPath) -> tuple[int, int] | None:
        """1-based line and column of the value at `path`, or None."""
        span = self.span(path)
        if span is None:
            return None
        return place(self.text, span[0])

    def source(self, path: KeyPath) -> Source | None:
        """The value at `path` in its own spelling, fit for `set`; None if nothing stands there."""
        span = self.span(path)
        if span is not None:
            return Source(self.text[span[0] : span[1]])
        value = self.get(path)
        return None if value is MISSING else Source(self._spelled(value))

    # What a format brings.

    @classmethod
    @abstractmethod
    def _judge(cls, text: str) -> Value:
        """The meaning of `text` by an independent parser.

        Raises:
            DocumentError: it cannot be parsed; with line and column.
        """

    @abstractmethod
    def span(self, path: KeyPath) -> tuple[int, int] | None:
        """Start and end offset of the value at `path`; None if nothing stands there, or not in one piece."""

    @abstractmethod
    def leaves(self, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
        """Every scalar that stands, be it in part, between two offsets, with its path and the span of its value.

        List positions are numbers.
        """

    @abstractmethod
    def _put(self, path: KeyPath, value: Value | Source) -> Sequence[Splice]:
        """The splices that set `path`, which differs from `value` or is missing."""

    @abstractmethod
    def _cut(self, path: KeyPath) -> Sequence[Splice]:
        """The splices that remove `path`, which is there."""

    @abstractmethod
    def _parsed(self, source: Source) -> Value:
        """What a source text means."""

    @abstractmethod
    def _spelled(self, value: Value) -> str:
        """A value in this format, on one line where the format can."""


def place(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of `offset`; CRLF, LF and CR each end a line, a byte-order mark has no column."""
    before = text[:offset].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n") + 1
    return line, len(before) - (before.rfind("\n") + 1) + 1


def how_to_mend(text: str) -> str:
    """What a person can do about a text that cannot be parsed, by what it looks like."""
    if re.search(r"""(?:^[^"'\n]*|[:=,[]\s*)\{\{.*\}\}""", text, re.MULTILINE):
        return "This looks like a template (chezmoi?): change its source, or have it written out first."
    if text.removeprefix("\ufeff").startswith("#!"):
        return "This looks like a script that makes the file (chezmoi?): change the script, or run it first."
    if re.search(r"^(?:<{7}|>{7}) ", text, re.MULTILINE):
        return "This looks like a merge that is not finished: settle its conflicts first."
    return "Mend it by hand; a file that cannot be parsed is never touched."
