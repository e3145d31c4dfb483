"""`apply`, planned before `doctor` prints it: the options that it needs here, or what would stop it."""

from __future__ import annotations

from dataclasses import replace

from toolsync.commands.writing.carry import stop_at_unwritable
from toolsync.doctor.look import Look
from toolsync.doctor.remedy.standing import Rehearsal
from toolsync.errors import (
    DamagedMemoryError,
    DocumentError,
    ExposedKeyError,
    FileError,
    MemoryFileError,
    PlanRefusedError,
    ToolsyncError,
    TransactionError,
)
from toolsync.planning.delivery import ways
from toolsync.planning.guarding import stop_at_exposed
from toolsync.planning.plans import Plan, Wish, plan_apply
from toolsync.planning.tracing import keyless_notice
from toolsync.sentence import Text, reported, say
from toolsync.trace.credential import takes_variables
from toolsync.transaction import journal

_LOSING, _IGNORING, COPYING = "--lose-old-values", "--fix-gitignore", "--allow-plaintext"
_FORGETTING = "--new-memory"


def rehearsal(look: Look) -> Rehearsal:
    """What `apply` would come to for the tool; nothing is written, and nobody asked."""
    options: dict[str, Text] = {}
    profile = look.world.profile
    if profile is not None and is_off(look):
        first = ("profile", "edit", profile.name, "--unset", f"tool.{look.tool.name}.enabled")
        off = say("switched_off", profile=profile.name, called=look.tool.title)
        return Rehearsal({} if is_agreed(look) else {COPYING: _consent(look)}, first=first, off=off)
    if not is_agreed(look):
        options[COPYING] = _consent(look)
    try:
        journal.load(look.world.session.state)  # what was interrupted is ended before anything else
        planned = _planned(look, options)
        stop_at_unwritable(planned)
    except DamagedMemoryError:
        options[_FORGETTING] = say("needs_new_memory")
        return Rehearsal(options)
    except _REFUSALS as error:
        return Rehearsal(options, reported(error.message), reported(error.hint or error.message))
    except ToolsyncError:
        return Rehearsal(options)  # a key that cannot be had is told apart; what else there is, it says itself
    if planned.unkept:
        options[_LOSING] = say("needs_loss")
    is_change = any(file.is_change for file in planned.everything)
    is_keyless = keyless_notice(look.tool, look.reader) in planned.notices
    return Rehearsal(options, is_vain=not is_change and not planned.skipped, is_keyless=is_keyless)


_REFUSALS = (DocumentError, ExposedKeyError, FileError, MemoryFileError, PlanRefusedError, TransactionError)
"""What stops an `apply`, and a person can do something about."""


def _consent(look: Look) -> Text:
    """That the tool's file is to hold a copy of the key; a tool of several programs has a way that serves some."""
    profile = look.world.profile
    if profile is not None and "env" in look.tool.key and takes_variables(look.tool, look.reader):
        return say("needs_consent_or_env", called=look.called, profile=profile.name, tool=look.tool.name)
    return say("needs_consent", called=look.called)


def is_off(look: Look) -> bool:
    """Whether the profile says that toolsync keeps its hands off the tool, so that `apply` passes it over."""
    profile = look.world.profile
    return profile is not None and profile.tool.get(look.tool.name, {}).get("enabled") is False


def is_agreed(look: Look) -> bool:
    """Whether the tool's file may hold a copy of the key, or holds none."""
    profile = look.world.profile
    if profile is None or profile.plaintext != "ask" or look.world.memory.copies.get(look.tool.name) == profile.name:
        return True
    try:
        return next(iter(ways(look.tool, profile)), "") != "plaintext"
    except ToolsyncError:  # a way that the tool does not have, which `apply` says
        return True


def _planned(look: Look, options: dict[str, Text]) -> Plan:
    """The plan; what git would take up is kept from it by an option more.

    Raises:
        ToolsyncError: it is refused all the same.
    """
    session = look.world.session
    profile = look.world.profile
    wish = Wish(profile.name if profile else None, (look.tool.name,), allow_plaintext=COPYING in options)
    planned = plan_apply(session, wish)
    try:
        stop_at_exposed(session, planned.files)
    except ExposedKeyError:
        planned = plan_apply(session, replace(wish, fix_gitignore=True))
        stop_at_exposed(session, planned.files)
        options[_IGNORING] = say("needs_ignoring")
    return planned
