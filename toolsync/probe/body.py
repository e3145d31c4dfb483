"""What a body says, in whatever shape: the errors in it, innermost and outermost, its page, its events."""

from __future__ import annotations

import html
import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from toolsync.masking import masked, printable
from toolsync.probe.response import Response
from toolsync.value import frozen

Kind = Literal["empty", "packed", "binary", "page", "json", "stream", "text"]

_LONGEST_WORDS = 4000
"""Characters of a message that are looked at; those that gateways write are shorter, and patterns stay quick."""
_LONGEST_PAGE = 20_000
_DEEPEST = 8
"""Errors within errors; a router before a relay before a provider makes three."""
_NOTHING = (b"", b"{}", b"[]", b"null", b'""')
_MOST_LEVELS = 20
"""More are nobody's error messages, and each is held against every row."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""How they begin."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text holds; an escape stands in some."""


@frozen
class Level:
    """One error of those that lie in each other when gateways pass on what another said.

    Attributes:
        message: its words.
        codes: its code, type, name and reasons, in lower case.
        param: the parameter that it names; may be empty.
        status: the HTTP status that it speaks of; None where it does not.
        data: where it lies, for what tells the families apart.
    """

    message: str
    codes: frozenset[str] = frozenset()
    param: str = ""
    status: int | None = None
    data: Mapping[str, Any] | None = None


def kind(answer: Response) -> Kind:
    """What sort of body it is, whatever its headers say of it."""
    start = answer.body[:200].lstrip(b"\xef\xbb\xbf \r\n\t")
    if answer.body.strip() in _NOTHING:
        return "empty"
    if _is_packed(answer):
        return "packed"
    if _is_binary(answer):
        return "binary"
    if is_page(answer):
        return "page"
    if isinstance(answer.json, Mapping | list):
        return "json"
    if "event-stream" in answer.headers.get("content-type", "") or start.startswith((b"data:", b"event:")):
        return "stream"
    return "text"


def _is_packed(answer: Response) -> bool:
    """Whether it is packed, and does not say so; of Zstandard, which we cannot unpack, it may have."""
    is_said = "zstd" in answer.headers.get("content-encoding", "").lower()
    return answer.body.startswith(_GZIP) or (answer.body.startswith(_ZSTD) and not is_said)


def _is_binary(answer: Response) -> bool:
    """Whether it is nothing that anybody reads: Brotli has no signature."""
    start = answer.body[:1000]
    if not _CONTROLS.search(start) or answer.json is not None:  # UTF-16 has zeros
        return False
    try:
        getincrementaldecoder("utf-8")().decode(start)  # which minds no letter that is cut off
    except UnicodeDecodeError:
        return True
    return False


