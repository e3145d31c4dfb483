"""Files of variables (`NAME=value` a line), for reading only: what programs that load them make of each line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import ClassVar

from toolsync.document.base import Document, Source
from toolsync.document.data import Value
from toolsync.document.keypath import KeyPath
from toolsync.document.splice import Splice

_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")


class DotenvDocument(Document):
    """Variables, of which the last of a name counts; a carriage return at the end of a line is part of its value.

    Shells that source the file keep it, and so do the simpler ones of the libraries: the key then ends with it.
    """

    format: ClassVar[str] = "dotenv"
    _keeps_returns: ClassVar[bool] = True

    @classmethod
    def _judge(cls, text: str) -> Value:
        return {name: cls._value(text[start:end], rest) for name, (start, end), rest in _lines(text)}

    @classmethod
    def _value(cls, spelled: str, rest: str) -> str:
        returns = rest[len(rest.rstrip("\r")) :] if cls._keeps_returns else ""
        quoted = _QUOTED.fullmatch(spelled)
        if quoted is None:
            return spelled + returns
        return (quoted[1] if quoted[2] is None else re.sub(r"\\(.)", _unescaped, quoted[2])) + returns

    def span(self, path: KeyPath) -> tuple[int, int] | None:
        """Of the value as it is spelled, quotes included; of the last line that sets the name."""
        return next((span for leaf, span in reversed(list(self.leaves())) if leaf == path), None)

    def leaves(self, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
        """Every variable, in the order of the lines."""
        for name, span, _ in _lines(self.text):
            if span[0] < end and span[1] > start:
                yield (name,), span

    def _put(self, path: KeyPath, value: Value | Source) -> Sequence[Splice]:  # noqa: ARG002  nothing is put
        raise self.refused(path, "such files are read only")

    def _cut(self, path: KeyPath) -> Sequence[Splice]:
        raise self.refused(path, "such files are read only")

    def _parsed(self, source: Source) -> Value:
        return source.text

    def _spelled(self, value: Value) -> str:
        return str(value)


class CrlfDotenvDocument(DotenvDocument):
    """As the larger libraries read it (dotenv of Node, python-dotenv, dotenvy): CR LF ends a line too."""

    format: ClassVar[str] = "dotenv-crlf"
    _keeps_returns: ClassVar[bool] = False


def _lines(text: str) -> Iterator[tuple[str, tuple[int, int], str]]:
    """Each variable with the span of its value as it is spelled, and what follows that on its line."""
    at = len(text) - len(text.removeprefix("\ufeff"))
    for line in text[at:].split("\n"):
        match = _NAME.match(line)
        if match is not None:
            start = match.end()
            end = start + _length(line[start:])
            yield match[1], (at + start, at + end), line[end:]
        at += len(line) + 1


def _length(text: str) -> int:
    """How much of what follows the equals sign is the value: to the closing quotation mark, or to the comment."""
    quoted = _QUOTED.match(text)
    if quoted is not None:
        return quoted.end()
    comment = re.search(r"(?:^|[ \t])#", text)
    return len((text if comment is None else text[: comment.start()]).rstrip(" \t\r"))


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1])
