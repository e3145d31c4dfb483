"""A whole reply, headers and chunks included, torn at any bytes: the same reply, each token at its own piece's time."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.server import HEAD, chunk
from tests.bench.speech import SPEECHES, Speech
from toolsync.bench import connection
from toolsync.bench.exchange import Exchange, read

if TYPE_CHECKING:
    import httpx

_COUNTED = {1, 3, 4, 5}
"""Which of the events carry tokens."""


def _events(one: Speech) -> tuple[bytes, ...]:
    text = one.text(" wörd")
    return one.begin, text, b": ping\n\n", one.thought("hm"), text.replace(b"\n", b"\r\n"), text, one.end(4)


class _Wire:
    """A connection on which nothing goes out."""

    def write(self, data: bytes) -> None:
        """Nobody reads it."""

    def abort(self) -> None:
        """Nothing is open."""


def _built(events: tuple[bytes, ...], sizes: list[int]) -> tuple[bytes, list[int]]:
    """The reply in HTTP chunks of so many events' bytes, and where each token event ends on the wire."""
    body = b"".join(events)
    ends = [sum(map(len, events[: number + 1])) for number in sorted(_COUNTED)]
    wire, told, start = HEAD[0], [], 0
    for size in [*sizes, len(body)]:
        piece = body[start : start + size]
        if not piece:
            break
        head = len(chunk(piece)) - len(piece) - 2
        told += [len(wire) + head + end - start for end in ends if start < end <= start + len(piece)]
        wire += chunk(piece)
        start += len(piece)
    return wire + HEAD[1], told


async def _received(pieces: list[bytes], clock: list[int]) -> httpx.Response:
    own = connection.Connection()
    wire: Any = _Wire()
    own.connection_made(wire)
    asked = asyncio.ensure_future(own.exchange(b"", 60))
    await asyncio.sleep(0)
    for number, piece in enumerate(pieces):
        clock[0] = number
        own.data_received(piece)
    return await asked


@pytest.mark.parametrize("speech", SPEECHES, ids=[one.dialect for one in SPEECHES])
@given(st.lists(st.integers(1, 400), max_size=8), st.sets(st.integers(1, 2500), max_size=40))
def test_a_reply_torn_anywhere_is_the_same_reply(speech: Speech, sizes: list[int], cuts: set[int]) -> None:
    wire, told = _built(_events(speech), sizes)
    places = [*sorted(cut for cut in cuts if cut < len(wire)), len(wire)]
    pieces = [wire[start:end] for start, end in zip([0, *places], places, strict=False)]
    clock = [0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "perf_counter_ns", lambda: clock[0])
        answer = asyncio.run(_received(pieces, clock))
    stamps = answer.extensions[connection.STAMPS]
    exchange = Exchange(0, 0, answer.status_code, {}, answer.read(), stamps)
    reply, fault = read(exchange, speech.dialect)
    assert (fault, reply.usage.completion, reply.is_ended) == ("", 4, True)
    assert list(reply.at_ns) == [bisect_left(places, end) for end in told]
