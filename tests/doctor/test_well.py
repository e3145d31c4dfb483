"""Gateways with which all is well, asked over the wire: no warning, exit code 0, and at most four requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conftest import sampled
from tests.doctor.cases import diagnosed, realised
from tests.doctor.test_doctor_cases import leaks
from tests.keys import invented

Data = dict[str, Any]
KEY = invented("doctor-well")
LONG = invented("doctor-well-long") + "".join(f".part{number:03d}AbCdEf" for number in range(120))
MOST_REQUESTS = 4

JSON = {"Content-Type": "application/json"}
CHAT: Final = "openai-chat"
MESSAGES: Final = "anthropic-messages"
RESPONSES: Final = "openai-responses"
PATHS = {CHAT: "/chat/completions", MESSAGES: "/messages", RESPONSES: "/responses"}


def ok(data: object, **more: Any) -> Data:
    return {"status": 200, "headers": {**JSON, **more.pop("headers", {})}, "json": data, **more}


def listed(*names: str, **more: Any) -> Data:
    rows = [{"id": name, "object": "model", **more} for name in names or ("demo-model",)]
    return ok({"object": "list", "data": rows})


def chat(message: Data | None = None, choice: Data | None = None, **more: Any) -> Data:
    first = {"index": 0, "message": message or {"role": "assistant", "content": "pong"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    data = {"id": "c1", "object": "chat.completion", "created": 1, "model": "demo-model"}
    return {**data, "choices": [{**first, **(choice or {})}], "usage": usage, **more}


def message(content: Sequence[Data] = ({"type": "text", "text": "pong"},), **more: Any) -> Data:
    data = {"id": "m1", "type": "message", "role": "assistant", "model": "demo-model", "stop_reason": "end_turn"}
    return {**data, "content": list(content), "usage": {"input_tokens": 3, "output_tokens": 1}, **more}


def response(**more: Any) -> Data:
    part = {"type": "output_text", "text": "pong", "annotations": []}
    item = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [part]}
    data = {"id": "r1", "object": "response", "status": "completed", "model": "demo-model", "output": [item]}
    return {**data, "error": None, "usage": {"input_tokens": 3, "output_tokens": 1}, **more}


def events(*data: Data | str, named: bool = False, **more: Any) -> Data:
    """A stream; text stands as it is."""
    lines = [one if isinstance(one, str) else _event(one, named=named) for one in data]
    return {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "sse": lines, **more}


def _event(data: Data, *, named: bool) -> str:
    return (f"event: {data['type']}\n" if named else "") + f"data: {json.dumps(data)}"


def chunk(text: str = "", finish: str | None = None, **delta: Any) -> Data:
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "demo-model", "choices": [choice]}


CHUNKS = (chunk("po", role="assistant"), chunk("ng", "stop"), "data: [DONE]")
MESSAGE_EVENTS = (
    {"type": "message_start", "message": {**message([]), "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "pong"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
)
THOUGHT_EVENTS = (
    MESSAGE_EVENTS[0],
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "well"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 16}},
    {"type": "message_stop"},
)
RESPONSE_EVENTS = (
    {"type": "response.created", "response": response(status="in_progress", output=[])},
    {"type": "response.output_text.delta", "item_id": "i1", "delta": "pong"},
    {"type": "response.completed", "response": response()},
)


def case(  # noqa: PLR0913  each is one way in which set-ups differ
    answer: Data,
    kind: str = CHAT,
    *,
    models: Data | None = None,
    key: str | None = KEY,
    form: str = "literal",
    asks: bool = True,
    accept: Sequence[str] = ("bearer", "x-api-key"),
    listener: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    resolve: Mapping[str, Any] | None = None,
    **config: Any,
) -> Data:
    """A set-up in the form of doctor's cases.

    Args:
        answer: to the tool's request.
        kind: the dialect.
        models: the list; None: there is one of one model.
        key: what the tool sends.
        form: where it has it from.
        asks: whether the gateway asks for a key.
        accept: the headers that it reads.
        listener: what else is said of it.
        others: listeners beside it.
        env: variables.
        resolve: where names lead.
        config: what else the tool is set to.
    """
    routes = [{"method": "POST", "path": f"/v1{PATHS[kind]}", "respond": answer}]
    if models != {}:
        routes.append({"method": "GET", "path": "/v1/models", "respond": models or listed()})
    refusal = {"status": 401, "headers": JSON, "json": {"error": {"message": "Invalid token", "code": "invalid"}}}
    auth = {"keys": [key], "accept": list(accept), "before_routing": True, "on_fail": refusal}
    main = {"type": "http", "routes": routes, "default": {"status": 404, "headers": JSON, "json": {"error": "no"}}}
    said = {
        "api_kind": kind,
        "base_url": "http://{main}" if kind == MESSAGES else "http://{main}/v1",
        "model": "demo-model",
        "key": {"form": form if key else "none", "value": key},
        "auth_style": "x-api-key" if kind == MESSAGES else "bearer",
        "stream": "sse" in answer,
        **config,
    }
    return {
        "config": said,
        "environment": {"env": dict(env or {}), "files": [], "process": None, "resolve": dict(resolve or {})},
        "server_behaviour": {
            "listeners": {"main": {**main, **({"auth": auth} if asks else {}), **(listener or {})}, **(others or {})}
        },
        "expected_cause": "none",
    }


TRUSTED = {"type": "https", "tls": {"cert": "trusted", "ca_trusted": True}}
PROXY = {"proxy": {"type": "proxy", "mode": "forward"}}

ROWS: dict[str, Data] = {
    "chat": case(ok(chat())),
    "chat as a stream": case(events(*CHUNKS)),
    "messages": case(ok(message()), MESSAGES),
    "messages as a stream": case(events(*MESSAGE_EVENTS, named=True), MESSAGES),
    "responses": case(ok(response()), RESPONSES),
    "responses as a stream": case(events(*RESPONSE_EVENTS, named=True), RESPONSES),
    "a stream at once, after a moment": case(events(*CHUNKS, buffered=True, event_gap_s=0.05)),
    "two seconds to the first token": case(events(*CHUNKS, delay_s=2)),
    "two seconds to the answer": case(ok(chat(), delay_s=2)),
    "a stream with gaps": case(events(*CHUNKS, event_gap_s=0.7)),
    "a stream that ends without DONE": case(events(*CHUNKS[:2])),
    "a stream with its usage at the end": case(
        events(*CHUNKS[:2], {**chunk(), "choices": [], "usage": {"total_tokens": 4}}, CHUNKS[2])
    ),
    "OpenRouter's comments in a stream": case(events(": OPENROUTER PROCESSING", *CHUNKS)),
    "a relay of the one-api family": case(ok(chat(system_fingerprint=None)), models=listed(owned_by="custom")),
    "new-api": case(ok(chat()), models=listed("demo-model", owned_by="openai", supported_endpoint_types=["openai"])),
    "LiteLLM": case(ok(chat(service_tier=None)), models=listed(owned_by="openai")),
    "vLLM": case(
        ok(chat(choice={"logprobs": None, "stop_reason": None}, prompt_logprobs=None)),
        models=listed(owned_by="vllm", max_model_len=4096, permission=[]),
    ),
    "llama.cpp": case(ok(chat(timings={"prompt_n": 3})), models=listed(owned_by="llamacpp", meta={"n_ctx": 4096})),
    "Ollama": case(
        ok(chat(system_fingerprint="fp_ollama")), models=listed(owned_by="library"), key="ollama", asks=False
    ),
    "Azure": case(
        ok(chat(choice={"content_filter_results": {"hate": {"filtered": False}}}, prompt_filter_results=[])),
    ),
    "Mistral": case(ok(chat({"role": "assistant", "content": "pong", "tool_calls": None, "prefix": False}))),
    "OpenRouter": case(ok(chat(provider="Demo", choice={"native_finish_reason": "stop"}))),
    "a model that thinks its tokens away": case(
        ok(chat({"role": "assistant", "content": "", "reasoning_content": "well"}, {"finish_reason": "length"}))
    ),
    "a model that only thinks, of Anthropic's kind": case(
        ok(message([{"type": "thinking", "thinking": "well", "signature": "x"}], stop_reason="max_tokens")), MESSAGES
    ),
    "an answer that was cut off before its first item": case(
        ok(response(status="incomplete", output=[], incomplete_details={"reason": "max_output_tokens"})), RESPONSES
    ),
    "an answer in parts": case(ok(chat({"role": "assistant", "content": [{"type": "text", "text": "pong"}]}))),
    "compressed, as it says": case(ok(chat(), gzipped=1, headers={"Content-Encoding": "gzip"})),
    "a local server without a key": case(ok(chat()), key=None, asks=False),
    "a dummy key where none is asked for": case(ok(chat()), key="not-needed", asks=False),
    "no list of models": case(ok(chat()), models={}),
    "a list that is empty": case(ok(chat()), models=ok({"object": "list", "data": []})),
    "a list without the model, which answers": case(ok(chat()), models=listed("another")),
    "a long key": case(ok(chat()), key=LONG),
    "a key by a variable": case(ok(chat()), form="env", env_name="RELAY_KEY"),
    "a key by a command": case(ok(chat()), form="command"),
    "localhost": case(ok(chat()), base_url="http://localhost:{main.port}/v1", resolve={"localhost": ["127.0.0.1"]}),
    "an address with a slash at its end": case(ok(chat()), base_url="http://{main}/v1/"),
    "https with a root that is trusted": case(ok(chat()), listener=TRUSTED, base_url="https://{main}/v1"),
    "a proxy that forwards": case(ok(chat()), others=PROXY, env={"HTTP_PROXY": "http://{proxy}"}),
    "a proxy that tunnels": case(
        ok(chat()), listener=TRUSTED, others=PROXY, env={"HTTPS_PROXY": "http://{proxy}"}, base_url="https://{main}/v1"
    ),
    "a proxy that does not concern it": case(
        ok(chat()), env={"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost,127.0.0.1"}
    ),
    "headers of one's own": case(ok(chat()), headers={"X-Team": "red", "X-Title": "demo"}),
    "the organisation that the key belongs to": case(ok(chat()), headers={"OpenAI-Organization": "org-1"}),
    "a beta that the gateway knows": case(ok(message()), MESSAGES, headers={"anthropic-beta": "some-2026-01-01"}),
    "the same key in two headers": case(ok(message()), MESSAGES, auth_style="both", second_key=KEY),
    "a limit of another name": case(ok(chat()), max_tokens_name="max_completion_tokens"),
    "a stream that only thinks": case(
        events(chunk(reasoning_content="well", role="assistant"), chunk("", "stop"), CHUNKS[2])
    ),
    "a stream that is cut off before a word": case(events(chunk(role="assistant"), chunk("", "length"), CHUNKS[2])),
    "a stream whose thoughts are hidden, and paid": case(
        events(
            chunk(role="assistant"), chunk("", "stop"), {"choices": [], "usage": {"completion_tokens": 9}}, CHUNKS[2]
        )
    ),
    "a stream that uses a tool": case(
        events(
            chunk(tool_calls=[{"index": 0, "id": "t", "function": {"name": "f"}}]), chunk("", "tool_calls"), CHUNKS[2]
        )
    ),
    "a stream that says in each event that nothing is wrong": case(
        events(*({**one, "error": None} for one in (chunk("po"), chunk("ng", "stop"))), CHUNKS[2])
    ),
    "a stream with words of trouble": case(events(chunk("error: rate limit"), chunk("", "stop"), CHUNKS[2])),
    "Azure's stream": case(events({"choices": [], "prompt_filter_results": []}, *CHUNKS)),
    "a thought as a stream, of Anthropic's kind": case(events(*THOUGHT_EVENTS, named=True), MESSAGES),
    "a stream of Anthropic's kind with OpenAI's end": case(events(*MESSAGE_EVENTS, CHUNKS[2], named=True), MESSAGES),
    "a stream of responses that is incomplete": case(
        events(
            RESPONSE_EVENTS[0], {"type": "response.incomplete", "response": response(status="incomplete")}, named=True
        ),
        RESPONSES,
    ),
    "a stream of responses with lines that keep it alive": case(
        events(RESPONSE_EVENTS[0], {"type": "keepalive"}, *RESPONSE_EVENTS[1:], named=True), RESPONSES
    ),
    "a byte-order mark before the answer": case(
        {"status": 200, "headers": JSON, "text": f"\ufeff{json.dumps(chat())}"}
    ),
    "an answer as plain text": case(
        {"status": 200, "headers": {"Content-Type": "text/plain"}, "text": json.dumps(chat())}
    ),
    "an answer of no type": case({"status": 200, "headers": {}, "text": json.dumps(chat())}),
    "a refusal of the model's": case(ok(chat({"role": "assistant", "content": None, "refusal": "no"}))),
    "words of trouble in the answer": case(ok(chat({"role": "assistant", "content": "401: invalid api key"}))),
    "behind Cloudflare": case(ok(chat(), headers={"Server": "cloudflare", "CF-RAY": "8f-X"})),
    "a list that is out of order": case(ok(chat()), models={"status": 503, "headers": {}, "text": ""}),
    "a list that leads to a login": case(
        ok(chat()), models={"status": 302, "headers": {"Location": "/login"}, "text": ""}
    ),
    "a list behind a firewall": case(
        ok(chat()),
        models={"status": 403, "headers": {"Content-Type": "text/html"}, "text": "<title>Just a moment...</title>"},
    ),
    "a list of Ollama's own form": case(ok(chat()), models=ok({"models": [{"name": "demo-model"}]})),
    "a model with a router's name": case(ok(chat()), model="demo/model:free@x", models=listed("demo/model:free@x")),
    "Azure's header": case(ok(chat()), auth_style="api-key", accept=("api-key",)),
    "a key that is a web token": case(ok(chat()), key="eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
    "a key of Base64": case(ok(chat()), key="aB3+/dE5fG7hI9aB3dE5fG7hI9=="),
    "a key that is a number of four parts": case(ok(chat()), key="3f2b8c1e-9a7d-4c55-8a11-0123456789ab"),
    "every host exempt from the proxy": case(ok(chat()), env={"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "*"}),
    "a host exempt from the proxy among others": case(
        ok(chat()), env={"http_proxy": "http://127.0.0.1:9", "no_proxy": "corp.example, 127.0.0.1"}
    ),
    "a time limit of two minutes": case(ok(chat()), timeout={"connect_s": 5, "read_s": 120, "total_s": 120}),
}


@pytest.mark.parametrize("row", sampled(list(ROWS.values())), ids=sampled(list(ROWS)))
def test_nothing_is_wrong_where_the_gateway_answers(tmp_path: Path, row: Data) -> None:
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    of_note = [finding["cause"] for finding in said.findings if finding["severity"] != "info"]
    assert (said.code, of_note) == (0, []), said.err
    requests = [one for one in said.asked if one.listener != "proxy"]
    assert len(requests) <= MOST_REQUESTS
    assert leaks(said, str(row["config"]["key"]["value"] or "")) == []


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 30
