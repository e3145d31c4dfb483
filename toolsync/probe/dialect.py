"""What each dialect's smallest question looks like, and what its answer says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolsync import __version__
from toolsync.address import Dialect
from toolsync.masking import Secret
from toolsync.probe.body import shown
from toolsync.probe.response import Response
from toolsync.value import frozen

LIMIT = 16
"""Output tokens asked for: the least that the Responses API takes."""
LIMIT_RETRIED = 256
"""… the second time: enough for models that think before they speak, and refuse to be cut off."""

USUAL_MODELS = {"anthropic-messages": "claude-sonnet-4-5", "openai-responses": "gpt-5"}
"""A model of the kind that tools ask for of their own accord."""

_PROMPT = "Answer with the one word: pong"


@frozen
class Reply:
    """What a model said, and what it cost.

    Attributes:
        is_silent: whether it ended of itself without a word, a thought, or the use of a tool, at the cost of ending.
    """

    text: str
    model: str | None
    input_tokens: int | None
    output_tokens: int | None
    is_silent: bool = False


def question(dialect: Dialect, model: str, limit: int, *, is_retry: bool = False) -> dict[str, Any]:
    """The smallest request; `is_retry` names chat's limit as newer OpenAI models want it."""
    if dialect == "openai-responses":
        return {"model": model, "input": _PROMPT, "max_output_tokens": limit, "store": False}
    messages = [{"role": "user", "content": _PROMPT}]
    name = "max_completion_tokens" if dialect == "openai-chat" and is_retry else "max_tokens"
    return {"model": model, "messages": messages, name: limit}


def models_url(dialect: Dialect, base: str) -> str:
    """Where the list of models lies for a tool of this dialect."""
    return base.strip().rstrip("/") + ("/v1/models" if dialect == "anthropic-messages" else "/models")


def headers(dialect: Dialect, key: Secret | None, more: Mapping[str, str | Secret]) -> dict[str, str]:
    """The headers of a request; the key goes in both that Claude Code's helper fills, or in the one of OpenAI's."""
    sent = {name.lower(): value.reveal() if isinstance(value, Secret) else value for name, value in more.items()}
    sent |= {"accept": "application/json", "user-agent": f"toolsync/{__version__}"}
    if dialect == "anthropic-messages":
        sent.setdefault("anthropic-version", "2023-06-01")
    if key is not None:
        sent["authorization"] = f"Bearer {key.reveal()}"
    if key is not None and dialect == "anthropic-messages":
        sent["x-api-key"] = key.reveal()
    return sent


_LIMIT_NAMES = re.compile(r"max_(completion_|output_)?tokens|output limit was reached")


def names_the_limit(answer: Response) -> bool:
    """Whether a refusal is about the number of output tokens, or about how it is called."""
    return answer.status in (400, 422) and bool(_LIMIT_NAMES.search(answer.text))


_END_TOKENS = 1
"""What the end of an answer costs where nothing stands before it; a thought that is kept back costs more."""


def reply(data: object, dialect: Dialect) -> Reply | None:
    """What the model said; None if `data` is no answer of this dialect."""
    if not isinstance(data, Mapping):
        return None
    text = {"openai-chat": _chat, "openai-responses": _response, "anthropic-messages": _message}[dialect](data)
    if text is None:
        return None
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    output_tokens = _number(usage.get("output_tokens", usage.get("completion_tokens")))
    return Reply(
        text=text.strip(),
        model=data["model"] if isinstance(data.get("model"), str) else None,
        input_tokens=_number(usage.get("input_tokens", usage.get("prompt_tokens"))),
        output_tokens=output_tokens,
        is_silent=not text.strip() and (output_tokens or 0) <= _END_TOKENS and _ended(data),
    )


def has_form(event: Mapping[str, Any], dialect: Dialect) -> bool:
    """Whether an event of a stream is one of this dialect's, whatever it says."""
    sort = event.get("type")
    if dialect == "openai-chat":
        return isinstance(event.get("choices"), list)
    if not isinstance(sort, str):
        return False
    return sort.startswith("response.") if dialect == "openai-responses" else sort.startswith(("message_", "content_"))


