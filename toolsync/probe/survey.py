"""What several programs ask, asked: how far each gets on its way, and what it is answered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from toolsync.probe.conclusion import ENOUGH
from toolsync.probe.inquiry import Inquiry, inquire
from toolsync.probe.line import Line, asked
from toolsync.probe.request import Request
from toolsync.probe.way import Way, way
from toolsync.sentence import say
from toolsync.value import frozen

_SILENT_SECONDS = 10.0
"""Who does not even list models for so long is asked the rest at once: there is nobody whom that is too much for."""


@frozen
class Survey:
    """How requests are asked.

    Attributes:
        root: of the file system, as `way` wants it.
        is_deep: as `inquire` has it.
    """

    root: Path = Path("/")
    is_deep: bool = False

    def of(self, requests: Sequence[Request]) -> list[Answer]:
        """What each of them comes to, in their order; several origins are asked at the same time."""
        queues = _queues(requests)
        each = [[requests[number] for number in queue] for queue in queues]
        ask, again = partial(self._asked, each), partial(self._asked_again, each)
        came = asked([_origin(queue[0]) for queue in each], ask, again, _SILENT_SECONDS)
        found = dict(zip(chain(*queues), chain(*came), strict=True))
        return [_advised(found[number]) for number in range(len(requests))]

    def _asked(self, queues: Sequence[Sequence[Request]], number: int, line: Line) -> list[Answer]:
        return [self._answer(request, line) for request in queues[number]]

    def _answer(self, request: Request, line: Line) -> Answer:
        found = line.once(request.network, partial(way, request.url, request.network, self.root)).result()
        gone = replace(found, url=request.url)
        return Answer(gone) if gone.end is not None else Answer(gone, self._inquired(request, line, gone))

    def _inquired(self, request: Request, line: Line, gone: Way) -> Inquiry:
        if gone.unread_bundle:  # most clients go on without it
            request = replace(request, network=replace(request.network, ca_bundle=""))
        return inquire(request, is_deep=self.is_deep, line=line)

    def _asked_again(
        self, queues: Sequence[Sequence[Request]], number: int, line: Line, before: list[Answer]
    ) -> list[Answer]:
        line.account(queues[number][0].payer).lessons.clear()  # they were learned in a crowd
        return [self._answer_again(request, line, one) for request, one in zip(queues[number], before, strict=True)]

    def _answer_again(self, request: Request, line: Line, before: Answer) -> Answer:
        told = before.inquiry
        is_known = told is not None and (told.cause in line.confirmed or (not told.cause and line.is_hanging))
        if told is None or not _may_be_ours(told) or is_known:
            return before
        inquiry = self._inquired(request, line, before.way)
        if inquiry.said == ENOUGH:  # the crowd was ours
            return replace(before, inquiry=replace(told, certainty="open"))
        line.confirmed |= {inquiry.cause} if _may_be_ours(inquiry) else set()
        return replace(before, inquiry=inquiry)


@frozen
class Answer:
    """What a request comes to.

    Attributes:
        way: how far it gets.
        inquiry: what it is answered; None where it does not get so far.
    """

    way: Way
    inquiry: Inquiry | None = None


def _advised(answer: Answer) -> Answer:
    """With what to do where the gateway took the last request, and did not answer it: nobody can tell why."""
    told = answer.inquiry
    if told is None or told.cause or told.said or told.certainty != "open" or not told.exchanges:
        return answer
    if told.exchanges[-1].status is not None or any(one.cause for one in told.exchanges):
        return answer
    return replace(answer, inquiry=replace(told, said=say("try_again")))


def _queues(requests: Sequence[Request]) -> list[list[int]]:
    """Those that one key pays for, in one dialect and at one origin: what one of them learns, the next need not ask."""
    found: dict[Hashable, list[int]] = {}
    for number, request in enumerate(requests):
        found.setdefault((_origin(request), request.payer), []).append(number)
    return [*found.values()]


def _origin(request: Request) -> str:
    parts = urlsplit(request.url.strip())
    return f"{parts.scheme}://{parts.netloc}".lower()


def _may_be_ours(inquiry: Inquiry) -> bool:
    """Whether what it came to may be because several were asked at once."""
    is_late = any(exchange.status is None and exchange.is_billable for exchange in inquiry.exchanges)
    return is_late or inquiry.cause in _OF_LOAD


_OF_LOAD = frozenset(
    {
        *("rate_limited", "upstream_overloaded", "origin_timeout", "tool_timeout_too_short"),
        *("stream_stalled", "stream_buffered", "gateway_bug"),
    }
)
