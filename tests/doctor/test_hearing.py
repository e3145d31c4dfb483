"""Streams, candidates and what is asked next, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.doctor.cases import diagnosed, realised
from tests.doctor.test_well import (
    CHAT,
    JSON,
    MESSAGES,
    RESPONSES,
    Data,
    case,
    chat,
    events,
    message,
    ok,
    response,
)
from tests.scripted import scripted
from toolsync.address import Dialect
from toolsync.probe.candidates import candidates
from toolsync.probe.classifier import Asked
from toolsync.probe.network import Network
from toolsync.probe.response import Response
from toolsync.probe.stream import Stream, buffered, fault, is_burst, listen
from toolsync.probe.watch import Watch

BODY = b'data: {"choices": [{"index": 0, "delta": {"content": "po"}, "finish_reason": null}]}\n\n'
ANSWER = Response(200, {"content-type": "text/event-stream"}, BODY, 10)
ASKED = Asked("http://gw.example/v1/chat/completions", "openai-chat", "m", streams=True)


def _kept(body: bytes, kind: str = "text/event-stream") -> Response:
    """What keeps a connection open."""
    return Response(200, {"content-type": kind}, body, 5)


STREAMS: dict[str, tuple[Stream, str]] = {
    "to its end": (Stream(ANSWER, 5, (10, 20), 30, is_ended=True), ""),
    "we stopped listening": (Stream(ANSWER, 5, (10, 9000), 15_100, is_left=True), ""),
    "an error that says little": (
        Stream(_kept(b'data: {"code": 500, "message": "oops"}\n\n'), 5, (10,), 30),
        "gateway_bug",
    ),
    "no last event": (Stream(ANSWER, 5, (10, 20), 30), "stream_truncated"),
    "broken off": (Stream(ANSWER, 5, (10, 20), 30, fault=OSError()), "stream_truncated"),
    "silent until we had enough": (Stream(ANSWER, 5, (10,), 15_000, fault=httpx.ReadTimeout("")), "stream_stalled"),
    "compressed otherwise than it says": (
        Stream(ANSWER, 5, (), 30, fault=httpx.DecodingError("")),
        "encoding_mismatch",
    ),
    "a pause before its first word": (Stream(ANSWER, 5, (10, 9000), 9100, is_ended=True, spoke_ms=9000), ""),
    "a pause in its midst": (Stream(ANSWER, 5, (10, 9000), 9100, is_ended=True, spoke_ms=10), "stream_stalled"),
    "silent, and then ended": (Stream(ANSWER, 5, (10,), 6_000), "stream_stalled"),
    "blanks, until we left": (
        Stream(_kept(b" \n" * 60, "application/json"), 5, (), 30_100, is_left=True),
        "stream_stalled",
    ),
    "comments, until we left": (Stream(_kept(b": wait\n\n" * 60), 5, (), 30_100, is_left=True), "stream_stalled"),
    "more blanks at once than anybody reads": (Stream(_kept(b" " * 999), 5, (), 900, is_left=True), "empty_response"),
    "silent from the start": (
        Stream(Response(200, {}, b"", 5), 5, (), 15_000, fault=httpx.ReadTimeout("")),
        "stream_stalled",
    ),
}


@pytest.mark.parametrize(("stream", "expected"), STREAMS.values(), ids=STREAMS)
def test_what_is_wrong_with_a_stream(stream: Stream, expected: str) -> None:
    found = fault(stream, ASKED)
    assert (found.cause if found else "") == expected


BURSTS: dict[str, tuple[tuple[int, ...], int, int | None, bool]] = {
    "one event": ((900,), 890, 100, False),
    "events as they are made": ((500, 700, 900), 490, 100, False),
    "at once, and fast": ((100, 101, 102), 90, 100, False),
    "at once, as late as the whole answer": ((900, 901, 902), 890, 850, False),
    "at once, and far later than the whole answer": ((1500, 1501, 1502), 1490, 100, True),
    "at once, and later than the whole answer, as models are by chance": ((2900, 2901, 2902), 2890, 300, False),
    "many at once, and nothing to compare with": ((900,) * 12 + (902, 902), 890, None, True),
    "many, as fast as they are sold": (tuple(range(900, 914)), 890, None, False),
    "many at once, when we came to": ((900,) * 14, 200, None, False),
    "many at once, and we were held up a little": ((900,) * 14, 780, None, True),
    "far later than the whole answer, when we came to": ((1500, 1501, 1502), 900, 100, False),
}


@pytest.mark.parametrize(("when", "quiet_ms", "answered_ms", "expected"), BURSTS.values(), ids=BURSTS)
def test_what_was_held_back(when: tuple[int, ...], quiet_ms: int, answered_ms: int | None, expected: bool) -> None:
    stream = Stream(ANSWER, 5, when, when[-1], is_ended=True, quiet_ms=quiet_ms)
    assert (is_burst(stream) and buffered(stream, answered_ms) is not None) is expected


def test_a_tick_that_is_late_says_nothing_of_what_came() -> None:
    watch = Watch()
    for before, now, quiet in ((1.0, 1.02, 1.0), (1.02, 1.06, 1.02), (1.06, 1.6, 1.02), (1.6, 1.62, 1.6)):
        watch.ticks(before, now)
        assert watch.quiet == quiet


def test_who_was_held_up_from_the_start_has_seen_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "ticks", lambda *_: None)
    with scripted([b"HTTP/1.1 200 OK\r\n\r\n" + BODY]) as server:
        heard = listen(f"{server.base_url}/chat/completions", {}, {}, Network(), "openai-chat")
    assert (len(heard.events_ms), heard.quiet_ms) == (1, 0)


@dataclass
class Right:
    dialect: Dialect
    base: str
    address: str
    cause: str


CANDIDATES = {
    "no version": Right(CHAT, "http://h", "http://h/v1", "path_missing_v1"),
    "a version twice": Right(CHAT, "http://h/v1/v1", "http://h/v1", "path_duplicate_v1"),
    "an endpoint": Right(CHAT, "http://h/v1/chat/completions", "http://h/v1", "path_full_endpoint"),
    "no prefix": Right(CHAT, "http://h/v1", "http://h/api/v1", "path_missing_prefix"),
    "a prefix too many": Right(CHAT, "http://h/openai/v1", "http://h/v1", "path_extra_segment"),
    "another prefix for the version": Right(CHAT, "http://h/v1", "http://h/api", "path_missing_prefix"),
    "no version at all": Right(CHAT, "http://h/v1", "http://h", "path_extra_segment"),
    "a version behind another": Right(CHAT, "http://h/v4/v1", "http://h/v4", "path_extra_segment"),
    "a version that the tool appends itself": Right(MESSAGES, "http://h/v1", "http://h", "path_duplicate_v1"),
    "no prefix, of Anthropic's kind": Right(MESSAGES, "http://h", "http://h/anthropic", "path_missing_prefix"),
    "responses without a version": Right(RESPONSES, "http://h/api", "http://h/api/v1", "path_missing_v1"),
}


@pytest.mark.parametrize("row", CANDIDATES.values(), ids=CANDIDATES)
def test_the_right_address_is_among_the_first(row: Right) -> None:
    found = {one.base: one.cause for one in list(candidates(row.dialect, row.base))[:4]}
    assert found.get(row.address) == row.cause


# How many requests.

REFUSED = {"status": 401, "headers": JSON, "json": {"error": {"message": "Invalid token", "type": "new_api_error"}}}
NOTHING = {"status": 404, "headers": JSON, "json": {"error": {"message": "Invalid URL"}}}
CHUNKS = ({"choices": [{"index": 0, "delta": {"content": "pong"}, "finish_reason": "stop"}]}, "data: [DONE]")

COUNTS: dict[str, tuple[Data, list[str]]] = {
    "well": (case(ok(chat())), ["GET", "POST"]),
    "well, as a stream": (case(events(*CHUNKS)), ["GET", "POST"]),
    "well, without a list": (case(ok(message()), MESSAGES, models={}), ["GET", "POST"]),
    "a key that is refused": (case(REFUSED, models=REFUSED, asks=False), ["GET", "POST", "GET", "GET"]),
    "nothing there": (case(NOTHING, models=NOTHING, asks=False), ["GET", "POST", "GET", "GET", "GET", "GET"]),
}


@pytest.mark.parametrize(("row", "expected"), COUNTS.values(), ids=COUNTS)
def test_how_much_is_asked(tmp_path: Path, row: Data, expected: list[str]) -> None:
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert [one.method for one in said.asked] == expected


VERSIONED = {
    "Anthropic's": (case(ok(message()), MESSAGES), {"2023-06-01"}),
    "OpenAI's": (case(ok(chat())), {""}),
    "OpenAI's newer": (case(ok(response()), RESPONSES), {""}),
    "one that the tool sends itself": (
        case(ok(message()), MESSAGES, headers={"Anthropic-Version": "2024-01-01"}),
        {"2023-06-01", "2024-01-01"},
    ),
}


@pytest.mark.parametrize(("row", "expected"), VERSIONED.values(), ids=VERSIONED)
def test_who_is_told_the_version_of_anthropics_protocol(tmp_path: Path, row: Data, expected: set[str]) -> None:
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert {one.headers.get("anthropic-version", "") for one in said.asked} <= expected
    assert said.code == 0


def test_a_gateway_that_only_streams_is_asked_for_streams_by_deep_too(tmp_path: Path) -> None:
    row = case(events(*CHUNKS))
    refusal = {"status": 400, "headers": JSON, "json": {"detail": "Stream must be set to true"}}
    refused = {"method": "POST", "path": "/v1/chat/completions", "if": {"stream": False}, "respond": refusal}
    row["server_behaviour"]["listeners"]["main"]["routes"].insert(0, refused)
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage, "--deep")
    assert (said.code, said.causes) == (0, [])
    assert [one.json["stream"] for one in said.asked if one.method == "POST"] == [True, True]
