"""What keeps a program from the variables that it is given: said, or where the key is at stake refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolsync.asked import asked_for
from toolsync.commands.environment.belonging import set_now
from toolsync.commands.environment.sight import Seen
from toolsync.errors import PlanRefusedError
from toolsync.masking import looks_secret, on_one_line
from toolsync.planning.tracing import called
from toolsync.profile import Profile
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Reader, Tool
from toolsync.trace import Answer
from toolsync.trace.conflict import Conflict
from toolsync.trace.credential import CREDENTIALS


def judged(session: Session, profile: Profile, tool: Tool, seen: Seen, found: Sequence[Conflict]) -> Iterator[Message]:
    """What keeps the tool from using our variables: said, or where the key is at stake refused."""
    for conflict in found:
        hint = _way_out(session, profile, tool, conflict.answer, seen)
        text = _told(session, tool, seen.reader, conflict)
        decides = conflict.question in {"base_url", *CREDENTIALS, *seen.reader.expect}
        if conflict.is_foreign_credential or decides:
            raise PlanRefusedError(text, hint=hint)
        yield Message("warning", text, hint)


def stop_where_led_elsewhere(
    session: Session, profile: Profile, tool: Tool, seen: Seen, found: Sequence[Conflict]
) -> None:
    """Let a tool pass that is set by its own files, where these lead it to the profile.

    Whoever runs it by `exec` means the profile's gateway: a word of ours would be gone with its first screen.

    Raises:
        PlanRefusedError: they do not, or it was never set, and would ask its own vendor.
    """
    for conflict in found:
        decides = conflict.question in {"base_url", *seen.reader.expect}
        is_key = conflict.is_foreign_credential and not asked_for(conflict.answer.file)
        if decides or (conflict.answer.file and is_key):
            hint = _way_out(session, profile, tool, conflict.answer, seen)
            raise PlanRefusedError(_told(session, tool, seen.reader, conflict), hint=hint)
    for file in sorted(seen.own):
        asked = asked_for(file)
        if asked and not _asks_for(session, profile, asked):
            text = (
                f"{called(tool, seen.reader)} would use another key: {session.shown(file)} asks for that of '{asked}'"
            )
            hint = f"{_applying(profile, tool)} that file.{_as_it_is_set(session, profile, tool)}"
            raise PlanRefusedError(text, hint=hint)


def _asks_for(session: Session, profile: Profile, asked: str) -> bool:
    """Whether a file that asks for the key of the profile `asked` gets this one's."""
    profiles = session.profiles()
    return asked == profile.name or (asked in profiles.names and profiles.get(asked).key == profile.key)


def _told(session: Session, tool: Tool, reader: Reader, conflict: Conflict) -> str:
    answer, name = conflict.answer, called(tool, reader)
    what = {"base_url": "address", "key": "key", "x_key": "key"}.get(conflict.question, conflict.question)
    if not answer.value and conflict.question in reader.expect:
        return f"{name} would find no {what}: its own settings name none"
    if not answer.value:
        return f"{name} would find no {what}: a file of its own hides the variable"
    is_secret = what in ("key", "headers") or looks_secret(answer.slot)
    value = "" if is_secret else f" '{on_one_line(answer.value, limit=200)}'"
    if answer.slot.startswith("="):
        return f"{name} would use another {what}{value}, its own default"
    where = session.shown(answer.file) if answer.file else "the environment"
    return f"{name} would use another {what}{value}: {where} sets {on_one_line(answer.slot, limit=200)}"


def _way_out(session: Session, profile: Profile, tool: Tool, answer: Answer, seen: Seen) -> str:
    """What lets the tool use our variables: `apply` writes to the tool's own files, and to no others."""
    if not answer.file:
        return f"{_applying(profile, tool)} it to this profile."
    if not answer.overlay and answer.file not in seen.own:  # a project's file, in the home folder, is both
        return "Take it out there: that file is none that toolsync writes to."
    as_set = _as_it_is_set(session, profile, tool)
    return f"{_applying(profile, tool)} that file{'.' if as_set else ', or take it out there.'}{as_set}"


def _applying(profile: Profile, tool: Tool) -> str:
    return f"`toolsync apply --profile {profile.name} --tool {tool.name}` sets"


def _as_it_is_set(session: Session, profile: Profile, tool: Tool) -> str:
    """That the tool is set to another profile, with which it can be run."""
    own = set_now(session).get(tool.name)
    is_another = own != profile.name and own in session.profiles().names
    return f" Without `--profile` it is run with '{own}', which it is set to." if is_another else ""
