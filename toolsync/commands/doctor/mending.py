"""What `doctor` says mends a finding: commands on the profile, or what comes before where there is none to be had."""

from __future__ import annotations

import re
from functools import cache

from toolsync import registry
from toolsync.commands.doctor.rehearsal import rehearsal
from toolsync.commands.doctor.standing import standing
from toolsync.doctor.checks import saying
from toolsync.doctor.command import spelled
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.remedy import fix
from toolsync.doctor.unread import is_first, readable_first
from toolsync.profile import Profile
from toolsync.sentence import say


class Mending:
    """What mends what is wrong with one program; an `apply` for it is planned once.

    Args:
        look: the program.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._rehearsal = cache(lambda: rehearsal(look))

    def of(self, finding: Finding, remedy: str = "") -> Fix | None:
        """What mends it; None where the cause's own remedy says it all.

        Args:
            finding: what is wrong, with all values that its cause's sentences ask for.
            remedy: the cause's own.
        """
        world = self._look.world
        stands = standing(self._look, finding, self._rehearsal)
        found = fix(self._look.effective, finding, world.profile, stands)
        is_by_profile = bool(found.argv) if found is not None else _needs_profile(remedy)
        if world.fault is not None and is_by_profile:
            return found if found is not None and is_first(found.argv) else readable_first(world, self._set())
        if found is None and is_by_profile and stands.begin:
            return Fix(say("profile_first", remedy=remedy, command=spelled(stands.begin)), stands.begin)
        if found is None and is_by_profile and world.profile is None and world.profiles:
            return self._used_first(remedy)
        return found or _kept_elsewhere(remedy, world.profile)

    def _set(self) -> tuple[str, ...]:
        """The tool, and the others that were set to the same profile, which cannot be read."""
        world, name = self._look.world, self._look.tool.name
        known, applied = registry.tools(world.session.config.parent), world.memory.applied
        return tuple(tool for tool in applied if tool in known and applied[tool] == applied.get(name))

    def _used_first(self, remedy: str) -> Fix:
        """The remedy behind the choice of a profile, where there are some and none is in use."""
        name = saying.meant(self._look)
        if name:
            words = ("use", name)
            return Fix(say("use_first", remedy=remedy, command=spelled(words)), words)
        names = ", ".join(one.name for one in self._look.world.profiles)
        return Fix(say("choose_first", remedy=remedy, names=names))


def _needs_profile(remedy: str) -> bool:
    """Whether what is to be done is done by commands that need a profile."""
    return any(f"`toolsync {command}" in remedy for command in ("apply", "profile edit", "key set", "key rotate"))


_KEY_COMMAND = re.compile("`toolsync key (?:set|rotate) [^`]+`")


def _kept_elsewhere(remedy: str, profile: Profile | None) -> Fix | None:
    """The remedy with the place that the profile takes its key from, where no command of ours puts one there."""
    command = _KEY_COMMAND.search(remedy)
    if profile is None or command is None:
        return None
    name = profile.key.name
    place = {
        "env": say("kept_in_variable", variable=name),
        "systemd": say("kept_in_credential", credential=name),
        "command": say("kept_behind_command"),
    }.get(profile.key.kind)
    if place is None:
        return None
    return Fix(say("around", before=remedy[: command.start()], place=place, after=remedy[command.end() :]))
