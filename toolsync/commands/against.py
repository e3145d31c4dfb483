"""What each tool is held against by `status`: the plan of the profile that it was set to, or of the one asked for."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from toolsync.document import KeyPath
from toolsync.errors import ProfileError, ToolsyncError
from toolsync.plan import FilePlan
from toolsync.planning.fitting import Skipped, Wish, remembered_tools
from toolsync.planning.plans import Plan, plan_apply
from toolsync.planning.stores import Address, Shelves
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen

Spot = tuple[str, str, KeyPath]
"""A value: whose, in which file, where in it."""


@frozen
class Held:
    """The tools that are held against one profile.

    Attributes:
        profile: its name; "" where none can be had.
        plan: what applying it would do, without a word of other tools; None where nobody can tell.
        problem: why that cannot be told, of some or of all.
        blind: the tools of which nothing is known.
        unasked: what would change if somebody agreed to a copy of the key.
        tools: those that were set to it, where it is not the profile that all others are held against.
    """

    profile: str
    plan: Plan | None
    problem: Message | None = None
    blind: Collection[str] = frozenset()
    unasked: Collection[Spot] = ()
    tools: Collection[str] = field(default_factory=frozenset)

    @property
    def changes(self) -> tuple[Spot, ...]:
        """What `apply` would change, in its order."""
        return tuple(_changes(self.plan)) if self.plan else ()

    @property
    def switched_off(self) -> set[str]:
        """The tools that the profile wants no more, and that are given back."""
        planned = {one.tool.name for one in self.plan.tools} if self.plan else set()
        return {tool for tool, _, _ in self.changes} - planned

    def is_blind(self, tool: str, real: str, *, is_row: bool) -> bool:
        """Whether nothing is known of a file; another profile's row is none that this one has a say in."""
        return tool in self.blind or (is_row and Address.parse(real).profile != self.profile)


@frozen
class Against:
    """Which profile each tool is held against.

    Attributes:
        main: the profile that was asked for, else the active one; and every tool that was not set to another.
        asides: the others.
        active: the active profile; "" where none is.
        is_part: whether some tools were asked for, and others not.
    """

    main: Held
    asides: tuple[Held, ...] = ()
    active: str = ""
    is_part: bool = False

    @property
    def all(self) -> tuple[Held, ...]:
        """Each profile that something is held against."""
        return (self.main, *self.asides)

    def of(self, tool: str) -> Held:
        """What a tool is held against."""
        return next((held for held in self.asides if tool in held.tools), self.main)

    @property
    def is_narrow(self) -> bool:
        """Whether `apply` is to be told which tools: it would touch others too."""
        return bool(self.asides) or self.is_part

    def command(self, held: Held, tools: Iterable[str]) -> str:
        """What writes the files of some tools, and touches no tool that was set to another profile."""
        profile = () if held.profile in ("", self.active) else ("--profile", held.profile)
        named = (word for tool in sorted({*tools}) for word in ("--tool", tool)) if self.is_narrow else ()
        return shlex.join(("toolsync", "apply", *profile, *named))

    def commands(self, held: Held, tools: Iterable[str]) -> Iterator[tuple[str, Collection[str]]]:
        """What writes the files of some tools, each with its tools: `apply` gives none back that it is told by name."""
        given_back = {*tools} & held.switched_off if self.is_narrow else set()
        if kept := {*tools} - given_back:
            yield self.command(held, kept), kept
        if given_back:
            yield shlex.join(("toolsync", "undo", *sorted(given_back))), given_back


def against(session: Session, wish: Wish, memory: Memory, shelves: Shelves) -> Against:
    """Each tool's plan; what stops one is told, and blinds nobody for the others."""
    active, others = _others(session, wish, memory)
    aside = {tool for tools in others.values() for tool in tools}
    tools = remembered_tools(memory)
    asides = tuple(
        _held(session, replace(wish, profile=name, tools=tuple(own)), {*own}, shelves, is_asked=bool(wish.tools))
        for name, own in others.items()
    )
    left = tuple(tool for tool in wish.tools if tool not in aside)
    if wish.tools and not left:
        return Against(Held(active, None), asides, active, is_part=True)
    main = _held(session, replace(wish, tools=left), tools - aside, shelves, is_asked=bool(left))
    plan = _without(main.plan, aside) if main.plan else None
    main = replace(main, profile=wish.profile or active, plan=plan, tools=frozenset())
    return Against(main, asides, active, is_part=bool(wish.tools))


def _others(session: Session, wish: Wish, memory: Memory) -> tuple[str, Mapping[str, list[str]]]:
    """The active profile, and the tools that were set to each other one; none where a profile is asked for."""
    try:
        profiles = session.profiles()
    except ToolsyncError:  # the plan says so
        return "", {}
    found: dict[str, list[str]] = {}
    for tool in sorted(remembered_tools(memory)) if wish.profile is None else ():
        name = memory.profile_of(tool)
        if name in profiles.names and name != profiles.active and (not wish.tools or tool in wish.tools):
            found.setdefault(name, []).append(tool)
    return profiles.active or "", found


def _held(session: Session, wish: Wish, tools: set[str], shelves: Shelves, *, is_asked: bool) -> Held:
    problem: Message | None = None
    blind: set[str] = set()
    plan: Plan | None
    try:
        plan = plan_apply(session, wish, shelves)
        plan = plan if is_asked else _together([plan])
    except ToolsyncError as error:
        plans = {} if is_asked or isinstance(error, ProfileError) else _one_by_one(session, wish, tools, shelves)
        problem, blind = Message("problem", error.message, error.hint), tools - plans.keys()
        plan = _together(list(plans.values()))
    left_out = [one for one in plan.skipped if one.tool.name in tools and not one.holds_copy] if plan else []
    unasked: list[Spot] = []
    for skipped in left_out:
        found = _if_agreed(session, wish, skipped, shelves)
        unasked += found or ()
        blind |= {skipped.tool.name} if found is None else set()
    return Held(wish.profile or "", plan, problem, frozenset(blind), tuple(unasked), frozenset(tools))


def _if_agreed(session: Session, wish: Wish, skipped: Skipped, shelves: Shelves) -> list[Spot] | None:
    """What would change of a tool that is left out for want of consent; None where that is not known."""
    name = skipped.tool.name
    if skipped.needs_consent:
        with suppress(ToolsyncError):
            plan = plan_apply(session, replace(wish, tools=(name,), allow_plaintext=True), shelves)
            return [spot for spot in _changes(plan) if spot[0] == name]
    return None


def _changes(plan: Plan) -> Iterator[Spot]:
    return ((change.tool, file.path, change.path) for file in plan.everything for change in file.changes)


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


def _without(plan: Plan, tools: Collection[str]) -> Plan:
    """The plan without a word of tools that are held against another."""
    if not tools:
        return plan
    return replace(
        plan,
        tools=tuple(one for one in plan.tools if one.tool.name not in tools),
        skipped=tuple(one for one in plan.skipped if one.tool.name not in tools),
        files=tuple(_of_others(file, tools) for file in plan.files),
        entries=tuple(_of_others(file, tools) for file in plan.entries),
    )


def _of_others(file: FilePlan, tools: Collection[str]) -> FilePlan:
    return replace(file, changes=tuple(change for change in file.changes if change.tool not in tools))
