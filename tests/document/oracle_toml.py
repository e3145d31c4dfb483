"""What a TOML text holds, found without any code of the editor: the oracle of the TOML tests.

`tomli` says what a text means; one character machine, which knows strings and comments and nothing else, says where
the comments are and what stands around them; `oracle_lines` says which lines are gone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import tomli

from tests.document import oracle_lines

Path = tuple[str | int, ...]

DEEPEST = 200
"""Nothing is nested deeper that a tool would read; what is need not be read here either."""


@dataclass(frozen=True)
class Comment:
    """A comment, what stands before it on its line, and the line of code that it stands directly above."""

    text: str
    beside: str
    above: str
    line: int
    depth: int
    """How many brackets of a value are open around it."""


_NOT_OF_WHAT_FOLLOWS = re.compile(r"#[:!]|.*(?:\bend\b|<<<)", re.IGNORECASE)
"""A directive to an editor or shell speaks of the file, and a comment that ends a block of what is above it."""


def data(text: str) -> Any:
    """What `text` means.

    Raises:
        ValueError: nothing, or what is nested deeper than `DEEPEST`.
    """
    try:
        found = tomli.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    level, depth = [found], 0
    while level:
        level, depth = [item for value in level for item in _items(value)], depth + 1
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
    return found


def is_valid(file: bytes) -> bool:
    """Whether it means anything."""
    try:
        data(file.decode())
    except ValueError:
        return False
    return True


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def comments(text: str) -> list[Comment]:
    """The comments of a valid text, in order."""
    found = []
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    starts = list(_comment_places("\n".join(lines)))
    own = {line for line, column, _ in starts if not lines[line][:column].strip()}
    for line, column, depth in starts:
        below = next((n for n in range(line + 1, len(lines)) if n not in own), len(lines))
        above = lines[below].strip() if line in own and below < len(lines) else ""
        found.append(Comment(lines[line][column:].rstrip(), lines[line][:column].strip(), above, line, depth))
    return found


def _comment_places(text: str) -> Any:
    at = depth = 0
    while at < len(text):
        quote = next((q for q in ('"""', "'''", '"', "'") if text.startswith(q, at)), None)
        if quote:
            at = _string_end(text, at, quote)
        elif text[at] == "#":
            start = text.rfind("\n", 0, at) + 1
            yield text.count("\n", 0, at), at - start, depth
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        else:
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[at], 0)
            at += 1


def _string_end(text: str, at: int, quote: str) -> int:
    at += len(quote)
    while not text.startswith(quote, at):
        at += 2 if quote[0] == '"' and text[at] == "\\" else 1
    at += len(quote)
    while len(quote) > 1 and text.startswith(quote[0], at):
        at += 1
    return at


def put(value: Any, path: Path, new: Any) -> Any:
    """What setting `path` has to make of `value`."""
    if not path:
        return new
    step = path[0]
    if isinstance(value, list):
        return [put(item, path[1:], new) if n == step else item for n, item in enumerate(value)]
    value = value or {}
    return {**value, step: put(value.get(step), path[1:], new)}


def drop(value: Any, path: Path) -> Any:
    """What removing `path` has to make of `value`: containers stay."""
    step = path[0]
    if len(path) > 1:
        return put(value, (step,), drop(value[step], path[1:]))
    if isinstance(value, list):
        return [item for n, item in enumerate(value) if n != step]
    return {key: item for key, item in value.items() if key != step}


def same(one: Any, other: Any) -> bool:
    """Whether two meanings are the same; NaN is NaN, 1 is not 1.0, -0.0 is not 0.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) == set(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return repr(one) == repr(other)


def paths(value: Any, at: Path = ()) -> list[Path]:
    """Every path into `value`, parents first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, item in items for path in ((*at, key), *paths(item, (*at, key)))]


def at(value: Any, path: Path) -> Any:
    """What stands at `path`."""
    for step in path:
        value = value[step]
    return value


def lines(text: str) -> list[str]:
    """The lines with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def gone(before: str, after: str) -> list[int]:
    """The numbers of the lines of `before`, ends included, that `after` lacks."""
    return oracle_lines.gone(lines(before), lines(after))


def new(before: str, after: str) -> list[str]:
    """The lines of `after` that `before` lacks."""
    return [lines(after)[n] for n in gone(after, before)]


def is_one_value(before: str, after: str) -> bool:
    """Whether one line came for all lines of a text in three quotes, and nothing else changed."""
    one, other = lines(before), lines(after)
    while one and other and one[-1] == other[-1]:
        one.pop()
        other.pop()
    while one and other and one[0] == other[0]:
        del one[0], other[0]
    quotes = ('"""', "'''")
    return bool(one) and len(other) == 1 and any(quote in one[0] and quote in one[-1] for quote in quotes)


def comments_lost(before: str, after: str) -> list[str]:
    """The comments that went, or came, with an edit that had nothing to do with them."""
    one, other = Counter(c.text for c in comments(before)), Counter(c.text for c in comments(after))
    return [*(f"lost: {text}" for text in one - other), *(f"new: {text}" for text in other - one)]


def comments_lost_by_removal(before: str, after: str) -> list[str]:
    """The same after a removal, with which may go what stood beside, or inside, something removed."""
    lines_lost = gone(before, after)
    own = Counter(f"lost: {c.text}" for c in comments(before) if c.line in lines_lost and (c.beside or c.depth))
    return list((Counter(comments_lost(before, after)) - own).elements())


def comments_displaced(before: str, after: str) -> list[str]:
    """The comments that speak of something else since something was added: above or beside other code than before."""
    faults = comments_lost(before, after)
    for one, other in [] if faults else zip(comments(before), comments(after), strict=True):
        if (
            not one.depth
            and not _NOT_OF_WHAT_FOLLOWS.match(one.text)
            and one.above.split("=")[0] != other.above.split("=")[0]
        ):
            faults.append(f"'{one.text}' stood above '{one.above}', now '{other.above}'")
        key = one.beside.split("=")[0].rstrip(" \t]},")  # the rest of the line may have grown
        if bool(one.beside) != bool(other.beside) or not (one.depth or other.beside.startswith(key)):
            faults.append(f"'{one.text}' stood beside '{one.beside}', now '{other.beside}'")
    return faults
