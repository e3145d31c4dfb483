"""The key that the profile's has replaced, as far as the keyring keeps it: what still holds it was started before."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from toolsync.doctor.world import World
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.secret import former
from toolsync.secret.former import Former


def keys(world: World) -> frozenset[str]:
    """What `toolsync key rotate` has replaced, or a rotation that was cut short put away; never the key in use."""
    noted = _noted(world)
    if noted is None or not isinstance(world.key, Secret):
        return frozenset()
    found: set[str] = set()
    with suppress(SecretError):  # then nobody knows
        vault = world.session.open_vault()
        kept = [vault.get(entry) for entry in (noted.entry, noted.going) if entry]
        found = {key.reveal() for key in kept if key is not None}
    return frozenset(found - {world.key.reveal()})


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
