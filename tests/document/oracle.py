"""What a JSONC text holds, found without any code of the editor: the oracle of the document tests.

One character machine cuts a text into tokens and comments; a plain recursive reader makes of the tokens what the text
means (objects as lists of pairs, so that order and duplicates count) and where each member stands.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.document.oracle_lines import gone

Value = Any

DEEPEST = 900
"""No parser that recurses follows deeper than some such number, ours say this one."""


@dataclass(frozen=True)
class Token:
    """A piece of text: a bracket, comma, colon, string or word, or a comment."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_comment(self) -> bool:
        return self.text[:2] in ("//", "/*")


@dataclass(frozen=True)
class Number:
    """A number as it is spelled: 1.0 is not 1.00."""

    spelled: str


@dataclass(frozen=True)
class Reading:
    """The oracle's view of a text.

    `value` is `("{", [[key, value], …])`, `("[", [value, …])`, or a scalar; numbers as they are spelled.
    """

    value: Value
    tokens: list[Token]
    members: dict[tuple[str | int, ...], tuple[int, int]]
    """Path to the span of member or item, key included; of duplicates the last."""
    spans: dict[tuple[str | int, ...], list[tuple[int, int]]]
    """The same of all duplicates."""

    @property
    def comments(self) -> list[str]:
        return [token.text for token in self.tokens if token.is_comment]


