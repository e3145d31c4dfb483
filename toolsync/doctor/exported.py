"""What `toolsync env` sets in a shell, for whatever program is started there: it says nothing of any one tool."""

from __future__ import annotations

from toolsync.doctor.world import World

TOGETHER = (
    (("OPENAI_BASE_URL", "OPENAI_API_BASE"), "OPENAI_API_KEY"),
    (("ANTHROPIC_BASE_URL",), "ANTHROPIC_AUTH_TOKEN"),
    (("GOOGLE_GEMINI_BASE_URL",), "GEMINI_API_KEY"),
)
"""The variables of an address, and that of the key beside them (templates/environment.toml)."""


def is_exported(world: World, name: str) -> bool:
    """Whether an address comes from there: with all that is set beside it, and at no line of a startup file.

    Args:
        world: the machine, with the profile whose lines they may be.
        name: of the variable.
    """
    environ = world.session.places.environ
    named = world.facts("").get("key_variable")
    key = environ.get(str(named.value), "") if named is not None else ""
    beside = next(((names, secret) for names, secret in TOGETHER if name in names), None)
    if not key or beside is None or environ.get(name) not in world.own_addresses:
        return False
    names, secret = beside
    is_whole = environ.get(secret) == key and all(environ.get(one) == environ[name] for one in names)
    return is_whole and world.set_at(name) is None
