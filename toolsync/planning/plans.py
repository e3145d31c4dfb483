"""From a wish to a plan: profile, tools, files and memory brought together; everything read, nothing written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.errors import MissingFactError, TemplateError, UsageError
from toolsync.masking import on_one_line
from toolsync.plan import FilePlan
from toolsync.planning import aside
from toolsync.planning.choosing import chosen, fitting, parting_notices, store_warnings, switched_off
from toolsync.planning.claims import stop_at_claimed
from toolsync.planning.entries import Wanted, entry_plans
from toolsync.planning.fitting import Scope, Skipped, ToolPlan, Wish, remembered_tools
from toolsync.planning.guarding import ignored_lines
from toolsync.planning.keeping import kept_or_told
from toolsync.planning.rack import Rack
from toolsync.planning.reading import Reading
from toolsync.planning.rows import row_of
from toolsync.planning.running import Watch
from toolsync.planning.stores import Shelf, Shelves
from toolsync.planning.table import Table
from toolsync.planning.tracing import Notice
from toolsync.profile import Profile
from toolsync.profile.wording import close
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen

__all__ = ["Plan", "Skipped", "ToolPlan", "Wish", "plan_apply", "plan_ping", "plan_undo"]


@frozen
class Plan:
    """Everything that one apply or undo would do.

    Attributes:
        profile: the profile, or None for an undo.
        tools: the tools that take part.
        files: one plan for each real file.
        snapshots: what the files were read as, by real path.
        skipped: the tools that are left out.
        memory: what is remembered so far.
        memory_sha256: of memory's file when it was read; None where there was none.
        unkept: the user's own values that no keyring can keep for undo.
        asides: what concerns no planned tool: templates that cannot be used, names in the profile that mean no tool.
        shelves: the stores that take part, as they were read.
        entries: one plan for each entry that another program has in the keyring, as if it were a file.
    """

    profile: Profile | None
    tools: tuple[ToolPlan, ...]
    files: tuple[FilePlan, ...]
    snapshots: Mapping[str, disk.Snapshot]
    skipped: tuple[Skipped, ...]
    memory: Memory
    memory_sha256: str | None = None
    unkept: tuple[Notice, ...] = ()
    shelves: tuple[Shelf, ...] = ()
    asides: tuple[Notice, ...] = ()
    entries: tuple[FilePlan, ...] = ()

    @property
    def everything(self) -> tuple[FilePlan, ...]:
        """Files and entries."""
        return (*self.files, *self.entries)

    @property
    def is_nothing(self) -> bool:
        """Whether every file and entry is as it should be, and remembered so."""
        return all(file.is_nothing for file in self.everything)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know before saying yes, of all tools."""
        return (*self.asides, *self.unkept, *(notice for tool in self.tools for notice in tool.notices))


