"""Connections: kept, found stale, silent, encrypted, through a proxy; and what is never sent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.bench.server import HEAD, Scripted, chunk, serving, streamed
from tests.bench.test_exact import DONE, LAST, ROWS, TEXT
from tests.conftest import needs
from toolsync.bench.exchange import Exchange, Sender, read
from toolsync.bench.proxied import ProxiedTransport
from toolsync.bench.transport import StampingTransport
from toolsync.probe.network import Network, trust

_WHOLE = streamed(TEXT, LAST + DONE)


def _sender(base: str, read_seconds: float = 5.0, headers: dict[str, str] | None = None) -> Sender:
    return Sender(f"{base}/v1/chat/completions", headers or {}, StampingTransport(None, 5, read_seconds), 5)


def _faults(*exchanges: Exchange) -> list[str]:
    return [read(one, "openai-chat")[1] for one in exchanges]


def test_a_connection_is_used_again() -> None:
    async def run() -> tuple[list[str], int, int]:
        scripted = Scripted(lambda _: _WHOLE)
        async with serving(scripted) as base:
            sender = _sender(base)
            came = [await sender.send(b"{}") for _ in range(3)]
            await sender.close()
        return _faults(*came), scripted.connections, len(sender.transport.connects_ms)

    assert asyncio.run(run()) == (["", "", ""], 1, 1)


def test_streams_that_run_at_once_have_a_connection_each() -> None:
    async def run() -> tuple[list[str], int]:
        scripted = Scripted(lambda _: _WHOLE)
        async with serving(scripted) as base:
            sender = _sender(base)
            for _ in range(2):
                came = await asyncio.gather(*(sender.send(b"{}") for _ in range(4)))
            await sender.close()
        return _faults(*came), scripted.connections

    assert asyncio.run(run()) == ([""] * 4, 4)


@pytest.mark.parametrize("pause", [0.0, 0.02], ids=["not noticed yet", "noticed"])
def test_a_connection_that_was_closed_meanwhile_is_opened_anew(pause: float) -> None:
    async def run() -> tuple[list[str], int, int]:
        scripted = Scripted(lambda _: _WHOLE, is_kept=False)
        async with serving(scripted) as base:
            sender = _sender(base)
            first = await sender.send(b"{}")
            await asyncio.sleep(pause)
            second = await sender.send(b"{}")
            await sender.close()
        return _faults(first, second), scripted.connections, len(scripted.requests)

    assert asyncio.run(run()) == (["", ""], 2, 2)


def test_what_was_closed_as_the_request_came_is_sent_once_more_on_a_used_connection_only() -> None:
    async def run() -> tuple[list[str], int]:
        answers = iter([_WHOLE, None, _WHOLE, None, None])
        scripted = Scripted(lambda _: next(answers))
        async with serving(scripted) as base:
            sender = _sender(base)
            came = [await sender.send(b"{}") for _ in range(3)]
            await sender.close()
        return _faults(*came), len(scripted.requests)

    assert asyncio.run(run()) == (["", "", "cut"], 5)


@pytest.mark.parametrize(
    "pieces",
    [[], [HEAD[0]], [HEAD[0] + chunk(TEXT)]],
    ids=["no answer", "headers alone", "midway"],
)
def test_silence_is_given_up(pieces: list[bytes]) -> None:
    async def run() -> list[str]:
        scripted = Scripted(lambda _: pieces)
        async with serving(scripted) as base:
            sender = _sender(base, read_seconds=0.05)
            came = await sender.send(b"{}")
            await sender.close()
        return _faults(came)

    assert asyncio.run(run()) == ["timeout"]


def test_comments_for_ever_are_given_up() -> None:
    async def run() -> list[str]:
        scripted = Scripted(lambda _: [HEAD[0], *[chunk(b": x\n\n")] * 100], pause=0.004)
        async with serving(scripted) as base:
            sender = _sender(base, read_seconds=0.02)
            came = await sender.send(b"{}")
            await sender.close()
        return _faults(came)

    assert asyncio.run(run()) == ["timeout"]


def test_nobody_there_is_said() -> None:
    async def run() -> list[str]:
        sender = _sender("http://127.0.0.1:9")
        came = await sender.send(b"{}")
        return [*_faults(came), str(came.t0_ns)]

    assert asyncio.run(run()) == ["unsent", "None"]


def test_an_address_that_does_not_answer_is_left_for_another_of_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[list[str], int]:
        scripted = Scripted(lambda _: _WHOLE, is_kept=False)
        async with serving(scripted):
            loop = asyncio.get_running_loop()

            async def resolved(_: str, port: int, **__: Any) -> list[Any]:
                return [(2, 1, 6, "", (address, port)) for address in ("127.0.0.9", "127.0.0.1")]

            monkeypatch.setattr(loop, "getaddrinfo", resolved)
            sender = _sender(f"http://two.example:{scripted.port}")
            came = [await sender.send(b"{}") for _ in range(2)]
            await sender.close()
        return _faults(*came), scripted.connections

    assert asyncio.run(run()) == (["", ""], 2)


def test_a_header_of_two_lines_is_not_sent() -> None:
    async def run() -> tuple[list[str], list[bytes]]:
        scripted = Scripted(lambda _: _WHOLE)
        async with serving(scripted) as base:
            sender = _sender(base, headers={"x-team": "a\r\nx-evil: b"})
            came = await sender.send(b"{}")
            await sender.close()
        return _faults(came), scripted.requests

    assert asyncio.run(run()) == (["unsent"], [])


def test_cookies_are_not_kept() -> None:
    async def run() -> bytes:
        pieces = [_WHOLE[0].replace(b"\r\n\r\n", b"\r\nset-cookie: engine=1; path=/\r\n\r\n", 1), *_WHOLE[1:]]
        scripted = Scripted(lambda _: pieces)
        async with serving(scripted) as base:
            sender = _sender(base)
            for _ in range(2):
                await sender.send(b"{}")
            await sender.close()
        return scripted.requests[-1]

    sent = asyncio.run(run())
    assert b"cookie" not in sent.lower()
    assert b"accept-encoding: identity" in sent.lower()


def _certified(folder: Path, name: str) -> tuple[ssl.SSLContext, str]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    bundle = folder / "ca.pem"
    authority.cert_pem.write_to_path(str(bundle))
    return context, str(bundle)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize(
    ("name", "is_trusted", "fault"),
    [("127.0.0.1", True, ""), ("127.0.0.1", False, "unsent"), ("elsewhere.example", True, "unsent")],
    ids=["trusted", "nobody's", "another's"],
)
def test_encryption_trusts_what_the_profile_trusts(
    tmp_path: Path, name: str, is_trusted: bool, fault: str, loop: str
) -> None:
    if loop == "uvloop":
        needs(_uvloop(), "uvloop")
    served, bundle = _certified(tmp_path, name)

    async def run() -> list[str]:
        scripted = Scripted(lambda _: _WHOLE)
        async with serving(scripted, served) as base:
            context = trust(base, Network(ca_bundle=bundle if is_trusted else ""))
            sender = Sender(f"{base}/v1", {}, StampingTransport(context, 5, 5), 5)
            came = [await sender.send(b"{}") for _ in range(2)]
            await sender.close()
        assert scripted.connections <= 2
        return _faults(*came)

    with asyncio.Runner(loop_factory=_uvloop() if loop == "uvloop" else None) as runner:
        assert runner.run(_quietly(run())) == [fault, fault]


async def _quietly(work: Coroutine[Any, Any, list[str]]) -> list[str]:
    """Without asyncio's own words on handshakes that fail, as they should."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    return await work


