"""Which events of a reply carry tokens, and what the server says of their number: pure, for each dialect.

A token event carries text, a thought, or a piece of a tool's call. The role that some servers send at once, empty
pieces, the usage, comments and the end of the stream are none: who counts them measures the server's politeness.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from toolsync.address import Dialect
from toolsync.bench.sse import Event
from toolsync.value import frozen

Channel = Literal["", "answer", "thought"]
"""What an event carries: nothing that counts, the answer, or the thinking before it."""


@frozen
class Usage:
    """What the server says of the number of tokens; None where it does not. `thoughts` are those of the completion."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    thoughts: int | None = None


@frozen
class Reply:
    """What a stream said, without its text.

    Attributes:
        at_ns: when each token event was there.
        answer_ns: when the first one was that is no thought; None: none was.
        usage: at the end.
        first_usage: the completion's tokens by the server's count in the first token event; None: it does not count so.
        finish_reason: in the server's words.
        model: likewise.
        is_ended: whether the server said that this is the end.
        error: the words of an error in the stream; None: there was none.
    """

    at_ns: tuple[int, ...] = ()
    answer_ns: int | None = None
    usage: Usage = Usage()
    first_usage: int | None = None
    finish_reason: str | None = None
    model: str | None = None
    is_ended: bool = False
    error: str | None = None


def reply(dialect: Dialect, events: Iterable[Event]) -> Reply:
    """What the events of one reply say."""
    reader = _Reader(_READ[dialect])
    for event in events:
        reader.take(event)
    return reader.reply()


@frozen
class _Said:
    """What one event says."""

    channel: Channel = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    is_end: bool = False


class _Reader:
    """Goes through a stream."""

    def __init__(self, read: Callable[[Mapping[str, Any]], _Said]) -> None:
        self._read = read
        self._at_ns: list[int] = []
        self._answer_ns: int | None = None
        self._usage = Usage()
        self._first_usage: int | None = None
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._is_ended = False
        self._error: str | None = None

    def take(self, event: Event) -> None:
        """One more event."""
        if event.data.startswith("[DONE]"):
            self._is_ended = True
            return
        data = _parsed(event.data)
        failed = _error(event.name, data)
        if failed is not None:
            self._error = self._error or failed
        if not isinstance(data, dict):
            return
        said = self._read(data)
        if said.channel:
            self._count(event.at_ns, said)
        if said.usage is not None:
            self._usage = _laid(self._usage, said.usage)
        self._finish_reason = said.finish_reason or self._finish_reason
        self._model = said.model or self._model
        self._is_ended = self._is_ended or said.is_end or said.finish_reason is not None

    def _count(self, at_ns: int, said: _Said) -> None:
        if not self._at_ns and said.usage is not None:
            self._first_usage = said.usage.completion
        self._at_ns.append(at_ns)
        if self._answer_ns is None and said.channel == "answer":
            self._answer_ns = at_ns

    def reply(self) -> Reply:
        """What they all said."""
        is_counted_all_along = len(self._at_ns) > 1  # else its first token event is its last, where all servers count
        return Reply(
            at_ns=tuple(self._at_ns),
            answer_ns=self._answer_ns,
            usage=self._usage,
            first_usage=self._first_usage if is_counted_all_along else None,
            finish_reason=self._finish_reason,
            model=self._model,
            is_ended=self._is_ended,
            error=self._error,
        )


_SCAN = json.JSONDecoder().raw_decode


def _parsed(text: str) -> object:
    try:
        data, end = _SCAN(text)
        return data if end == len(text) else json.loads(text)
    except (ValueError, RecursionError):
        try:
            return json.loads(text)  # white space in front
        except (ValueError, RecursionError):
            return None


def _error(name: str, data: object) -> str | None:
    """The words of an error; None if the event is none."""
    error = data.get("error") if isinstance(data, dict) else None
    is_named = name == "error" or (isinstance(data, dict) and data.get("type") in ("error", "response.failed"))
    if not error and not is_named:
        return None
    if isinstance(data, dict) and not error and isinstance(data.get("response"), dict):
        error = data["response"].get("error")
    if isinstance(error, dict):
        error = error.get("message") or error.get("type") or error.get("code")
    return str(error or (data.get("message") if isinstance(data, dict) else "") or "an error event")


def _laid(below: Usage, above: Usage) -> Usage:
    """What was said last, field by field: messages tell the prompt's tokens first, and the answer's last."""
    return Usage(
        above.prompt if above.prompt is not None else below.prompt,
        above.completion if above.completion is not None else below.completion,
        above.cached if above.cached is not None else below.cached,
        above.thoughts if above.thoughts is not None else below.thoughts,
    )


_MANY = 2**53
"""More is no count of anything, and no figure could be made of it."""


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MANY else None


