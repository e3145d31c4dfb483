"""A secret whose value is known, and how it is written where some of its characters mean something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from html.entities import codepoint2name
from typing import Literal

from toolsync.echo import encoded
from toolsync.value import frozen

Spelling = Literal["as it is", "broken into lines", "escaped", "percent-encoded", "base64", "hexadecimal", "UTF-16"]

SHORTEST = 8
"""A shorter one (`ollama`, `none`) stands in too many places that mean something else."""

_BREAKABLE = 40
"""The shortest encoding that is looked for across the end of a line; programs break at 60, 64 or 76 characters."""

_LONG = 20
"""The shortest secret that is looked for across the end of a line."""

_PIECE = 30
"""Of two such pieces side by side, one at most is broken by a line's end."""


@frozen
class Escaped:
    """A secret of which some characters may be escaped.

    Attributes:
        anchor: a part that never is.
        whole: all of it, as a regular expression, which is made where the part is found.
        longest: how many bytes it may have.
    """

    anchor: bytes = field(repr=False)
    whole: bytes = field(repr=False)
    longest: int

    def found(self, window: bytes) -> Iterator[tuple[int, int, Spelling]]:
        """Where it begins and ends, and how it is written."""
        for match in re.finditer(self.whole, window) if self.anchor in window else ():
            yield match.start(), match.end(), "percent-encoded" if b"%" in match[0] else "escaped"


