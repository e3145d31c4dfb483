"""`status`: what was applied last against what stands there now, and that against what the profile wants."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from toolsync import memory as memories
from toolsync import registry, transaction
from toolsync.commands.against import Against, Spot, against
from toolsync.commands.applied import Applied, Standing
from toolsync.commands.describe import skipped_message
from toolsync.commands.writing import state_folder
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import ToolsyncError, TransactionError
from toolsync.masking import printable
from toolsync.planning.fitting import remembered_tools
from toolsync.planning.guarding import exposed_since, readable
from toolsync.planning.plans import Plan, Wish
from toolsync.planning.stores import Address, Shelves
from toolsync.remembered import Memory
from toolsync.result import DONE, PROBLEM, REFUSED, Message, Result
from toolsync.session import Session
from toolsync.transaction import journal as journals
from toolsync.value import frozen

Wanted = Literal["same", "differs", "unknown"]


@frozen
class Place:
    """One value of one tool.

    Attributes:
        tool: whose.
        file: the real path.
        path: where in the file.
        applied: what was applied last, against now.
        wanted: what stands there now, against the profile.
    """

    tool: str
    file: str
    path: str
    applied: Applied
    wanted: Wanted

    @property
    def is_drift(self) -> bool:
        """Whether something that was applied is not what it was, or not what it should be."""
        return self.applied in ("changed", "reverted", "gone") or (self.wanted == "differs" and self.applied != "never")


def status(session: Session, wish: Wish) -> Result:
    """Every place that toolsync wrote or would write, and whether it drifted.

    Raises:
        MemoryFileError, FileError, TemplateError: what is needed cannot be read.
        ProfileError, UsageError: the wish names a profile or a tool that there is not.
    """
    memory = memories.read(memories.path_in(session.state))
    _check(session, wish)
    shelves = Shelves(session)
    whole = against(session, wish, memory, shelves)
    standing = Standing(session, shelves)
    places = sorted(_places(session, memory, whole, wish, standing), key=lambda place: (place.tool, place.file))
    drifted = [place for place in places if place.is_drift]
    waits = _waits(whole, places)
    now = {(place.tool, place.file, place.path): place.applied for place in places}
    messages = [*_messages(session, whole), *_inactive(whole, memory, wish), *_gone(session, whole, memory, wish)]
    messages += [*standing.news(whole.main.problem), *standing.lost(memory), *standing.reverted(memory, now)]
    data = {
        "profile": whole.main.profile or None,
        "applied_profile": memory.profile if remembered_tools(memory) else None,
        "tools": _by_tool(session, places, memory, whole),
        "drift": len(drifted),
        "waiting": len({file for files in waits.values() for file in files}),
        "applies": [{"command": command, "files": len(files)} for command, files in waits.items()],
        "recovery_due": _is_pending(session.state),
    }
    if any(skipped.is_asked for held in whole.all if held.plan for skipped in held.plan.skipped):
        return Result("status", data, tuple(messages), REFUSED)  # as `diff` and `apply` say of it
    is_problem = drifted or waits or data["recovery_due"] or any(message.level == "problem" for message in messages)
    return Result("status", data, tuple(messages), PROBLEM if is_problem else DONE)


def _waits(whole: Against, places: Sequence[Place]) -> dict[str, set[str]]:
    """The files that would be written, by the command that writes them; of stores their rows."""
    waits: dict[str, set[str]] = {}
    for held in whole.all:
        there = {*held.changes}
        waiting = [place for place in places if (place.tool, place.file, parse_path(place.path)) in there]
        rows = (
            {file.path: str(Address.parse(file.path).row) for file in held.plan.files if file.container}
            if held.plan
            else {}
        )
        for command, tools in whole.commands(held, [place.tool for place in waiting]):
            files = {rows.get(place.file, place.file) for place in waiting if place.tool in tools}
            waits.setdefault(command, set()).update(files)
    return waits


def _check(session: Session, wish: Wish) -> None:
    known = registry.tools(session.config.parent)
    for name in wish.tools:
        registry.named(known, name)
    if wish.profile is not None:
        session.profiles().get(wish.profile)


def _inactive(whole: Against, memory: Memory, wish: Wish) -> Iterator[Message]:
    """That the active profile is the one of no tool, though others are applied: `use` alone writes nothing."""
    is_idle = not any(whole.of(tool) is whole.main for tool in remembered_tools(memory))
    if whole.active and whole.asides and not wish.tools and is_idle:
        text = f"profile '{whole.active}' is active, and no tool is set to it"
        yield Message("problem", text, "`toolsync apply` sets them to it.")


def _gone(session: Session, whole: Against, memory: Memory, wish: Wish) -> Iterator[Message]:
    """That tools were set to a profile which there is no more: who asks for its key gets none."""
    try:
        names = session.profiles().names
    except ToolsyncError:  # the plan says so
        return
    found: dict[str, list[str]] = {}
    for tool in sorted(remembered_tools(memory)):
        name = memory.profile_of(tool)
        if name and name not in names and (not wish.tools or tool in wish.tools):
            found.setdefault(name, []).append(tool)
    known = registry.tools(session.config.parent)
    for name, tools in found.items():
        titles = ", ".join(known[tool].title if tool in known else printable(tool) for tool in tools)
        text = f"profile '{name}' is gone, and was applied to {titles}"
        yield Message("problem", text, _ways_out(tools, whole.active, is_any=bool(names)))


def _ways_out(tools: Sequence[str], active: str, *, is_any: bool) -> str:
    """Back to what stood there, or on to a profile that there is."""
    back = f"`{shlex.join(('toolsync', 'undo', *tools))}` gives back what you had before"
    if not is_any:
        return f"{back}."
    named = () if active else ("--profile", "NAME")
    command = shlex.join(("toolsync", "apply", *named, *(word for tool in tools for word in ("--tool", tool))))
    other = f"'{active}'" if active else "another"
    return f"{back}; `{command}` sets {'it' if len(tools) == 1 else 'them'} to {other}."


def _messages(session: Session, whole: Against) -> list[Message]:
    said = [_due(session.state)] if _is_pending(session.state) else []
    for held in whole.all:
        said += _of_plan(session, held.plan) if held.plan else ()
        said += [held.problem] if held.problem else []
    return list(dict.fromkeys(said))


def _of_plan(session: Session, plan: Plan) -> Iterator[Message]:
    for notice in plan.notices:
        yield Message("problem" if notice.is_problem else "warning", notice.text, notice.hint)
    for skipped in plan.skipped:
        yield skipped_message(skipped, "problem", "problem" if skipped.is_asked else "note")
    yield from _unset(session, plan)
    yield from exposed_since(session, plan.files)
    yield from (replace(message, level="problem") for message in readable(session, plan.files))


def _is_pending(state: Path) -> bool:
    return transaction.pending(state) or state_folder.has_entries(state)


def _due(state: Path) -> Message:
    """That a change waits for its end, or why nobody can end it."""
    try:
        journals.load(state)
    except TransactionError as error:
        return Message("problem", error.message, error.hint)
    return Message("problem", "an apply was interrupted", "The next command that writes ends it: `toolsync apply`.")


def _unset(session: Session, plan: Plan) -> Iterator[Message]:
    """That the key's variable is not set here, as far as that can be told without asking anybody for the key."""
    key = plan.profile.key if plan.profile else None
    if key and key.kind == "env" and not session.places.environ.get(key.name) and plan.memory.files:
        yield Message("warning", f"{key} is not set here: a tool that is started from here gets no key")