@contextmanager
def room() -> Iterator[None]:
    """A deeper stack for the oracle, which recurses, and for comparing what it found; the editor does without."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def read(text: str) -> Reading:
    """The text's tokens and meaning.

    Raises:
        ValueError: it is no JSON, comments and trailing commas aside.
    """
    tokens = list(_tokens(text.removeprefix("\ufeff"), len(text) - len(text.removeprefix("\ufeff"))))
    reader = _Reader([token for token in tokens if not token.is_comment])
    with room():
        value = reader.document()
    return Reading(value, tokens, {path: spans[-1] for path, spans in reader.spans.items()}, reader.spans)


def is_text(file: bytes) -> bool:
    """Whether it is UTF-8."""
    try:
        file.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_whole(file: bytes) -> bool:
    """Whether it can be read at all."""
    try:
        read(file.decode())
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def pairs(value: Value) -> Value:
    """Plain data in the oracle's shape."""
    if isinstance(value, dict):
        return ("{", [[key, pairs(item)] for key, item in value.items()])
    if isinstance(value, list):
        return ("[", [pairs(item) for item in value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Number(json.dumps(value))
    return value


def put(value: Value, path: tuple[str | int, ...], new: Value) -> Value:
    """What setting `path` has to make of `value`: the last of duplicates changes, a new member or item is the last."""
    if not path:
        return pairs(new)
    kind, items = value if value is not None else ("{", [])
    at = _index(kind, items, path[0])
    if kind == "[":
        old = items[at] if at < len(items) else None
        return kind, [*items[:at], put(old, path[1:], new), *items[at + 1 :]]
    if at is None:
        return kind, [*items, [path[0], put(None, path[1:], new)]]
    return kind, [*items[:at], [path[0], put(items[at][1], path[1:], new)], *items[at + 1 :]]


def drop(value: Value, path: tuple[str | int, ...]) -> Value:
    """What removing `path` has to make of `value`: duplicates go too, else an older value would come to life."""
    kind, items = value
    at = _index(kind, items, path[0])
    if len(path) > 1:
        inner = drop(items[at] if kind == "[" else items[at][1], path[1:])
        return kind, [*items[:at], inner if kind == "[" else [path[0], inner], *items[at + 1 :]]
    if kind == "[":
        return kind, [*items[:at], *items[at + 1 :]]
    return kind, [item for item in items if item[0] != path[0]]


def unordered(value: Value, path: tuple[str | int, ...]) -> Value:
    """`value`, in which below `path` the order of members does not count, nor do duplicates but the last."""
    if not isinstance(value, tuple):
        return value
    kind, items = value
    if not path and kind == "{":
        return kind, {key: unordered(item, ()) for key, item in items}
    if not path:
        return kind, [unordered(item, ()) for item in items]
    at = _index(kind, items, path[0])
    inner = unordered(items[at] if kind == "[" else items[at][1], path[1:])
    return kind, [*items[:at], inner if kind == "[" else [path[0], inner], *items[at + 1 :]]


def lines_gone(before: str, after: str) -> list[str]:
    """The lines of `before`, line ends included, that `after` does not have in the same order."""
    one = _lines(before)
    return [one[at] for at in gone(one, _lines(after))]


def foreign_comments(text: str, path: tuple[str | int, ...]) -> Counter[str]:
    """The comments that the removal of `path` must leave: all but those inside the member, or behind it on its line."""
    reading = read(text)
    gone = reading.spans[path]
    comments = [token for token in reading.tokens if token.is_comment]
    return Counter(token.text for token in comments if not any(_belongs(token, span, text) for span in gone))


def _belongs(comment: Token, span: tuple[int, int], text: str) -> bool:
    """Whether a comment is inside a span, or behind it on its line."""
    start, end = span
    is_behind = comment.start >= end and not re.search(r"[\r\n]", without_comments(text[end : comment.start]))
    return start <= comment.start < end or is_behind


def neighbours(text: str) -> list[tuple[str, str, str]]:
    """Of each comment: itself, what stands before it on its line (commas aside), or else what stands below it."""
    found = []
    tokens = read(text).tokens
    for index, token in enumerate(tokens):
        if not token.is_comment:
            continue
        before = list(itertools.islice(_before_on_its_line(text, tokens[:index], token), 2))
        beside = next((other for other in before if other != ","), "," if before else "")
        below = next((other.text for other in itertools.islice(tokens, index + 1, None) if not other.is_comment), "")
        found.append((token.text, beside, "" if before else below))
    return found


def _before_on_its_line(text: str, tokens: list[Token], comment: Token) -> Iterator[str]:
    """What stands before a comment on its line, other comments aside, from the nearest on."""
    for token in reversed(tokens):
        if re.search(r"[\r\n]", without_comments(text[token.end : comment.start])):
            return
        if not token.is_comment:
            yield token.text


def without_comments(gap: str) -> str:
    """A gap between two tokens, without its block comments: what is left tells whether a line ends there."""
    return re.sub(r"/\*.*?\*/", "", gap, flags=re.DOTALL)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def _index(kind: str, items: list[Any], step: str | int) -> Value:
    if kind == "[":
        return step
    return max((at for at, item in enumerate(items) if item[0] == step), default=None)


def _tokens(text: str, offset: int) -> Iterator[Token]:  # noqa: C901  one branch a kind of token
    at = 0
    while at < len(text):
        start, char = at, text[at]
        at += 1
        if char in " \t\r\n":
            continue
        if char == '"':
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            at += 1
        elif text.startswith("//", start):
            while at < len(text) and text[at] not in "\r\n":
                at += 1
        elif text.startswith("/*", start):
            at = text.find("*/", start + 2) + 2
            if at < 2:
                raise ValueError("comment never closed")
        elif char not in "{}[],:":
            while at < len(text) and text[at] not in ' \t\r\n{}[],:"/':
                at += 1
        yield Token(start + offset, text[start:at])


class _Reader:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.spans: dict[tuple[str | int, ...], list[tuple[int, int]]] = {}

    def document(self) -> Value:
        if not self.tokens:
            return ("{", [])
        value = self.value(())
        if self.at < len(self.tokens):
            raise ValueError("something behind the end")
        return value

    def value(self, path: tuple[str | int, ...]) -> Value:
        token = self.next()
        if token.text == "{":
            return "{", self.items(path, "}")
        if token.text == "[":
            return "[", self.items(path, "]")
        if re.match(r"-?[0-9]", token.text):
            json.loads(token.text, parse_int=str)  # of any length
            return Number(token.text)
        return json.loads(token.text, parse_constant=_refuse)

    def items(self, path: tuple[str | int, ...], closer: str) -> list[Any]:
        if len(path) >= DEEPEST:
            raise ValueError("nested too deeply")
        items: list[Any] = []
        known: set[str | int] = set()
        while self.peek() != closer:
            if items:
                self.expect(",")
                if self.peek() == closer:
                    break
            start = self.tokens[self.at].start if self.at < len(self.tokens) else 0
            if closer == "]":
                step: str | int = len(items)
                items.append(self.value((*path, step)))
            else:
                step = self.key()
                if step in known:
                    self.forget((*path, step))
                known.add(step)
                items.append([step, self.value((*path, step))])
            self.spans.setdefault((*path, step), []).append((start, self.tokens[self.at - 1].end))
        self.next()
        return items

    def key(self) -> str:
        key = json.loads(self.next().text)
        if not isinstance(key, str):
            raise TypeError("a key that is no string")
        self.expect(":")
        return key

    def forget(self, path: tuple[str | int, ...]) -> None:
        """A later duplicate hides what is in the earlier one."""
        for other in [known for known in self.spans if known[: len(path)] == path and known != path]:
            del self.spans[other]

    def expect(self, text: str) -> None:
        if self.next().text != text:
            raise ValueError(f"'{text}' is missing")

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def next(self) -> Token:
        if self.at >= len(self.tokens):
            raise ValueError("the text ends too early")
        self.at += 1
        return self.tokens[self.at - 1]


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
