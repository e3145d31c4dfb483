"""Two versions of one program, either of which may run: both are spoken of where they find otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.tool import Reader
from toolsync.trace import Answer


def spoken_of(readers: Sequence[Reader], found: Callable[[Reader], Mapping[str, Answer]]) -> Iterator[Reader]:
    """The programs; of two versions that find the same one, which has the older's name and looks where the newer does.

    Args:
        readers: all programs of a tool.
        found: what is called for the answers of each that has, or is, another version.
    """
    newer = {reader.newer_than: reader for reader in readers if reader.newer_than}
    for reader in readers:
        if reader.newer_than:
            continue
        other = newer.get(reader.name)
        if other is None:
            yield reader
        elif _is_same(other, found(other), found(reader)):
            yield replace(other, name=reader.name, newer_than="")
        else:
            yield from (reader, other)


def _is_same(reader: Reader, own: Mapping[str, Answer], other: Mapping[str, Answer]) -> bool:
    if all(own[question].value == answer.value for question, answer in other.items()):
        return True
    asked = {question: own[question].value for question in reader.expect}
    is_same = all(other[question].value == value for question, value in asked.items())
    return is_same and asked != {**reader.expect}  # both lead elsewhere, and take nothing of what is ours
