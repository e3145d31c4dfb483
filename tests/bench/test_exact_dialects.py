"""The same replies in each dialect, with all that servers and networks do to them: equal to what was sent."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence

import pytest

from tests.bench.server import HEAD, Scripted, chunk, serving, streamed
from tests.bench.speech import SPEECHES, Speech
from tests.bench.test_exact import packed, under
from toolsync.bench.exchange import Sender, figures
from toolsync.bench.metrics import source_of
from toolsync.bench.record import Fault
from toolsync.bench.transport import StampingTransport
from toolsync.value import frozen


@frozen
class Case:
    """What is sent, and what is true of it.

    Attributes:
        pieces: as they go over the wire, one after the other.
        at: which of them bring token events.
        tokens: by whoever counts them; None where that is not asked.
        answer: which piece brings the first token that is no thought; None: the first token is one.
        fault: what is wrong with it.
    """

    pieces: Sequence[bytes]
    at: Sequence[int]
    tokens: int | None = None
    answer: int | None = None
    fault: Fault = ""


def _torn(speech: Speech) -> Case:
    whole = speech.begin + speech.text("wörd") + speech.text("s") + speech.end(2)
    cut = whole.index("ö".encode()) + 1
    return Case(streamed(whole[:cut], whole[cut:]), [1, 1], 2)


def _byte_by_byte(speech: Speech) -> Case:
    first = speech.text("w")
    pieces = streamed(*(bytes([one]) for one in first), speech.text("w") + speech.end(2))
    return Case(pieces, [len(first) - 1, len(first)], 2)


def _crlf(speech: Speech) -> Case:
    said = (speech.begin, speech.text("w"), speech.text("w"), speech.end(2))
    return Case(streamed(*(one.replace(b"\n", b"\r\n") for one in said)), [1, 2], 2)


def _commented(speech: Speech) -> Case:
    return Case(
        streamed(b": ping\n\n", speech.begin, b": x\n" + speech.text("w"), b":\n\n", speech.text("w"), speech.end(2)),
        [2, 4],
        2,
    )


def _slow(speech: Speech) -> Case:
    count = len(HEAD[0])
    body = [chunk(speech.text("w")), chunk(speech.text("w") + speech.end(2)) + HEAD[1]]
    return Case([*(bytes([one]) for one in HEAD[0]), *body], [count, count + 1], 2)


def _packed(speech: Speech) -> Case:
    said = packed(speech.begin, speech.text("w"), speech.text("w") + speech.end(2), gz=True)
    return Case(under(b"content-encoding: gzip", streamed(*said)), [1, 2], 2)


_REFUSAL = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow"

CASES: dict[str, Callable[[Speech], Case]] = {
    "what comes first is no token": lambda one: Case(
        streamed(one.begin, one.text("w"), one.text("w"), one.end(2)), [1, 2], 2
    ),
    "several tokens a chunk": lambda one: Case(
        streamed(one.begin, one.text("a b"), one.text("c"), one.end(9)), [1, 2], 9
    ),
    "several chunks a piece": lambda one: Case(
        streamed(one.begin + one.text("a") + one.text("b"), one.end(2)), [0, 0], 2
    ),
    "the count in the piece of the last token": lambda one: Case(
        streamed(one.begin, one.text("a"), one.text("b") + one.end(2)), [1, 2], 2
    ),
    "reasoning first": lambda one: Case(
        streamed(one.begin, one.thought("hm"), one.thought("so"), one.text("w"), one.end(3)), [1, 2, 3], 3, answer=3
    ),
    "a tool's call": lambda one: Case(streamed(one.begin, *one.call, one.end(2)), [1, 2], 2),
    "empty pieces": lambda one: Case(
        streamed(one.begin, one.text(""), one.text("w"), one.text(""), one.end(1)), [2], 1
    ),
    "nobody counts": lambda one: Case(streamed(one.begin, one.text("w"), one.text("w"), one.end(None)), [1, 2], 2),
    "comments and keep-alives": _commented,
    "CRLF": _crlf,
    "split within a character": _torn,
    "byte by byte": _byte_by_byte,
    "slow headers": _slow,
    "gzip in spite of identity": _packed,
    "an error midway": lambda one: Case(streamed(one.begin, one.text("w"), one.error), [1], fault="event"),
    "an empty stream": lambda one: Case(streamed(one.begin, one.end(0)), [], fault="empty"),
    "cut off": lambda one: Case([HEAD[0] + chunk(one.begin), chunk(one.text("w"))], [1], fault="cut"),
    "ended well, and midway": lambda one: Case(streamed(one.begin, one.text("w")), [1], fault="cut"),
    "429 with Retry-After": lambda _: Case([_REFUSAL], [], fault="status"),
}


@pytest.mark.parametrize("speech", SPEECHES, ids=[one.dialect for one in SPEECHES])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_reply_is_what_was_sent(speech: Speech, case: Callable[[Speech], Case]) -> None:
    expected = case(speech)
    scripted = Scripted(lambda _: expected.pieces, 0.002 if len(expected.pieces) < 20 else 0.0002, is_kept=False)

    async def run() -> None:
        async with serving(scripted) as base:
            sender = Sender(f"{base}/v1", {}, StampingTransport(None, 5, 5), 5)
            came = await sender.send(b"{}")
            await sender.close()
        _, reply = figures(came, speech.dialect, "usage", 0)
        found, _ = figures(came, speech.dialect, source_of(reply), came.t0_ns or 0)
        assert (found.fault, [_piece(scripted, at) for at in reply.at_ns]) == (expected.fault, list(expected.at))
        if expected.tokens is not None:
            assert found.completion_tokens == expected.tokens
            assert reply.finish_reason in ("length", "max_output_tokens", "max_tokens")
            answer = expected.at[0] if expected.answer is None else expected.answer
            assert _piece(scripted, reply.answer_ns or 0) == answer
            assert (found.ttfo_ms == found.ttft_ms) is (expected.answer is None)

    asyncio.run(run())


def _piece(scripted: Scripted, at_ns: int) -> int:
    return bisect_right(scripted.sent_ns, at_ns) - 1
