"""`status`: what was applied last against what stands there now, and that against what the profile wants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from toolsync import memory as memories
from toolsync import registry, transaction
from toolsync.commands.applied import Applied, Standing
from toolsync.commands.describe import skipped_message
from toolsync.commands.writing import state_folder
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import ProfileError, ToolsyncError, TransactionError
from toolsync.masking import printable
from toolsync.planning.fitting import remembered_tools
from toolsync.planning.guarding import exposed_since, readable
from toolsync.planning.plans import Plan, Wish, plan_apply
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
    plan, problem, blind = _plan(session, wish, remembered_tools(memory), shelves)
    standing = Standing(session, shelves)
    places = sorted(_places(memory, plan, wish, standing, blind), key=lambda place: (place.tool, place.file))
    drifted = [place for place in places if place.is_drift]
    rows = {file.path: str(Address.parse(file.path).row) for file in plan.files if file.container} if plan else {}
    waiting = {rows.get(place.file, place.file) for place in places if place.wanted == "differs"}
    messages = [*_messages(session, plan), *([problem] if problem else []), *standing.news(problem)]
    now = {(place.tool, place.file, place.path): place.applied for place in places}
    messages += [*standing.lost(memory), *standing.reverted(memory, now)]
    data = {
        "profile": plan.profile.name if plan and plan.profile else None,
        "applied_profile": memory.profile if remembered_tools(memory) else None,
        "tools": _by_tool(session, places, memory),
        "drift": len(drifted),
        "waiting": len(waiting),
        "recovery_due": _is_pending(session.state),
    }
    if plan and any(skipped.is_asked for skipped in plan.skipped):
        return Result("status", data, tuple(messages), REFUSED)  # as `diff` and `apply` say of it
    is_problem = drifted or waiting or data["recovery_due"] or any(message.level == "problem" for message in messages)
    return Result("status", data, tuple(messages), PROBLEM if is_problem else DONE)


def _check(session: Session, wish: Wish) -> None:
    known = registry.tools(session.config.parent)
    for name in wish.tools:
        registry.named(known, name)
    if wish.profile is not None:
        session.profiles().get(wish.profile)


def _plan(
    session: Session, wish: Wish, tools: set[str], shelves: Shelves
) -> tuple[Plan | None, Message | None, set[str]]:
    """The plan; why the second column is unknown, and of which of the tools that are applied."""
    try:
        return plan_apply(session, wish, shelves), None, set()
    except ToolsyncError as error:
        plans = {} if wish.tools or isinstance(error, ProfileError) else _one_by_one(session, wish, tools, shelves)
        return _together(list(plans.values())), Message("problem", error.message, error.hint), tools - plans.keys()


def _one_by_one(session: Session, wish: Wish, tools: set[str], shelves: Shelves) -> dict[str, Plan]:
    """The plan of each tool that can be planned alone: what stops one says nothing of the others."""
    plans: dict[str, Plan] = {}
    for tool in sorted(tools):
        with suppress(ToolsyncError):
            plans[tool] = plan_apply(session, replace(wish, tools=(tool,)), shelves)
    return plans


def _together(plans: Sequence[Plan]) -> Plan | None:
    if not plans:
        return None
    files = {file.path: file for plan in plans for file in plan.files}
    kept = {entry.path: entry for plan in plans for entry in plan.entries}
    skipped = tuple(replace(one, is_asked=False) for plan in plans for one in plan.skipped)
    tools = tuple(tool for plan in plans for tool in plan.tools)
    return replace(plans[0], tools=tools, files=tuple(files.values()), entries=tuple(kept.values()), skipped=skipped)


def _messages(session: Session, plan: Plan | None) -> Iterator[Message]:
    if _is_pending(session.state):
        yield _due(session.state)
    if plan is None:
        return
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


def _places(
    memory: Memory, plan: Plan | None, wish: Wish, standing: Standing, blind: Collection[str]
) -> Iterator[Place]:
    planned = plan.everything if plan else ()
    changes = [(change.tool, file.path, change.path) for file in planned for change in file.changes]
    wanted = dict.fromkeys(changes)  # in the plan's order
    seen: set[tuple[str, str, Any]] = set()
    for real, file in memory.everything.items():
        for layer in file.layers:
            if wish.tools and layer.tool not in wish.tools:
                continue
            for value in layer.values:
                place = layer.tool, real, parse_path(value.path)
                seen.add(place)
                differs: Wanted = "unknown" if layer.tool in blind else "differs" if place in wanted else "same"
                yield Place(layer.tool, real, value.path, standing.applied(real, layer, memory, value), differs)
    for tool, real, path in wanted:
        if (tool, real, path) not in seen:
            yield Place(tool, real, spell(path), "never", "differs")


def _by_tool(session: Session, places: Sequence[Place], memory: Memory) -> list[dict[str, Any]]:
    tools: dict[str, list[Place]] = {}
    for place in places:
        tools.setdefault(place.tool, []).append(place)
    set_now = remembered_tools(memory)
    return [
        {
            "tool": tool,
            "profile": (memory.profile_of(tool) or None) if tool in set_now else None,
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