@frozen
class Broken:
    """A secret, or an encoding of one, that may be broken into lines.

    Attributes:
        text: without line ends.
        spelling: what the encoding is called.
        gap: what may stand between two lines.
    """

    text: bytes = field(repr=False)
    spelling: Spelling
    gap: re.Pattern[bytes]

    @property
    def longest(self) -> int:
        """How many bytes it may have."""
        return 2 * len(self.text)

    def found(self, window: bytes) -> Iterator[tuple[int, int, Spelling]]:
        """Where it begins and ends, and how it is written."""
        size, end = min(_PIECE, len(self.text) // 2), 0
        for before in (0, size):
            at = window.find(self.text[before : before + size])
            while at >= 0:
                goes_on = self._goes_on(window, at + size, before + size)
                span = self._around(window, at, max(end, at - 3 * before)) if goes_on else None
                if span is not None:
                    yield *span, self.spelling
                    end = span[1]
                at = window.find(self.text[before : before + size], max(at + 1, end))

    def _goes_on(self, window: bytes, at: int, index: int) -> bool:
        """Whether behind a piece comes what comes there in the text, on the same line or on the next."""
        gap = self.gap.match(window, at)
        return window.startswith(self.text[index : index + 1], gap.end() if gap else at)

    def _around(self, window: bytes, at: int, start: int) -> tuple[int, int] | None:
        """The whole of it, of which a piece stands at a place, nothing of it before `start`."""
        region, places, last = window[start : at + self.longest], list[int](), 0
        for gap in self.gap.finditer(region):
            places += range(last, gap.start())
            last = gap.end()
        places += range(last, len(region))
        found = self.gap.sub(b"", region).find(self.text)
        return None if found < 0 else (start + places[found], start + places[found + len(self.text) - 1] + 1)


_GAP = re.compile(rb"(?:\s|\\[nrt])+")
"""The end of a line, as it is or escaped, and what indents the next."""

_LINE_END = re.compile(rb"(?:[=\\]?(?:\r?\n|(?:\\r)?\\n)[ \t]*(?:[>|#*]+[ \t]*)?)+")
"""The same of plain text: with what says in mails (quoted-printable) and shells that the line goes on, and with what
quotes the next."""


@frozen
class Known:
    """A secret that is looked for by its value.

    Attributes:
        name: what it is called where it is kept: `keyring:work`.
        value: the secret itself.
    """

    name: str
    value: str = field(repr=False)

    @property
    def is_word(self) -> bool:
        """Whether it could be a part of another word: no digits, and no letters of both cases in one word."""
        return bool(_WORDS.fullmatch(self.value))

    def needles(self) -> Iterator[tuple[bytes, Spelling]]:
        """Every form of it that is written in one way, the plainest first."""
        plain = self.value.encode("utf-8", "surrogatepass")
        yield plain, "as it is"
        for text in self._encoded(plain):
            if len(text) < _BREAKABLE:
                yield text.encode(), _encoding(text)
        yield self.value.encode("utf-16-le", "surrogatepass"), "UTF-16"
        yield self.value.encode("utf-16-be", "surrogatepass"), "UTF-16"

    def patterns(self) -> Iterator[Escaped | Broken]:
        """Every form that may be written in several ways: characters escaped, encodings broken into lines."""
        plain = self.value.encode("utf-8", "surrogatepass")
        if not (_UNCHANGED if self.is_word else _UNESCAPED).fullmatch(self.value):
            yield _escaped(self.value)
        if len(plain) >= _LONG and not self.is_word:
            yield Broken(plain, "broken into lines", _LINE_END)
        for text in self._encoded(plain):
            if len(text) >= _BREAKABLE:
                yield Broken(text.encode(), _encoding(text), _GAP)

    @staticmethod
    def _encoded(plain: bytes) -> Iterator[str]:
        """In base64 and hexadecimal; the last character may hold bits of what follows, and one less says as much."""
        return (text[:-1] for text in encoded(plain))


_WORDS = re.compile(r"(?:[^A-Za-z0-9]|[A-Z]?[a-z]++(?![A-Z])|[A-Z]++(?![a-z]))*")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_UNESCAPED = re.compile(r"[A-Za-z0-9_]*")
_UNCHANGED = re.compile(r"[A-Za-z0-9._~-]*")
"""Of what nothing is escaped; and of what hardly anything is: of words, more would be found where they are words."""


def _encoding(text: str) -> Spelling:
    return "hexadecimal" if _HEX.fullmatch(text) else "base64"


_MOST = 15
"""How many backslashes or `amp;` stand before a character that was escaped again and again."""


def _escaped(value: str) -> Escaped:
    """The value with each character that means something in a format or a shell as it is, or escaped in any of them."""
    forms = [_forms(run[0]) for run in re.finditer(r"(.)\1*", value, re.DOTALL)]
    runs = re.findall(r"[A-Za-z0-9]+", value) or [""]
    longest = sum(1 if character.isalnum() else 3 * _MOST for character in value)
    return Escaped(max(runs, key=len).encode(), b"".join(forms), longest)


def _forms(run: str) -> bytes:
    """A regular expression for every way to write a character so many times; all of them in the same, and atomic."""
    character, count = run[0], len(run)
    if character.isascii() and character.isalnum():
        return run.encode()
    raw, code, slashes = character.encode("utf-8", "surrogatepass"), ord(character), rb"\\{1,%d}" % _MOST
    ways = (
        _QUOTES.get(character, b"(?!)"),
        slashes + rb"(?:u(?i:%04x)|x(?i:%02x)|u\{0{0,4}(?i:%x)\})" % (code, code, code),
        rb"&(?:amp;){0,3}(?:#0{0,4}%d|#[xX]0{0,4}(?i:%x)|%s);" % (code, code, _NAMES.get(character, b"(?!)")),
        b"".join(rb"%%(?:25){0,3}(?i:%02x)" % byte for byte in raw),
        rb"%s{0,%d}%s" % (_before(character), _MOST, re.escape(raw)),
    )
    each = [b"(?:%s){%d}" % (way, count) for way in ways]
    if character == "\\":
        each[-1] = rb"\\{%d,%d}" % (count, count * _MOST)
    return b"(?>" + b"|".join(each) + b")"


def _before(character: str) -> bytes:
    """What escapes the character: a backslash, or PowerShell's backtick."""
    return rb"\\" if character == "`" else rb"[\\`]"


_NAMES = {chr(code): name.encode() for code, name in codepoint2name.items()} | {"'": b"apos"}
"""How HTML and XML call characters."""

_QUOTES = {
    "'": rb"'(?:\\'|\"'\")'|''",
    '"': b'""',
    "`": b"``",
}
"""How quotation marks stand between themselves: doubled (YAML, PowerShell, CSV), or outside for a moment (shells)."""
