"""What an answer means: the rows of `templates/answers/`, each a shape of answer and its cause; the first decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from toolsync.causes import Certainty
from toolsync.probe.body import own_words
from toolsync.probe.response import Response
from toolsync.probe.row import Row, stage
from toolsync.probe.sight import Asked, Sight
from toolsync.value import frozen

__all__ = ["STAGES", "Asked", "Reading", "read", "rows"]

STAGES = ("redirects", "edges", "codes", "words", "statuses")
"""The files, in the order in which they are asked: what stands before a gateway, then what it says, then its status."""


@frozen
class Reading:
    """What an answer means.

    Attributes:
        cause: a slug of `templates/causes/`; empty where nothing is wrong.
        family: whose answer it looks like (`one-api`, `cloudflare`); empty where nobody can tell.
        words: its own explanation, fit for a terminal and free of keys; may be empty.
        certainty: whether this one answer leaves no doubt.
        by: the row that decided; empty where none did.
        also: causes that give the same answer, and that a second request tells apart.
    """

    cause: str
    family: str = ""
    words: str = ""
    certainty: Certainty = "sure"
    by: str = ""
    also: tuple[str, ...] = ()


def read(answer: Response, asked: Asked | None = None) -> Reading:
    """What `answer` means, as far as one answer tells; answers of success are looked into as well."""
    asked = asked or Asked()
    whole = Sight(answer, asked)
    if whole.found == "answer":
        return Reading("")
    row, sight = next(_deciding(whole), (None, whole))
    reading = Reading("", sight.family or whole.family, own_words(answer), "open")
    if row is None:
        return reading
    if not asked.is_keyed and row.means in _OF_KEYS:  # whatever it says of a key, none was sent
        return replace(reading, cause="key_not_sent", certainty="likely", by=row.name)
    return replace(reading, cause=row.means, certainty=row.certainty, by=row.name, also=row.also)


_OF_KEYS = frozenset(
    {
        *("key_invalid", "key_expired", "key_disabled", "key_malformed", "key_wrong_header", "key_wrong_provider"),
        *("key_or_endpoint", "key_placeholder_value", "key_not_a_key", "key_whitespace"),
    }
)


def spoken(words: str, asked: Asked | None = None) -> Reading:
    """What a tool's own words mean, as it hands on a gateway's or speaks of the way there; no cause where none of ours.

    Args:
        words: why it has no answer, by what it says.
        asked: what it asked for.
    """
    whole = Sight(Response(0, {}, json.dumps({"error": {"message": words}}).encode(), 0), asked or Asked())
    each = ((row, sight) for sight in whole.inward() for name in _OF_WORDS for row, sight in _fitting(name, sight))
    row, sight = next(each, (None, whole))
    if row is None:
        return Reading("", certainty="open")
    return Reading(row.means, sight.family, words, row.certainty, row.name, row.also)


_OF_WORDS = ("clients", "codes", "words")


def rows() -> tuple[Row, ...]:
    """Every row, in the order in which they are asked."""
    return tuple(row for name in STAGES for row in stage(name))


def _deciding(whole: Sight) -> Iterator[tuple[Row, Sight]]:
    """The rows that fit, the deciding one first, each with the error that it fits."""
    inward = whole.inward()
    yield from _fitting("redirects", whole)
    yield from _fitting("edges", whole)
    for sight in inward:
        yield from _fitting("codes", sight)
        yield from _fitting("words", sight)
    yield from _fitting("statuses", inward[0] if inward else whole)


def _fitting(name: str, sight: Sight) -> Iterator[tuple[Row, Sight]]:
    return ((row, sight) for row in stage(name) if row.fits(sight))
