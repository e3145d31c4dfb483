"""Which profile each tool was set to, and which tools are on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress

from toolsync import memory as memories
from toolsync.errors import ToolsyncError
from toolsync.profile import Profile
from toolsync.registry import Known
from toolsync.session import Session
from toolsync.tool import Tool


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


def on_path(session: Session, known: Known) -> Iterator[Tool]:
    """The tools with a program on `PATH`."""
    search = session.places.environ.get("PATH", "")
    return (tool for tool in known.values() if any(shutil.which(name, path=search) for name in tool.commands))
