"""What doctor does not ask, so that nobody can tell: a tool that nothing is set for, a key that no profile lets go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from toolsync.address import origin
from toolsync.doctor.checks.saying import address, same
from toolsync.doctor.command import applied, spelled
from toolsync.doctor.look import Look
from toolsync.doctor.model import Diagnosis, Finding
from toolsync.errors import ProfileError, SecretError
from toolsync.sentence import Text, reported, say
from toolsync.trace import variables_of


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


def why(look: Look, one: Diagnosis, is_agreed: Callable[[Look], bool]) -> Iterator[Text]:
    """Why nobody can tell, and what would let doctor tell; nothing where somebody can, or where that is no reason.

    Args:
        look: the program.
        one: what is said of it.
        is_agreed: whether `apply` may set a tool without being told that its file may hold a copy of the key.
    """
    if one.state != "inconclusive" or one.findings:
        return
    if is_unset(look, one.findings):
        profile = look.world.profile
        if look.world.fault is not None:
            yield say("mend_profile")
        elif profile is None:
            yield say("unset_without_profile", called=look.called)
        else:
            may_set = is_agreed(look)
            command = spelled([*applied(look.tool.name), *([] if may_set else ["--allow-plaintext"])])
            yield say("unset_by_profile", called=look.called, profile=profile.name, command=command)
            if not may_set:
                yield say("needs_consent", called=look.called)
            own = look.world.key
            if isinstance(own, SecretError):  # `apply` would only ask for it
                yield say("key_first", reason=reported(own.message), hint=reported(own.hint))
    elif _is_held_back(look):
        shown = str(address(look.effective.base_url))
        yield say("key_kept", address=shown)
        if not look.world.profiles and look.world.fault is None:
            yield say("key_let_go", command=first_profile(look))


def first_profile(look: Look, found: str = "") -> str:
    """The command that makes a profile of what the program has, for somebody who has none.

    Args:
        look: the program.
        found: the address at which the gateway answers, where that is another one.
    """
    effective = look.effective
    words = ["init", "--base-url", found or str(address(effective.base_url)), "--model", effective.model or "MODEL"]
    for one in effective.credentials:
        name = one.where.slot.removeprefix("$")
        # what the tool takes by itself is emptied for it by `apply`, and then a command that it runs has it no more
        if name != one.where.slot and name not in variables_of(look.tool, look.reader, one.question):
            words += ["--key-from", f"env:{name}"]
            break
    return spelled(words)


def _is_held_back(look: Look) -> bool:
    """Whether there is a key, and an address of the user's own that is in no profile."""
    effective = look.effective
    where = effective.wheres.get("base_url")
    one = next((one for one in look.layers if where is not None and one.layer.name == where.layer), None)
    is_projects = one is not None and one.is_projects
    if where is None or is_projects or not any(key.value is not None for key in effective.credentials):
        return False
    try:
        return origin(effective.base_url) not in look.world.origins
    except ProfileError:
        return False
