"""What programs take from their environment: of a tool by its template, of any other by its protocol's libraries."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from toolsync import gateways, registry, resources
from toolsync import memory as memories
from toolsync.document import KeyPath, Value, parse_path
from toolsync.errors import ToolsyncError, UsageError
from toolsync.facts import Fact, Facts, facts
from toolsync.gateways import Gateway
from toolsync.overlay import ABSENT, TABLE, Edit, edits
from toolsync.planning.delivery import delivery, ways
from toolsync.planning.headers import with_headers
from toolsync.profile import Profile, for_tool
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Dialect, Tool
from toolsync.value import frozen


@frozen
class Variable:
    """One variable of an environment.

    Attributes:
        name: what it is called.
        value: what it is set to; None: it must not be set.
        is_secret: whether the value is a key, or may hold one.
    """

    name: str
    value: str | None
    is_secret: bool = False


@frozen
class Environment:
    """What is to be set.

    Attributes:
        profile: whose gateway and key it leads to.
        variables: each once, in the order in which they are told.
        messages: whom they do harm.
    """

    profile: Profile
    variables: tuple[Variable, ...]
    messages: tuple[Message, ...] = ()

    @property
    def holds_key(self) -> bool:
        """Whether one of the variables is a key, or may hold one."""
        return any(variable.is_secret and variable.value for variable in self.variables)


def environment(session: Session, name: str | None, tools: Sequence[str] = ()) -> Environment:
    """What the tools take; without one, what libraries and the tools on this machine do.

    Args:
        session: the machine.
        name: the profile, or None for the one that the tools were set to, or else the active one.
        tools: their names.

    Raises:
        ProfileError, SecretError: the profile or its key cannot be had.
        UsageError: a tool is unknown or takes nothing, or two of them want a variable differently.
    """
    known = registry.tools(session.config.parent)
    named = [registry.named(known, tool) for tool in dict.fromkeys(tools)]
    profile = _profile_of_all(session, name, named)
    if named:
        return Environment(profile, _together(named, [demanded(session, profile, tool) for tool in named]))
    found = {variable.name: variable for variable in anybodys(session, profile)}
    for tool in here(session, profile, known):
        for variable in taken(session, profile, tool):
            found.setdefault(variable.name, variable)
    return Environment(profile, tuple(found.values()), tuple(_led_astray(session, profile, known, found)))


def _led_astray(session: Session, profile: Profile, known: Known, given: Container[str]) -> Iterator[Message]:
    """Tools that are set to another profile's gateway, and would send it this one's key."""
    for name, own in set_now(session).items():
        other = next((one for one in session.profiles().profiles if one.name == own != profile.name), None)
        tool = known.get(name)
        if other is None or tool is None or by_itself(tool) or not by_variable(other, tool):
            continue
        variable = variable_of(tool, outline(session, other, tool))
        if variable in given:
            text = f"{tool.title} is set to profile '{own}', and would send its gateway the key of '{profile.name}'"
            program = next(iter(tool.commands), "")
            way = f"`toolsync exec -- {program}` gives it its own." if program else "Start it from another shell."
            yield Message("warning", f"{text} from ${variable}", way)


def _profile_of_all(session: Session, name: str | None, tools: Sequence[Tool]) -> Profile:
    found = [profile_for(session, name, tool) for tool in tools] or [session.profiles().get(name)]
    for tool, profile in zip(tools[1:], found[1:], strict=True):
        if profile != found[0]:
            text = f"{tools[0].title} is set to profile '{found[0].name}', and {tool.title} to '{profile.name}'"
            raise UsageError(text, hint="Ask for one of them at a time, or for both with `--profile NAME`.")
    return found[0]


def here(session: Session, profile: Profile, known: Known) -> list[Tool]:
    """The tools with a program on `PATH` that take something from their environment, as the profile has it."""
    return [tool for tool in on_path(session, known) if takes(session, profile, tool)]


def on_path(session: Session, known: Known) -> Iterator[Tool]:
    """The tools with a program on `PATH`."""
    search = session.places.environ.get("PATH", "")
    return (tool for tool in known.values() if any(shutil.which(name, path=search) for name in tool.commands))


def profile_for(session: Session, name: str | None, tool: Tool | None) -> Profile:
    """The profile that is named; else the one that the tool was set to; else the active one.

    Raises:
        ProfileError: there is no such profile, or none is active.
    """
    profiles = session.profiles()
    if name is None and tool is not None:
        own = set_now(session).get(tool.name)
        name = own if own in profiles.names else None
    return profiles.get(name)


def set_now(session: Session) -> Mapping[str, str]:
    """The profile that each tool was set to, as far as memory can be read."""
    with suppress(ToolsyncError):  # what writes says that memory cannot be read
        return memories.read(memories.path_in(session.state)).applied
    return {}


def takes(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the tool takes anything from its environment; no key is looked up for that."""
    if is_off(profile, tool) or tool.store or not is_served(session, profile, tool):
        return False
    return by_itself(tool) or by_variable(profile, tool)


