"""`key rotate` carried out: the gateway asked, key and copies replaced, and looked at what the tools send then."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from toolsync import memory as memories
from toolsync import registry
from toolsync.asked import asked_for
from toolsync.commands.describe import described_file, described_tool
from toolsync.commands.keys.earlier import still_kept
from toolsync.commands.keys.holders import Holders, layers_of
from toolsync.commands.keys.notices import messages
from toolsync.commands.keys.rotate import Rotation
from toolsync.commands.keys.sending import Sent, sent
from toolsync.commands.keys.started import started_with
from toolsync.commands.keys.turning import Turn, forget
from toolsync.commands.keys.twin import Twins
from toolsync.commands.leaks.leftover import Left, leftovers, mending, said
from toolsync.commands.pinging import Pinged, failures, ping_all
from toolsync.commands.writing import forgetting
from toolsync.commands.writing.carry import carry_out
from toolsync.doctor.remedy import is_about_key
from toolsync.errors import (
    ChangedError,
    FileError,
    InterruptedRunError,
    PingFailedError,
    SecretError,
    StoreError,
    ToolsyncError,
)
from toolsync.masking import Secret, on_one_line
from toolsync.planning.fitting import ToolPlan, remembered_tools
from toolsync.planning.guarding import still_exposed, stop_at_exposed
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.result import DONE, PROBLEM, Message, Result
from toolsync.secret import former
from toolsync.transaction import lock

_WAIT_SECONDS = 10.0


def execute(rotation: Rotation, *, ping: bool = True) -> Result:
    """Ask the gateway, replace the key and its copies, and look what the tools send then.

    Raises:
        PingFailedError: the gateway does not take the new key, and nothing was changed.
        ChangedError, ExposedKeyError: something changed since it was planned, and nothing was written.
        FileError, TransactionError, StoreError, SecretError: it cannot be done, and the old key stays in use.
        InterruptedRunError: a person stopped it, and the key is replaced.
    """
    session, change = rotation.session, rotation.change
    stop_at_exposed(session, rotation.files.files)
    pinged = _tried(rotation) if ping else ()
    earlier = _replaced(rotation)  # kept until now, and forgotten with this
    known, what = registry.tools(session.config.parent), described(rotation)
    turn = _turned(rotation)
    rotation = replace(rotation, old=turn.old)  # another command may have put it there since it was planned
    memory = memories.read(memories.path_in(session.state))
    old = rotation.old if rotation.old != change.new else earlier
    with _after_the_turn(rotation):
        after = tuple(_sent(rotation, memory, known, old, ping=ping))
        alike = Twins.of(session, rotation.reference, old, memory, known)
        left = alike.without_theirs(session, leftovers(session, memory, old)) if old is not None else Left()
        before = leftovers(session, memory, earlier) if earlier not in (None, old) else Left()
    open_ends = (*left.read, *before.read, *rotation.astray, *alike.found)
    forgotten = _forgotten_at_once(rotation, turn)
    said = (
        *messages(rotation),
        *(Message("problem" if one.is_problem else "warning", one.text, one.hint) for one in after if one.text),
        *_left_messages(left, memory),
        *_still_older(before),
        *(still_kept(session, memory, old) if old is not None else ()),
        *(started_with(session, known, old) if old is not None else ()),
        *alike.messages(),
        *_turn_messages(turn),
        *forgetting.tidied(session),
        *still_exposed(session, rotation.files.files),
        *_farewell(rotation, turn, is_well=not (open_ends or any(one.is_problem for one in after))),
    )
    data = {
        **what,
        "changed": rotation.old != change.new,
        "written": sum(file.is_change for file in rotation.files.everything),
        "pings": [one.data() for one in pinged],
        "sent": [one.data() for one in after],
        "left": [one.data() for one in (*left.places, *before.places)],
        "kept_until": None if forgotten or not turn.kept.entry else turn.kept.until,
    }
    return Result("key rotate", data, said, PROBLEM if any(one.level == "problem" for one in said) else DONE)


@contextmanager
def _after_the_turn(rotation: Rotation) -> Iterator[None]:
    """What takes long when the key is replaced: whoever stops it is told that it is."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise InterruptedRunError(
            f"interrupted after {on_one_line(str(rotation.reference))} was replaced: what the tools send now was not "
            "looked at, nor where the key from before still stands",
            hint="`toolsync doctor` and `toolsync check` look at that; "
            f"`toolsync key rotate {_named(rotation)}--back` goes back.",
        ) from error


