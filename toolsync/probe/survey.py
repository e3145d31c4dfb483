"""What several programs ask, asked: how far each gets on its way, and what it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from toolsync.probe.inquiry import Inquiry, inquire
from toolsync.probe.line import Line, asked
from toolsync.probe.request import Request
from toolsync.probe.talk import MOST_BILLABLE, MOST_REQUESTS
from toolsync.probe.way import Way, way
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
        ask, again = partial(self._asked, requests), partial(self._asked_again, requests)
        return asked([_origin(one) for one in requests], ask, again, _SILENT_SECONDS)

    def _asked(self, requests: Sequence[Request], number: int, line: Line) -> Answer:
        request = requests[number]
        found = line.once(request.network, partial(way, request.url, request.network, self.root)).result()
        gone = replace(found, url=request.url)
        if gone.end is not None:
            return Answer(gone)
        if gone.unread_bundle:  # most clients go on without it
            request = replace(request, network=replace(request.network, ca_bundle=""))
        return Answer(gone, inquire(request, is_deep=self.is_deep, line=line))

    def _asked_again(self, requests: Sequence[Request], number: int, line: Line, before: Answer) -> Answer:
        spent = before.inquiry.exchanges if before.inquiry is not None else ()
        is_left = len(spent) + 1 < MOST_REQUESTS and sum(one.is_billable for one in spent) < MOST_BILLABLE
        if before.inquiry is None or not is_left or not _may_be_ours(before.inquiry):
            return before
        if before.inquiry.cause in line.confirmed:
            return before
        inquiry = inquire(requests[number], is_deep=self.is_deep, line=line, before=spent)
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
