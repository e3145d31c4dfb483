"""`env`: the variables of the tools that are asked for, or of all that are here."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterator, Sequence

from toolsync import registry
from toolsync.commands.environment.belonging import on_path, profile_for, set_now
from toolsync.commands.environment.reach import by_itself, by_variable, takes
from toolsync.commands.environment.variables import Variable, anybodys, demanded, outline, taken, variable_of
from toolsync.errors import UsageError
from toolsync.planning.delivery import ways
from toolsync.profile import Profile
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen


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
        variables = _together(named, [demanded(session, profile, tool) for tool in named])
        return Environment(profile, variables, tuple(_half_set(session, profile, named)))
    found = {variable.name: variable for variable in anybodys(session, profile)}
    for tool in _here(session, profile, known):
        for variable in taken(session, profile, tool):
            found.setdefault(variable.name, variable)
    return Environment(profile, tuple(found.values()), tuple(_led_astray(session, profile, known, found)))


def _half_set(session: Session, profile: Profile, tools: Sequence[Tool]) -> Iterator[Message]:
    """Tools that take the key from their environment and nothing else, and are not set to the profile's gateway."""
    there = set_now(session)
    for tool in tools:
        has_settings = "paths" in profile.tool.get(tool.name, {}) or not all(row.each for row in tool.files)
        if has_settings and not by_itself(tool) and there.get(tool.name) != profile.name:
            text = f"{tool.title} takes the key from its environment, and its address and model from its own settings"
            command = shlex.join(("toolsync", "apply", "--profile", profile.name, "--tool", tool.name))
            if ways(tool, profile)[0] == "plaintext":  # else it asks for consent to a copy
                way = f"tool.{tool.name}.key_way=env"
                command = f"{shlex.join(('toolsync', 'profile', 'edit', profile.name, '--set', way))} && {command}"
            yield Message("warning", f"{text}, which are not set to '{profile.name}'", f"`{command}` sets them.")


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


def _here(session: Session, profile: Profile, known: Known) -> list[Tool]:
    """The tools with a program on `PATH` that take something from their environment, as the profile has it."""
    return [tool for tool in on_path(session, known) if takes(session, profile, tool)]


def _together(tools: Sequence[Tool], each: Sequence[tuple[Variable, ...]]) -> tuple[Variable, ...]:
    found: dict[str, tuple[Variable, Tool]] = {}
    for tool, variables in zip(tools, each, strict=True):
        for variable in variables:
            other, owner = found.setdefault(variable.name, (variable, tool))
            if other.value != variable.value:
                text = f"{owner.title} and {tool.title} want ${variable.name} differently"
                raise UsageError(text, hint="Ask for one of them at a time.")
    return tuple(variable for variable, _ in found.values())