def is_page(answer: Response) -> bool:
    """Whether the answer is a web page, whatever its status."""
    if _is_binary(answer):
        return False
    start = answer.body[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    return "html" in answer.headers.get("content-type", "") or start.startswith((b"<!doctype html", b"<html"))


def title(answer: Response) -> str:
    """The title of a web page; may be empty."""
    found = re.search(r"(?is)<title[^>]{0,200}>([^<]{0,500})", page(answer))
    return " ".join(html.unescape(found[1]).split()) if found else ""


def page(answer: Response) -> str:
    """The beginning of a web page's source."""
    return answer.text[:_LONGEST_PAGE]


def events(answer: Response) -> Iterator[Mapping[str, Any]]:
    """The JSON objects that a stream of server-sent events carries."""
    for line in answer.text.splitlines():
        if line.startswith("data:"):
            data = _parsed(line[5:])
            if isinstance(data, Mapping):
                yield data


def levels(answer: Response) -> tuple[Level, ...]:
    """The errors in an answer, the outermost first; plain text is one, a web page's title too."""
    return tuple(islice(_found(answer), _MOST_LEVELS))


def _found(answer: Response) -> Iterator[Level]:
    sort = kind(answer)
    if sort == "json":
        yield from _levels(answer.json, _DEEPEST)
    elif sort == "stream":
        yield from (level for data in events(answer) if _is_error_event(data) for level in _levels(data, _DEEPEST))
    elif sort == "page":
        yield Level(title(answer))
    elif sort == "text" and _is_text(answer):
        yield from _in_text(answer.text[: _LONGEST_WORDS * 4], _DEEPEST)


def own_words(answer: Response) -> str:
    """The gateway's own explanation, the innermost error's before those around it; may be empty."""
    return shown(next((level.message for level in reversed(levels(answer)) if level.message), ""))


def shown(text: str, limit: int = 200) -> str:
    """`text` from outside on one line: keys masked, then control characters taken out, then cut."""
    line = masked(" ".join(printable(masked(text), limit=20_000).split()))  # what broke a key may be gone by now
    return line if len(line) <= limit else f"{line[:limit]}…"


def _is_text(answer: Response) -> bool:
    kind = answer.headers.get("content-type", "text/plain")
    return bool(answer.body.strip()) and (kind.startswith("text/") or "json" in kind)


def _is_error_event(data: Mapping[str, Any]) -> bool:
    if data.get("type") == "response.failed" or data.get("object") == "error":
        return True
    return bool(data.get("error")) or data.get("type") == "error" or _is_bare_error(data)


def _is_bare_error(data: Mapping[str, Any]) -> bool:
    """Whether an event has nothing that any dialect's has, and words: `{"code": 401, "msg": "…"}`."""
    has_words = any(isinstance(data.get(slot), str) for slot in ("message", "msg", "detail", "error_msg"))
    return has_words and not any(slot in data for slot in ("choices", "type", "delta", "object", "id"))


_INNER = ("error", "errors", "response", "base_resp", "metadata")
"""Where an error lies within what carries it: OpenRouter keeps its provider's words in `metadata.raw`, MiniMax in
`base_resp`, a failed event of the Responses API in `response.error`."""
_MESSAGES = (
    *("message", "msg", "detail", "details", "raw", "error_description", "error_msg", "err_msg", "status_msg"),
    *("errorMessage", "error_message", "Message", "title", "reason"),
)
_CODES = (
    "code",
    "type",
    "error_code",
    "error_name",
    "error_type",
    "err_code",
    "errcode",
    "status",
    "status_code",
    "reason",
    "Code",
)
_STATUSES = ("status", "statusCode", "status_code", "code", "http_status")


def _levels(data: object, depth: int) -> Iterator[Level]:
    if depth == 0:
        return
    if isinstance(data, str):
        yield from _in_text(data, depth)
        return
    if isinstance(data, list):
        yield from (level for item in data[:3] for level in _levels(item, depth - 1))
        return
    if not isinstance(data, Mapping):
        return
    texts = _texts(data)
    if texts or _codes(data):
        (own, *inner) = [*_in_text(": ".join(texts), depth)] or [Level("")]
        yield Level(own.message, _codes(data), _param(data), own.status or _status(data), data)
        yield from inner
    yield from (
        level for slot in _INNER if not isinstance(data.get(slot), str) for level in _levels(data.get(slot), depth - 1)
    )
    for slot in ("message", "detail", "raw"):
        if isinstance(data.get(slot), Mapping | list):
            yield from _levels(data[slot], depth - 1)


def _texts(data: Mapping[str, Any]) -> list[str]:
    """What an object says of itself: `{"error": "Not Found", "message": "Route /x not found"}` says two things."""
    error = data.get("error")
    message = next((text for slot in _MESSAGES if isinstance(text := data.get(slot), str) and text.strip()), "")
    said = [error] if isinstance(error, str) and error.strip() else []
    return [*said, message] if message and message not in said else said


def _codes(data: Mapping[str, Any]) -> frozenset[str]:
    found = [data.get(slot) for slot in _CODES]
    details = data.get("details")
    found += [item.get("reason") for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    codes = (str(code).lower() for code in found if isinstance(code, str | int) and not isinstance(code, bool))
    return frozenset(code[:200] for code in codes if code and code != "error")


def _param(data: Mapping[str, Any]) -> str:
    loc = data.get("loc")
    if isinstance(loc, list):  # as pydantic reports what it does not take
        return ".".join(str(step) for step in loc[:6])
    return str(data.get("param") or "")[:200]


def _status(data: Mapping[str, Any]) -> int | None:
    """The status that an error speaks of; one-api keeps its upstream's in `param`."""
    upstream = (data.get("param"),) if data.get("code") == "bad_response_status_code" else ()
    told = (*upstream, *(data.get(slot) for slot in _STATUSES))
    numbers = (str(value) for value in told if not isinstance(value, bool))
    return next((int(number) for number in numbers if re.fullmatch("[2-5][0-9][0-9]", number)), None)


def _in_text(text: str, depth: int) -> Iterator[Level]:
    """The error that a text is, and those that it quotes: `Error from provider(x,m: 404): {"error": …}`."""
    start = text.find("{")
    inner = tuple(_levels(_parsed(text[start:]), depth - 1)) if start >= 0 else ()
    quoted = None if inner else _QUOTED.match(text)
    if quoted:
        start = quoted.end()
        inner = (Level(text[start : start + _LONGEST_WORDS]),)
    if not inner:
        yield Level(text[:_LONGEST_WORDS], status=_quoted_status(text[:_LONGEST_WORDS]))
        return
    yield Level(text[: min(start, _LONGEST_WORDS)])
    first, *rest = inner
    yield replace(first, status=first.status or _quoted_status(text[max(0, start - 200) : start]))
    yield from rest


_QUOTED = re.compile(r"(?i)error from provider\([^()]{0,200}\): (?=.)", re.DOTALL)
"""How claude-code-router begins when it passes on what its provider said, be it JSON or not."""
_QUOTED_STATUS = re.compile(
    r"(?i)(?:: |\(|status(?: code)?[ :=]{1,3}|error code: |HTTP )([45][0-9][0-9])(?:\)|[^0-9]|$)"
)


def _quoted_status(text: str) -> int | None:
    """The status of another's answer that a message speaks of."""
    found = _QUOTED_STATUS.search(text)
    return int(found[1]) if found else None


def _parsed(text: str) -> object:
    """The JSON value at the beginning of a text; None if there is none."""
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None
