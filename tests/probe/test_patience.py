"""Whether a tool would have waited: which of the waits its time limit holds for is the tool's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.keys import invented
from tests.probe.gateway import Reply, slow
from toolsync import registry
from toolsync.address import PATHS, Dialect
from toolsync.masking import Secret
from toolsync.probe import stream as streams
from toolsync.probe.inquiry import Inquiry, inquire
from toolsync.probe.request import Request
from toolsync.probe.response import Response
from toolsync.probe.stream import Stream
from toolsync.sentence import tell

KEY = Secret(invented("patience"))
RESPONSES: Dialect = "openai-responses"
BODY = (
    b'data: {"type": "response.output_text.delta", "delta": "po"}\n\n'
    b'data: {"type": "response.output_text.delta", "delta": "ng"}\n\n'
    b'data: {"type": "response.completed", "response": {"status": "completed"}}\n\n'
)
ANSWER = Response(200, {"content-type": "text/event-stream"}, BODY, 10)

LATE_HEADERS = Stream(ANSWER, 4000, (4010, 4020, 4030), 4040, is_ended=True, spoke_ms=4010)
LATE_WORD = Stream(ANSWER, 10, (4010, 4020, 4030), 4040, is_ended=True, spoke_ms=4010)
PAUSE = Stream(ANSWER, 10, (20, 4020, 4030), 4040, is_ended=True, spoke_ms=20)
LONG_PAUSE = Stream(ANSWER, 10, (20, 7020, 7030), 7040, is_ended=True, spoke_ms=20)
UNSAID = Stream(Response(200, {}, b"", 10), 10, (), 15_000, fault=httpx.ReadTimeout(""))
SHORT = "tool_timeout_too_short"
STALLED = "stream_stalled"

ROWS = {
    "headers: they are late": (["headers"], LATE_HEADERS, SHORT, "4.0"),
    "headers: the word is late": (["headers"], LATE_WORD, "", ""),
    "headers: a pause": (["headers"], PAUSE, "", ""),
    "first: the headers are late": (["first"], LATE_HEADERS, SHORT, "4.0"),
    "first: the word is late": (["first"], LATE_WORD, SHORT, "4.0"),
    "first: a pause": (["first"], PAUSE, "", ""),
    "gaps: the headers are late": (["gaps"], LATE_HEADERS, "", ""),
    "gaps: the word is late": (["gaps"], LATE_WORD, SHORT, "4.0"),
    "gaps: a pause": (["gaps"], PAUSE, SHORT, "4.0"),
    "gaps: a pause that is too long for anybody": (["gaps"], LONG_PAUSE, SHORT, "7.0"),
    "headers: a pause that is too long for anybody": (["headers"], LONG_PAUSE, STALLED, ""),
    "gaps: nothing came but headers": (["gaps"], UNSAID, STALLED, ""),
    "both: a pause": (["headers", "gaps"], PAUSE, SHORT, "4.0"),
}


def heard(monkeypatch: pytest.MonkeyPatch, came: Stream, timeout_of: list[str], seconds: float) -> Inquiry:
    monkeypatch.setattr(streams, "listen", lambda *_: came)
    with slow(lambda _: Reply({"object": "list", "data": [{"id": "m"}]})) as gateway:
        base = f"{gateway.origin}/v1"
        url, keys = base + PATHS[RESPONSES], {"authorization": KEY}
        asks = Request(RESPONSES, base, url, "m", keys, streams=True)
        return inquire(replace(asks, timeout_seconds=seconds, timeout_of=tuple(timeout_of)))


@pytest.mark.parametrize(("timeout_of", "came", "cause", "needed"), ROWS.values(), ids=ROWS)
def test_a_limit_of_three_seconds(
    monkeypatch: pytest.MonkeyPatch, timeout_of: list[str], came: Stream, cause: str, needed: str
) -> None:
    found = heard(monkeypatch, came, timeout_of, 3.0)
    told = tell(found.values["needed"]) if cause == SHORT else ""
    assert (found.cause, told) == (cause, needed)
    is_shown = f"silence of {needed} s" in tell(found.exchanges[-1].line)
    assert is_shown is (cause == SHORT and "gaps" in timeout_of)


@pytest.mark.parametrize("came", [LATE_HEADERS, LATE_WORD, PAUSE])
@pytest.mark.parametrize("of", ["headers", "first", "gaps"])
def test_who_waits_long_enough_is_answered(monkeypatch: pytest.MonkeyPatch, came: Stream, of: str) -> None:
    assert heard(monkeypatch, came, [of], 5.0).cause == ""


def at_once(first_ms: int, count: int) -> Stream:
    """So many events that came together, after a wait."""
    return Stream(ANSWER, 10, (first_ms,) * count, first_ms + 1, is_ended=True, spoke_ms=first_ms, quiet_ms=first_ms)


BURSTS = {
    "few, and soon": (at_once(900, 3), ["models", "stream", "question"], []),
    "few, after a long wait: that is not gone through again": (at_once(36_000, 3), ["models", "stream"], []),
    "many: they say it by themselves": (at_once(900, 14), ["models", "stream"], ["stream_buffered"]),
    "many, after a long wait": (at_once(36_000, 14), ["models", "stream"], ["stream_buffered"]),
}


@pytest.mark.parametrize(("came", "asked", "notes"), BURSTS.values(), ids=BURSTS)
def test_what_came_at_once_is_compared_only_where_that_tells_something_and_is_soon_done(
    monkeypatch: pytest.MonkeyPatch, came: Stream, asked: list[str], notes: list[str]
) -> None:
    found = heard(monkeypatch, came, ["first"], 600)
    assert [exchange.what for exchange in found.exchanges] == asked
    assert (found.cause, [note[0] for note in found.notes]) == ("", notes)


def test_each_tool_says_what_its_limit_holds_for(tmp_path: Path) -> None:
    tools = registry.tools(tmp_path)
    said = {name: tools[name].request.timeout_of for name in ("claude-code", "codex", "cline")}
    assert said == {"claude-code": ("headers",), "codex": ("gaps",), "cline": ("first",)}
