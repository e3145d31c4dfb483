"""`profile show`: the facts that fill the templates, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping

from toolsync import gateways, registry
from toolsync.facts import facts
from toolsync.profile import for_tool
from toolsync.result import Result
from toolsync.session import Session


def show(session: Session, name: str | None, tool: str | None) -> Result:
    """The facts of a profile, as one tool sees them or as all do.

    Raises:
        ProfileError, UsageError: there is no such profile or tool.
    """
    profiles = session.profiles()
    profile = profiles.get(name)
    if tool is not None:
        registry.named(registry.tools(session.config.parent), tool)
        profile = for_tool(profile, tool)
    gateway = gateways.find(profile.gateway, session.config.parent)
    given = facts(
        profile, key_variable=gateway.key_variable if gateway else None, site=gateway.site if gateway else None
    )
    known = profiles.origins[profile.name]
    rows = [
        {"name": fact.name, "value": fact.value, "origin": _origin(fact.origin, profile.name, tool, known)}
        for fact in given.values()
    ]
    at = f"profiles.{profile.name}.key"
    data = {"profile": profile.name, "key": str(profile.key), "key_origin": _origin(at, profile.name, tool, known)}
    return Result("profile show", {**data, "facts": rows})


def _origin(origin: str, profile: str, tool: str | None, known: Mapping[str, str]) -> str:
    """The origin with the shared file, and the line there, that the field comes from."""
    field = origin.removeprefix(f"profiles.{profile}.")
    for at in (f"tool.{tool}.{field}", field):
        for name, place in known.items():
            if name == at or name.startswith(f"{at}."):
                return f"{origin} ({place})"
    return origin
