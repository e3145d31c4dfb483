"""The key that the profile's has replaced, as far as the keyring keeps it: what still holds it was started before."""

from __future__ import annotations

from datetime import datetime

from toolsync.doctor.world import World
from toolsync.masking import Secret
from toolsync.secret import former
from toolsync.secret.former import Former


def keys(world: World) -> frozenset[str]:
    """What `toolsync key rotate` has replaced, or a rotation that was cut short put away; never the key in use."""
    return frozenset(key.reveal() for key in world.former_keys)


def is_key(world: World, value: str) -> bool:
    """Whether that is the profile's key, which may have replaced another."""
    return bool(value) and isinstance(world.key, Secret) and world.key.reveal() == value


def since(world: World) -> float | None:
    """When the profile's key replaced another, in seconds since 1970; None where it did not, or nobody noted when."""
    noted = _noted(world)
    try:
        return datetime.fromisoformat(noted.since if noted else "").timestamp()
    except ValueError:
        return None


def _noted(world: World) -> Former | None:
    profile = world.profile
    if profile is None or profile.key.kind != "keyring":
        return None
    return former.noted(world.session.state).get(profile.key.name)
