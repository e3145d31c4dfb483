"""`hook`: which programs a shell is to run through `exec`."""

from __future__ import annotations

from collections.abc import Sequence

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.commands.environment.belonging import on_path, profile_for
from toolsync.commands.environment.reach import by_itself, takes
from toolsync.errors import ProfileError, ToolsyncError, UsageError
from toolsync.planning.fitting import remembered_tools
from toolsync.session import Session
from toolsync.tool import Tool


def wrapped(session: Session, name: str | None, tools: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The command line for each program: by this very interpreter, whatever `PATH` and `PYTHON*` say later.

    Args:
        session: the machine.
        name: the profile; None: the one that the tool is set to, or that is active, when the program is called.
        tools: whose programs; none: those on this machine that variables lead to the gateway, alone or with their
            own files as they were applied. Others would not be started, and are their user's own affair.

    Raises:
        ProfileError: there is no such profile.
        UsageError: a tool is unknown, has no program or takes nothing.
    """
    session.profiles().get(name)
    found = _meant(session, name, tools)
    helpless = [tool for tool in found if not (tool.commands and _takes(session, name, tool))]
    if helpless:
        profile = profile_for(session, name, helpless[0])
        text = f"{helpless[0].title} takes nothing from its environment as profile '{profile.name}' has it"
        raise UsageError(text, hint=f"`toolsync apply --tool {helpless[0].name}` sets it by its own files.")
    return {program: _line(session, name, program) for tool in found for program in tool.commands}


def idle(session: Session, name: str | None, tools: Sequence[str] = ()) -> str:
    """Why there is nothing that a shell could run so; "" where there is.

    Raises:
        ProfileError, UsageError: as `wrapped`.
    """
    if not disk.is_there(session.config):
        return "there is no profile yet; `toolsync init` makes one"
    profile = session.profiles().get(name)
    if _meant(session, name, tools):
        return ""
    text = f"no tool on PATH takes anything from its environment, as '{profile.name}' has it and tools are applied"
    return f"{text}; `--tool NAME` names one all the same, the others are set by `toolsync apply`"


def _meant(session: Session, name: str | None, tools: Sequence[str]) -> list[Tool]:
    """The tools that are named, else those on this machine."""
    known = registry.tools(session.config.parent)
    named = [registry.named(known, tool) for tool in dict.fromkeys(tools)]
    return named or _led(session, [tool for tool in on_path(session, known) if _takes(session, name, tool)])


def _takes(session: Session, name: str | None, tool: Tool) -> bool:
    """Whether `exec` has something to do for it: with a profile that cannot be had it says so, when it is called."""
    try:
        profile = profile_for(session, name, tool)
    except ProfileError:
        return by_itself(tool)
    return takes(session, profile, tool)


def _led(session: Session, tools: Sequence[Tool]) -> list[Tool]:
    """Those that go to the gateway once they are given the variables."""
    try:
        applied = remembered_tools(memories.read(memories.path_in(session.state)))
    except ToolsyncError:  # what writes says so; a shell starts all the same
        applied = set()
    return [tool for tool in tools if by_itself(tool) or tool.name in applied]


def _line(session: Session, profile: str | None, program: str) -> tuple[str, ...]:
    """No `--tool`: what has come to need nothing since, or is switched off, is to run all the same."""
    config = ("-I", "-m", "toolsync", "--config", str(session.config))
    named = () if profile is None else ("--profile", profile)
    return (str(session.python), *config, "exec", *named, "--", program)
