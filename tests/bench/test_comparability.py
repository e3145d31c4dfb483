"""Each way in which two runs are no before and after is refused, and named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.bench.records import record, request, rung
from toolsync.bench.comparability import differences
from toolsync.bench.record import Gpu, Record

BEFORE = record(gpu=Gpu("nvml", way="v2"))


def after(**parts: Any) -> Record:
    """The run after, which differs from the one before in these parts of its parts."""
    whole = replace(BEFORE, id="20261202T100000Z-ffff")
    changed = {
        name: replace(getattr(whole, name), **value) if isinstance(value, dict) else value
        for name, value in parts.items()
    }
    return replace(whole, **changed)


def replies(**more: Any) -> dict[str, Any]:
    return {"rungs": tuple(rung(step, *(request(**more) for _ in range(10))) for step in (1, 2))}


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        pytest.param(after(), [], id="the-same"),
        pytest.param(after(label="after", notes=("Slow.",), connect_ms=9.0, started="x"), [], id="what-may-differ"),
        pytest.param(after(target={"origin": "ffffffffffff", "host_kind": "public"}), [], id="another-address"),
        pytest.param(after(environment={"is_encrypted": True}), [], id="tls"),
        pytest.param(after(environment={"python": "3.11.9"}), [], id="a-patch-of-python"),
        pytest.param(after(parameters={"words": 500, "requests_min": 50}), [], id="more-requests"),
        pytest.param(after(gpu=Gpu("", "no driver")), [], id="memory-unknown-in-one"),
        pytest.param(after(id=BEFORE.id), [("run", BEFORE.id, BEFORE.id)], id="one-run-twice"),
        pytest.param(
            after(target={"model": "b", "answered_model": "b"}), [("model", "a-model", "b")], id="another-model"
        ),
        pytest.param(
            after(target={"answered_model": "b"}), [("model that answered", "a-model", "b")], id="another-model-answers"
        ),
        pytest.param(after(target={"answered_model": None}), [], id="who-answers-is-unknown"),
        pytest.param(
            after(target={"dialect": "anthropic-messages"}),
            [("dialect", "openai-chat", "anthropic-messages")],
            id="dialect",
        ),
        pytest.param(
            after(parameters={"prompt_tokens": 1024}),
            [("lengths", "512 in, 256 out", "1024 in, 256 out")],
            id="prompts-as-asked",
        ),
        pytest.param(
            after(parameters={"output_tokens": 128}),
            [("lengths", "512 in, 256 out", "512 in, 128 out")],
            id="replies-as-asked",
        ),
        pytest.param(
            after(**replies(prompt_tokens=600)),
            [("prompt tokens that were counted", "512", "600")],
            id="prompts-as-counted",
        ),
        pytest.param(after(**replies(prompt_tokens=520)), [], id="prompts-nearly-as-long"),
        pytest.param(after(**replies(prompt_tokens=None)), [], id="prompts-not-counted"),
        pytest.param(
            after(**replies(tokens=3)), [("completion tokens that came", "4", "3")], id="replies-that-came-are-shorter"
        ),
        pytest.param(after(ladder=(1, 2, 4)), [("ladder", "1,2", "1,2,4")], id="ladder"),
        pytest.param(
            after(parameters={"rate": 5.0}),
            [("load", "a closed loop, warm-up one per stream", "5 requests/s, warm-up one per stream")],
            id="rate",
        ),
        pytest.param(
            after(parameters={"warm_up": 0}),
            [("load", "a closed loop, warm-up one per stream", "a closed loop, warm-up 0")],
            id="warm-up",
        ),
        pytest.param(
            after(parameters={"accepted": {"max_tokens": 256}}),
            [
                (
                    "accepted parameters",
                    "max_tokens=256, stream_options=include_usage=True",
                    "max_tokens=256",
                )
            ],
            id="accepted-parameters",
        ),
        pytest.param(
            after(parameters={"accepted": {"max_tokens": 255, "stream_options": {"include_usage": True}}}),
            [
                (
                    "accepted parameters",
                    "max_tokens=256, stream_options=include_usage=True",
                    "max_tokens=255, stream_options=include_usage=True",
                )
            ],
            id="another-value-of-one",
        ),
        pytest.param(after(token_source="events"), [("token source", "usage", "events")], id="token-source"),
        pytest.param(after(gpu=Gpu("dcgm")), [("GPU source", "nvml v2", "dcgm")], id="gpu-source"),
        pytest.param(after(gpu=Gpu("nvml", way="v1")), [("GPU source", "nvml v2", "nvml v1")], id="how-it-counts"),
        pytest.param(
            after(**replies(cached_tokens=256)), [("cached share of the prompts", "0%", "50%")], id="cached-share"
        ),
        pytest.param(after(**replies(cached_tokens=None)), [], id="cached-share-unknown"),
    ],
)
def test_what_two_runs_do_not_have_in_common(candidate: Record, expected: list[tuple[str, str, str]]) -> None:
    assert [(one.what, one.before, one.after) for one in differences(BEFORE, candidate)] == expected


@pytest.mark.parametrize(
    "changed",
    [
        {"environment": {"transport": "httpx"}},
        {"environment": {"is_proxied": True}},
        {"environment": {"loop": "uvloop"}},
        {"environment": {"python": "3.13.1"}},
        {"environment": {"processors": 64}},
        {"environment": {"machine": "arm64"}},
        {"environment": {"system": "Darwin"}},
        {"toolsync": "0.2.0"},
    ],
    ids=str,
)
def test_another_client_is_another_yardstick(changed: dict[str, Any]) -> None:
    (only,) = differences(BEFORE, after(**changed))
    assert only.what == "client"
    assert only.before != only.after


def test_every_reason_is_named_at_once() -> None:
    candidate = after(target={"model": "b"}, token_source="events", ladder=(1,))
    assert [one.what for one in differences(BEFORE, candidate)] == ["model", "ladder", "token source"]
