"""What doctor does not ask, so that nobody can tell: a tool that nothing is set for, a key that no profile lets go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolsync.address import origin
from toolsync.doctor.behind import behind, told
from toolsync.doctor.checks.saying import address, place, same, slot, text
from toolsync.doctor.checks.wanting import taken_out
from toolsync.doctor.choice import choice
from toolsync.doctor.command import Words, applied, commands
from toolsync.doctor.look import Look
from toolsync.doctor.lost import gone, had, has_key, lost_profile
from toolsync.doctor.model import Diagnosis, Finding, Fix, Where
from toolsync.doctor.probed import Probed
from toolsync.doctor.steering import kept
from toolsync.doctor.unread import readable_first
from toolsync.errors import ProfileError
from toolsync.sentence import Text, say
from toolsync.trace.credential import variables_of


def is_unset(look: Look, offline: Sequence[Finding]) -> bool:
    """Whether nothing says whom it asks, so that it would ask its own vendor, which is no affair of the profile's.

    Args:
        look: the program.
        offline: what the checks found; where they know why nothing counts, the tool was set, and in vain.
    """
    effective = look.effective
    if effective.dialect is None or "base_url" not in look.found:
        return False
    where, want = effective.wheres.get("base_url"), effective.wanted.get("base_url", "")
    is_default = where is None or not where.layer
    is_wanted = bool(want) and same("base_url", effective.base_url, want)
    return is_default and not is_wanted and not any(one.severity == "error" for one in offline)


def why(look: Look, one: Diagnosis, probed: Probed | None = None) -> Iterator[Text]:
    """Why nobody can tell; nothing where somebody can, or where that is no reason.

    Args:
        look: the program.
        one: what is said of it.
        probed: what asking came to; None where nobody was asked.
    """
    if one.state not in ("inconclusive", "warning"):
        return
    profile = look.world.profile
    if is_unset(look, one.findings):
        if one.findings:
            return
        chosen = choice(look)
        if chosen is not None:
            at = place(look, look.where(chosen))
            yield say("asks_unexamined", place=at, value=text(chosen.value), called=look.called)
        if profile is not None:
            yield say("unset_by_profile", called=look.called, profile=profile.name)
        elif chosen is None:
            name = "unset_without_profile" if look.world.fault is None else "unset_unread"
            yield say(name, called=look.called)
    elif (held := kept(look, probed)) is not None:
        yield say(held[0], place=place(look, held[1]), called=look.called)
    elif _is_held_back(look):
        yield from (told(look, answer) for answer in behind(look) if answer.question == "base_url")
        if lost_profile(look):
            yield gone(look)
        name = "key_kept" if look.world.fault is None else "key_kept_unread"
        yield say(name, address=address(look.effective.base_url))


def way_out(look: Look, one: Diagnosis, probed: Probed | None = None) -> Fix | None:
    """What would let doctor tell; None where nothing of ours would.

    Args:
        look: the program.
        one: what is said of it.
        probed: what asking came to; None where nobody was asked.
    """
    if one.state != "inconclusive" or one.findings:
        return None
    is_first = not look.world.profiles and look.world.fault is None
    if is_unset(look, one.findings):
        if look.world.fault is not None:
            return readable_first(look.world)
        if is_first and choice(look) is not None:
            return None  # what was chosen may well work
        return commands(("init",) if is_first else applied(look.tool.name))
    if (held := kept(look, probed)) is not None:
        return _without(look, *held)
    if not _is_held_back(look):
        return None
    if any(answer.question == "base_url" for answer in behind(look)):
        return commands(applied(look.tool.name))
    if look.world.fault is not None:
        return readable_first(look.world)
    return commands(first_profile(look)) if is_first else None


def _without(look: Look, reason: str, where: Where) -> Fix | None:
    """What of the project's is taken out; a certificate authority may be one's own organisation's."""
    if reason == "helper_of_project":
        return None
    if reason == "helper_without":
        return Fix(say("run_with_them", called=look.called, place=place(look, where)))
    if reason == "key_kept_from_certificates" and not look.is_projects(where):
        return Fix(say("name_absolutely", setting=text(slot(look, where))))
    first = taken_out(look, where)
    own = next((one for one in look.layers if one.layer.overlay and one.path is not None), None)
    if reason != "key_kept_from_certificates" or first is None or own is None:
        return first
    setting, file = text(slot(look, where)), look.world.session.shown(own.file)
    return Fix(say("trust_certificates", first=first.text, setting=setting, file=file))


def first_profile(look: Look, found: str = "") -> Words:
    """The command that makes a profile of what the program has, for somebody who has none; it asks for the rest.

    Args:
        look: the program.
        found: the address at which the gateway answers, where that is another one.
    """
    effective, where = look.effective, look.effective.wheres.get("base_url")
    lost = lost_profile(look)
    words = ["init", lost] if lost else ["init"]
    if not found and (where is None or not where.layer):  # its maker's: nobody's wish, and what a broken file leaves
        return tuple(words)
    base, model = had(look, lost) if lost else (effective.base_url, effective.model)
    words += ["--base-url", found or str(address(base))]
    words += ["--model", model] if model else []
    for one in () if lost and has_key(look, lost) else effective.credentials:
        name = one.where.slot.removeprefix("$")
        if one.where.layer == "keyring":  # an entry that stands for the variable, which only the tool looks up
            continue
        # what the tool takes by itself is emptied for it by `apply`, and then a command that it runs has it no more
        if name != one.where.slot and name not in variables_of(look.tool, look.reader, one.question):
            words += ["--key-from", f"env:{name}"]
            break
    return tuple(words)


def _is_held_back(look: Look) -> bool:
    """Whether there is a key, and an address of the user's own that is in no profile."""
    effective = look.effective
    where = effective.wheres.get("base_url")
    if where is None or look.is_steered("base_url") or not any(key.value is not None for key in effective.credentials):
        return False
    try:
        return origin(effective.base_url) not in look.world.origins
    except ProfileError:
        return False