def test_a_proxy_is_gone_through_by_httpx() -> None:
    async def run() -> tuple[list[str], bytes]:
        scripted = Scripted(lambda _: _WHOLE)
        async with serving(scripted) as proxy:
            context = trust("http://gateway.example", Network())
            sender = Sender("http://gateway.example/v1", {}, ProxiedTransport(proxy, context, 4), 5)
            came = await sender.send(b"{}")
            await sender.close()
            assert came.t0_ns is not None
            assert came.t0_ns <= scripted.heard_ns <= came.stamps.at_ns[0]
        return _faults(came), scripted.requests[0].split(b"\r\n")[0]

    assert asyncio.run(run()) == ([""], b"POST http://gateway.example/v1 HTTP/1.1")


_BY_UVLOOP = [
    "slow headers, byte by byte",
    "gzip in spite of identity",
    "cut between chunks",
    "ends with its connection",
]


@pytest.mark.parametrize("name", _BY_UVLOOP)
def test_uvloop_makes_no_difference(name: str) -> None:
    needs(_uvloop(), "uvloop")
    row = ROWS[name]

    async def run() -> tuple[list[str], int]:
        scripted = Scripted(lambda _: row.pieces, 0.0002, is_kept=False)
        async with serving(scripted) as base:
            sender = _sender(base)
            came = await sender.send(b"{}")
            await sender.close()
        reply, _ = read(came, "openai-chat")
        return _faults(came), len(reply.at_ns)

    factory = _uvloop()
    with asyncio.Runner(loop_factory=factory) as runner:
        assert runner.run(run()) == ([row.fault], len(row.at))


def _uvloop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