def plan_apply(session: Session, wish: Wish, shelves: Shelves | None = None) -> Plan:
    """What applying a profile would do.

    Args:
        session: the machine.
        wish: what was asked for.
        shelves: the stores, for a caller who looks into them too: each is read once.

    Raises:
        ProfileError, UsageError, TemplateError: the wish cannot be read.
        DocumentError, FileError: a file cannot be read or edited; names it.
        PlanRefusedError: the result would do harm.
        SecretError: a tool needs the key itself, and it cannot be had.
    """
    profiles = session.profiles()
    profile = profiles.get(wish.profile)
    snapshot = memories.seen(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    known = registry.tools(session.config.parent)
    shelves = shelves or Shelves(session)
    scope = Scope(session, wish, profile, known, memory, shelves)
    taking, skipped = chosen(scope)
    leaving = switched_off(scope) | {one.tool.name for one in skipped if one.holds_copy}
    in_scope = {tool.tool.name for tool in taking} | leaving
    rack = Rack(shelves, profile.name, profiles.names)
    table = Table(session, memory, known, in_scope, rack)
    asides = list(_asides(wish, profile, known))
    seated = list(_seated(scope, taking, table, skipped, asides))
    plans = table.plans()
    Reading(session, known, table.files, plans).stop_at_old_keys(known[name] for name in leaving)
    wanted = ignored_lines(session, plans.values(), memory, fix=wish.fix_gitignore)
    files, unkept = kept_or_told(session, {**table.ignore_plans(wanted), **plans})
    reading = Reading(session, known, table.files, files)
    return Plan(
        profile,
        tuple(_with_notices(scope, seated, reading, files.values())),
        tuple(files.values()),
        table.snapshots,
        tuple(skipped),
        memory,
        snapshot.sha256,
        unkept,
        rack.used,
        tuple(asides),
        entry_plans(session, memory, table.in_scope, _entries(session, seated)),
    )


def _with_notices(
    scope: Scope, seated: Sequence[ToolPlan], reading: Reading, files: Collection[FilePlan]
) -> Iterator[ToolPlan]:
    """The tools, with what a person should know of each before saying yes."""
    watch, names = Watch(scope.session), {one.tool.name for one in seated}
    for one in seated:
        said = store_warnings(scope, one, names, files)
        notices = (*one.notices, *said, *reading.notices(one.tool), *watch.notices(one.tool, files))
        yield replace(one, notices=notices)


def _entries(session: Session, tools: Sequence[ToolPlan]) -> Iterator[Wanted]:
    """What the tools are to find in the keyring."""
    for tool in tools:
        if tool.profile and tool.delivery and tool.delivery.entry:
            yield Wanted(tool.tool.name, tool.delivery.entry, session.secret(tool.profile.key))


def _seated(
    scope: Scope, taking: Sequence[ToolPlan], table: Table, skipped: list[Skipped], asides: list[Notice]
) -> Iterator[ToolPlan]:
    """The tools at the table, with their files; those that the profile lacks something for are left out.

    So are those whose templates cannot be used here: what is applied of them stays as it is.
    """
    for tool in taking:
        try:
            yield replace(tool, files=table.seat(tool))
        except MissingFactError as error:
            skipped.append(Skipped(tool.tool, error.message, error.hint, is_asked=bool(scope.wish.tools)))
        except TemplateError as error:
            asides.append(_unusable(tool, taking, error, is_asked=bool(scope.wish.tools)))
            table.in_scope.discard(tool.tool.name)


def _unusable(tool: ToolPlan, taking: Sequence[ToolPlan], error: TemplateError, *, is_asked: bool) -> Notice:
    """Why a tool is left out that nobody asked for by name.

    Raises:
        TemplateError: somebody did, or a store holds its settings, which the others must agree with.
    """
    name = tool.tool.name
    if is_asked or tool.of or any(name in other.of for other in taking):
        raise TemplateError(f"{on_one_line(name)}: {error.message}", hint=error.hint) from error
    return aside.left_out(name, error)


def plan_ping(session: Session, wish: Wish) -> Plan:
    """Whom applying a profile would set, and with what: the plan without its files, which nobody reads for it.

    Nothing is written, so nobody's consent to a copy of the key is needed.

    Raises:
        ProfileError, UsageError, TemplateError: the wish cannot be read.
        SecretError: a tool needs the key itself, and it cannot be had.
    """
    profile = session.profiles().get(wish.profile)
    memory = memories.read(memories.path_in(session.state))
    known = registry.tools(session.config.parent)
    agreed = replace(profile, plaintext="allow")
    taking, skipped = fitting(Scope(session, wish, agreed, known, memory, Shelves(session)))
    served: list[ToolPlan] = []
    asides = list(_asides(wish, profile, known))
    for tool in taking:
        try:
            served.append(_served(tool, session.now(), known))
        except MissingFactError as error:
            skipped.append(Skipped(tool.tool, error.message, error.hint, is_asked=bool(wish.tools)))
        except TemplateError as error:
            asides.append(_unusable(tool, taking, error, is_asked=bool(wish.tools)))
    return Plan(profile, tuple(served), (), {}, tuple(skipped), memory, asides=tuple(asides))


def _asides(wish: Wish, profile: Profile, known: Known) -> Iterator[Notice]:
    if not wish.tools:
        yield from aside.broken(known)
    yield from aside.strays(profile, known)


def _served(tool: ToolPlan, now: str, known: Mapping[str, Tool]) -> ToolPlan:
    """The tool, whose templates can be filled."""
    for row in tool.tool.files:
        if row.of not in ("", *tool.of):
            continue
        row_of(tool.tool, row, tool.of[row.of].facts if row.of else tool.facts, now, known)
    return tool


def plan_undo(session: Session, tools: Sequence[str]) -> Plan:
    """What giving everything back would do, for the tools named, or for all.

    Raises:
        UsageError: nothing of such a tool is remembered.
        DocumentError, FileError: a file cannot be read or edited; names it.
        PlanRefusedError: the result would do harm.
    """
    snapshot = memories.seen(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    remembered = remembered_tools(memory)
    for name in tools:
        if name not in remembered:
            near = close(name, sorted(remembered))
            meant = f"Did you mean '{near}'? " if near else ""
            there = ", ".join(sorted(remembered)) or "nothing"
            raise UsageError(f"nothing of '{name}' is applied", hint=f"{meant}Applied: {there}.")
    known = registry.usable(session.config.parent)
    in_scope, shelves = set(tools) or remembered, Shelves(session)
    stop_at_claimed(shelves, known, memory, in_scope)
    rack = Rack(shelves)
    table = Table(session, memory, known, in_scope, rack)
    files = {**table.plans(), **table.ignore_plans({})}
    watch, tools_given = Watch(session), [known[name] for name in sorted(table.in_scope) if name in known]
    Reading(session, known, table.files, files).stop_at_old_keys(tools_given)

    def notices(tool: Tool) -> tuple[Notice, ...]:
        planned = files.values()
        return (*watch.notices(tool, planned), *parting_notices(tool, rack.used, planned))

    given = tuple(ToolPlan(tool, None, None, notices=notices(tool)) for tool in tools_given)
    return Plan(
        None,
        given,
        tuple(files.values()),
        table.snapshots,
        (),
        memory,
        snapshot.sha256,
        shelves=rack.used,
        asides=(*aside.blind(known, in_scope), *aside.doubtful(session, table.doubtful)),
        entries=entry_plans(session, memory, in_scope),
    )
