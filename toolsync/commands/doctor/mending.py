"""What `doctor` says mends a finding: commands on the profile, or what comes before where there is none to be had."""

from __future__ import annotations

from functools import cache

from toolsync.commands.doctor.rehearsal import rehearsal
from toolsync.commands.doctor.standing import standing
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.remedy import fix
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
            return Fix(say("mend_profile"))
        if found is None and is_by_profile and stands.begin:
            return Fix(say("profile_first", remedy=remedy, command=stands.begin))
        return found


def _needs_profile(remedy: str) -> bool:
    """Whether what is to be done is done by commands that need a profile."""
    return any(f"`toolsync {command}" in remedy for command in ("apply", "profile edit", "key set", "key rotate"))
