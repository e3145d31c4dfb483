"""What a stream holds, and which piece of it brought what: equal to what the server knows that it sent.

Client and server share a loop, so that the pieces arrive one by one; each token's stamp must lie between the sending of
its piece and that of the next.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter_ns
from typing import Any

import pytest

from tests.bench.server import HEAD, Scripted, chunk, serving, streamed
from toolsync.address import Dialect
from toolsync.bench.exchange import Exchange, Sender, figures
from toolsync.bench.metrics import source_of
from toolsync.bench.record import Fault, Request
from toolsync.bench.tokens import Reply, Usage
from toolsync.bench.transport import StampingTransport
from toolsync.value import frozen

DONE = b"data: [DONE]\n\n"


def event(data: object, name: str = "") -> bytes:
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def delta(finish: str | None = None, usage: dict[str, Any] | None = None, **parts: Any) -> bytes:
    whole = {"model": "m-1", "choices": [{"index": 0, "delta": parts, "finish_reason": finish}]}
    return event(whole | ({"usage": usage} if usage else {}))


def usage(completion: int, prompt: int = 512, **more: Any) -> bytes:
    told = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    return event({"model": "m-1", "choices": [], "usage": told})


def typed(kind: str, **data: Any) -> bytes:
    return event({"type": kind, **data}, kind)


ROLE = delta(role="assistant", content="")
LAST = delta("length", content="w")
TEXT = delta(content=" wörd")


def packed(*plain: bytes, gz: bool) -> list[bytes]:
    """Pieces packed one by one, as a proxy does that flushes."""
    packing = zlib.compressobj(wbits=zlib.MAX_WBITS | 16 if gz else zlib.MAX_WBITS)
    pieces = [packing.compress(piece) + packing.flush(zlib.Z_SYNC_FLUSH) for piece in plain]
    return [*pieces[:-1], pieces[-1] + packing.flush()]


def under(headers: bytes, pieces: list[bytes]) -> list[bytes]:
    """The reply with further headers."""
    return [pieces[0].replace(b"\r\n\r\n", b"\r\n" + headers + b"\r\n\r\n", 1), *pieces[1:]]


@frozen
class Row:
    """What is sent, and what is true of it.

    Attributes:
        pieces: as they go over the wire, one after the other.
        at: which of them bring token events; one that brings two stands twice.
        answer: which one brings the first that is no thought.
        usage: as the server tells it.
        finish: likewise.
        fault: what is wrong with it.
        first_usage: the server's count in the first token's chunk.
        dialect: as asked.
        completion: tokens by whoever counts them.
        status: of HTTP.
    """

    pieces: list[bytes]
    at: list[int]
    answer: int | None
    usage: Usage = Usage()
    finish: str | None = None
    fault: Fault = ""
    first_usage: int | None = None
    dialect: Dialect = "openai-chat"
    completion: int | None = None
    status: int | None = 200


_CHAT = streamed(ROLE, TEXT, TEXT, LAST, usage(3), DONE)
_SPLIT = b"".join([ROLE, TEXT, LAST, usage(2), DONE])
_TORN = _SPLIT.index("ö".encode()) + 1
_TOOL = {"index": 0, "function": {"name": "grep", "arguments": ""}}
_ERROR = {"error": {"message": "the engine died", "code": 500}}
_THREE = Usage(512, 3)

ROWS: dict[str, Row] = {
    "role chunk with nothing, early": Row(_CHAT, [1, 2, 3], 1, _THREE, "length", completion=3),
    "several tokens a chunk": Row(
        streamed(TEXT, LAST, usage(8) + DONE), [0, 1], 0, Usage(512, 8), "length", completion=8
    ),
    "several chunks a piece": Row(
        streamed(ROLE + TEXT + TEXT, LAST + usage(3) + DONE), [0, 0, 1], 0, _THREE, "length", completion=3
    ),
    "reasoning first, in pieces": Row(
        streamed(
            delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
            delta(content=[{"type": "text", "text": "so"}]),
            LAST,
            usage(3) + DONE,
        ),
        [0, 1, 2],
        1,
        _THREE,
        "length",
        completion=3,
    ),
    "reasoning first, by one name": Row(
        streamed(delta(reasoning_content="hm"), delta(reasoning_content=" so"), LAST, usage(3) + DONE),
        [0, 1, 2],
        2,
        _THREE,
        "length",
        completion=3,
    ),
    "reasoning first, by another": Row(
        streamed(delta(content=None, reasoning="hm"), delta(content="", reasoning=" so"), LAST, usage(3) + DONE),
        [0, 1, 2],
        2,
        _THREE,
        "length",
        completion=3,
    ),
    "reasoning that is counted and not sent": Row(
        streamed(ROLE, TEXT, TEXT, LAST, usage(203, completion_tokens_details={"reasoning_tokens": 200}), DONE),
        [1, 2, 3],
        1,
        Usage(512, 203, None, 200),
        "length",
        completion=3,
    ),
    "reasoning that is counted and sent": Row(
        streamed(
            delta(reasoning_content="hm"), LAST, usage(2, completion_tokens_details={"reasoning_tokens": 1}) + DONE
        ),
        [0, 1],
        1,
        Usage(512, 2, None, 1),
        "length",
        completion=2,
    ),
    "reasoning that is counted beside the completion": Row(
        streamed(
            TEXT,
            LAST,
            usage(8, total_tokens=525, completion_tokens_details={"reasoning_tokens": 5}) + DONE,
        ),
        [0, 1],
        0,
        Usage(512, 8),
        "length",
        completion=8,
    ),
    "no reasoning": Row(
        streamed(TEXT, LAST, usage(8, total_tokens=520, completion_tokens_details={"reasoning_tokens": 0}) + DONE),
        [0, 1],
        0,
        Usage(512, 8),
        "length",
        completion=8,
    ),
    "nothing but reasoning": Row(
        streamed(ROLE, delta(reasoning_content="hm"), delta("length", reasoning_content="hm"), usage(2) + DONE),
        [1, 2],
        None,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "a tool's call": Row(
        streamed(
            ROLE,
            delta(tool_calls=[_TOOL]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": '{"a'}}]),
            delta(tool_calls=[{"index": 0, "function": {"arguments": ""}}]),
            delta("tool_calls"),
            usage(2) + DONE,
        ),
        [1, 2],
        1,
        Usage(512, 2),
        "tool_calls",
        completion=2,
    ),
    "usage in the last token's chunk": Row(
        streamed(TEXT, delta("length", {"prompt_tokens": 512, "completion_tokens": 2}, content="w"), DONE),
        [0, 1],
        0,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "usage in each chunk": Row(
        streamed(
            delta(None, {"prompt_tokens": 512, "completion_tokens": 4}, content="four"),
            delta("length", {"prompt_tokens": 512, "completion_tokens": 8}, content="more"),
            usage(8) + DONE,
        ),
        [0, 1],
        0,
        Usage(512, 8),
        "length",
        first_usage=4,
        completion=8,
    ),
    "usage null until the end": Row(
        streamed(event({"usage": None, "choices": [{"delta": {"content": "a"}}]}), LAST, usage(2) + DONE),
        [0, 1],
        0,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "no usage": Row(streamed(TEXT, TEXT, LAST, DONE), [0, 1, 2], 0, Usage(), "length", completion=3),
    "cached tokens": Row(
        streamed(TEXT, LAST, usage(2, prompt_tokens_details={"cached_tokens": 16}) + DONE),
        [0, 1],
        0,
        Usage(512, 2, 16),
        "length",
        completion=2,
    ),
    "comments and keep-alives": Row(
        streamed(b": ping\n\n", b":\n\n" + ROLE, b": still there\n" + TEXT, b"\n\n", LAST, usage(2) + DONE),
        [2, 4],
        2,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "comments around fields": Row(
        streamed(b"id: 7\nretry: 10\n: x\n" + TEXT, LAST + DONE), [0, 1], 0, Usage(), "length", completion=2
    ),
    "CRLF": Row(
        streamed(*(one.replace(b"\n", b"\r\n") for one in (ROLE, TEXT, LAST, usage(2), DONE))),
        [1, 2],
        1,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "CR alone": Row(
        streamed(*(one.replace(b"\n", b"\r") for one in (ROLE, TEXT, LAST, usage(2) + DONE))),
        [1, 2],
        1,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "an event over two lines of data": Row(
        streamed(b'data: {"choices": [{"delta":\ndata: {"content": "a"}}]}\n\n', LAST + DONE),
        [0, 1],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "no blank behind data:": Row(
        streamed(TEXT.replace(b"data: ", b"data:"), LAST + DONE), [0, 1], 0, Usage(), "length", completion=2
    ),
    "split within a character": Row(
        streamed(_SPLIT[:_TORN], _SPLIT[_TORN:]), [1, 1], 1, Usage(512, 2), "length", completion=2
    ),
    "byte by byte, at first": Row(
        streamed(*(bytes([one]) for one in TEXT), LAST + DONE),
        [len(TEXT) - 1, len(TEXT)],
        len(TEXT) - 1,
        Usage(),
        "length",
        completion=2,
    ),
    "no line's end behind [DONE]": Row(streamed(TEXT, LAST, DONE.strip()), [0, 1], 0, Usage(), "length", completion=2),
    "no [DONE]": Row(streamed(TEXT, LAST, usage(2)), [0, 1], 0, Usage(512, 2), "length", completion=2),
    "ends with its connection": Row(
        [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", TEXT, LAST + DONE],
        [1, 2],
        1,
        Usage(),
        "length",
        completion=2,
    ),
    "with a length": Row(
        [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(TEXT + LAST + DONE), TEXT, LAST + DONE],
        [1, 2],
        1,
        Usage(),
        "length",
        completion=2,
    ),
    "slow headers, byte by byte": Row(
        [*(bytes([one]) for one in HEAD[0]), chunk(TEXT), chunk(LAST + DONE) + HEAD[1]],
        [len(HEAD[0]), len(HEAD[0]) + 1],
        len(HEAD[0]),
        Usage(),
        "length",
        completion=2,
    ),
    "an interim answer first": Row(
        [b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", *streamed(TEXT, LAST + DONE)],
        [1, 2],
        1,
        Usage(),
        "length",
        completion=2,
    ),
    "a second answer behind it": Row(
        [*streamed(TEXT, LAST + DONE)[:-1], streamed(TEXT, LAST + DONE)[-1] + b"".join(streamed(TEXT, DONE))],
        [0, 1],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "another protocol": Row(
        [b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nxx"],
        [],
        None,
        fault="cut",
        status=None,
    ),
    "two lengths": Row(
        [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n", TEXT],
        [],
        None,
        fault="cut",
        status=None,
    ),
    "chunks with extensions, and a trailer": Row(
        [HEAD[0] + chunk(TEXT).replace(b"\r\n", b';a=b;c="d"\r\n', 1), chunk(LAST + DONE), b"0;x\r\nx-sum: 1\r\n\r\n"],
        [0, 1],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "HTTP/1.0": Row(
        [b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + TEXT, LAST + DONE],
        [0, 1],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "gzip in spite of identity": Row(
        under(b"content-encoding: gzip", streamed(*packed(ROLE, TEXT, LAST, usage(2) + DONE, gz=True))),
        [1, 2],
        1,
        Usage(512, 2),
        "length",
        completion=2,
    ),
    "gzip in one lump": Row(
        under(b"Content-Encoding: GZIP", streamed(gzip.compress(ROLE + TEXT + LAST + DONE))),
        [0, 0],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "deflate": Row(
        under(b"content-encoding: deflate", streamed(*packed(TEXT, LAST, DONE, gz=False))),
        [0, 1],
        0,
        Usage(),
        "length",
        completion=2,
    ),
    "packed as nobody can unpack": Row(
        under(b"content-encoding: br", streamed(b"\x1b\x02", b"\x03")), [], None, fault="odd"
    ),
    "an error midway": Row(streamed(ROLE, TEXT, event(_ERROR), DONE), [1], 1, fault="event", completion=1),
    "an error by the event's name": Row(
        streamed(TEXT, b"event: error\ndata: the engine died\n\n"), [0], 0, fault="event", completion=1
    ),
    "an error at once": Row(streamed(event(_ERROR), DONE), [], None, fault="event", completion=0),
    "an empty stream": Row(streamed(ROLE, delta("stop"), DONE), [], None, Usage(), "stop", "empty", completion=0),
    "a stream of nothing": Row([*streamed(b": hello\n\n")], [], None, fault="empty", completion=0),
    "cut within a chunk": Row([HEAD[0] + chunk(TEXT), chunk(TEXT)[:-9], b""], [0], 0, fault="cut", completion=1),
    "cut between chunks": Row([HEAD[0] + chunk(TEXT), chunk(TEXT)], [0, 1], 0, fault="cut", completion=2),
    "ended well, and midway": Row(streamed(TEXT, TEXT), [0, 1], 0, fault="cut", completion=2),
    "cut before its length": Row(
        [b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", TEXT], [1], 1, fault="cut", completion=1
    ),
    "429 with Retry-After": Row(
        [b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow"],
        [],
        None,
        fault="status",
        status=429,
    ),
    "500 that looks like a stream": Row(
        [b"HTTP/1.1 500 No\r\ncontent-length: %d\r\n\r\n" % len(TEXT), TEXT], [], None, fault="status", status=500
    ),
    "a redirect": Row(
        [b"HTTP/1.1 307 There\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"],
        [],
        None,
        fault="status",
        status=307,
    ),
    "one object instead of a stream": Row(
        [b"HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n" + b'{"choices": []}'], [], None, fault="odd"
    ),
    "a page": Row([b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>"], [], None, fault="odd"),
    "no HTTP": Row([b"SSH-2.0-OpenSSH_9.6\r\n"], [], None, fault="cut", status=None),
    "completions as they were before": Row(
        streamed(
            event({"choices": [{"text": "a"}]}), event({"choices": [{"text": "", "finish_reason": "length"}]}), DONE
        ),
        [0],
        0,
        Usage(),
        "length",
        completion=1,
    ),
    "responses": Row(
        streamed(
            typed("response.created", response={"usage": None}),
            typed("response.output_item.added", item={"type": "reasoning"}),
            typed("response.reasoning_summary_text.delta", delta="hm"),
            typed("response.output_text.delta", delta="a"),
            typed("response.output_text.delta", delta=""),
            typed("response.output_text.delta", delta="b"),
            typed("response.output_text.done", text="ab"),
            typed(
                "response.incomplete",
                response={
                    "status": "incomplete",
                    "incomplete_details": {"reason": "max_output_tokens"},
                    "model": "m-1",
                    "usage": {"input_tokens": 512, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 0}},
                },
            ),
        ),
        [2, 3, 5],
        3,
        Usage(512, 3, 0),
        "max_output_tokens",
        dialect="openai-responses",
        completion=3,
    ),
    "responses that call a tool": Row(
        streamed(
            typed("response.output_item.added", item={"type": "function_call", "name": "grep"}),
            typed("response.function_call_arguments.delta", delta="{"),
            typed(
                "response.completed",
                response={"status": "completed", "usage": {"input_tokens": 512, "output_tokens": 2}},
            ),
        ),
        [0, 1],
        0,
        Usage(512, 2),
        "completed",
        dialect="openai-responses",
        completion=2,
    ),
    "responses that fail": Row(
        streamed(
            typed("response.output_text.delta", delta="a"),
            typed("response.failed", response={"status": "failed", "error": {"message": "no"}}),
        ),
        [0],
        0,
        Usage(),
        "failed",
        "event",
        dialect="openai-responses",
        completion=1,
    ),
    "messages": Row(
        streamed(
            typed(
                "message_start",
                message={
                    "model": "m-1",
                    "usage": {"input_tokens": 500, "cache_read_input_tokens": 12, "output_tokens": 1},
                },
            ),
            typed("content_block_start", content_block={"type": "thinking", "thinking": ""}),
            typed("ping"),
            typed("content_block_delta", delta={"type": "thinking_delta", "thinking": "hm"}),
            typed("content_block_delta", delta={"type": "signature_delta", "signature": "abc"}),
            typed("content_block_delta", delta={"type": "text_delta", "text": "a"}),
            typed("content_block_start", content_block={"type": "tool_use", "name": "grep"}),
            typed("content_block_delta", delta={"type": "input_json_delta", "partial_json": ""}),
            typed("content_block_delta", delta={"type": "input_json_delta", "partial_json": "{}"}),
            typed("message_delta", delta={"stop_reason": "max_tokens"}, usage={"output_tokens": 4}),
            typed("message_stop"),
        ),
        [3, 5, 6, 8],
        5,
        Usage(512, 4, 12),
        "max_tokens",
        dialect="anthropic-messages",
        completion=4,
    ),
    "messages that fail": Row(
        streamed(
            typed("content_block_delta", delta={"type": "text_delta", "text": "a"}),
            typed("error", error={"type": "overloaded_error", "message": "Overloaded"}),
        ),
        [0],
        0,
        fault="event",
        dialect="anthropic-messages",
        completion=1,
    ),
}


async def _exchanged(row: Row) -> tuple[Exchange, Scripted, int]:
    pause = 0.002 if len(row.pieces) < 20 else 0.0002
    scripted = Scripted(lambda _: row.pieces, pause, is_kept=False)
    async with serving(scripted) as base:
        sender = Sender(f"{base}/v1", {}, StampingTransport(None, 5, 5), 5)
        before_ns = perf_counter_ns()
        exchange = await sender.send(b"{}")
        await sender.close()
    return exchange, scripted, before_ns


def _measured(row: Row) -> tuple[Request, Reply, Exchange, Scripted]:
    exchange, scripted, before_ns = asyncio.run(_exchanged(row))
    assert exchange.t0_ns is None or before_ns <= exchange.t0_ns <= scripted.heard_ns
    _, reply = figures(exchange, row.dialect, "usage", before_ns)
    request, _ = figures(exchange, row.dialect, source_of(reply), exchange.t0_ns or 0)
    return request, reply, exchange, scripted


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_reply_is_what_was_sent(row: Row) -> None:
    request, reply, exchange, scripted = _measured(row)

    def pieces(at_ns: Sequence[int]) -> list[int]:
        return [bisect_right(scripted.sent_ns, one) - 1 for one in at_ns]

    assert pieces(reply.at_ns) == row.at
    assert pieces([reply.answer_ns] if reply.answer_ns else []) == ([row.answer] if row.answer is not None else [])
    assert (reply.usage, reply.first_usage, reply.finish_reason) == (row.usage, row.first_usage, row.finish)
    assert (request.fault, request.status, request.chunks) == (row.fault, row.status, len(row.at))
    if row.fault not in ("status", "odd", "unsent") and request.t0_ms is not None:
        assert request.completion_tokens == row.completion
        _is_consistent(request, reply, exchange, row)


def _is_consistent(request: Request, reply: Reply, exchange: Exchange, row: Row) -> None:
    """The figures follow from the stamps, as they are defined."""
    assert exchange.t0_ns is not None
    at_ms = [(one - exchange.t0_ns) / 1e6 for one in reply.at_ns]
    first = row.first_usage or 1
    assert request.ttft_ms == (pytest.approx(at_ms[0], abs=1e-3) if at_ms else None)
    assert request.e2e_ms == (pytest.approx(at_ms[-1], abs=1e-3) if at_ms else None)
    assert request.itl_ms == pytest.approx([later - earlier for earlier, later in pairwise(at_ms)], abs=1e-3)
    if len(at_ms) > 1:
        assert request.tpot_ms == pytest.approx((at_ms[-1] - at_ms[0]) / ((row.completion or 0) - first), abs=1e-3)
