"""Whether the address can be one, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolsync.address import addresses, normal
from toolsync.doctor.checks.saying import address, place, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding
from toolsync.doctor.references import stray
from toolsync.errors import ProfileError
from toolsync.pattern import late
from toolsync.sentence import Text, reported, say


def form(look: Look) -> Iterator[Finding]:
    """An address that no client can use: no scheme, a space, a bad port, a query, credentials in it."""
    url = look.effective.base_url
    if not url:
        return
    try:
        normal(url)
    except ProfileError as error:
        reason = reported(error.message)
        if re.search(r"\$\{?\w|\{env:|\{\{|%\w+%", url):
            reason = say("address_holds_reference", called=look.called)
        yield _finding(look, "url_malformed", reason)
        return
    if url[-1:].isspace() and not _is_tolerated(look, url):
        yield _finding(look, "url_malformed", say("address_with_white", called=look.called))
        return
    if url.strip()[-1:] in ("?", "#"):
        yield _finding(look, "url_malformed", say("address_with_query", mark=url.strip()[-1], called=look.called))
        return
    yield from _shape(look)


def _is_tolerated(look: Look, url: str) -> bool:
    """Whether the white space at its end does no harm; behind a slash, what gets lost leaves two of them."""
    if look.reader.name in look.tool.request.trims:
        return True
    bare = url.rstrip(look.tool.request.tolerates_address)
    return not bare[-1:].isspace() and not bare.endswith("/")


_ENDPOINT = late(r"(?i)/(chat/completions|completions|responses|messages|embeddings|models)/?$")
_DOUBLED = late(r"(?i)/(v\d+)/\1(?=/|$)")
_TWO_VERSIONS = late(r"(?i)/v\d+/v\d+(?=/|$)")


def _shape(look: Look) -> Iterator[Finding]:
    """What is probably wrong with it; some gateway may want it so."""
    base, asked = look.effective.base_url.strip(), look.effective.url.partition("?")[0]
    if match := _ENDPOINT.search(base):
        text = say("endpoint_appended", end=match[0], called=look.called, url=address(asked))
        yield _finding(look, "path_full_endpoint", text, "likely", address=_mended(look, base))
    elif _DOUBLED.search(asked):
        text = say("version_twice", called=look.called, url=address(asked))
        yield _finding(look, "path_duplicate_v1", text, "likely", address=_mended(look, base))
    elif _TWO_VERSIONS.search(asked):
        text = say("two_versions", called=look.called, url=address(asked))
        yield _finding(look, "path_extra_segment", text, "open")


def _mended(look: Look, base: str) -> str:
    """What the address would be, by the rule that profiles are read with."""
    found = addresses(base)
    return found.anthropic_url if look.effective.dialect == "anthropic-messages" else found.openai_url


def model_reference(look: Look) -> Iterator[Finding]:
    """A model's name that is a reference which nobody expands."""
    if look.effective.model and stray(look.effective.model):
        where = look.effective.wheres["model"]
        text = say("holds_reference", place=place(look, where), called=look.called)
        yield Finding("config_incomplete", "sure", (text,), values(look, where), where, question="model")


def _finding(look: Look, cause: str, text: Text, certainty: Certainty = "sure", **more: str) -> Finding:
    where = look.effective.wheres.get("base_url")
    lines = (say("at", place=place(look, where), said=text) if where is not None else text,)
    return Finding(cause, certainty, lines, values(look, where, **more), where)
