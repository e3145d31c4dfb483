"""Known secrets and shapes of keys in bytes that come piece by piece: one window of a file is held at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field

from toolsync.leaks.secret import Known, Spelling
from toolsync.leaks.shape import Shape, is_lookalike
from toolsync.leaks.token import is_open
from toolsync.value import frozen

_LONGEST_SHAPE = 4096
"""No provider's key or token is longer."""

_CONTEXT = 24
"""So many bytes before a key decide whether it begins there."""

_REMARK = 200
"""How far behind a key, on its line, a remark may stand that allows it."""


@frozen
class Hit:
    """A secret in a window of bytes.

    Attributes:
        start: where it begins.
        end: where it ends.
        secret: the known secret, or the shape.
        value: what it says; in the plain spelling.
        spelling: how it is written there.
    """

    start: int
    end: int
    secret: Known | Shape
    value: str = field(repr=False)
    spelling: Spelling = "as it is"


@frozen
class Spot:
    """A secret in a text.

    Attributes:
        line: 1-based.
        hit: what stands there; its offsets mean nothing here.
    """

    line: int
    hit: Hit


class Finder:
    """Looks for the same secrets in many texts."""

    def __init__(self, known: Sequence[Known] = (), shapes: Sequence[Shape] = (), now: float = 0.0) -> None:
        """Prepare the search.

        Args:
            known: secrets by their value; of two with one value the first counts.
            shapes: of keys; where two fit, the first counts.
            now: seconds since 1970: tokens that ended before count for nothing.
        """
        self._now = now
        self._needles: dict[bytes, tuple[Known, Spelling]] = {}
        for one in known:
            for needle, spelling in one.needles():
                self._needles.setdefault(needle, (one, spelling))
        self._patterns = [(one, pattern) for one in known for pattern in one.patterns()]
        self._shapes = [(tuple(start.encode() for start in shape.start), shape) for shape in shapes]
        self._begins = _Begins({start for starts, _ in self._shapes for start in starts})
        self._inner = [(shape.inner, shape.at) for shape in shapes if shape.inner]
        longest = (pattern.longest for _, pattern in self._patterns)
        self._overlap = max([_LONGEST_SHAPE + _REMARK, *map(len, self._needles), *longest])

    def spots(self, pieces: Iterable[bytes]) -> Iterator[Spot]:
        """Every secret in a text, in order, with its line.

        Args:
            pieces: the text, cut anywhere.
        """
        window, line, told = b"", 1, 0
        for piece in pieces:
            window += piece
            settled = len(window) - self._overlap
            if settled <= told:
                continue
            yield from self._told(window, line, told, settled)
            cut = max(0, settled - _CONTEXT)
            line += window.count(b"\n", 0, cut)
            window, told = window[cut:], settled - cut
        yield from self._told(window, line, told, len(window))

    def _told(self, window: bytes, line: int, start: int, stop: int) -> Iterator[Spot]:
        """The secrets that begin in a part of the window."""
        counted = 0
        for hit in self.hits(window):
            if start <= hit.start < stop:
                line += window.count(b"\n", counted, hit.start)
                counted = hit.start
                yield Spot(line, hit)

    def hits(self, window: bytes) -> list[Hit]:
        """Every secret in a text that is there whole, in order; a known one is not told again as a shape."""
        exact = sorted(self._exact(window), key=lambda hit: (hit.start, -hit.end))
        apart = [hit for number, hit in enumerate(exact) if number == 0 or hit.start >= exact[number - 1].end]
        shaped = [hit for hit in self._shaped(window) if not any(_overlap(hit, one) for one in apart)]
        return sorted([*apart, *shaped], key=lambda hit: hit.start)

    def _exact(self, window: bytes) -> Iterator[Hit]:
        for needle, (known, spelling) in self._needles.items():
            start = window.find(needle)
            while start >= 0:
                end = start + len(needle)
                if not known.is_word or _stands_alone(window, start, end):
                    yield Hit(start, end, known, known.value, spelling)
                start = window.find(needle, end)
        for known, pattern in self._patterns:
            for start, end, spelling in pattern.found(window):
                yield Hit(start, end, known, known.value, spelling)

    def _shaped(self, window: bytes) -> Iterator[Hit]:
        end = 0
        for start in self._places(window):
            if start < end or not _begins(window, start):
                continue
            hit = self._shape_at(window, start)
            if hit is not None:
                yield hit
                end = hit.end

    def _places(self, window: bytes) -> list[int]:
        """Where a key may begin, in order."""
        places = self._begins.places(window)
        inner = {found.start() - at for inner, at in self._inner for found in inner.finditer(window, at)}
        return sorted({*places, *inner}) if inner else places

    def _shape_at(self, window: bytes, start: int) -> Hit | None:
        for starts, shape in self._shapes:
            is_one = shape.inner is not None or window.startswith(starts, start)
            match = shape.pattern.match(window, start) if is_one else None
            if match is None:
                continue
            key = match[0].decode("ascii", "replace")
            is_none = not is_open(key, self._now) if shape.is_token else is_lookalike(key, shape)
            if is_none or _is_allowed(window, match.end()):
                return None
            return Hit(start, match.end(), shape, key)
        return None