def _sent(rotation: Rotation, memory: Memory, known: Known, old: Secret | None, *, ping: bool) -> Iterator[Sent]:
    """What the tools send now that are set to a profile with the key."""
    session = rotation.session
    keys = [key for key in (rotation.change.new, old) if key is not None]
    applied = Holders(memory, known, session.profiles().names).applied()
    for profile in (one for one in rotation.profiles if one.key == rotation.reference):
        tools = [known[tool] for tool in sorted(applied.get(profile.name, ()))]
        yield from sent(session, profile, tools, keys, ping=ping)


def _replaced(rotation: Rotation) -> Secret | None:
    """The key that the one in use has replaced earlier: a rotation that is run again looks for what is left of it."""
    session, name = rotation.session, rotation.change.name
    with suppress(SecretError):
        vault = session.open_vault()
        entry = former.read(session.state, name, vault).entry
        key = vault.get(entry) if entry else None
        return key if key != rotation.change.new else None
    return None


def described(rotation: Rotation) -> dict[str, Any]:
    """The plan as data."""
    session, change = rotation.session, rotation.change
    served = [tool for asking in rotation.asked for tool in asking.tools]
    asking = [one for one in served if one.delivery and one.delivery.way == "command" and _is_set(rotation, one)]
    variables = [str(t.facts["key_variable"].value) for t in served if t.delivery and t.delivery.way == "env"]
    return {
        "name": change.name,
        "back": change.is_back,
        "backend": session.open_vault().backend,
        "profiles": [profile.name for profile in rotation.profiles],
        "files": [described_file(session, file, rotation.files.memory.key) for file in rotation.files.everything],
        "tools": [described_tool(tool, session) for tool in rotation.files.tools],
        "asking": sorted({tool.tool.title for tool in asking}),
        "variables": sorted(set(variables)),
    }


def _is_set(rotation: Rotation, tool: ToolPlan) -> bool:
    """Whether the tool is set to one of the profiles, and its file still says so; not merely found on the machine."""
    memory, names, name = rotation.files.memory, {profile.name for profile in rotation.profiles}, tool.tool.name
    is_there = tool.tool.store or any(asked_for(real) for real, layer in layers_of(memory) if layer.tool == name)
    return bool(is_there) and name in remembered_tools(memory) and memory.profile_of(name) in {"", *names}


def _tried(rotation: Rotation) -> tuple[Pinged, ...]:
    """The new key, asked about in every dialect in use.

    Raises:
        PingFailedError: it is not taken everywhere.
    """
    pinged = tuple(one for asking in rotation.asked for one in ping_all(rotation.session, asking))
    failed = list(failures(pinged))
    if failed:
        which = "the key from before" if rotation.change.is_back else "the new key"
        came = next(one.ping for one in pinged if one.problem)
        other = _KEY_COMMAND.sub(
            "run this again with it", failed[0].hint
        )  # which would put it in the place of this one
        is_wrong = is_about_key(came.cause) and came.certainty != "open"
        hint = "" if is_wrong else f"{other} `--no-ping` replaces the key without asking. "
        raise PingFailedError(
            "\n".join(one.text for one in failed),
            hint=f"{hint}This was asked with {which}. Nothing was changed: the key in use stays.",
            cause=came.cause,
        )
    return pinged


_KEY_COMMAND = re.compile(r"`toolsync key (?:set|rotate)\b[^`]*`")


