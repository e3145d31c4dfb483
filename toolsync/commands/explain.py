"""`explain`: what a cause is, what shows it, what mends it; or the list of all."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from toolsync import causes
from toolsync.causes import Cause, Language
from toolsync.errors import UsageError
from toolsync.masking import on_one_line
from toolsync.profile.wording import close
from toolsync.result import Result


def explain(slug: str | None, language: Language) -> Result:
    """One cause, its placeholders filled with words that fit anywhere; or all of them, by group.

    Raises:
        UsageError: there is no such cause.
    """
    known = {cause.slug: cause for cause in causes.every(language)}
    told = known.values() if slug is None else [_named(known, slug)]
    data = {"language": language, "cause": slug and _spelled(slug), "causes": [_data(cause) for cause in told]}
    return Result("explain", data)


def _named(known: dict[str, Cause], slug: str) -> Cause:
    found = known.get(_spelled(slug))
    if found is None:
        meant = _meant(slug, known)
        raise UsageError(
            f"there is no cause '{on_one_line(slug, limit=120)}'", hint=f"{meant}`toolsync explain` lists them."
        )
    return found


def _meant(slug: str, known: Collection[str]) -> str:
    """The causes that have these words in their names; else the one that is spelled like it."""
    words = re.findall("[a-z0-9]+", slug.lower())
    named = [one for one in known if words and all(word in one for word in words)]
    if not 0 < len(named) <= _MOST_NAMED:
        near = close(slug, known)
        named = [near] if near else []
    if len(named) == 1:
        return f"Did you mean '{named[0]}'? "
    return f"There are: {', '.join(named)}. " if named else ""


_MOST_NAMED = 8
"""As many are told apart at a glance; of more, the list by groups says more."""


def _spelled(slug: str) -> str:
    """As the catalogue spells it."""
    return slug.strip().lower().replace("-", "_")


def _data(cause: Cause) -> dict[str, Any]:
    told = asdict(cause.filled())
    del told["language"]
    return {**told, "explains": list(cause.explains)}
