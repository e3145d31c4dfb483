"""The words of three dialects: answers, streams and errors as the clients of each expect them.

Shapes: https://platform.openai.com/docs/api-reference (chat completions, responses and their streams),
https://platform.claude.com/docs/en/api/messages and …/build-with-claude/streaming.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from toolsync.value import frozen

_JSON = {"Content-Type": "application/json"}
_STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}


@frozen
class Answer:
    """A status, a body and the headers that speak of it."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON)


def chat_completion(model: str, says: str, request: Mapping[str, Any]) -> Answer:
    """OpenAI's chat completion, streamed if asked for."""
    head = {"id": "chatcmpl-loopback", "created": _now(), "model": model}
    usage = {"prompt_tokens": _count(request.get("messages")), "completion_tokens": 1}
    usage["total_tokens"] = sum(usage.values())
    if not request.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": says}, "finish_reason": "stop"}
        return _json(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    chunk = {**head, "object": "chat.completion.chunk"}
    first = {"index": 0, "delta": {"role": "assistant", "content": says}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    events: list[dict[str, Any]] = [{**chunk, "choices": [first]}, {**chunk, "choices": [last]}]
    if (request.get("stream_options") or {}).get("include_usage"):
        events.append({**chunk, "choices": [], "usage": usage})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return Answer(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), _STREAM)


def response(model: str, says: str, request: Mapping[str, Any]) -> Answer:
    """OpenAI's response, streamed if asked for (Codex always does)."""
    head = {"id": "resp_loopback", "object": "response", "created_at": _now(), "model": model, "error": None}
    part = {"type": "output_text", "text": says, "annotations": []}
    item = {"id": "msg_loopback", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    tokens = _count(request.get("input"))
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 1,
    }
    whole = {**head, "status": "completed", "output": [item], "usage": usage}
    if not request.get("stream"):
        return _json(200, whole)
    begun = {**head, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "msg_loopback", "output_index": 0, "content_index": 0}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        ("response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}),
        ("response.content_part.added", {**place, "part": {**part, "text": ""}}),
        ("response.output_text.delta", {**place, "delta": says}),
        ("response.output_text.done", {**place, "text": says}),
        ("response.content_part.done", {**place, "part": part}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    return _stream((name, {"sequence_number": number, **data}) for number, (name, data) in enumerate(events))


def message(model: str, says: str, request: Mapping[str, Any]) -> Answer:
    """Anthropic's message, streamed if asked for (Claude Code always does)."""
    usage = {"input_tokens": _count(request.get("messages")), "output_tokens": 1}
    head = {"id": "msg_loopback", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}
    if not request.get("stream"):
        content = [{"type": "text", "text": says}]
        return _json(200, {**head, "content": content, "stop_reason": "end_turn", "usage": usage})
    begun: dict[str, Any] = {**head, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return _stream(
        [
            ("message_start", {"message": begun}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": says}}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": ended, "usage": {"output_tokens": 1}}),
            ("message_stop", {}),
        ]
    )


def token_count(_model: str, _says: str, request: Mapping[str, Any]) -> Answer:
    """Anthropic's count of what a message would cost."""
    return _json(200, {"input_tokens": _count(request.get("messages"))})


def models(names: Sequence[str], *, is_anthropic: bool) -> Answer:
    """The list of models."""
    if is_anthropic:
        rows = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names
        ]
        ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
        return _json(200, {"data": rows, "has_more": False, **ends})
    created = _now()
    return _json(
        200,
        {
            "object": "list",
            "data": [{"id": name, "object": "model", "created": created, "owned_by": "loopback"} for name in names],
        },
    )


def unauthorized(*, is_anthropic: bool) -> Answer:
    """The key is missing, or another one."""
    return _error(401, "authentication_error", "invalid_api_key", "Invalid API key", is_anthropic=is_anthropic)


def no_model(model: str, *, is_anthropic: bool) -> Answer:
    """The key is right, the model's name is not."""
    text = f"model: {model}" if is_anthropic else f"The model '{model}' does not exist"
    return _error(404, "not_found_error", "model_not_found", text, is_anthropic=is_anthropic)


def bad_request(text: str, *, is_anthropic: bool) -> Answer:
    """The body is not what this route takes."""
    return _error(400, "invalid_request_error", None, text, is_anthropic=is_anthropic)


def no_route(method: str, path: str) -> Answer:
    """Nothing lies there; in one-api's words, which gateways of its family share."""
    problem = {"message": f"Invalid URL ({method} {path})", "type": "invalid_request_error", "param": "", "code": ""}
    return _json(404, {"error": problem})


def _error(status: int, kind: str, code: str | None, text: str, *, is_anthropic: bool) -> Answer:
    if is_anthropic:
        return _json(status, {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_loopback"})
    return _json(status, {"error": {"message": text, "type": "invalid_request_error", "param": None, "code": code}})


def _json(status: int, data: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(data).encode())


def _stream(events: Iterable[tuple[str, Mapping[str, Any]]]) -> Answer:
    lines = [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events]
    return Answer(200, "".join(lines).encode(), _STREAM)


def _count(told: object) -> int:
    """About as many tokens as a model would count: four letters each."""
    return max(1, len(json.dumps(told, ensure_ascii=False)) // 4)


def _now() -> int:
    return int(time.time())
