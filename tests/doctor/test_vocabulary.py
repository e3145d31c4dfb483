"""What other hands call a thing is understood as what our listeners call it; our own words stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import corpus_rows
from tests.doctor.vocabulary import answer, listener, understood

ANSWERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "our own words": ({"status": 200, "text": "x"}, {"status": 200, "text": "x"}),
    "a body": ({"status_code": 500, "body": "x"}, {"status": 500, "text": "x"}),
    "a body that is an object": ({"body": {"a": 1}}, {"json": {"a": 1}}),
    "milliseconds": ({"delay_ms": 250, "gap_ms": 40}, {"delay_s": 0.25, "event_gap_s": 0.04}),
    "events as objects": (
        {"events": ["data: x", {"event": "ping", "data": {}}, {"id": 1}]},
        {"sse": ["data: x", "event: ping\ndata: {}", 'data: {"id": 1}']},
    ),
    "a stream that is cut": ({"sse": [], "close_after_events": 2}, {"sse": [], "end_after": 2}),
    "headers in pairs": ({"headers": [["A", "b"]]}, {"headers": {"A": "b"}}),
    "our own before another's": ({"text": "ours", "body": "theirs"}, {"text": "ours"}),
}


@pytest.mark.parametrize(("said", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_understood(said: dict[str, Any], expected: dict[str, Any]) -> None:
    assert answer(said) == expected


LISTENERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a port that is shut": ({"type": "refused"}, {"type": "closed"}),
    "TLS": ({"type": "tls", "certificate": "wrong_host"}, {"type": "https", "tls": {"cert": "other_name"}}),
    "a proxy that asks for a login": (
        {"type": "http_proxy", "mode": 407},
        {"type": "proxy", "mode": "auth_required"},
    ),
    "a route": (
        {"type": "http", "endpoints": [{"path": "/x", "when": {"model": "m"}, "response": {"code": 404}}]},
        {
            "type": "http",
            "routes": [{"method": "*", "path": "/x", "if": {"model_in": ["m"]}, "respond": {"status": 404}}],
        },
    ),
}


@pytest.mark.parametrize(("said", "expected"), LISTENERS.values(), ids=LISTENERS)
def test_a_listener_is_understood(said: dict[str, Any], expected: dict[str, Any]) -> None:
    assert listener(said) == expected


def test_the_published_words_stay_as_they_are(pytestconfig: pytest.Config) -> None:
    for row in corpus_rows(pytestconfig, "doctor"):
        known = understood(row)
        assert {name: known["config"][name] for name in row["config"]} == row["config"]
        for name, said in row["server_behaviour"]["listeners"].items():
            found = known["server_behaviour"]["listeners"][name]
            routes = [{"if": {}, **route} for route in said.get("routes", [])]
            assert found == {**said, **({"routes": routes} if "routes" in said else {})}
