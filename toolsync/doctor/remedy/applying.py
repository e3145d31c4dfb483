"""`apply` as it goes through here: with the options that it needs, and behind what would stop it."""

from __future__ import annotations

from dataclasses import replace

from toolsync.doctor.command import Words, applied, commands, spelled
from toolsync.doctor.model import Effective, Fix
from toolsync.doctor.remedy.standing import Standing
from toolsync.sentence import Text, say


def as_it_runs(found: Fix, standing: Standing) -> Fix | None:
    """The chain with what its `apply` needs; None where that is the whole of it, and would change nothing."""
    chain = (found.argv, *found.then)
    if not any(map(_is_apply, chain)):
        return found
    rehearsal = standing.rehearsal()
    if rehearsal.is_vain and not found.then:
        return None
    lines = ((*words, *rehearsal.options) if _is_apply(words) else words for words in chain)
    whole = commands(*((rehearsal.first,) if rehearsal.first else ()), *lines)
    if rehearsal.reason:
        first = say("and_then", first=rehearsal.hint, command=whole.text)
        return Fix(first, why=(*found.why, rehearsal.reason))
    off = (rehearsal.off,) if rehearsal.first else ()
    return replace(whole, why=(*found.why, *off, *rehearsal.options.values()))


def then_applied(first: Text, effective: Effective, standing: Standing, *why: Text) -> Fix:
    """What a person does first, and `apply` behind it."""
    options = standing.rehearsal().options
    command = spelled((*applied(effective.tool), *options))
    return Fix(say("and_then", first=first, command=command), why=(*why, *options.values()))


def _is_apply(words: Words) -> bool:
    return words[:1] == ("apply",)