class _Begins:
    """Looks for what keys begin with: nearly always something that ends in `-` or `_`, which text has less of."""

    def __init__(self, starts: Collection[bytes]) -> None:
        shortest = {one for one in starts if not any(one != other and one.startswith(other) for other in starts)}
        self._joined = sorted((one for one in shortest if one[-1:] in _JOINTS), key=len, reverse=True)
        self._others = sorted(shortest - {*self._joined})
        tails = sorted({re.escape(one[-_TAIL:]) for one in self._joined})
        # A joint, then a look behind: five times as fast as all beginnings one beside the other.
        self._joint = re.compile(b"[-_](?<=" + b"|".join(tails) + b")") if tails else None

    def places(self, window: bytes) -> list[int]:
        """Where a key may begin, in order."""
        found: set[int] = set()
        for joint in self._joint.finditer(window) if self._joint else ():
            before = window[max(0, joint.end() - _LONGEST_START) : joint.end()]
            found.update(joint.end() - len(one) for one in self._joined if before.endswith(one))
        for one in self._others:
            at = window.find(one)
            while at >= 0:
                found.add(at)
                at = window.find(one, at + 1)
        return sorted(found)


_JOINTS = (b"-", b"_")
_TAIL = 3
"""No beginning is shorter; a look behind takes pieces of one length only."""

_LONGEST_START = 64


_WORD = re.compile(rb"[A-Za-z0-9_]")


def _stands_alone(window: bytes, start: int, end: int) -> bool:
    """Whether no letter or digit touches it."""
    before, after = window[start - 1 : start] if start else b"", window[end : end + 1]
    return not _WORD.match(before) and not _WORD.match(after)


_BEFORE = re.compile(
    rb"(?:^|[^A-Za-z0-9_-]|\\[nrt]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}"
    rb"|(?:\x1b|\\u001[Bb]|\\x1[Bb]|\\0?33|\\e)\[[0-9;]{0,8}[A-Za-z])\Z"
)
"""What may stand before a key: no part of a longer word, unless it is the end of an escape."""


def _begins(window: bytes, start: int) -> bool:
    return bool(_BEFORE.search(window[max(0, start - _CONTEXT) : start]))


_ALLOWED = re.compile(rb"toolsync:\s*allow|gitleaks:allow|pragma:\s*allowlist[ -]secret")
"""What people write behind an invented key, for this program and others."""


def _is_allowed(window: bytes, end: int) -> bool:
    rest, _, _ = window[end : end + _REMARK].partition(b"\n")
    return bool(_ALLOWED.search(rest))


def _overlap(one: Hit, other: Hit) -> bool:
    return one.start < other.end and other.start < one.end