def by_itself(tool: Tool) -> bool:
    """Whether variables lead the tool to gateway and key without a file of its own."""
    return bool(tool.environment or _mounts(tool))


def is_off(profile: Profile, tool: Tool) -> bool:
    """Whether the profile keeps its hands off the tool."""
    return profile.tool.get(tool.name, {}).get("enabled") is False


def by_variable(profile: Profile, tool: Tool) -> bool:
    """Whether the tool's settings name a variable for the key, or may: a copy that nobody agreed to is no other way.

    Raises:
        UsageError: `key_way` names a way that the tool does not have.
    """
    possible = ways(tool, profile)
    return "env" in possible and possible[0] != "command"


def is_set_by_files(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the tool is set to the profile by its own files, and needs nothing of its environment."""
    return set_now(session).get(tool.name) == profile.name and not takes(session, profile, tool)


def demanded(session: Session, profile: Profile, tool: Tool) -> tuple[Variable, ...]:
    """What a tool that a person named takes.

    Raises:
        UsageError: it takes nothing; says what it does instead.
    """
    if takes(session, profile, tool):
        return taken(session, profile, tool)
    if not is_served(session, profile, tool):
        raise UsageError(unserved(tool))
    if is_set_by_files(session, profile, tool):
        text = (
            f"{tool.title} is set to profile '{profile.name}' by its own files, and takes nothing from its environment"
        )
        raise UsageError(text, hint="Start it as it is.")
    text = f"{tool.title} takes nothing from its environment as profile '{profile.name}' has it"
    env = f'`key_way = "env"` under [profiles.{profile.name}.tool.{tool.name}] lets it take the key from there. '
    apply = f"`toolsync apply --profile {profile.name} --tool {tool.name}` sets it by its own files."
    raise UsageError(text, hint=env + apply if "env" in tool.key else apply)


def unserved(tool: Tool) -> str:
    """That the gateway is none for the tool."""
    return f"the profile's gateway does not serve {' or '.join(tool.speaks)}, which {tool.title} speaks"


def taken(session: Session, profile: Profile, tool: Tool) -> tuple[Variable, ...]:
    """What the tool takes from its environment.

    Its template says so by lines of variables without a file; or its settings hold a table that stands for the
    environment (`[[layer]] environment`): what the overlay sets there, variables can. Else it is the variable that
    the `env` way of its `[key]` names.

    Raises:
        SecretError: the key cannot be had.
    """
    if tool.environment:
        given = _by_its_own_way(session, profile, tool)
        lines = [variable for overlay in tool.environment for variable in _filled(given, overlay.data)]
        return (*lines, *_filled(given, _table()["network"]))
    given = filling(session, profile, tool)
    found = [variable for mount in _mounts(tool) for variable in _mounted(tool, mount, given)]
    if not found and by_variable(profile, tool):
        found = [Variable(variable_of(tool, given), str(given["key_plaintext"].value), is_secret=True)]
    return (*found, *_filled(given, _table()["network"]))


def anybodys(session: Session, profile: Profile) -> tuple[Variable, ...]:
    """What a program takes that no template knows: what the libraries of the protocols do that the gateway serves.

    Raises:
        SecretError: the key cannot be had.
    """
    given = filling(session, profile, None)
    tables = [*(protocol for protocol in ("openai", "anthropic", "gemini") if _speaks(session, profile, protocol))]
    return tuple(variable for table in (*tables, "key", "network") for variable in _filled(given, _table()[table]))


def filling(session: Session, profile: Profile, tool: Tool | None) -> Facts:
    """The facts of an environment: the key itself is what fills `<key_ref>` there.

    Raises:
        SecretError: the key cannot be had, or a header that is one.
    """
    seen = with_headers(session, for_tool(profile, tool.name) if tool else profile)
    return _facts(session, seen, session.secret(profile.key).reveal())


def outline(session: Session, profile: Profile, tool: Tool) -> Facts:
    """The same with something that stands for the key, which nobody is asked for."""
    return _facts(session, for_tool(profile, tool.name), "<key>")


def _facts(session: Session, profile: Profile, key: str) -> Facts:
    gateway = _gateway(session, profile)
    given = facts(profile, key_variable=gateway.key_variable if gateway else None)
    bundle = given.get("ca_bundle")
    if bundle is not None:
        given = {**given, "ca_bundle": replace(bundle, value=_path(session, str(bundle.value)))}
    return {**given, **{name: Fact(name, key, "the key") for name in ("key_plaintext", "key_ref")}}


def _by_its_own_way(session: Session, profile: Profile, tool: Tool) -> Facts:
    """The facts with the key by the best way of the tool's `[key]`: one that it asks for by a command is not set.

    Raises:
        SecretError: see `filling`.
    """
    given = filling(session, profile, tool)
    found = delivery(session, tool, profile, consent=True, key_variable=str(given["key_variable"].value))
    return given if isinstance(found, str) else {**_without_key(given), **found.facts}


def _without_key(given: Facts) -> Facts:
    return {name: fact for name, fact in given.items() if name not in ("key_plaintext", "key_ref")}


def _path(session: Session, text: str) -> str:
    """A path without `~`, which only shells know."""
    return str(session.places.home / text[2:]) if text[:2] in ("~/", "~\\") else text


# One tool's.


def _mounts(tool: Tool) -> list[tuple[str, KeyPath]]:
    """Where one of its own files stands for the environment: the overlay, and the path of the table in it."""
    tables = [parse_path(layer.at) for layer in tool.layers if layer.kind == "environment"]
    own = [(layer.overlay, parse_path(layer.at) if layer.at else ()) for layer in tool.layers if layer.overlay]
    return [
        (overlay, table[len(at) :])
        for table in tables
        for overlay, at in own
        if table[: len(at)] == at and _holds(tool, overlay, table[len(at) :])
    ]


def _holds(tool: Tool, overlay: str, path: KeyPath) -> bool:
    value: Any = next(row.document.data for row in tool.files if row.overlay == overlay)
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return isinstance(value, Mapping) and bool(path)


def _mounted(tool: Tool, mount: tuple[str, KeyPath], given: Facts) -> Iterator[Variable]:
    overlay, table = mount
    row = next(row for row in tool.files if row.overlay == overlay)
    for edit in edits(row.document.data, given, now=""):
        if edit.path[:-1] == table and isinstance(edit.path[-1], str) and edit.value is not TABLE:
            yield _variable(edit.path[-1], edit)


def variable_of(tool: Tool, given: Facts) -> str:
    """The variable of the key: the tool's own (`OPENAI_API_KEY`), or the one that the profile names."""
    spelling = tool.key["env"]
    own = isinstance(spelling, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", spelling)
    return str(spelling) if own else str(given["key_variable"].value)


def is_served(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the profile's gateway speaks what the tool does, as far as anybody knows."""
    return not tool.speaks or any(_speaks(session, profile, dialect) for dialect in tool.speaks)


# Anybody's.


@cache
def _table() -> Mapping[str, Mapping[str, Value]]:
    import tomllib

    text = (resources.folder("templates") / "environment.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _speaks(session: Session, profile: Profile, dialect: Dialect | str) -> bool:
    """Whether the gateway serves the dialect, or any of the protocol; few that nobody knows serve Gemini."""
    gateway = _gateway(session, profile)
    if gateway is not None:
        return any(served == dialect or served.partition("-")[0] == dialect for served in gateway.serves)
    return dialect != "gemini" or "gemini" in profile.urls


def _gateway(session: Session, profile: Profile) -> Gateway | None:
    return gateways.find(profile.gateway, session.config.parent)


def _filled(given: Facts, table: Mapping[str, Value]) -> Iterator[Variable]:
    for edit in edits(table, given, now=""):
        yield _variable(str(edit.path[-1]), edit)


def _variable(name: str, edit: Edit) -> Variable:
    if edit.value is ABSENT:
        return Variable(name, None)
    value = edit.value if isinstance(edit.value, str) else json.dumps(edit.value, ensure_ascii=False)
    return Variable(name, value, is_secret=edit.secret and not edit.harmless)


# Several tools'.


def _together(tools: Sequence[Tool], each: Sequence[tuple[Variable, ...]]) -> tuple[Variable, ...]:
    found: dict[str, tuple[Variable, Tool]] = {}
    for tool, variables in zip(tools, each, strict=True):
        for variable in variables:
            other, owner = found.setdefault(variable.name, (variable, tool))
            if other.value != variable.value:
                text = f"{owner.title} and {tool.title} want ${variable.name} differently"
                raise UsageError(text, hint="Ask for one of them at a time.")
    return tuple(variable for variable, _ in found.values())
