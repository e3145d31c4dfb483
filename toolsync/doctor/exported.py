"""What `toolsync env` sets in a shell, for whatever program is started there: it says nothing of any one tool."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync import resources
from toolsync.doctor.world import World


def is_exported(world: World, name: str) -> bool:
    """Whether an address comes from there: with all that is set beside it, and at no line of a startup file.

    Args:
        world: the machine, with the profile whose lines they may be.
        name: of the variable.
    """
    environ = world.session.places.environ
    named = world.facts("").get("key_variable")
    key = environ.get(str(named.value), "") if named is not None else ""
    if not key or environ.get(name) not in world.own_addresses:
        return False
    beside = next(((names, secret) for names, secret in _together() if name in names), None)
    if beside is None:
        return False
    names, secret = beside
    is_whole = environ.get(secret) == key and all(environ.get(one) == environ[name] for one in names)
    return is_whole and world.set_at(name) is None


def _together() -> Iterator[tuple[list[str], str]]:
    """The variables of an address, and that of the key beside them, of each protocol."""
    for lines in resources.environment().values():
        named = [name for name, value in lines.items() if value.endswith("_url>")]
        secret = next((name for name, value in lines.items() if value == "<key_ref>"), "")
        if named and secret:
            yield named, secret
