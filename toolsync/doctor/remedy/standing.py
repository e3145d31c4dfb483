"""How a tool stands to the profile that it is meant to have, as far as it decides what mends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from toolsync.doctor.command import Words
from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.profile import Profile
from toolsync.sentence import Text
from toolsync.value import frozen


@frozen
class Rehearsal:
    """What `apply` would come to for a tool, here and now; as it is, it goes through.

    Attributes:
        options: those without which it would pass the tool over or be refused, each with what it means.
        reason: why it would be refused all the same; "" where it would not.
        hint: what is to be done about that first.
        is_vain: whether it would change nothing.
        is_keyless: whether the program would find no key after it: the profile has the only way otherwise.
        first: the command line without which it would pass the tool over; empty where there is none.
        off: what that is about.
    """

    options: Mapping[str, Text] = field(default_factory=dict)
    reason: Text = ""
    hint: Text = ""
    is_vain: bool = False
    is_keyless: bool = False
    first: Words = ()
    off: Text = ""


def _nothing() -> None:
    """Nobody looked."""


def _no() -> bool:
    """As far as anybody looked."""
    return False


@frozen
class Standing:
    """How a tool stands to the profile that it is meant to have.

    Attributes:
        is_set: whether the tool has what the profile wants, as far as the finding is about it: then it is the profile
            that must change, and after it the tool.
        takes: the facts of a profile that the tool's templates set.
        sends: the headers in which the tool sends keys of its settings, in lower case.
        writes: whether toolsync sets the place that the finding names.
        is_projects: whether a project's file says what the finding is about.
        tools: all that are set to the profile.
        variable: of the environment, from which the tool takes the key as toolsync sets it; "" where it does not.
        named: the variables from which it has its key now.
        program: what starts the tool; "" where nobody knows.
        environ: the variables that the tool sees.
        set_at: the line of a startup file that sets the variable from which the profile takes the key; "" if unknown.
        begin: the command that makes a first profile of what the tool has; empty where there is one.
        gone: that the profile which the tool was set to is gone with its file, so that `begin` makes it anew; "" else.
        is_asked_for: whether the tool asks for the profile's key each time, so that no copy of it is to be written.
        key: looks the profile's key up; why not, where it cannot be had.
        has_former: whether the key that the profile's has replaced is still kept.
        taken_out: what takes the setting of the finding out of where it stands; None where that is nobody's affair.
        rehearsal: plans an `apply` for the tool.
    """

    is_set: bool
    takes: frozenset[str] = frozenset({"timeout_seconds"})
    sends: frozenset[str] = frozenset({"authorization", "x-api-key"})
    writes: bool = True
    is_projects: bool = False
    tools: tuple[str, ...] = ()
    variable: str = ""
    named: tuple[str, ...] = ()
    program: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    set_at: str = ""
    begin: Words = ()
    gone: Text = ""
    is_asked_for: bool = False
    key: Callable[[], Secret | SecretError | None] = _nothing
    has_former: Callable[[], bool] = _no
    taken_out: Callable[[], Fix | None] = _nothing
    rehearsal: Callable[[], Rehearsal] = Rehearsal


Change = Callable[[Effective, Finding, Profile, Standing], Fix | None]
"""What of the profile or the tool must change for a finding to be gone; None where only a person can."""
