"""A short stream, read with a clock: when its headers came, its events, and its end; and what is wrong with that."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from toolsync import waiting
from toolsync.address import Dialect
from toolsync.causes import Certainty
from toolsync.deadline import answered
from toolsync.probe.body import levels
from toolsync.probe.classifier import Asked, read
from toolsync.probe.dialect import is_last, reply, speaks
from toolsync.probe.network import Network, asking, client, headers_of
from toolsync.probe.response import Response
from toolsync.probe.unpacking import unpacked
from toolsync.probe.watch import Watch
from toolsync.sentence import Text, say
from toolsync.value import frozen

_LONGEST = 2**18
"""Bytes that are read; sixteen tokens make far fewer."""

_LAST_SECONDS = 1.0
"""What the end of a stream that we leave may take beyond our patience."""

_BUFFERED_WAIT_MS = 400
"""A shorter wait before everything comes at once shows nothing: a fast server may just be done."""

_UNSEEN_MS = 150
"""Who was held up for longer may have missed how they came one by one."""

_STALLED_MS = 5_000
"""So long a silence before the end is more than a break."""

_CHANCE = 8
_HELD_UP_MS = 600
"""By so much a stream must be later than the same answer without one: more than waits differ by chance, and by load."""

_TOKENS_THAT_TAKE_TIME = 12
_TOKENS_A_MS = 6
"""So many events need their time to be made, at any speed that is sold: some 3,000 tokens/s (Cerebras)."""


@frozen
class Stream:
    """What came.

    Attributes:
        answer: status, headers and body, as far as it came; None where nothing did.
        headers_ms: when the headers came, from the sending on.
        events_ms: when each event that carries data came.
        spoke_ms: when the first event came that says something: until then a model may think, however long.
        quiet_ms: until when nothing had come, as far as we were awake to see it.
        total_ms: when it ended, or we stopped.
        is_ended: whether its last event came, as the dialect says which that is.
        is_left: whether we stopped listening, for it was enough.
        fault: the exception that ended it early, if one did.
    """

    answer: Response | None
    headers_ms: int = 0
    events_ms: tuple[int, ...] = ()
    total_ms: int = 0
    is_ended: bool = False
    is_left: bool = False
    fault: Exception | None = None
    spoke_ms: int | None = None
    quiet_ms: int = 0

    @property
    def first_ms(self) -> int | None:
        """When its first event came."""
        return self.events_ms[0] if self.events_ms else None

    @property
    def silence_ms(self) -> int:
        """The longest wait for an event, once the headers had come, whether a model was thinking or not."""
        moments = (self.headers_ms, *self.events_ms)
        return max((later - earlier for earlier, later in pairwise(moments)), default=0)

    @property
    def longest_gap_ms(self) -> int:
        """The longest wait between two events, once it has begun to speak."""
        spoken = [moment for moment in self.events_ms if self.spoke_ms is not None and moment >= self.spoke_ms]
        return max((later - earlier for earlier, later in pairwise(spoken)), default=0)


@frozen
class Fault:
    """What is wrong with a stream.

    Attributes:
        cause: a slug.
        certainty: whether this one stream leaves no doubt.
        said: one line.
        also: causes that look the same.
        by: the row that decided, where its answer did.
    """

    cause: str
    certainty: Certainty
    said: Text
    also: tuple[str, ...] = ()
    by: str = ""


def listen(
    url: str, body: Mapping[str, object], headers: Mapping[str, str], network: Network, dialect: Dialect
) -> Stream:
    """Ask for a stream and read it to its end, or to the network's patience. Raises nothing."""
    import httpx

    watch = Watch()
    heard = _Heard(dialect, watch)

    def read() -> bool:
        """Read to the end, or to where it is enough; whether we left."""
        with client(url, network) as one, one.stream("POST", url, json=body, headers=headers) as answer:
            heard.begins(answer.status_code, headers_of(answer))
            for chunk in unpacked(answer, _LONGEST):
                heard.takes(chunk)
                if heard.is_enough or heard.since() > network.read_seconds * 1000:
                    return True
        return False

    try:  # httpx limits each wait by itself: headers that drip would hold us long
        seconds = network.connect_seconds + network.read_seconds + _LAST_SECONDS
        with waiting.on(lambda: asking(url, body), seconds), watch:
            is_left = answered(read, seconds)
    except TimeoutError:
        return replace(heard.stream, fault=httpx.ReadTimeout("the answer did not end in time"))
    except Exception as error:  # noqa: BLE001  every exception is a result
        return replace(heard.stream, fault=error)
    return replace(heard.stream, is_left=is_left)


