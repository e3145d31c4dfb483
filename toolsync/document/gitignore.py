"""Git's ignore files: a pattern a line, of which ours are added at the end and taken out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from toolsync.document.base import Document, Source
from toolsync.document.data import Value
from toolsync.document.keypath import KeyPath
from toolsync.document.splice import Splice


class GitignoreDocument(Document):
    """An ignore file; its data holds `True` for each pattern, spelled as its whole line.

    The last pattern that matches decides (gitignore(5)), so a new one goes to the end. Lines end with LF or CRLF; a
    byte-order mark is none of the first line's.
    """

    format = "gitignore"

    @classmethod
    def _judge(cls, text: str) -> Value:
        lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
        return {line: True for line in lines if _is_pattern(line)}

    def span(self, path: KeyPath) -> tuple[int, int] | None:
        """Of the first line that is the pattern, without its end."""
        return next((span for leaf, span in self.leaves() if leaf == path), None)

    def leaves(self, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[KeyPath, tuple[int, int]]]:
        """Every pattern with its line's span, without the line's end."""
        at = len(self.text) - len(self.text.removeprefix("\ufeff"))
        for whole in self.text[at:].split("\n"):
            line = whole.removesuffix("\r")
            if _is_pattern(line) and at < end and at + len(line) > start:
                yield (line,), (at, at + len(line))
            at += len(whole) + 1

    def _put(self, path: KeyPath, value: Value | Source) -> Sequence[Splice]:
        line = path[0] if len(path) == 1 else None
        if not isinstance(line, str) or not _is_pattern(line) or line.splitlines() != [line]:
            raise self.refused(path, "is no pattern that fits on a line")
        if value is not True and not isinstance(value, Source):
            raise self.refused(path, "a pattern can only stand there")
        end = "\r\n" if self.text.rpartition("\n")[0].endswith("\r") else "\n"
        is_open = self.text.removeprefix("\ufeff") != "" and not self.text.endswith("\n")
        first = ("\n" if self.text.endswith("\r") else end) if is_open else ""  # git takes that CR for an end's, too
        return [Splice(len(self.text), 0, f"{first}{line}{end}")]

    def _cut(self, path: KeyPath) -> Sequence[Splice]:
        spans = [span for leaf, span in self.leaves() if leaf == path]
        if len(spans) != 1:
            raise self.refused(path, "stands there more than once")
        start, stop = spans[0]
        end = self.text.find("\n", stop)
        return [Splice(start, (end + 1 if end >= 0 else len(self.text)) - start, "")]

    def _parsed(self, source: Source) -> Value:
        return _is_pattern(source.text)

    def _spelled(self, value: Value) -> str:
        return str(value)


def _is_pattern(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")