def _within(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = data.get(name)
    return inner if isinstance(inner, Mapping) else {}


_LONGEST_NAME = 200


def _text(value: object) -> str | None:
    return value[:_LONGEST_NAME] if isinstance(value, str) and value else None


# Chat completions, and completions as they were before.


def _chat(data: Mapping[str, Any]) -> _Said:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    usage = data.get("usage")
    found = _chat_usage(usage) if isinstance(usage, dict) else None
    if choice is None:
        return _Said(usage=found, model=_text(data.get("model")))
    delta = choice.get("delta")
    channel: Channel = (
        _chat_channel(delta) if isinstance(delta, dict) else "answer" if _text(choice.get("text")) else ""
    )
    return _Said(channel, found, _text(choice.get("finish_reason")), _text(data.get("model")))


def _chat_channel(delta: Mapping[str, Any]) -> Channel:
    content = delta.get("content")
    if content and isinstance(content, list) and all(map(_is_thought, content)):
        return "thought"
    if content or delta.get("refusal"):
        return "answer"
    told = delta.get("tool_calls")
    calls = [call.get("function") for call in told if isinstance(call, dict)] if isinstance(told, list) else []
    calls.append(delta.get("function_call"))  # as it was called before there could be several
    if any(isinstance(call, dict) and (call.get("arguments") or call.get("name")) for call in calls):
        return "answer"
    is_thought = any(delta.get(name) for name in ("reasoning_content", "reasoning", "reasoning_details"))
    return "thought" if is_thought else ""


def _is_thought(piece: object) -> bool:
    """Mistral's content is a list where a model thinks: of thoughts first, then of text."""
    return isinstance(piece, dict) and piece.get("type") == "thinking"


def _chat_usage(usage: Mapping[str, Any]) -> Usage:
    cached = _number(_within(usage, "prompt_tokens_details").get("cached_tokens"))
    if cached is None:
        cached = _number(usage.get("prompt_cache_hit_tokens"))  # DeepSeek's name for it
    prompt, completion = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    thoughts = _number(_within(usage, "completion_tokens_details").get("reasoning_tokens"))
    if usage.get("total_tokens") == (prompt or 0) + (completion or 0) + (thoughts or 0):
        thoughts = None  # there are none, or they are counted beside the completion, as by xAI
    return Usage(prompt, completion, cached, thoughts)


# Responses.

_RESPONSE_ANSWERS = frozenset(
    f"response.{name}.delta"
    for name in ("output_text", "refusal", "function_call_arguments", "custom_tool_call_input", "mcp_call_arguments")
)
_RESPONSE_THOUGHTS = frozenset({"response.reasoning_text.delta", "response.reasoning_summary_text.delta"})
_RESPONSE_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def _response(data: Mapping[str, Any]) -> _Said:
    kind = _text(data.get("type"))
    if kind in _RESPONSE_ANSWERS:
        return _Said("answer" if data.get("delta") else "")
    if kind in _RESPONSE_THOUGHTS:
        return _Said("thought" if data.get("delta") else "")
    if kind == "response.output_item.added":
        return _Said("answer" if _within(data, "item").get("name") else "")
    if kind not in _RESPONSE_ENDS:
        return _Said()
    whole = _within(data, "response")
    reason = _text(_within(whole, "incomplete_details").get("reason")) or _text(whole.get("status"))
    usage = _within(whole, "usage")
    cached = _number(_within(usage, "input_tokens_details").get("cached_tokens"))
    thoughts = _number(_within(usage, "output_tokens_details").get("reasoning_tokens"))
    told = Usage(_number(usage.get("input_tokens")), _number(usage.get("output_tokens")), cached, thoughts)
    return _Said("", told, reason, _text(whole.get("model")), is_end=True)


# Messages.

_DELTAS: Mapping[str, tuple[str, Channel]] = {
    "text_delta": ("text", "answer"),
    "thinking_delta": ("thinking", "thought"),
    "input_json_delta": ("partial_json", "answer"),
}


def _message(data: Mapping[str, Any]) -> _Said:
    kind = data.get("type")
    if kind == "content_block_delta":
        delta = _within(data, "delta")
        name, channel = _DELTAS.get(str(delta.get("type")), ("", "answer"))
        return _Said(channel if delta.get(name) else "")
    if kind == "content_block_start":
        return _Said("answer" if _within(data, "content_block").get("name") else "")
    if kind == "message_start":
        message = _within(data, "message")
        return _Said("", _message_usage(_within(message, "usage"), is_end=False), None, _text(message.get("model")))
    if kind == "message_delta":
        reason = _text(_within(data, "delta").get("stop_reason"))
        return _Said("", _message_usage(_within(data, "usage"), is_end=True), reason)
    return _Said(is_end=kind == "message_stop")


def _message_usage(usage: Mapping[str, Any], *, is_end: bool) -> Usage:
    """The cache's tokens, which `input_tokens` leaves out, belong to the prompt; the answer's first count is none."""
    read, written = _number(usage.get("cache_read_input_tokens")), _number(usage.get("cache_creation_input_tokens"))
    prompt = _number(usage.get("input_tokens"))
    if prompt is not None:
        prompt += (read or 0) + (written or 0)
    return Usage(prompt, _number(usage.get("output_tokens")) if is_end else None, read)


_READ: Mapping[Dialect, Callable[[Mapping[str, Any]], _Said]] = {
    "openai-chat": _chat,
    "openai-responses": _response,
    "anthropic-messages": _message,
}