def _places(session: Session, memory: Memory, whole: Against, wish: Wish, standing: Standing) -> Iterator[Place]:
    stores = {name for name, tool in registry.tools(session.config.parent).items() if tool.store}
    planned = dict.fromkeys(spot for held in whole.all for spot in held.changes)  # in the plans' order
    unasked = {spot for held in whole.all for spot in held.unasked}
    seen: set[Spot] = set()
    for real, file in memory.everything.items():
        for layer in file.layers:
            if wish.tools and layer.tool not in wish.tools:
                continue
            is_blind = whole.of(layer.tool).is_blind(layer.tool, real, is_row=layer.tool in stores)
            for value in layer.values:
                spot = layer.tool, real, parse_path(value.path)
                seen.add(spot)
                differs = spot in planned or spot in unasked
                wanted: Wanted = "differs" if differs else "unknown" if is_blind else "same"
                yield Place(layer.tool, real, value.path, standing.applied(real, layer, memory, value), wanted)
    for tool, real, path in planned:
        if (tool, real, path) not in seen:
            yield Place(tool, real, spell(path), "never", "differs")


def _by_tool(session: Session, places: Sequence[Place], memory: Memory, whole: Against) -> list[dict[str, Any]]:
    tools: dict[str, list[Place]] = {}
    for place in places:
        tools.setdefault(place.tool, []).append(place)
    set_now = remembered_tools(memory)
    return [
        {
            "tool": tool,
            "profile": (memory.profile_of(tool) or None) if tool in set_now else None,
            "against": whole.of(tool).profile or None,
            "files": _by_file(session, own, memory),
        }
        for tool, own in tools.items()
    ]


def _by_file(session: Session, places: Sequence[Place], memory: Memory) -> list[dict[str, Any]]:
    files: dict[str, list[Place]] = {}
    for place in places:
        files.setdefault(place.file, []).append(place)
    return [
        {
            "path": file,
            "shown": session.shown(file) if Path(file).is_absolute() else printable(file),
            "applied": _worst([place.applied for place in own], _APPLIED),
            "wanted": _worst([place.wanted for place in own], _WANTED),
            "applied_at": _applied_at(memory, file, own[0].tool),
            "values": [
                {"path": printable(place.path), "applied": place.applied, "wanted": place.wanted} for place in own
            ],
        }
        for file, own in files.items()
    ]


_APPLIED: Mapping[str, int] = {"same": 0, "never": 1, "unknown": 2, "changed": 3, "reverted": 4, "gone": 5}
_WANTED: Mapping[str, int] = {"same": 0, "unknown": 1, "differs": 2}


def _worst(states: Sequence[str], order: Mapping[str, int]) -> str:
    return max(states, key=order.__getitem__)


def _applied_at(memory: Memory, file: str, tool: str) -> str | None:
    layers = memory.everything[file].layers if file in memory.everything else ()
    return next((layer.applied_at for layer in layers if layer.tool == tool), None)
