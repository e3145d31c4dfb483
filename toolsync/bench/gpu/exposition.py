"""The text that exporters serve (Prometheus' exposition format), line by line."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping

from toolsync.value import frozen

_LABEL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_ESCAPES = {"n": "\n"}


@frozen
class Point:
    """One series, now."""

    name: str
    labels: Mapping[str, str]
    value: float


def points(text: str, names: Collection[str]) -> Iterator[Point]:
    """The series of those names that have a number; comments, other series and what is no line are left out."""
    for line in text.splitlines():
        name = _NAME.match(line)
        if name and name[0] in names and (point := _point(name[0], line[name.end() :])):
            yield point


def _point(name: str, rest: str) -> Point | None:
    labels: dict[str, str] = {}
    if rest.startswith("{"):
        at = 1
        while label := _LABEL.match(rest, at):
            labels[label[1]] = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), label[2])
            at = label.end()
        if not rest.startswith("}", at):
            return None
        rest = rest[at + 1 :]
    words = rest.split()  # the value, and perhaps when it was measured
    try:
        value = float(words[0])
    except (IndexError, ValueError):
        return None
    return Point(name, labels, value) if math.isfinite(value) else None
