"""From a wish to a plan: profile, tools, files and memory brought together; everything read, nothing written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolsync import disk, gateways, registry
from toolsync import memory as memories
from toolsync.address import is_loopback
from toolsync.commands.delivery import Delivery, delivery
from toolsync.commands.guarding import ignored_lines
from toolsync.commands.headers import secret_headers, with_headers
from toolsync.commands.keeping import kept_or_told
from toolsync.commands.table import Table
from toolsync.commands.tracing import Notice
from toolsync.errors import MissingFactError, UsageError
from toolsync.facts import Fact, Facts, facts
from toolsync.gateways import Gateway
from toolsync.plan import FilePlan
from toolsync.profile import Profile, for_tool
from toolsync.remembered import Memory
from toolsync.session import Session
from toolsync.tool import Tool


@dataclass(frozen=True)
class Wish:
    """What a person asked for.

    Attributes:
        profile: its name, or None for the active one.
        tools: names, or empty for every tool found on the machine.
        allow_plaintext: whether a tool's own file may hold a copy of the key, as the command line says.
        fix_gitignore: whether git is to be told to ignore files that will hold the key.
    """

    profile: str | None = None
    tools: tuple[str, ...] = ()
    allow_plaintext: bool = False
    fix_gitignore: bool = False


@dataclass(frozen=True)
class Skipped:
    """A tool that is left out, with the reason.

    Attributes:
        tool: which.
        reason: why.
        hint: what to do about it.
        needs_consent: whether consent to a copy of the key in the tool's own file would help.
        is_asked: whether the tool was asked for by name.
    """

    tool: Tool
    reason: str
    hint: str = ""
    needs_consent: bool = False
    is_asked: bool = False


@dataclass(frozen=True)
class ToolPlan:
    """What one tool gets.

    Attributes:
        tool: which.
        delivery: how the key reaches it; None for a tool that is given back.
        profile: the profile as this tool sees it.
        facts: what filled its templates.
        files: its settings files, real paths.
        notices: what a person should know before saying yes.
    """

    tool: Tool
    delivery: Delivery | None
    profile: Profile | None
    facts: Facts = field(default_factory=dict)
    files: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
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
    """

    profile: Profile | None
    tools: tuple[ToolPlan, ...]
    files: tuple[FilePlan, ...]
    snapshots: Mapping[str, disk.Snapshot]
    skipped: tuple[Skipped, ...]
    memory: Memory
    memory_sha256: str | None = None
    unkept: tuple[Notice, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether every file is as it should be, and remembered so."""
        return all(file.is_nothing for file in self.files)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know before saying yes, of all tools."""
        return (*self.unkept, *(notice for tool in self.tools for notice in tool.notices))


def plan_apply(session: Session, wish: Wish) -> Plan:
    """What applying a profile would do.

    Raises:
        ProfileError, UsageError, TemplateError: the wish cannot be read.
        DocumentError, FileError: a file cannot be read or edited; names it.
        PlanRefusedError: the result would do harm.
        SecretError: a tool needs the key itself, and it cannot be had.
    """
    profile = session.profiles().get(wish.profile)
    snapshot = disk.read(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    known = registry.tools(session.config.parent)
    taking, skipped = _taking_part(session, wish, profile, known, memory)
    off = _switched_off(wish, profile, known, memory)
    table = Table(session, memory, known, {tool.tool.name for tool in taking} | off)
    seated: list[ToolPlan] = []
    for tool in taking:
        try:
            seated.append(replace(tool, files=table.seat(tool.tool, tool.facts)))
        except MissingFactError as error:
            skipped.append(Skipped(tool.tool, error.message, error.hint, is_asked=bool(wish.tools)))
    plans = table.plans()
    wanted = ignored_lines(session, plans.values(), memory, fix=wish.fix_gitignore)
    files, unkept = kept_or_told(session, {**table.ignore_plans(wanted), **plans})
    return Plan(
        profile,
        tuple(replace(tool, notices=(*tool.notices, *table.traced(tool.tool, files))) for tool in seated),
        tuple(files.values()),
        table.snapshots,
        tuple(skipped),
        memory,
        snapshot.sha256,
        unkept,
    )


def plan_undo(session: Session, tools: Sequence[str]) -> Plan:
    """What giving everything back would do, for the tools named, or for all.

    Raises:
        UsageError: nothing of such a tool is remembered.
        DocumentError, FileError: a file cannot be read or edited; names it.
    """
    snapshot = disk.read(memories.path_in(session.state))
    memory = memories.parsed(snapshot)
    remembered = _remembered_tools(memory)
    for name in tools:
        if name not in remembered:
            there = ", ".join(sorted(remembered)) or "nothing"
            raise UsageError(f"nothing of '{name}' is applied", hint=f"Applied: {there}.")
    known = registry.tools(session.config.parent)
    table = Table(session, memory, known, set(tools) or remembered)
    files = {**table.plans(), **table.ignore_plans({})}
    given = tuple(ToolPlan(known[name], None, None) for name in sorted(table.in_scope) if name in known)
    return Plan(None, given, tuple(files.values()), table.snapshots, (), memory, snapshot.sha256)


def _taking_part(
    session: Session, wish: Wish, profile: Profile, known: Mapping[str, Tool], memory: Memory
) -> tuple[list[ToolPlan], list[Skipped]]:
    taking: list[ToolPlan] = []
    skipped: list[Skipped] = []
    remembered, copied = _remembered_tools(memory), _tools_with_copies(memory)
    for tool in [registry.named(known, name) for name in dict.fromkeys(wish.tools)] or known.values():
        if not wish.tools and not _is_wanted(session, tool, profile, remembered):
            continue
        outcome = _tool_plan(session, tool, profile, wish, has_copy=tool.name in copied)
        if isinstance(outcome, Skipped):
            skipped.append(replace(outcome, is_asked=bool(wish.tools)))
        else:
            taking.append(outcome)
    if not taking and not skipped and not _switched_off(wish, profile, known, memory):
        raise UsageError(
            "none of the tools that toolsync knows is found on this machine",
            hint="`toolsync tools` lists them; `--tool NAME` applies one all the same.",
        )
    return taking, skipped


def _is_wanted(session: Session, tool: Tool, profile: Profile, remembered: set[str]) -> bool:
    overrides = profile.tool.get(tool.name, {})
    if overrides.get("enabled") is False:
        return False
    if any(row.each for row in tool.files):
        return bool(overrides.get("paths"))
    return tool.name in remembered or registry.is_installed(tool, session.places)


def _switched_off(wish: Wish, profile: Profile, known: Mapping[str, Tool], memory: Memory) -> set[str]:
    """Applied tools that the profile wants no more (`enabled = false`, no `paths`): they are given back."""
    if wish.tools:
        return set()
    return {
        name
        for name in _remembered_tools(memory) & known.keys()
        if profile.tool.get(name, {}).get("enabled") is False
        or (any(row.each for row in known[name].files) and not profile.tool.get(name, {}).get("paths"))
    }


def _remembered_tools(memory: Memory) -> set[str]:
    return {layer.tool for file in memory.files.values() for layer in file.layers}


def _tools_with_copies(memory: Memory) -> set[str]:
    """Tools of which a file holds a copy of the key already: the person was asked once."""
    return {layer.tool for file in memory.files.values() for layer in file.layers if layer.holds_key}


def _tool_plan(session: Session, tool: Tool, profile: Profile, wish: Wish, *, has_copy: bool) -> ToolPlan | Skipped:
    overrides = profile.tool.get(tool.name, {})
    if overrides.get("enabled") is False:
        return Skipped(tool, f"profile '{profile.name}' sets enabled = false for it")
    gateway = gateways.gateways(session.config.parent).get(profile.gateway or "")
    if gateway is not None and tool.speaks and not set(tool.speaks) & set(gateway.serves):
        spoken = " or ".join(tool.speaks)
        return Skipped(tool, f"{gateway.title} does not serve {spoken}, which is what it speaks")
    seen = for_tool(profile, tool.name)
    consent = profile.plaintext == "allow" or (profile.plaintext == "ask" and (wish.allow_plaintext or has_copy))
    secret = secret_headers(seen, tool)
    if secret and not consent:
        reason = f"the header {secret[0]} is secret, and a copy of it would stand in its own file"
        return _unconsented(tool, profile, reason)
    seen = with_headers(session, seen) if secret else seen
    given = _facts(seen, gateway)
    way = delivery(session, tool, profile, consent=consent, key_variable=given["key_variable"].value)
    if isinstance(way, str):
        return _unconsented(tool, profile, way)
    files = _with_lists({**given, **way.facts}, overrides)
    return ToolPlan(tool, way, seen, files, notices=tuple(_exposures(tool, seen)))


def _unconsented(tool: Tool, profile: Profile, reason: str) -> Skipped:
    if profile.plaintext == "never":
        return Skipped(tool, reason)
    hint = '`--allow-plaintext`, or `plaintext = "allow"` in the profile, gives it.'
    return Skipped(tool, reason, hint, needs_consent=True)


def _facts(profile: Profile, gateway: Gateway | None) -> Facts:
    if gateway is None:
        return facts(profile)
    return facts(profile, key_variable=gateway.key_variable, site=gateway.site)


def _exposures(tool: Tool, profile: Profile) -> Iterator[Notice]:
    """The key in clear on its way: plain http to anything but this machine."""
    urls = (profile.base_url, *profile.urls.values())
    if any(url.strip().lower().startswith("http:") and not is_loopback(url) for url in urls):
        text = "the key goes over the network in clear: the address starts with http://, and is not on this machine"
        yield Notice(tool.title, text, "Use an https:// address if the gateway has one.")


def _with_lists(given: Facts, overrides: Mapping[str, Any]) -> Facts:
    paths = overrides.get("paths")
    return {**given, "paths": Fact("paths", list(paths), "paths")} if paths else given
