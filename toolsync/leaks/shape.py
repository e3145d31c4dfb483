"""What providers' keys look like, and what only looks like one: placeholders, words, counted-up characters."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

from toolsync.value import frozen


@frozen
class Shape:
    """The keys of one provider.

    Attributes:
        name: the row's `id`.
        title: what people call such a key.
        start: the characters that every such key begins with; alternatives.
        pattern: the whole key.
        source: the page that says so.
        least_entropy: bits a character that what follows the start must have: random text has more.
        has_digits: whether one of so many characters is a digit, as good as always.
        inner: what stands in every such key, where nothing begins them all.
        at: how many characters stand before that.
        is_token: whether it is a JSON Web Token, which says itself for how long it is good.
    """

    name: str
    title: str
    start: tuple[str, ...]
    pattern: re.Pattern[bytes]
    source: str
    least_entropy: float = 3.0
    has_digits: bool = True
    inner: re.Pattern[bytes] | None = None
    at: int = 0
    is_token: bool = False


def is_lookalike(key: str, shape: Shape) -> bool:
    """Whether what follows a key's start was not drawn at random, so that it opens nothing.

    Args:
        key: what fits the pattern.
        shape: whose.
    """
    body = key[max((len(start) for start in shape.start if key.startswith(start)), default=0) :]
    return (
        bool(_PLACEHOLDER.search(body))
        or _entropy(body) < shape.least_entropy
        or (shape.has_digits and bool(_NAMES.fullmatch(body)))
        or (bool(_CAMEL.fullmatch(body)) and not _is_drawn(body))
        or max(_longest_count(body), _longest_count(_SAME.sub(r"\1", body))) >= _COUNTED
        or _is_repeated(body)
    )


_COUNTED = 7
"""So many characters in a row of the alphabet (`abcdefg`, `1234567`) are typed; by chance they do not come."""

_SAID = (
    "your",
    "example",
    "placeholder",
    "change",
    "replace",
    "insert",
    "dummy",
    "fake",
    "sample",
    "redacted",
    "masked",
    "hidden",
    "apikey",
    "xxxx",
    "0000",
    "here",
    "qwerty",
    "asdf",
)
_PLACEHOLDER = re.compile("|".join(form for word in _SAID for form in (word, word.upper(), word.capitalize())))

_NAMES = re.compile(r"(?:[^A-Za-z0-9]|[A-Za-z]+|[0-9]{1,4}+(?![A-Za-z0-9]))*+")
"""Words, and short numbers alone or behind one: what people call things."""


_CAMEL = re.compile(r"(?:[A-Z]?[a-z]{2,}+)++[A-Z]?")
"""Words without a space: what programs call things."""

_VOWELS, _RARE, _UNSPOKEN = re.compile("[aeiou]"), re.compile("[jqxz]"), re.compile("[^aeiouy]{7}")
_MANY_LETTERS, _FEW_VOWELS, _MANY_RARE = 40, 0.36, 4
"""Of the alphabet a fifth are vowels, of what people write a third and more; seven others in a row, or so many rare
letters, come by chance. Of a hundred drawn texts of 48 letters one is taken for words, of two hundred of words one for
drawn (measured)."""


def _is_drawn(body: str) -> bool:
    """Whether small letters alone are too many, and too hard to speak, to be words."""
    if len(body) < _MANY_LETTERS or not body.islower() or len(_VOWELS.findall(body)) > len(body) * _FEW_VOWELS:
        return False
    return len(_RARE.findall(body)) >= _MANY_RARE or bool(_UNSPOKEN.search(body))


_SAME = re.compile(r"(.)\1+")


def _entropy(text: str) -> float:
    """Bits a character, by how often each is there."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts) if text else 0.0


def _longest_count(text: str) -> int:
    """Of the longest stretch in which every character is the next after the one before it."""
    longest = run = 1
    for before, after in pairwise(text):
        run = run + 1 if ord(after) == ord(before) + 1 or before + after == "90" else 1
        longest = max(longest, run)
    return longest


_REPEATED = re.compile(r"(.{1,12}?)\1{2,}")


def _is_repeated(text: str) -> bool:
    """Whether most of it is one piece again and again."""
    longest = max((len(match[0]) for match in _REPEATED.finditer(text)), default=0)
    return longest * 2 > len(text)
