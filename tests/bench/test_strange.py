"""Events of shapes that no dialect has: nothing breaks for them, and what comes after them counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.bench.speech import SPEECHES, Speech
from toolsync.bench import tokens
from toolsync.bench.sse import Event, events

_STRANGE: tuple[Any, ...] = (5, -0.5, True, None, "", "x", [], [5], [[]], {}, {"x": 5}, 2**70)


def _told(raw: bytes) -> list[Event]:
    return list(events(raw, [1], [len(raw)]))


def _bent(value: Any) -> Iterator[Any]:
    """The value with something strange in the place of each of its parts, one after the other."""
    yield from _STRANGE
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        for other in _bent(part):
            copy = value.copy()
            copy[key] = other
            yield copy


@pytest.mark.parametrize("speech", SPEECHES, ids=[one.dialect for one in SPEECHES])
def test_a_strange_event_breaks_nothing(speech: Speech) -> None:
    spoken = (speech.begin, speech.text("a"), speech.thought("hm"), *speech.call, speech.end(4), speech.error)
    plain = [event for raw in spoken for event in _told(raw) if event.data.startswith("{")]
    good = [Event(7, one.name, one.data) for one in _told(speech.text("a"))]
    for event in plain:
        for bent in _bent(json.loads(event.data)):
            reply = tokens.reply(speech.dialect, [Event(1, event.name, json.dumps(bent)), *good])
            assert reply.at_ns[-1] == 7, bent