@dataclass
class _Heard:
    dialect: Dialect
    _watch: Watch
    _started: float = field(default_factory=time.perf_counter)
    _status: int | None = None
    _headers: dict[str, str] = field(default_factory=dict)
    _headers_ms: int = 0
    _body: bytearray = field(default_factory=bytearray)
    _parsed: int = 0
    _events_ms: list[int] = field(default_factory=list)
    _is_ended: bool = False
    _spoke_ms: int | None = None
    _quiet_ms: int = 0

    def since(self) -> int:
        return round((time.perf_counter() - self._started) * 1000)

    def begins(self, status: int, headers: dict[str, str]) -> None:
        self._status, self._headers, self._headers_ms = status, headers, self.since()

    @property
    def is_enough(self) -> bool:
        return len(self._body) >= _LONGEST

    def takes(self, chunk: bytes) -> None:
        """Note the events that the chunk completes, all of one moment."""
        self._body += chunk
        now = self.since()
        if not self._events_ms:
            self._quiet_ms = round((self._watch.quiet - self._started) * 1000)
        *whole, _ = bytes(self._body[self._parsed :]).split(b"\n")
        for line in whole:
            self._parsed += len(line) + 1
            if line.startswith(b"data:"):
                self._events_ms.append(now)
                self._is_ended = self._is_ended or line[5:].strip() == b"[DONE]"
                self._looks_into(line[5:], now)

    def _looks_into(self, data: bytes, now: int) -> None:
        try:
            event: Any = json.loads(data)
        except ValueError:
            return
        if isinstance(event, dict):
            self._is_ended = self._is_ended or is_last(event, self.dialect)
            if self._spoke_ms is None and speaks(event, self.dialect):
                self._spoke_ms = now

    @property
    def stream(self) -> Stream:
        if self._status is None:
            return Stream(None, total_ms=self.since())
        answer = Response(self._status, self._headers, bytes(self._body), self.since())
        events_ms = tuple(self._events_ms)
        came = Stream(answer, self._headers_ms, events_ms, self.since(), self._is_ended)
        return replace(came, spoke_ms=self._spoke_ms, quiet_ms=self._quiet_ms)


def fault(stream: Stream, asked: Asked) -> Fault | None:
    """What is wrong with a stream; None where nothing is, or the clock alone could tell (`buffered`).

    Args:
        stream: what came.
        asked: what it is an answer to.
    """
    if stream.answer is None:
        return None  # nothing came: what the exception says is another's to say
    if not 200 <= stream.answer.status < 300:  # noqa: PLR2004  HTTP's own classes
        return _read(stream.answer, asked)
    if not stream.events_ms:
        return _without_events(stream, asked)
    told = read(stream.answer, asked)
    if told.cause and (told.certainty != "open" or levels(stream.answer)):  # an error in the midst of it
        wordless: Text = say(_WORDLESS[told.cause]) if told.cause in _WORDLESS else ""
        return Fault(told.cause, told.certainty, told.words or wordless, told.also)
    if stream.fault is not None or not (stream.is_ended or stream.is_left):
        return _broken(stream)
    if stream.longest_gap_ms >= _STALLED_MS:
        seconds = f"{stream.longest_gap_ms / 1000:.1f}"
        return Fault("stream_stalled", "likely", say("stream_pause", seconds=seconds))
    return None


