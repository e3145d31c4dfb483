"""What an answer amounts to: one word, one sentence with the gateway's own words, one piece of advice."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolsync.address import Dialect
from toolsync.masking import masked, printable
from toolsync.probe.network import Response

Outcome = Literal[
    "ok",
    "refused",  # 401, 403: by the gateway or by something before it
    "not_found",  # 404, 405: the path, or the model
    "redirect",  # 3xx: never followed
    "web_page",  # 200 with HTML: the path leads to a console or a login, not to an API
    "bad_reply",  # 200, and no answer of this dialect
    "failed",  # any other status
    "timeout",
    "no_connection",  # name, port, TLS or proxy
    "unsendable",  # nothing was sent: the address, a header or the proxy setting is wrong
]


@dataclass(frozen=True)
class Verdict:
    """An outcome with its sentence and its advice, both fit for a terminal."""

    outcome: Outcome
    problem: str = ""
    hint: str = ""


def judge(answer: Response, dialect: Dialect, model: str, *, said: object | None) -> Verdict:
    """What `answer` amounts to; `said` is what was found in it, None if nothing."""
    status, told = answer.status, _told(answer)
    if 300 <= status < 400:  # noqa: PLR2004  HTTP's own classes
        return _redirect(answer)
    if status in (401, 403):
        return Verdict("refused", f"the gateway refused the request ({status}){told}", _refused_hint(answer))
    if status in (404, 405):
        return Verdict("not_found", f"nothing answers there ({status}){told}", _not_found_hint(answer, dialect, model))
    if not accepted(answer):
        return Verdict("failed", f"the gateway answered {status}{told}", _failed_hint(answer))
    if is_page(answer):
        return Verdict("web_page", f"a web page answered instead of the API{told}", _PATH_HINT)
    if said is None and not answer.body.strip():
        return Verdict("bad_reply", f"the gateway answered {status} with an empty answer", _SPEAKS_HINT)
    if said is None:
        hint = _MODELS_HINT if model and model in own_words(answer) else _SPEAKS_HINT
        return Verdict("bad_reply", f"the gateway answered {status}, but not in this dialect{told}", hint)
    return Verdict("ok")


def accepted(answer: Response) -> bool:
    """Whether the status is one of success."""
    return 200 <= answer.status < 300  # noqa: PLR2004  HTTP's own classes


def ids(data: object) -> tuple[str, ...] | None:
    """The models in a list of OpenAI's or Anthropic's form, each once; None if it is no such list."""
    rows = data.get("data") if isinstance(data, Mapping) else data
    if not isinstance(rows, list):
        return None
    names = [row.get("id") for row in rows if isinstance(row, Mapping)]
    return tuple(dict.fromkeys(shown(name) for name in names if isinstance(name, str) and name))


def shown(text: str, limit: int = 200) -> str:
    """`text` from outside on one line: keys masked, then control characters taken out, then cut."""
    line = masked(" ".join(printable(masked(text), limit=20_000).split()))  # what broke a key may be gone by now
    return line if len(line) <= limit else f"{line[:limit]}…"


def shown_address(url: str) -> str:
    """`url` without what may be a key in it: a name and password, a query."""
    return shown(re.sub(r"//[^/?#]*@", "//***@", re.split(r"[?#]", url)[0]))


def is_page(answer: Response) -> bool:
    """Whether the answer is a web page, whatever its status."""
    start = answer.body[:200].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    return "html" in answer.headers.get("content-type", "") or start.startswith((b"<!doctype html", b"<html"))


def own_words(answer: Response) -> str:
    """The gateway's own explanation: the message of its error, or the title of its page; may be empty."""
    if is_page(answer):
        title = re.search(r"(?is)<title[^>]*>(.*?)</title>", answer.text[:20_000])
        return shown(html.unescape(title[1])) if title else ""
    if answer.json is None:
        return shown(answer.text) if _is_text(answer) else ""
    return shown(_message(answer.json))


def _told(answer: Response) -> str:
    words = own_words(answer)
    return f": {words}" if words else ""


def _is_text(answer: Response) -> bool:
    kind = answer.headers.get("content-type", "text/plain")
    return kind.startswith("text/") or "json" in kind


def _message(data: object, depth: int = 10) -> str:
    """The message in any of the shapes that gateways use; one that wraps another's error in JSON is unwrapped."""
    if depth == 0:
        return ""
    if isinstance(data, str):
        return _unwrapped(data, depth)
    if isinstance(data, list):
        return next((text for item in data if (text := _message(item, depth - 1))), "")
    if not isinstance(data, Mapping):
        return ""
    slots = ("error", "message", "msg", "detail", "error_description", "status_msg", "title", "errors", "base_resp")
    return next((text for slot in slots if (text := _message(data.get(slot), depth - 1))), "")


def _unwrapped(text: str, depth: int) -> str:
    inner = text[text.find("{") :] if "{" in text else ""
    try:
        found = _message(json.loads(inner), depth - 1) if inner else ""
    except (ValueError, RecursionError):
        found = ""
    return found or text


# Advice.

_PATH_HINT = "Check base_url: a part of its path is missing (/v1, /api), or there is one too many."
_MODELS_HINT = "Name a model that this gateway serves to this key: `toolsync models` lists them."
_SPEAKS_HINT = "Check that base_url is this provider's address for this protocol."
_QUOTA = re.compile(r"(?i)quota|insufficient|balance|billing|credit|额度|余额|欠费")
_MODEL = re.compile(r"(?i)model|模型|channel|渠道")


def _redirect(answer: Response) -> Verdict:
    target = shown(answer.headers.get("location", ""))
    to = f" to {target}" if target else ""
    hint = "Redirects are not followed, for the key would go along: if that is the right place, make it the base_url."
    return Verdict("redirect", f"the address redirects ({answer.status}){to}", hint)


def _refused_hint(answer: Response) -> str:
    if is_page(answer):
        return "The page is not the gateway's: a firewall, a login or a bot check stands before it; ask its operator."
    if _QUOTA.search(own_words(answer)):
        return "The account behind the key has nothing left: top it up, or use another key."
    if answer.status == 403 and _MODEL.search(own_words(answer)):  # noqa: PLR2004  Forbidden
        return _MODELS_HINT
    return "Store the key that this gateway gave you: `toolsync key set NAME`."


def _not_found_hint(answer: Response, dialect: Dialect, model: str) -> str:
    words = own_words(answer)
    if model and answer.status == 404 and (model in words or _MODEL.search(words)):  # noqa: PLR2004  Not Found
        return _MODELS_HINT
    if not model:
        return "This gateway has no list of models there; ask its operator for the names."
    if is_page(answer):
        return _PATH_HINT
    return f"Either base_url has the wrong path, or this gateway does not serve {dialect}."


def _failed_hint(answer: Response) -> str:
    words = own_words(answer)
    if answer.status in (402, 429) and _QUOTA.search(words):
        return "Address and key are right; the account has nothing left: top it up, or use another key."
    if answer.status == 429:  # noqa: PLR2004  Too Many Requests
        return "Address and key are right; it is asked too often: wait a little."
    if re.search("无可用渠道|no available channel", words):
        return _MODELS_HINT
    if answer.status >= 500:  # noqa: PLR2004  HTTP's own classes
        return "The fault is on the gateway's side: try again, or ask its operator."
    return "The gateway understood the address, and not the request: see its own words."
