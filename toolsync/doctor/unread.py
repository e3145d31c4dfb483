"""What makes a profile readable that is not: consent, what its shared file lacks, or a look at the user's own."""

from __future__ import annotations

from collections.abc import Sequence

from toolsync.doctor.command import Words, applied, commands
from toolsync.doctor.model import Fix
from toolsync.doctor.world import World
from toolsync.errors import SharedProfileError, UntrustedProfileError
from toolsync.sentence import reported, say


def readable_first(world: World, tools: Sequence[str] = ()) -> Fix:
    """What comes before all else where the profile that is meant cannot be read.

    Args:
        world: the machine, with why the profile cannot be read.
        tools: those to be set again once it can.
    """
    fault = world.fault
    if isinstance(fault, UntrustedProfileError):
        again = (*applied(*tools), *(("--profile", fault.profile) if world.is_aside else ()))
        return commands(("profile", "trust", fault.profile), *((again,) if tools else ()))
    if isinstance(fault, SharedProfileError) and fault.hint:
        return Fix(reported(fault.hint))
    return Fix(say("mend_profile"))


def is_first(words: Words) -> bool:
    """Whether the command line is one of those."""
    return words[:2] == ("profile", "trust")