_WORDLESS = {"wire_api_unsupported": "stream_other", "empty_response": "stream_wordless"}
"""What is wrong with a stream that says nothing of it."""


def _read(answer: Response, asked: Asked) -> Fault:
    reading = read(answer, asked)
    return Fault(reading.cause, reading.certainty, reading.words, reading.also, reading.by)


def _without_events(stream: Stream, asked: Asked) -> Fault | None:
    assert stream.answer is not None  # noqa: S101  the caller looked
    if stream.fault is not None or (stream.is_left and _says_nothing_yet(stream)):
        return _broken(stream)
    if reply(stream.answer.json, asked.dialect) is not None:
        kind = stream.answer.headers.get("content-type", "") or say("no_type")
        return Fault("stream_not_sse", "sure", say("no_stream", kind=kind))
    return _read(stream.answer, asked)


def _says_nothing_yet(stream: Stream) -> bool:
    """Whether only blank lines and comments came, which keep a connection open, for longer than we wait."""
    assert stream.answer is not None  # noqa: S101  the caller's caller looked
    is_kept_open = all(not line.strip() or line.startswith(b":") for line in stream.answer.body.splitlines())
    return is_kept_open and stream.total_ms - stream.headers_ms >= _STALLED_MS


def _broken(stream: Stream) -> Fault:
    if type(stream.fault).__name__ == "DecodingError":
        return Fault("encoding_mismatch", "sure", say("not_as_compressed"))
    count = len(stream.events_ms)
    waited = stream.total_ms - (stream.events_ms[-1] if stream.events_ms else stream.headers_ms)
    if type(stream.fault).__name__ == "ReadTimeout" or waited >= _STALLED_MS:
        certainty: Certainty = "sure" if count else "likely"  # headers alone: a model may be thinking
        said = say("stream_silent", seconds=f"{waited / 1000:.1f}", count=str(count))
        return Fault("stream_stalled", certainty, said)
    return Fault("stream_truncated", "sure", say("stream_cut", count=str(count)))


def is_burst(stream: Stream) -> bool:
    """Whether everything came at once, after a wait in which we were there to see that nothing came."""
    if len(stream.events_ms) < 2:  # noqa: PLR2004  one event is no stream
        return False
    first, last = stream.events_ms[0], stream.events_ms[-1]
    is_seen = last - stream.quiet_ms <= max(_UNSEEN_MS, first // 4)
    return first >= _BUFFERED_WAIT_MS and last - first <= max(30, first // 20) and is_seen


def is_plain(stream: Stream) -> bool:
    """Whether a burst shows by itself that it was held back, so that nothing need be asked to compare it with."""
    count = len(stream.events_ms)
    return count >= _TOKENS_THAT_TAKE_TIME and stream.events_ms[-1] - stream.events_ms[0] <= count // _TOKENS_A_MS


def buffered(stream: Stream, answered_ms: int | None) -> Fault | None:
    """What is wrong with a burst; never sure, for the wait may be the model's own.

    Of a few tokens, which take no time, only the comparison speaks, and the same model waits now for longer, now for
    less before its first: with log-normal waits of sigma 0.5 eightfold in one of six hundred pairs.

    Args:
        stream: what came, all at once.
        answered_ms: how long the same question without a stream took; None where it was not answered.
    """
    first, last, count = stream.events_ms[0], stream.events_ms[-1], len(stream.events_ms)
    is_later = answered_ms is not None and first > _CHANCE * answered_ms + _HELD_UP_MS
    if not is_later and not is_plain(stream):
        return None
    said = say("stream_burst", count=str(count), span=str(last - first), wait=str(first))
    return Fault("stream_buffered", "likely" if is_plain(stream) else "open", said)
