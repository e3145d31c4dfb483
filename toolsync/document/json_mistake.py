"""What is wrong with a JSON text, in plain words and with its place; or what a strict reader would choke on.

Slow and thorough, token by token, for the files that need it. No recursion: a file may be nested as deep as it likes
and gets a clean error.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from toolsync.document.base import how_to_mend, place
from toolsync.document.json_scan import DEEPEST
from toolsync.errors import DocumentError
from toolsync.masking import printable
from toolsync.value import frozen


@frozen
class Oddities:
    """What a text holds that strict JSON does not know, as offsets."""

    comment: int | None
    trailing_comma: int | None
    """The first comma that has nothing behind it."""


def oddities(text: str) -> Oddities:
    """The first ones of `text`.

    Raises:
        DocumentError: it is no JSON, comments and trailing commas aside; with line and column, in plain words.
    """
    scanner = _Scanner(text)
    scanner.document()
    return Oddities(scanner.comment, scanner.trailing_comma)


_SPACE = re.compile(r"[ \t\r\n]*+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*+")
# Not `*+`: where the last part fits half, Python 3.11.2 takes the half for matched.
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_WORD = re.compile(r'[^\s,:\[\]{}"/]++')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_CLOSER = {"{": "}", "[": "]"}
_FOREIGN_WORDS = {
    "NaN": "NaN is no JSON value",
    "Infinity": "Infinity is no JSON value",
    "-Infinity": "-Infinity is no JSON value",
    "undefined": "undefined is no JSON value",
    "True": "True is no JSON value; it is spelled true",
    "False": "False is no JSON value; it is spelled false",
    "None": "None is no JSON value; it is spelled null",
}


@dataclass(slots=True)
class _Open:
    """A container whose closer has not been met yet; `comma` is the offset of the one behind its last entry so far."""

    start: int
    bracket: str
    comma: int | None = None


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.comment: int | None = None
        self.trailing_comma: int | None = None
        self.open: list[_Open] = []

    def document(self) -> None:
        self.skip()
        if self.at == len(self.text):
            return
        self.root()
        self.skip()
        if self.at < len(self.text):
            raise self.wrong("something stands behind the end of the document")

    def root(self) -> None:
        """Value after value until the outermost is closed."""
        while True:
            is_done = self.value()
            while is_done:
                if not self.open:
                    return
                is_done = self.after()

    def value(self) -> bool:
        """Reads a scalar or an opening bracket (and a closing one behind it); whether the value is done."""
        start, char = self.at, self.text[self.at : self.at + 1]
        if char == '"':
            self.string()
            return True
        if char not in _CLOSER:
            self.word()
            return True
        if len(self.open) >= DEEPEST:
            raise self.wrong(f"nested deeper than {DEEPEST} levels")
        self.at += 1
        self.open.append(_Open(start, char))
        return self.entry()

    def entry(self) -> bool:
        """Reads up to the next value of the innermost container, or closes it; whether it did."""
        self.skip()
        frame = self.open[-1]
        char = self.text[self.at : self.at + 1]
        if char in ("}", "]"):
            self.close()
            return True
        if frame.bracket == "{":
            self.key(char)
        return False

    def key(self, char: str) -> None:
        if char != '"':
            raise self.wrong(self.no_key(char))
        self.string()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            raise self.wrong("missing ':' after a key")
        self.at += 1
        self.skip()

    def after(self) -> bool:
        """Reads the comma or closing bracket behind a value; whether the container is done with it."""
        self.skip()
        frame = self.open[-1]
        char = self.text[self.at : self.at + 1]
        frame.comma = self.at if char == "," else None
        if char == ",":
            self.at += 1
            return self.entry()
        if char in ("}", "]"):
            self.close()
            return True
        raise self.wrong(self.no_comma(frame, char))

    def close(self) -> None:
        frame = self.open[-1]
        closer = self.text[self.at]
        if closer != _CLOSER[frame.bracket]:
            line, _ = place(self.text, frame.start)
            raise self.wrong(f"'{closer}' cannot close the '{frame.bracket}' of line {line}")
        if self.trailing_comma is None:
            self.trailing_comma = frame.comma
        self.open.pop()
        self.at += 1

    def skip(self) -> None:
        """Moves behind white space and comments."""
        while True:
            self.at = self.end_of(_SPACE)
            if not self.text.startswith("/", self.at):
                return
            start = self.at
            if self.text.startswith("//", start):
                self.at = self.end_of(_LINE_COMMENT)
            elif self.text.startswith("/*", start):
                end = self.text.find("*/", start + 2)
                if end < 0:
                    raise self.wrong("the comment that opens here with '/*' is never closed")
                self.at = end + 2
            else:
                raise self.wrong("stray '/'")
            self.comment = start if self.comment is None else self.comment

    def string(self) -> None:
        """Moves behind a string."""
        start = self.at
        self.at = self.end_of(_STRING)
        char = self.text[self.at : self.at + 1]
        if char == '"':
            self.at += 1
            return
        if char in ("", "\n", "\r"):
            self.at = start
            raise self.wrong("this string is not closed on its line")
        if char == "\\":
            raise self.wrong("a backslash that starts no JSON escape; a backslash itself is spelled \\\\")
        name = "tab; it is spelled \\t" if char == "\t" else f"control character U+{ord(char):04X}"
        raise self.wrong(f"a string holds a raw {name}")

    def word(self) -> None:
        """Reads a number, `true`, `false` or `null`."""
        end = self.end_of(_WORD)
        word = self.text[self.at : end]
        if not _SCALAR.fullmatch(word):
            raise self.wrong(self.no_value(word))
        self.at = end

    def end_of(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        return match.end() if match else self.at

    # What is wrong, in plain words. Values are never quoted: one of them may be a key.

    def no_key(self, char: str) -> str:
        if char == "'":
            return "single quotes; JSON wants double quotes"
        if char == ",":
            return "a comma with nothing before it"
        word = self.text[self.at : self.end_of(_WORD)]
        if re.fullmatch(r"[\w$-]+", word) and self.is_before_colon(self.at + len(word)):
            return f"the key {printable(word, limit=40)} has no quotes"
        return self.stray(char) or "a key must be a string in double quotes"

    def no_comma(self, frame: _Open, char: str) -> str:
        if char == ":":
            return "stray ':'"
        end = self.end_of(_STRING) + 1
        if frame.bracket == "{" and char == '"' and self.is_before_colon(end):
            return f"missing comma before {printable(self.text[self.at : end], limit=60)}"
        return self.stray(char) or "missing comma before this"

    def no_value(self, word: str) -> str:
        if word in _FOREIGN_WORDS:
            return _FOREIGN_WORDS[word]
        if word.startswith("'"):
            return "single quotes; JSON wants double quotes"
        if re.match(r"[+-]?\.?[0-9]", word):
            return "this is no JSON number"
        char = self.text[self.at : self.at + 1]
        if char == ",":
            return "a comma with nothing before it"
        return self.stray(char) or "a value is missing here, or is no JSON value (a string wants double quotes)"

    def stray(self, char: str) -> str:
        """Words for a character that nobody sees, or takes for a comment."""
        if char == "#":
            return "'#' starts no comment here"
        if char and not char.isalnum() and not (char.isascii() and char.isprintable()):
            return f"stray character U+{ord(char):04X} ({unicodedata.name(char, 'no name')})"
        return ""

    def is_before_colon(self, at: int) -> bool:
        return self.text[at:].lstrip(" \t").startswith(":")

    def wrong(self, reason: str) -> DocumentError:
        """The error at this place; at the end of the text it is about the bracket that was left open."""
        if self.at >= len(self.text) and self.open:
            self.at, reason = self.open[-1].start, f"unclosed '{self.open[-1].bracket}'"
        line, column = place(self.text, self.at)
        return DocumentError(reason, line=line, column=column, hint=how_to_mend(self.text))
