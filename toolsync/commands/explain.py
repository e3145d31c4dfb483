"""`explain`: what a cause is, what shows it, what mends it; or the list of all."""

from __future__ import annotations

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
        near = close(slug, known)
        meant = f"Did you mean '{near}'? " if near else ""
        raise UsageError(
            f"there is no cause '{on_one_line(slug, limit=120)}'", hint=f"{meant}`toolsync explain` lists them."
        )
    return found


def _spelled(slug: str) -> str:
    """As the catalogue spells it."""
    return slug.strip().lower().replace("-", "_")


def _data(cause: Cause) -> dict[str, Any]:
    told = asdict(cause.filled())
    del told["language"]
    return {**told, "explains": list(cause.explains)}
