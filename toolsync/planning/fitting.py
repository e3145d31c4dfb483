"""One tool fitted to a profile: how its key reaches it, and what fills its templates; or why it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from toolsync import gateways
from toolsync.address import is_loopback
from toolsync.facts import Fact, Facts, facts
from toolsync.gateways import Gateway
from toolsync.planning.delivery import CARRIED_OUT, Delivery, delivery
from toolsync.planning.headers import secret_headers, with_headers
from toolsync.planning.stores import Shelves, has_copy
from toolsync.planning.tracing import Notice, called
from toolsync.profile import Profile, for_tool
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.trace.credential import looks_at_variables
from toolsync.value import frozen


@frozen
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


@frozen
class Scope:
    """What choosing and fitting look at.

    Attributes:
        session: the machine.
        wish: what was asked for.
        profile: what is applied.
        known: every tool.
        memory: what was applied before.
        shelves: the stores on the machine.
    """

    session: Session
    wish: Wish
    profile: Profile
    known: Known
    memory: Memory
    shelves: Shelves

    @property
    def remembered(self) -> set[str]:
        """The tools of which something is applied."""
        return remembered_tools(self.memory)

    def holds_copy(self, tool: str) -> bool:
        """Whether a copy of the key was applied to the tool's own file."""
        return tool in self.memory.holders

    def overrides(self, tool: str) -> Mapping[str, Any]:
        """What the profile says of one tool."""
        return self.profile.tool.get(tool, {})


def remembered_tools(memory: Memory) -> set[str]:
    """The tools of which something is applied."""
    return {layer.tool for file in memory.everything.values() for layer in file.layers}


@frozen
class Skipped:
    """A tool that is left out, with the reason.

    Attributes:
        tool: which.
        reason: why.
        hint: what to do about it.
        needs_consent: whether consent to a copy of the key in the tool's own file would help.
        is_asked: whether the tool was asked for by name.
        holds_copy: whether its file holds a copy of the key that the profile forbids: it is given back.
    """

    tool: Tool
    reason: str
    hint: str = ""
    needs_consent: bool = False
    is_asked: bool = False
    holds_copy: bool = False


@frozen
class ToolPlan:
    """What one tool gets.

    Attributes:
        tool: which.
        delivery: how the key reaches it; None for a tool that is given back.
        profile: the profile as this tool sees it.
        facts: what filled its templates.
        of: the tools whose own files its rows hold, as they are served, by name.
        apps: the apps whose rows are in question, for a store; None for all.
        files: its settings files, real paths.
        notices: what a person should know before saying yes.
    """

    tool: Tool
    delivery: Delivery | None
    profile: Profile | None
    facts: Facts = field(default_factory=dict)
    of: Mapping[str, ToolPlan] = field(default_factory=dict)
    apps: frozenset[str] | None = None
    files: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def fitted(scope: Scope, tool: Tool, store: Tool | None = None) -> ToolPlan | Skipped:
    """The tool as the profile serves it: in its own file, or in the rows of `store`.

    Raises:
        UsageError, SecretError: see `delivery`.
    """
    session, profile = scope.session, scope.profile
    overrides = scope.overrides(tool.name)
    if overrides.get("enabled") is False:
        hint = f"`toolsync undo {tool.name}` gives back what it had before." if tool.name in scope.remembered else ""
        return Skipped(tool, f"profile '{profile.name}' sets enabled = false for it", hint)
    if any(row.each for row in tool.files) and not overrides.get("paths"):
        return _pathless(tool, profile)
    if not tool.files:
        command = tool.commands[0] if tool.commands else "COMMAND"
        return Skipped(tool, "it takes all from its environment", f"`toolsync exec -- {command}` sets that.")
    gateway = gateways.find(profile.gateway, session.config.parent)
    reason = _unserved(tool, profile, gateway)
    if reason:
        return Skipped(tool, f"{reason}{_as_it_is_set(scope, tool)}")
    seen = for_tool(profile, tool.name)
    consent = _has_consent(scope, store or tool)
    secret = secret_headers(seen, tool)
    if secret and not consent:
        reason = f"the header {secret[0]} is secret, and a copy of it would stand in its own file"
        return _unconsented(scope, tool, reason)
    seen = with_headers(session, seen) if secret else seen
    given = _facts(seen, gateway)
    way = delivery(session, tool, profile, consent=consent, key_variable=given["key_variable"].value)
    if isinstance(way, str):
        return _unconsented(scope, tool, way)
    held = {name: fitted(scope, scope.known[name], store=tool) for name in tool.holds}
    unserved = [one for one in held.values() if isinstance(one, Skipped)]
    if held and len(unserved) == len(held):  # a store that holds nothing then
        return replace(unserved[0], tool=tool)
    own = _with_lists({**given, **way.facts}, overrides)
    of = {name: one for name, one in held.items() if isinstance(one, ToolPlan)}
    return narrowed(ToolPlan(tool, way, seen, own, of, notices=tuple(_exposures(tool, seen))))