def speaks(event: Mapping[str, Any], dialect: Dialect) -> bool:
    """Whether an event brings a word, a thought or the use of a tool; or says that some were paid for, or cut off."""
    if not has_form(event, dialect):
        return False
    if dialect == "openai-chat":
        return any(isinstance(choice, Mapping) and _chunk_speaks(choice) for choice in event["choices"]) or _paid(event)
    if dialect == "openai-responses":
        return "delta" in event["type"] or bool(_inner(event, "response").get("output")) or _paid(event, "response")
    is_cut = _inner(event, "delta").get("stop_reason") not in (None, "end_turn")
    return event["type"].startswith("content_") or is_cut or _paid(event)


def _chunk_speaks(choice: Mapping[str, Any]) -> bool:
    if choice.get("finish_reason") not in (None, "", "stop"):
        return True
    said = _inner(choice, "delta") or _inner(choice, "message")
    return any(value for name, value in said.items() if name != "role")


def _paid(event: Mapping[str, Any], around: str = "") -> bool:
    usage = _inner(_inner(event, around) if around else event, "usage")
    return (_number(usage.get("output_tokens", usage.get("completion_tokens"))) or 0) > _END_TOKENS


def _inner(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def is_last(event: Mapping[str, Any], dialect: Dialect) -> bool:
    """Whether an event ends the answer."""
    if dialect == "openai-chat":
        choices = event.get("choices")
        return isinstance(choices, list) and any(
            isinstance(one, Mapping) and one.get("finish_reason") for one in choices
        )
    return event.get("type") in ("message_stop", "response.completed", "response.incomplete", "response.failed")


def ids(data: object) -> tuple[str, ...] | None:
    """The models in a list of OpenAI's or Anthropic's form, each once; None if it is no such list."""
    rows = data.get("data") if isinstance(data, Mapping) else data
    if not isinstance(rows, list):
        return None
    names = [row.get("id") for row in rows if isinstance(row, Mapping)]
    return tuple(dict.fromkeys(shown(name) for name in names if isinstance(name, str) and name))


def _ended(data: Mapping[str, Any]) -> bool:
    """Whether an answer ended of itself with nothing in it: one that was cut off, or that uses a tool, did not."""
    match data:
        case {"choices": [{"finish_reason": "stop", "message": message}, *_]}:
            return not any(message.get(more) for more in ("reasoning_content", "reasoning", "tool_calls", "refusal"))
        case {"object": "response", "status": "completed", "output": []}:
            return True
        case {"type": "message", "stop_reason": "end_turn", "content": [*parts]}:
            return all(isinstance(part, Mapping) and part.get("type") == "text" for part in parts)
    return False


def _chat(data: Mapping[str, Any]) -> str | None:
    match data.get("choices"):
        case [{"message": {"content": str(text)}}, *_]:
            return text
        case [{"message": {"content": [*parts]}}, *_]:
            return _joined(parts)
        case [{"message": {}}, *_]:  # thought, and was cut off before a word
            return ""
    return None


def _response(data: Mapping[str, Any]) -> str | None:
    match data:
        case {"object": "response", "output": [*items]} if data.get("status") != "failed":
            return _joined(part for item in items if isinstance(item, Mapping) for part in item.get("content") or ())
    return None


def _message(data: Mapping[str, Any]) -> str | None:
    match data:
        case {"type": "message", "content": [*parts]}:
            return _joined(parts)
    return None


def _joined(parts: Iterable[object]) -> str:
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def near(model: str, models: Sequence[str]) -> str:
    """The listed model that was most likely meant."""
    from difflib import get_close_matches  # only a mistake needs it

    if model in models:
        return ""
    return next(iter(get_close_matches(model, models, n=1, cutoff=0.6)), "")
