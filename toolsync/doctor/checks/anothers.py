"""The key of one profile at the gateway of another: a file asks for it by our command, or holds it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from toolsync.doctor.astray import addressed, asked_of, owner
from toolsync.doctor.checks.saying import place, values
from toolsync.doctor.checks.wanting import way_out
from toolsync.doctor.command import applied, commands
from toolsync.doctor.elsewhere import elsewhere
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Finding, Fix
from toolsync.doctor.printing import printing
from toolsync.profile import Profile
from toolsync.sentence import say


def anothers(look: Look) -> Iterator[Finding]:
    """Each credential that is another profile's than the one whose address is asked."""
    for credential in look.effective.credentials:
        command = printing(look, credential)
        whose = owner(look, credential.value, command)
        if whose is not None:
            yield _astray(look, credential, whose)
            continue
        file = elsewhere(look, command)
        if file:
            yield _of_elsewhere(look, credential, file)
            continue
        named = asked_of(look, command) if command is not None else None
        if named is not None and _is_other(look, named):
            yield _other(look, credential, named)


def _astray(look: Look, credential: Credential, whose: Profile) -> Finding:
    """It would go to a gateway that it is not for; so nobody is asked."""
    here, own = addressed(look), look.world.profile
    name = "asks_for_others" if credential.kind == "command" else "gives_others"
    at = here.name if here is not None else ""
    lines = (say(name, place=place(look, credential.where), owner=whose.name, profile=at), say("others_held"))
    where, fix = credential.where, commands((*applied(look.tool.name), "--profile", at))
    if own is not None and own.key == whose.key:  # the key is right, and the address is not
        answer = look.found["base_url"]
        where = look.where(answer)
        fix = way_out(look, answer, where) or fix
    return Finding("foreign_credential", "sure", lines, values(look, where), where, fix, stops=True)


def _is_other(look: Look, named: Profile) -> bool:
    """Whether the tool is set to a profile of the same gateway that has a key of its own."""
    own, here = look.world.profile, addressed(look)
    return own is not None and own == here and own.key != named.key


def _other(look: Look, credential: Credential, named: Profile) -> Finding:
    """It may go there, and where it is refused, another key of the profile's own would mend nothing."""
    own = look.world.profile.name if look.world.profile is not None else ""
    line = say("asks_for_others", place=place(look, credential.where), owner=named.name, profile=own)
    fix = commands((*applied(look.tool.name), "--profile", own))
    where = credential.where
    return Finding("foreign_credential", "likely", (line,), values(look, where), where, fix)


def _of_elsewhere(look: Look, credential: Credential, file: str) -> Finding:
    """Another profile file set the tool: where the key is refused, nothing that stands in ours would mend it."""
    where, shown = credential.where, look.world.session.shown(file)
    line = say("asks_elsewhere", place=place(look, where), file=shown)
    fix = Fix(f"toolsync --config {shlex.quote(file)} doctor {look.tool.name}")
    return Finding("foreign_credential", "likely", (line,), values(look, where), where, fix)
