"""Records for tests: whole ones of few figures, in which a test replaces what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolsync.bench.record import Client, Environment, Parameters, Record, Request, Rung, Target


def request(ttft_ms: float = 100.0, itl_ms: float = 5.0, tokens: int = 4, **more: Any) -> Request:
    """A request that went well, with one token a chunk."""
    whole = Request(
        intended_ms=0.0,
        t0_ms=0.0,
        ttft_ms=ttft_ms,
        ttfo_ms=ttft_ms,
        tpot_ms=itl_ms,
        e2e_ms=ttft_ms + itl_ms * (tokens - 1),
        itl_ms=(itl_ms,) * (tokens - 1),
        chunks=tokens,
        prompt_tokens=512,
        completion_tokens=tokens,
        cached_tokens=0,
        finish_reason="length",
        status=200,
    )
    return replace(whole, **more)


def rung(concurrency: int, *requests: Request, **more: Any) -> Rung:
    """A rung of a healthy client."""
    whole = Rung(
        concurrency=concurrency,
        started_ns=1_000_000_000,
        ended_ns=2_000_000_000,
        started="2026-12-01T10:00:00.000Z",
        ended="2026-12-01T10:00:01.000Z",
        requests=requests or (request(),) * max(10, 3 * concurrency),
        client=Client(cpu_share=0.1, loop_lag_p99_ms=0.2, skew_ms=0.3, is_limit=False),
    )
    return replace(whole, **more)


def record(*rungs: Rung, **more: Any) -> Record:
    """A run of the ladder that its rungs make."""
    rungs = rungs or (rung(1), rung(2))
    whole = Record(
        id="20261201T100000Z-abcd",
        started="2026-12-01T10:00:00.000Z",
        toolsync="0.1.0",
        label="before",
        environment=Environment(
            "Linux", "x86_64", 2, "3.11.7", "own", "asyncio", is_proxied=False, is_encrypted=False, versions={}
        ),
        target=Target("0123456789ab", "loopback", "/v1/chat/completions", "openai-chat", "a-model", "a-model"),
        parameters=Parameters(512, 256, 480, {"max_tokens": 256, "stream_options": {"include_usage": True}}),
        token_source="usage",
        connect_ms=0.2,
        ladder=tuple(one.concurrency for one in rungs),
        rungs=rungs,
    )
    return replace(whole, **more)