def narrowed(plan: ToolPlan) -> ToolPlan:
    """The plan of a store with those tools only that it holds something of for the apps in question."""
    names = [row.of for row in plan.tool.files if row.of in plan.of and (plan.apps is None or row.app in plan.apps)]
    of = {name: plan.of[name] for name in dict.fromkeys(names)}
    if not of or plan.delivery is None:
        return plan
    way = replace(plan.delivery, explained=f"as {' and '.join(one.tool.title for one in of.values())}")
    return replace(plan, of=of, delivery=way)


def _unserved(tool: Tool, profile: Profile, gateway: Gateway | None) -> str:
    """Why the gateway cannot serve the tool; empty when it can, or nobody knows."""
    if gateway is not None and tool.speaks and not set(tool.speaks) & set(gateway.serves):
        return f"{gateway.title} does not serve {' or '.join(tool.speaks)}, which is what it speaks"
    if gateway is None and tool.speaks == ("gemini",) and "gemini" not in profile.urls:
        return "few gateways serve gemini, which is what it speaks, and the profile names no urls.gemini"
    return ""


def _has_consent(scope: Scope, tool: Tool) -> bool:
    """Whether the tool's own file may hold a copy of the key; asked once, for one that holds this profile's already."""
    if scope.profile.plaintext != "ask":
        return scope.profile.plaintext == "allow"
    return scope.wish.allow_plaintext or has_copy(scope.memory, tool, scope.profile.name)


def _pathless(tool: Tool, profile: Profile) -> Skipped:
    file = next(row.overlay for row in tool.files if row.each)
    example = f"'tool.{tool.name}.paths=[\"~/service/{file}\"]'"
    hint = f"Name its files: `toolsync profile edit {profile.name} --set {example}`."
    return Skipped(tool, f"profile '{profile.name}' names no `paths` for it", hint)


def _unconsented(scope: Scope, tool: Tool, reason: str) -> Skipped:
    profile = scope.profile
    if profile.plaintext == "never" and scope.holds_copy(tool.name):
        return Skipped(tool, _FORBIDDEN, "Applying takes it out, and gives back what stood there.", holds_copy=True)
    if profile.plaintext == "never":
        return Skipped(tool, reason)
    hint = '`--allow-plaintext`, or `plaintext = "allow"` in the profile, gives it.'
    told = f"{reason}{_as_it_is_set(scope, tool)}"
    return Skipped(tool, told, hint + _other_way(tool, profile), needs_consent=True)


def _as_it_is_set(scope: Scope, tool: Tool) -> str:
    """That a tool which is left out stays set to another profile, and where its file has that one's key, keeps it."""
    own = scope.memory.applied.get(tool.name, "") if tool.name in scope.remembered else ""
    if own in ("", scope.profile.name):
        return ""
    return f"; it stays set to profile '{own}'{', whose key it holds' if scope.holds_copy(tool.name) else ''}"


_FORBIDDEN = 'a copy of the key stands in its own file, and the profile says plaintext = "never"'


def _other_way(tool: Tool, profile: Profile) -> str:
    """The way that serves only some of the programs that read the tool's settings, if there is one."""
    others = [way for way in tool.key if way in CARRIED_OUT and way != "plaintext"]
    bound = [called(tool, one) for one in tool.readers if not (one.newer_than or looks_at_variables(one))]
    if not others or not 0 < len(bound) < len(tool.readers):
        return ""
    other = f'`key_way = "{others[0]}"` under [profiles.{profile.name}.tool.{tool.name}]'
    return f" {' and '.join(bound)} can take the key no other way; {other} serves the rest."


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
