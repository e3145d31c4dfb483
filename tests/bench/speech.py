"""What servers say in each dialect, piece by piece, for replies that mean the same in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.bench.test_exact import DONE, delta, event, typed, usage
from toolsync.address import Dialect
from toolsync.value import frozen


@frozen
class Speech:
    """One dialect's words.

    Attributes:
        dialect: which.
        begin: what comes before any token.
        text: a piece of the answer.
        thought: a piece of the thinking.
        call: a tool's call: its name, and a piece of its arguments.
        end: the last events, with the completion's tokens, or without a count.
        error: an error in the stream.
    """

    dialect: Dialect
    begin: bytes
    text: Callable[[str], bytes]
    thought: Callable[[str], bytes]
    call: tuple[bytes, bytes]
    end: Callable[[int | None], bytes]
    error: bytes


def _chat_end(tokens: int | None) -> bytes:
    return delta("length") + (b"" if tokens is None else usage(tokens)) + DONE


def _response_end(tokens: int | None) -> bytes:
    told = {} if tokens is None else {"usage": {"input_tokens": 512, "output_tokens": tokens}}
    reason = {"incomplete_details": {"reason": "max_output_tokens"}}
    return typed("response.incomplete", response={"status": "incomplete", **reason, **told})


def _message_end(tokens: int | None) -> bytes:
    told: Mapping[str, Any] = {} if tokens is None else {"usage": {"input_tokens": 512, "output_tokens": tokens}}
    return typed("message_delta", delta={"stop_reason": "max_tokens"}, **told) + typed("message_stop")


def _block(kind: str, **delta_parts: str) -> bytes:
    return typed("content_block_delta", index=0, delta={"type": kind, **delta_parts})


_CALLED = {"index": 0, "function": {"name": "grep", "arguments": ""}}
_FAILED = {"message": "the engine died", "type": "server_error"}

SPEECHES = (
    Speech(
        "openai-chat",
        delta(role="assistant", content=""),
        lambda text: delta(content=text),
        lambda text: delta(reasoning_content=text),
        (delta(tool_calls=[_CALLED]), delta(tool_calls=[{"index": 0, "function": {"arguments": '{"a"'}}])),
        _chat_end,
        event({"error": _FAILED}),
    ),
    Speech(
        "openai-responses",
        typed("response.created", response={"status": "in_progress", "usage": None})
        + typed("response.output_item.added", item={"type": "message"}),
        lambda text: typed("response.output_text.delta", delta=text),
        lambda text: typed("response.reasoning_text.delta", delta=text),
        (
            typed("response.output_item.added", item={"type": "function_call", "name": "grep"}),
            typed("response.function_call_arguments.delta", delta='{"a"'),
        ),
        _response_end,
        typed("error", message="the engine died"),
    ),
    Speech(
        "anthropic-messages",
        typed("message_start", message={"model": "m-1", "usage": {"input_tokens": 512, "output_tokens": 1}})
        + typed("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + typed("ping"),
        lambda text: _block("text_delta", text=text),
        lambda text: _block("thinking_delta", thinking=text),
        (
            typed("content_block_start", index=1, content_block={"type": "tool_use", "name": "grep", "input": {}}),
            _block("input_json_delta", partial_json='{"a"'),
        ),
        _message_end,
        typed("error", error=_FAILED),
    ),
)
