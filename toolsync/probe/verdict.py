"""What an answer amounts to: one word, its cause, one sentence with the gateway's own words, one piece of advice."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urljoin, urlsplit

from toolsync.address import PATHS, normal
from toolsync.causes import Certainty
from toolsync.errors import ProfileError
from toolsync.probe.body import is_page, shown
from toolsync.probe.classifier import Asked, Reading, read
from toolsync.probe.response import Response
from toolsync.sentence import Text, remedied, say, titled
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
    hint: Text = ""
    cause: str = ""
    certainty: Certainty = "sure"


def judge(answer: Response, asked: Asked) -> Verdict:
    """What `answer` amounts to."""
    reading = read(answer, asked)
    if not reading.cause:
        return Verdict("ok")
    outcome = _outcome(answer)
    what = say(_PLAIN[outcome]) if reading.certainty == "open" else titled(reading.cause)
    return Verdict(
        outcome, _told(what, answer, reading), _hint(reading, answer, asked), reading.cause, reading.certainty
    )


def advice(cause: str, host: Text = "") -> Text:
    """The catalogue's remedy, for a cause that was found without an answer."""
    return remedied(cause, host=host)


def shown_address(url: str) -> str:
    """`url` without what may be a key in it: a name and password, a query."""
    return shown(re.sub(r"//[^/?#]*@", "//***@", re.split(r"[?#]", url)[0]))


_PLAIN: dict[Outcome, str] = {
    "refused": "plainly_refused",
    "not_found": "plainly_nothing",
    "redirect": "plainly_redirected",
    "web_page": "plainly_page",
    "bad_reply": "plainly_other",
    "failed": "plainly_failed",
}
"""The sentence where one answer does not decide between causes."""


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


def _told(what: Text, answer: Response, reading: Reading) -> Text:
    status = str(answer.status)
    place = shown(answer.headers.get("location", "")) if _outcome(answer) == "redirect" else ""
    if place:
        return say("judged_leading", what=what, status=status, place=place)
    if reading.words:
        return say("judged_saying", what=what, status=status, words=reading.words)
    return say("judged", what=what, status=status)


def _hint(reading: Reading, answer: Response, asked: Asked) -> Text:
    """The remedy; where one answer fits several causes, the two that are most often meant."""
    if reading.certainty == "open":
        return say("either_cause", one=titled(reading.cause), other=titled(reading.also[0]), cause=reading.cause)
    parts = urlsplit(asked.url)
    page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
    found = {"host": parts.hostname or "", "page": page, "address": target(answer, asked)}
    return remedied(reading.cause, **found)


def location(answer: Response, url: str) -> str:
    """Where a redirect points to, whole where that is an address, fit to be shown; "" where it does not say."""
    stated = answer.headers.get("location", "")
    try:
        return shown_address(urljoin(url, stated)) if stated else ""
    except ValueError:  # half a bracket
        return shown_address(stated)


def target(answer: Response, asked: Asked) -> str:
    """The base address that a redirect points to, if it points to the same endpoint elsewhere."""
    place = location(answer, asked.url)
    endings = (PATHS[asked.dialect], "/v1/models" if asked.dialect == "anthropic-messages" else "/models")
    bases = [place.removesuffix(ending) for ending in endings if place.endswith(ending)]
    return bases[0] if bases and _is_address(bases[0]) else ""


def _is_address(text: str) -> bool:
    try:
        return bool(normal(text))
    except ProfileError:
        return False
