"""Other addresses on the same origin at which a gateway may be: what people leave out, double, or paste too much of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from toolsync.address import Dialect, addresses
from toolsync.errors import ProfileError
from toolsync.value import frozen


@frozen
class Candidate:
    """An address, and what would be wrong with the one that stands there if this is the right one.

    Attributes:
        base: as the tool would be given it.
        cause: a slug.
    """

    base: str
    cause: str


_VERSION = re.compile(r"/v\d+$")


def candidates(dialect: Dialect, base: str) -> Iterator[Candidate]:
    """The most likely ones first, each once, and never the address itself."""
    base = base.strip().rstrip("/")
    seen = {base}
    for candidate in _all(dialect, base):
        if candidate.base not in seen:
            seen.add(candidate.base)
            yield candidate


def twins(dialect: Dialect, base: str) -> Iterator[Candidate]:
    """Where a gateway that lists its models at `base` may keep this dialect's API: many keep Anthropic's apart.

    https://api-docs.deepseek.com/guides/anthropic_api and others: `/anthropic` beside an OpenAI API at the root.
    """
    base = base.strip().rstrip("/")
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(base))
    if dialect == "anthropic-messages":
        bases = [f"{_VERSION.sub('', base)}/anthropic", f"{origin}/anthropic", f"{origin}/api/anthropic"]
    else:
        bases = [re.sub(r"/anthropic(?=/|$)", "", base)]
    found = dict.fromkeys(one for one in bases if one != base and not _ANTHROPIC_TWICE.search(one))
    yield from _named([*found][:_MOST_TWINS], base, dialect)


_ANTHROPIC_TWICE = re.compile(r"/anthropic/(.*/)?anthropic$")
_MOST_TWINS = 2
"""The other APIs are to be asked too."""


def _all(dialect: Dialect, base: str) -> Iterator[Candidate]:
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(base))
    whole = _mended(dialect, base)
    if whole is not None and whole != base:
        yield from _named([whole], base, dialect)
    root = _VERSION.sub("", base)
    if dialect == "anthropic-messages":
        yield from _named(
            [root, f"{origin}/api", f"{origin}/anthropic", f"{origin}/api/anthropic", origin], base, dialect
        )
        return
    ends = [f"{base}/v1"] if root == base else [root]
    more = (f"{origin}/{path}" for path in ("v1", "api/v1", "api", "openai/v1", "compatible-mode/v1"))
    yield from _named([*ends, *more, origin], base, dialect)


def _mended(dialect: Dialect, base: str) -> str | None:
    """What the rule for addresses makes of it: an endpoint cut off, a doubled version collapsed."""
    try:
        found = addresses(base)
    except ProfileError:
        return None
    return found.anthropic_url if dialect == "anthropic-messages" else found.openai_url


def _named(bases: list[str], base: str, dialect: Dialect) -> Iterator[Candidate]:
    yield from (Candidate(one, _cause(base, one, dialect)) for one in bases)


_ENDPOINT = re.compile(r"/(chat/completions|completions|responses|messages|embeddings|models)$")


def _cause(base: str, right: str, dialect: Dialect) -> str:
    """What is wrong with `base` where `right` is right."""
    if _ENDPOINT.search(base):
        return "path_full_endpoint"
    if dialect == "anthropic-messages" and _VERSION.search(base) and not _VERSION.search(right):
        return "path_duplicate_v1"  # its tools append one of their own
    if re.search(r"/(v\d+)/\1(/|$)", base):
        return "path_duplicate_v1"
    if right == f"{base}/v1":
        return "path_missing_v1"
    return "path_extra_segment" if _holds(base, right) else "path_missing_prefix"


def _holds(base: str, right: str) -> bool:
    """Whether `base` has all segments of `right`, in their order, and more."""
    segments = iter(base.split("/"))
    return all(segment in segments for segment in right.split("/"))
