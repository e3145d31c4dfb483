"""What an answer amounts to: one word, its cause, one sentence with the gateway's own words, one piece of advice."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urljoin, urlsplit

from toolsync.address import PATHS
from toolsync.causes import Cause, Certainty, named
from toolsync.probe.body import is_page, shown
from toolsync.probe.classifier import Asked, Reading, read
from toolsync.probe.response import Response
from toolsync.sentence import Text
from toolsync.value import frozen

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


@frozen
class Verdict:
    """An outcome with its cause, its sentence and its advice, both fit for a terminal.

    Attributes:
        cause: a slug of `templates/causes/`; empty where all is well, or nobody can tell.
        certainty: `open` where one answer does not decide between the cause and others.
    """

    outcome: Outcome
    problem: Text = ""
    hint: str = ""
    cause: str = ""
    certainty: Certainty = "sure"


def judge(answer: Response, asked: Asked) -> Verdict:
    """What `answer` amounts to."""
    reading = read(answer, asked)
    if not reading.cause:
        return Verdict("ok")
    outcome = _outcome(answer)
    parts = urlsplit(asked.url)
    page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
    values = {"host": parts.hostname or "", "page": page, "address": target(answer, asked)}
    cause = named(reading.cause).filled(values)
    what = _PLAIN[outcome] if reading.certainty == "open" else cause.title
    problem = f"{what} ({answer.status}){_told(answer, reading)}"
    return Verdict(outcome, problem, _hint(cause, reading), reading.cause, reading.certainty)


def advice(cause: str, host: str = "") -> str:
    """The catalogue's remedy, for a cause that was found without an answer."""
    return named(cause).filled({"host": host}).remedy


def shown_address(url: str) -> str:
    """`url` without what may be a key in it: a name and password, a query."""
    return shown(re.sub(r"//[^/?#]*@", "//***@", re.split(r"[?#]", url)[0]))


_PLAIN: dict[Outcome, str] = {
    "refused": "the gateway refused the request",
    "not_found": "nothing answers there",
    "redirect": "the address redirects",
    "web_page": "a web page answered instead of the API",
    "bad_reply": "the gateway did not answer in this dialect",
    "failed": "the gateway does not answer as it must",
}
"""What is said where one answer does not decide between causes."""


def _outcome(answer: Response) -> Outcome:
    status = answer.status
    if 300 <= status < 400:  # noqa: PLR2004  HTTP's own classes
        return "redirect"
    if status in (401, 403):
        return "refused"
    if status in (404, 405):
        return "not_found"
    if not 200 <= status < 300:  # noqa: PLR2004  HTTP's own classes
        return "failed"
    return "web_page" if is_page(answer) else "bad_reply"


def _told(answer: Response, reading: Reading) -> str:
    target = shown(answer.headers.get("location", "")) if _outcome(answer) == "redirect" else ""
    if target:
        return f" to {target}"
    return f": {reading.words}" if reading.words else ""


def _hint(cause: Cause, reading: Reading) -> str:
    """The remedy; where one answer fits several causes, the two that are most often meant."""
    if reading.certainty != "open":
        return cause.remedy
    return f"Either {cause.title}, or {named(reading.also[0]).title}. `toolsync explain {cause.slug}` says more."


def location(answer: Response, url: str) -> str:
    """The whole address that a redirect points to, fit to be shown; "" where it points nowhere."""
    try:
        return shown_address(urljoin(url, answer.headers.get("location", "") or "//["))
    except ValueError:  # half a bracket
        return ""


def target(answer: Response, asked: Asked) -> str:
    """The base address that a redirect points to, if it points to the same endpoint elsewhere."""
    place = location(answer, asked.url)
    endings = (PATHS[asked.dialect], "/v1/models" if asked.dialect == "anthropic-messages" else "/models")
    bases = [place.removesuffix(ending) for ending in endings if place.endswith(ending)]
    return bases[0] if bases and bases[0].startswith("http") else ""
