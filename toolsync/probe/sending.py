"""One request to a gateway as it goes out, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from toolsync.probe import network as networks
from toolsync.probe import stream as streams
from toolsync.probe.body import shown
from toolsync.probe.classifier import Asked, Reading, read
from toolsync.probe.exchange import Exchange, What
from toolsync.probe.failure import unsent
from toolsync.probe.network import Network
from toolsync.probe.request import Request
from toolsync.probe.response import Response
from toolsync.probe.verdict import location, shown_address
from toolsync.sentence import Text, say
from toolsync.value import frozen


@frozen
class Sending:
    """What is asked, how, and by which way.

    Attributes:
        what: why it is asked.
        method: `GET` or `POST`.
        url: whom.
        body: data; None for none, and an empty question costs nothing anywhere.
        headers: all of them, the key revealed.
        way: how it gets there, and how long it waits.
    """

    what: What
    method: str
    url: str
    body: Mapping[str, Any] | None
    headers: Mapping[str, str]
    way: Network

    @property
    def is_billable(self) -> bool:
        """Whether it may cost something."""
        return bool(self.body)

    @property
    def likeness(self) -> Hashable:
        """All that makes a request that costs nothing what it is: of those alike, one is sent."""
        return self.method, self.url, tuple(sorted(self.headers.items())), self.way

    def as_read(self, request: Request) -> Asked:
        """The same, as far as an answer to it is read by it."""
        is_keyed = any(header in self.headers for header in request.credentials)
        model = str(self.body.get("model") or "-") if self.body is not None else ""
        return Asked(self.url, request.dialect, model, is_keyed)


Came = tuple[Exchange, Response | None]
"""What came of a request; the answer is None where none came."""


def sent(sending: Sending, request: Request, hears: Callable[[], None]) -> Came:
    """Send it, once.

    Args:
        sending: what is sent.
        request: the tool's, which it is made of.
        hears: told as soon as an answer is there.
    """
    started = time.perf_counter()
    answer, reading = None, Reading("")
    words: Text = ""
    try:
        answer = networks.send(sending.method, sending.url, sending.body, sending.headers, sending.way)
        hears()
        reading = Reading("") if _is_cut_list(answer, sending) else read(answer, sending.as_read(request))
        words = _by_headers(answer, sending.url, reading.by) or reading.words
    except Exception as error:  # noqa: BLE001  every exception is a result
        verdict = unsent(error, sending.url, sending.way)
        reading = Reading(verdict.cause, certainty=verdict.certainty if verdict.cause else "open")
        words = verdict.problem
    exchange = Exchange(
        *(sending.what, sending.method, shown_address(sending.url), tuple(sorted(sending.headers))),
        status=answer.status if answer else None,
        content_type=_type(answer),
        words=words,
        cause=reading.cause,
        certainty=reading.certainty,
        also=reading.also,
        elapsed_ms=answer.elapsed_ms if answer else round((time.perf_counter() - started) * 1000),
        is_billable=sending.is_billable,
        by=reading.by,
    )
    return exchange, answer


def listened(sending: Sending, request: Request) -> tuple[Exchange, streams.Stream]:
    """Send a question whose answer is a stream, and listen to its end.

    Args:
        sending: the question.
        request: the tool's, which it is made of.
    """
    heard = streams.listen(sending.url, sending.body or {}, sending.headers, sending.way, request.dialect)
    wrong = streams.fault(heard, replace(sending.as_read(request), streams=True))
    if heard.answer is None:
        verdict = unsent(heard.fault or OSError(), sending.url, sending.way)
        wrong = streams.Fault(verdict.cause, verdict.certainty if verdict.cause else "open", verdict.problem)
    exchange = Exchange(
        *(sending.what, sending.method, shown_address(sending.url), tuple(sorted(sending.headers))),
        status=heard.answer.status if heard.answer else None,
        content_type=_type(heard.answer),
        words=_by_headers(heard.answer, sending.url, wrong.by if wrong else "")
        or (wrong.said if wrong else _paused(request, heard)),
        cause=wrong.cause if wrong else "",
        certainty=wrong.certainty if wrong else "sure",
        also=wrong.also if wrong else (),
        elapsed_ms=heard.total_ms,
        first_ms=heard.first_ms,
        headers_ms=heard.headers_ms if heard.answer else None,
        silence_ms=heard.silence_ms if heard.answer else None,
        is_billable=sending.is_billable,
        by=wrong.by if wrong else "",
    )
    return exchange, heard


def is_redirect(answer: Response) -> bool:
    """Whether it sends one to another place."""
    return 300 <= answer.status < 400 and "location" in answer.headers  # noqa: PLR2004  HTTP's own classes


def _is_cut_list(answer: Response, sending: Sending) -> bool:
    """Whether it is a list of models longer than what is read: it is there, and nobody knows what is in it."""
    is_cut = len(answer.body) >= networks.LONGEST_BODY
    return sending.body is None and is_cut and answer.status == 200 and "json" in _type(answer)  # noqa: PLR2004  HTTP's


def _by_headers(answer: Response | None, url: str, by: str) -> Text:
    """Where a redirect points to, or how an answer is packed that cannot be read; "" for any other answer."""
    if answer is None:
        return ""
    if by == "edges/packed-unasked":
        return say("packed_unasked", packing=shown(answer.headers["content-encoding"]))
    place = location(answer, url) if is_redirect(answer) else ""
    return say("leads_to", place=place) if place else ""


def _paused(request: Request, heard: streams.Stream) -> Text:
    """That it was silent for longer than the tool waits within a stream."""
    patience_ms = (request.timeout_seconds or 0) * 1000
    if "gaps" not in request.timeout_of or not 0 < patience_ms < heard.silence_ms:
        return ""
    return say("stream_pause", seconds=f"{heard.silence_ms / 1000:.1f}")


def _type(answer: Response | None) -> str:
    return answer.headers.get("content-type", "").partition(";")[0].strip() if answer else ""
