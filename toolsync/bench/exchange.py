"""One request sent and what came of it, its stamps kept; and the reading of it, once there is time."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, cast

import httpx

from toolsync.bench import metrics, sse, tokens
from toolsync.bench.connection import LARGEST_REPLY, STAMPS, Stamps
from toolsync.bench.proxied import ProxiedTransport
from toolsync.bench.record import Fault, Request, TokenSource
from toolsync.bench.tokens import Reply
from toolsync.bench.transport import StampingTransport
from toolsync.probe.body import own_words
from toolsync.probe.response import Response
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.address import Dialect

_NOTHING = Stamps(0, array("q"), array("q"))


@frozen
class Exchange:
    """One request, and what came of it, not looked into yet.

    Attributes:
        intended_ns: when it should have started.
        t0_ns: when it did; None: it could not be sent.
        status: None where no answer came.
        headers: of the answer, by lower-case name.
        body: as far as it came.
        stamps: of its pieces.
        fault: what went wrong on the way.
        words: likewise, in those of whoever said so; not fit to be shown as they are.
    """

    intended_ns: int
    t0_ns: int | None
    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: bytes = b""
    stamps: Stamps = _NOTHING
    fault: Fault = ""
    words: str = ""


class Sender:
    """Sends requests to one address; the key goes there and nowhere else, for nothing is redirected."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        transport: StampingTransport | ProxiedTransport,
        timeout_seconds: float,
    ) -> None:
        self._url, self.transport = httpx.URL(url), transport
        self._headers = {
            **headers,
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",  # what is packed comes in lumps
        }
        self._extensions = {"timeout": httpx.Timeout(timeout_seconds).as_dict()}

    async def send(self, body: bytes, intended_ns: int | None = None) -> Exchange:
        """Send one request and wait for its reply. Whatever goes wrong is in the exchange.

        No client of httpx's is in between: it would keep cookies, which lead all requests to one engine, and take as
        long for each request as all the rest.
        """
        intended_ns = perf_counter_ns() if intended_ns is None else intended_ns
        asked = httpx.Request("POST", self._url, headers=self._headers, content=body, extensions=self._extensions)
        try:
            answer = await self.transport.handle_async_request(asked)
        except httpx.TimeoutException as error:
            is_sent = not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
            return Exchange(intended_ns, None, fault="timeout" if is_sent else "unsent", words=str(error))
        except (httpx.TransportError, OSError) as error:
            return Exchange(
                intended_ns, None, fault="cut" if isinstance(error, _AFTER_SENDING) else "unsent", words=str(error)
            )
        stamps: Stamps = answer.extensions[STAMPS]
        return Exchange(
            intended_ns,
            stamps.t0_ns,
            answer.status_code,
            {name.lower(): value for name, value in answer.headers.items()},
            b"".join(cast("httpx.SyncByteStream", answer.stream)),
            stamps,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self.transport.aclose()


_AFTER_SENDING = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""What goes wrong on a connection that was open."""


def read(exchange: Exchange, dialect: Dialect) -> tuple[Reply, Fault]:
    """What a reply says, and what is wrong with it."""
    if exchange.fault:
        return Reply(error=exchange.words), exchange.fault
    if refusal(exchange):
        return Reply(error=exchange.body[:_LONGEST_WORDS].decode(errors="replace")), "status"
    body, ends = exchange.body, exchange.stamps.ends
    encoding = (exchange.headers or {}).get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        unpacked = sse.unpacked(body, ends, encoding, LARGEST_REPLY)
        if unpacked is None:
            return Reply(error=f"the reply is packed as {encoding}"), "odd"
        body, ends = unpacked[0], array("q", unpacked[1])
    reply = tokens.reply(dialect, sse.events(body, exchange.stamps.at_ns, ends))
    return reply, _fault(exchange, reply, body)


_LONGEST_WORDS = 4000


def refusal(exchange: Exchange) -> str:
    """The status of no success, and when to come again; empty where it was one, or where no answer came."""
    if exchange.status is None or 200 <= exchange.status < 300:  # noqa: PLR2004  HTTP's own classes
        return ""
    after = (exchange.headers or {}).get("retry-after", "")
    return f"{exchange.status} (Retry-After: {after})" if after else str(exchange.status)


def words(exchange: Exchange, reply: Reply) -> str:
    """What was said of a fault; of a refusal in the gateway's own words, without the JSON or the page around them."""
    status = exchange.status
    if status is None or not refusal(exchange):
        return reply.error or exchange.words
    return own_words(Response(status, exchange.headers or {}, exchange.body, 0)) or reply.error or ""


def _fault(exchange: Exchange, reply: Reply, body: bytes) -> Fault:
    if reply.error is not None:
        return "event"
    if exchange.stamps.is_late:
        return "timeout"
    if not exchange.stamps.is_whole:
        return "cut"
    if not reply.at_ns and body.lstrip()[:1] in (b"{", b"[", b"<"):
        return "odd"  # no stream: one object, or a page
    return metrics.fault_of(reply)


def figures(exchange: Exchange, dialect: Dialect, source: TokenSource, origin_ns: int) -> tuple[Request, Reply]:
    """The figures of one exchange, and what its reply says."""
    reply, fault = read(exchange, dialect)
    timing = metrics.Timing(origin_ns, exchange.intended_ns, exchange.t0_ns, exchange.status)
    return metrics.request(timing, reply, fault, source), reply
