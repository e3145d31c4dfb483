"""The gateway on loopback speaks as real ones do; the real clients that it must satisfy have tests of their own."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from toolsync.loopback import Answer, LoopbackGateway, Received
from toolsync.masking import Secret

KEY = Secret("sk-invented-loopback-01")
WRONG = Secret("sk-invented-loopback-02")
BEARER = {"Authorization": f"Bearer {KEY.reveal()}"}
X_KEY = {"x-api-key": KEY.reveal(), "anthropic-version": "2023-06-01"}
CHAT = {"model": "m-1", "messages": [{"role": "user", "content": "ping"}]}
RESPONSE = {"model": "m-1", "input": "ping"}


@pytest.fixture
def gateway() -> Iterator[LoopbackGateway]:
    with LoopbackGateway(KEY, models=["m-1", "m-2"]) as running:
        yield running


def _call(
    gateway: LoopbackGateway, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> tuple[int, str, bytes]:
    """Status, content type and body of one request, by a client that knows nothing of the gateway's code."""
    connection = http.client.HTTPConnection(urlsplit(gateway.base_url).netloc, timeout=30)
    try:
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, sent, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    finally:
        connection.close()


def _events(body: bytes) -> list[tuple[str | None, Any]]:
    """Name and data of each server-sent event (WHATWG HTML, 9.2.6)."""
    events = []
    for block in body.decode().strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        data = lines["data"]
        events.append((lines.get("event"), data if data == "[DONE]" else json.loads(data)))
    return events


def test_its_address_is_on_this_machine_under_the_prefix() -> None:
    for prefix, path in (("/api", "/api"), ("/api/", "/api"), ("", "")):
        with LoopbackGateway(prefix=prefix) as gateway:
            parts = urlsplit(gateway.base_url)
            assert (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", path)
            assert _call(gateway, "GET", f"{path}/v1/models")[0] == 200


# Answers.


def test_chat_completion(gateway: LoopbackGateway) -> None:
    status, kind, body = _call(gateway, "POST", "/api/v1/chat/completions", CHAT, BEARER)
    data = json.loads(body)
    assert (status, kind, data["object"], data["model"]) == (200, "application/json", "chat.completion", "m-1")
    assert data["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "pong"}, "finish_reason": "stop"}
    ]
    assert data["usage"]["total_tokens"] == data["usage"]["prompt_tokens"] + data["usage"]["completion_tokens"]


def test_chat_completion_streamed(gateway: LoopbackGateway) -> None:
    wish = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
    status, kind, body = _call(gateway, "POST", "/api/v1/chat/completions", wish, BEARER)
    events = _events(body)
    chunks = [data for _, data in events[:-1]]
    assert (status, kind, events[-1]) == (200, "text/event-stream", (None, "[DONE]"))
    assert "".join(c["delta"].get("content", "") for chunk in chunks for c in chunk["choices"]) == "pong"
    assert [chunk.get("usage") is not None for chunk in chunks] == [False, False, True]


def test_response(gateway: LoopbackGateway) -> None:
    status, _, body = _call(gateway, "POST", "/api/v1/responses", RESPONSE, BEARER)
    data = json.loads(body)
    assert (status, data["object"], data["status"], data["model"]) == (200, "response", "completed", "m-1")
    assert data["output"][0]["content"][0]["text"] == "pong"
    assert data["usage"]["total_tokens"] == data["usage"]["input_tokens"] + data["usage"]["output_tokens"] > 1


def test_response_streamed(gateway: LoopbackGateway) -> None:
    _, kind, body = _call(gateway, "POST", "/api/v1/responses", {**RESPONSE, "stream": True}, BEARER)
    events = _events(body)
    assert kind == "text/event-stream"
    assert [name for name, _ in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert all(data["type"] == name for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(9))
    assert events[-1][1]["response"]["usage"]["output_tokens"] == 1


def test_message(gateway: LoopbackGateway) -> None:
    status, _, body = _call(gateway, "POST", "/api/v1/messages?beta=true", CHAT, X_KEY)
    data = json.loads(body)
    assert (status, data["type"], data["role"], data["stop_reason"]) == (200, "message", "assistant", "end_turn")
    assert data["content"] == [{"type": "text", "text": "pong"}]


def test_message_streamed(gateway: LoopbackGateway) -> None:
    _, kind, body = _call(gateway, "POST", "/api/v1/messages", {**CHAT, "stream": True}, X_KEY)
    events = _events(body)
    assert kind == "text/event-stream"
    assert [name for name, _ in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[2][1]["delta"] == {"type": "text_delta", "text": "pong"}


def test_tokens_are_counted(gateway: LoopbackGateway) -> None:
    status, _, body = _call(gateway, "POST", "/api/v1/messages/count_tokens", CHAT, X_KEY)
    assert (status, json.loads(body)) == (200, {"input_tokens": len(json.dumps(CHAT["messages"])) // 4})


def test_the_models_are_listed_in_both_forms(gateway: LoopbackGateway) -> None:
    openai = json.loads(_call(gateway, "GET", "/api/v1/models?client_version=1", headers=BEARER)[2])
    assert (openai["object"], [row["id"] for row in openai["data"]]) == ("list", ["m-1", "m-2"])
    anthropic = json.loads(_call(gateway, "GET", "/api/v1/models?limit=1000", headers=X_KEY)[2])
    assert [(row["type"], row["id"]) for row in anthropic["data"]] == [("model", "m-1"), ("model", "m-2")]
    assert (anthropic["first_id"], anthropic["last_id"], anthropic["has_more"]) == ("m-1", "m-2", False)


# Refusals.


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"Authorization": f"Bearer {WRONG.reveal()}"}, id="wrong"),
        pytest.param({"Authorization": "Bearer "}, id="empty"),
        pytest.param({**BEARER, "x-api-key": WRONG.reveal()}, id="a-foreign-one-beside"),
    ],
)
def test_a_key_that_is_not_the_one_is_refused_in_the_words_of_the_dialect(
    gateway: LoopbackGateway, headers: dict[str, str]
) -> None:
    status, _, body = _call(gateway, "POST", "/api/v1/chat/completions", CHAT, headers)
    assert (status, json.loads(body)["error"]["code"]) == (401, "invalid_api_key")
    status, _, body = _call(gateway, "POST", "/api/v1/messages", CHAT, headers)
    assert (status, json.loads(body)["error"]["type"]) == (401, "authentication_error")
    assert _call(gateway, "GET", "/api/v1/models", headers=headers)[0] == 401


@pytest.mark.parametrize("carrier", ["Authorization", "X-Api-Key", "x-goog-api-key", "api-key"])
def test_the_key_is_taken_from_any_header_that_clients_use(gateway: LoopbackGateway, carrier: str) -> None:
    value = f"Bearer {KEY.reveal()}" if carrier == "Authorization" else KEY.reveal()
    assert _call(gateway, "GET", "/api/v1/models", headers={carrier: value})[0] == 200


def test_the_key_may_be_changed_while_it_runs(gateway: LoopbackGateway) -> None:
    gateway.key = WRONG
    assert _call(gateway, "GET", "/api/v1/models", headers=BEARER)[0] == 401
    gateway.key = None
    assert _call(gateway, "GET", "/api/v1/models")[0] == 200


def test_a_model_that_it_does_not_serve_is_not_found(gateway: LoopbackGateway) -> None:
    wish = {**CHAT, "model": "m-9"}
    status, _, body = _call(gateway, "POST", "/api/v1/chat/completions", wish, BEARER)
    assert (status, json.loads(body)["error"]["code"]) == (404, "model_not_found")
    status, _, body = _call(gateway, "POST", "/api/v1/messages", wish, X_KEY)
    assert (status, json.loads(body)["error"]["type"]) == (404, "not_found_error")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"m-1"', b'{"model": 5}'])
def test_a_body_without_a_model_is_a_bad_request(gateway: LoopbackGateway, body: bytes) -> None:
    assert _call(gateway, "POST", "/api/v1/responses", body, BEARER)[0] == 400
    assert gateway.asked == ()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/messages"),
        ("POST", "/api/v1/v1/messages"),
        ("POST", "/api/messages"),
        ("POST", "/apis/v1/messages"),
        ("GET", "/api/v1/messages"),
        ("POST", "/api/v1/models"),
        ("GET", "/"),
    ],
)
def test_any_other_route_is_not_found_in_the_words_of_one_api(gateway: LoopbackGateway, method: str, path: str) -> None:
    status, kind, body = _call(gateway, method, path, CHAT if method == "POST" else None, BEARER)
    assert (status, kind) == (404, "application/json")
    assert json.loads(body)["error"]["message"] == f"Invalid URL ({method} {path})"


