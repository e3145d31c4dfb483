"""httpx's own transport, with stamps: for the ways that ours does not know."""

from __future__ import annotations

import logging
import ssl
from array import array
from time import perf_counter_ns
from typing import Any, cast

import httpx

from toolsync.bench.connection import LARGEST_REPLY, STAMPS, Stamps


class ProxiedTransport(httpx.AsyncBaseTransport):
    """httpx's own transport with stamps, for ways that ours does not know: through a proxy.

    The request is stamped as its headers are written, pieces as httpx gives them: later than they arrived.
    """

    def __init__(self, proxy: str, context: ssl.SSLContext, connections: int) -> None:
        logging.getLogger("httpcore").setLevel(logging.CRITICAL)  # its debug log repeats headers, keys and all
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._inner = httpx.AsyncHTTPTransport(proxy=proxy, verify=context, trust_env=False, limits=limits)
        self.connects_ms: list[float] = []  # nobody knows here
        self.dropped = 0  # likewise

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. See httpx.

        Raises:
            httpx.TransportError: it could not be sent, or no status came.
        """
        t0_ns = perf_counter_ns()

        async def trace(event: str, _info: Any) -> None:
            nonlocal t0_ns
            if event.endswith("send_request_headers.started"):  # a tunnel's own come before ours
                t0_ns = perf_counter_ns()

        request.extensions = {**request.extensions, "trace": trace}
        answer = await self._inner.handle_async_request(request)
        body, at_ns, ends = bytearray(), array("q"), array("q")
        is_whole, is_late = True, False
        try:
            async for piece in cast("httpx.AsyncByteStream", answer.stream):
                at_ns.append(perf_counter_ns())
                body += piece
                ends.append(len(body))
                if len(body) > LARGEST_REPLY:
                    is_whole = False
                    break
        except httpx.TimeoutException:
            is_whole, is_late = False, True
        except httpx.TransportError:
            is_whole = False
        finally:
            await answer.aclose()
        stamps = Stamps(t0_ns, at_ns, ends, is_whole=is_whole, is_late=is_late)
        stream = httpx.ByteStream(bytes(body))
        extensions: dict[str, Any] = {STAMPS: stamps}
        return httpx.Response(answer.status_code, headers=answer.headers, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()
