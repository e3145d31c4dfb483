"""`profile show`: the facts that fill the templates, and where each comes from."""

from __future__ import annotations

from toolsync import gateways, registry
from toolsync.commands.result import Result
from toolsync.facts import facts
from toolsync.profile import for_tool
from toolsync.session import Session


def show(session: Session, name: str | None, tool: str | None) -> Result:
    """The facts of a profile, as one tool sees them or as all do.

    Raises:
        ProfileError, UsageError: there is no such profile or tool.
    """
    profile = session.profiles().get(name)
    if tool is not None:
        registry.named(registry.tools(session.config.parent), tool)
        profile = for_tool(profile, tool)
    gateway = gateways.find(profile.gateway, session.config.parent)
    given = facts(
        profile, key_variable=gateway.key_variable if gateway else None, site=gateway.site if gateway else None
    )
    rows = [{"name": fact.name, "value": fact.value, "origin": fact.origin} for fact in given.values()]
    return Result("profile show", {"profile": profile.name, "key": str(profile.key), "facts": rows})
