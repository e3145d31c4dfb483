"""Which tools a profile reaches by variables, which by their files, and which not at all."""

from __future__ import annotations

from toolsync import gateways
from toolsync.commands.environment.belonging import set_now
from toolsync.commands.environment.mounts import mounts
from toolsync.gateways import Gateway
from toolsync.planning.delivery import ways
from toolsync.profile import Profile
from toolsync.session import Session
from toolsync.tool import Dialect, Tool


def takes(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the tool takes anything from its environment; no key is looked up for that."""
    if is_off(profile, tool) or tool.store or not is_served(session, profile, tool):
        return False
    return by_itself(tool) or by_variable(profile, tool)


def is_set_by_files(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the tool is set to the profile by its own files, and needs nothing of its environment."""
    return set_now(session).get(tool.name) == profile.name and not takes(session, profile, tool)


def by_itself(tool: Tool) -> bool:
    """Whether variables lead the tool to gateway and key without a file of its own."""
    return bool(tool.environment or mounts(tool))


def by_variable(profile: Profile, tool: Tool) -> bool:
    """Whether the tool's settings name a variable for the key, or may: a copy that nobody agreed to is no other way.

    Raises:
        UsageError: `key_way` names a way that the tool does not have.
    """
    possible = ways(tool, profile)
    return "env" in possible and possible[0] != "command"


def is_off(profile: Profile, tool: Tool) -> bool:
    """Whether the profile keeps its hands off the tool."""
    return profile.tool.get(tool.name, {}).get("enabled") is False


def is_served(session: Session, profile: Profile, tool: Tool) -> bool:
    """Whether the profile's gateway speaks what the tool does, as far as anybody knows."""
    return not tool.speaks or any(speaks(session, profile, dialect) for dialect in tool.speaks)


def speaks(session: Session, profile: Profile, dialect: Dialect | str) -> bool:
    """Whether the gateway serves the dialect, or any of the protocol; few that nobody knows serve Gemini."""
    gateway = gateway_of(session, profile)
    if gateway is not None:
        return any(served == dialect or served.partition("-")[0] == dialect for served in gateway.serves)
    return dialect != "gemini" or "gemini" in profile.urls


def gateway_of(session: Session, profile: Profile) -> Gateway | None:
    """The gateway of the profile, where it is a known one."""
    return gateways.find(profile.gateway, session.config.parent)


def unserved(tool: Tool) -> str:
    """That the gateway is none for the tool."""
    return f"the profile's gateway does not serve {' or '.join(tool.speaks)}, which {tool.title} speaks"