def _turned(rotation: Rotation) -> Turn:
    """The key and its copies replaced."""
    turn = Turn(rotation.session, rotation.change)
    try:
        if not rotation.files.is_nothing:
            carry_out(rotation.session, rotation.files, rotation.files.memory, turn)
        if not turn.is_made:
            _turn_alone(rotation, turn)
    except ToolsyncError as error:
        if turn.problem:
            error.hint = f"{error.hint} The keyring could not be put back either ({turn.problem}): {_HALF}".strip()
        elif not turn.is_made and isinstance(error, (FileError, SecretError, StoreError)):
            error.hint = f"{error.hint} The key in use stays.".strip()
        raise
    return turn


_HALF = "it may hold the new key while files hold the old one. Both are good; `toolsync key rotate --back` ends it."


def _turn_alone(rotation: Rotation, turn: Turn) -> None:
    """The key replaced where no file is.

    Raises:
        ChangedError: there may be one by now.
    """
    state = rotation.session.state
    with lock.held(state, _WAIT_SECONDS):
        if memories.seen(memories.path_in(state)).sha256 != rotation.files.memory_sha256:
            raise ChangedError("what is applied was changed meanwhile", hint="Run the command again.")
        try:
            turn.prepare()
        except BaseException:
            turn.take_back()
            raise
        turn.finish()


def _forgotten_at_once(rotation: Rotation, turn: Turn) -> bool:
    """Whether the key that was replaced is not kept at all, as was asked for."""
    if rotation.change.days > 0 or not turn.kept.entry:
        return False
    try:
        return forget(rotation.session, rotation.change.name)
    except ToolsyncError as error:
        turn.problem = error.message
        return False


def _turn_messages(turn: Turn) -> Iterator[Message]:
    if turn.problem:
        text = f"what was kept of the rotation before is still in the keyring: {turn.problem}"
        yield Message("warning", text, "The next rotation removes it, and so does `toolsync key forget`.")


def _left_messages(left: Left, memory: Memory) -> Iterator[Message]:
    if left.read:
        text = f"the old key still stands in {said(left.read)}"
        yield Message("problem", text, " ".join(mending(left.read, memory)))
    if left.copies:
        yield Message("warning", f"copies, logs and histories that no tool reads hold the old key: {said(left.copies)}")
    if left.missed:
        text = f"the old key was not looked for everywhere: {on_one_line(', '.join(left.missed))}"
        yield Message("warning", text, "`toolsync check` says why.")


def _still_older(left: Left) -> Iterator[Message]:
    """That the key from before the old one was never taken out: nobody would know of it any more."""
    if left.read:
        text = f"the key from before the old one still stands in {said(left.read)}"
        yield Message("problem", text, "It is no way back any more: put the new key there, or take it out.")


def _farewell(rotation: Rotation, turn: Turn, *, is_well: bool) -> Iterator[Message]:
    """When the old key may go, and how long there is a way back."""
    if rotation.old is None or rotation.old == rotation.change.new:
        return
    name = rotation.change.name
    changed = {change.tool for file in rotation.files.everything if file.is_change for change in file.changes}
    for tool in rotation.files.tools:
        if tool.tool.name in changed and tool.tool.reload:
            yield Message("note", f"{tool.tool.title}: {tool.tool.reload}")
    wait = "" if is_well else "what is named above is mended and "
    old = "other key, which was in use until now," if rotation.change.is_back else "old key"
    text = (
        f"Revoke the {old} at the gateway once {wait}what was started before has been restarted; until then both serve."
    )
    way = f"`toolsync key rotate {_named(rotation)}--back` goes back"
    until = f"{way} until {_day(turn.kept.until)}, or until `toolsync key forget {name}`." if turn.kept.entry else ""
    yield Message("note", text, until if rotation.change.days > 0 else "")
    if rotation.session.places.platform == "darwin":  # `keyring` removes the item and makes it anew
        yield Message("note", "macOS asks once more whether tools may read the key: it forgets that with the old one.")


def _named(rotation: Rotation) -> str:
    """The profile, as the command line names it."""
    owner = next((one.name for one in rotation.profiles if one.key == rotation.reference), str(rotation.reference))
    return f"{owner} " if rotation.profiles else ""


def _day(moment: str) -> str:
    try:
        return datetime.fromisoformat(moment).date().isoformat()
    except ValueError:
        return "its time is over"