def test_a_head_request_gets_no_body(gateway: LoopbackGateway) -> None:
    assert _call(gateway, "HEAD", "/api")[0::2] == (404, b"")


def test_a_body_of_unknown_or_impossible_length_is_refused(gateway: LoopbackGateway) -> None:
    assert _call(gateway, "POST", "/api/v1/messages", b"", {**X_KEY, "Content-Length": "-1"})[0] == 411
    assert _call(gateway, "POST", "/api/v1/messages", b"", {**X_KEY, "Content-Length": str(2**40)})[0] == 411


# The record.


def test_every_request_is_recorded_and_the_key_only_as_a_secret(gateway: LoopbackGateway) -> None:
    _call(gateway, "HEAD", "/api")
    _call(gateway, "POST", "/api/v1/messages?beta=true", CHAT, {**X_KEY, **BEARER, "X-Team": "blue"})
    head, post = gateway.received
    assert (head.method, head.path, head.model) == ("HEAD", "/api", None)
    assert (post.method, post.path, post.query, post.model) == ("POST", "/api/v1/messages", "beta=true", "m-1")
    assert post.credentials == {"authorization": KEY, "x-api-key": KEY}
    assert (post.headers["authorization"], post.headers["x-api-key"], post.headers["x-team"]) == ("***", "***", "blue")
    assert KEY.reveal() not in repr(gateway.received)
    assert gateway.asked == (post,)
    gateway.forget()
    assert gateway.received == ()


def test_many_at_once_are_all_answered_and_recorded(gateway: LoopbackGateway) -> None:
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(_call(gateway, "POST", "/api/v1/messages", CHAT, X_KEY)[0])

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 16
    assert len(gateway.asked) == 16


def test_a_client_that_hangs_does_not_hold_back_the_end() -> None:
    with LoopbackGateway() as gateway:
        parts = urlsplit(gateway.base_url)
        hanging = socket.create_connection(("127.0.0.1", parts.port or 0), timeout=30)
        hanging.sendall(b"POST /api/v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
    hanging.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", parts.port or 0), timeout=30)


def test_a_test_may_answer_otherwise() -> None:
    class Broken(LoopbackGateway):
        def answer(self, request: Received) -> Answer:
            super().answer(request)
            return Answer(418, b"short and stout", {"Content-Type": "text/plain"})

    with Broken() as gateway:
        assert _call(gateway, "GET", "/api/v1/models") == (418, "text/plain", b"short and stout")
        assert len(gateway.received) == 1
