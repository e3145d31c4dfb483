"""A key of one of the user's profiles that would go to another one's gateway: doctor never sends it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolsync.address import origin
from toolsync.asked import asked_in
from toolsync.doctor.elsewhere import elsewhere
from toolsync.doctor.sight import Sight
from toolsync.doctor.written import is_written
from toolsync.errors import ProfileError
from toolsync.masking import Secret
from toolsync.profile import Profile
from toolsync.trace.credential import CREDENTIALS

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command


def asked_of(look: Sight, command: Command) -> Profile | None:
    """The profile whose key the command prints: ours asks for it by name, another one is where the profile has it from.

    None where nobody can tell by the command, or there is no such profile.
    """
    if not command.is_own:
        return next((one for one in look.world.profiles if _has_it_from(one, command)), None)
    name = asked_in(" ".join(command.argv).encode()) if not elsewhere(look, command) else ""
    return next((one for one in look.world.profiles if one.name == name), None)


def _has_it_from(profile: Profile, command: Command) -> bool:
    own = type(command).of(profile.key.name) if profile.key.kind == "command" else None
    return own is not None and own.words == command.words


def addressed(look: Sight) -> Profile | None:
    """The profile whose gateway is asked: the tool's own, or the first other one; None where it is nobody's."""
    asked, world = _asked(look), look.world
    if asked and asked in world.own_origins:
        return world.profile
    return next((one for one in world.profiles if asked in world.origins_of(one)), None)


def is_astray(look: Sight, profile: Profile) -> bool:
    """Whether the profile's key would go to the gateway of others only: none that has the same key asks there."""
    asked, world = _asked(look), look.world
    if asked not in world.origins:
        return False  # no key goes there, whosever it is
    return not any(asked in world.origins_of(one) for one in world.profiles if one.key == profile.key)


def owner(look: Sight, key: Secret | None, command: Command | None) -> Profile | None:
    """The profile whose key it is, where it would go astray; None where it would not, or is nobody's.

    Args:
        look: the program.
        key: what it sends; None where that is not known.
        command: what prints it; None where nothing does.
    """
    named = asked_of(look, command) if command is not None else None
    if named is not None:
        return named if is_astray(look, named) else None
    world, asked = look.world, _asked(look)
    if key is None or asked not in world.origins or (asked in world.own_origins and key == world.key):
        return None  # as it is for most: nobody else's key is looked up
    owners = [profile for profile in world.profiles if world.key_of(profile) == key]
    if not owners or not all(is_astray(look, profile) for profile in owners) or _is_own(look, key):
        return None
    return owners[0]


def _is_own(look: Sight, key: Secret) -> bool:
    """Whether it stands beside the address as the tool's own profile had both, whose key nobody can look up now."""
    world, address = look.world, look.found["base_url"]
    if world.profile is None or world.memory.applied.get(look.tool.name) != world.profile.name:
        return False
    if isinstance(world.key, Secret) or _asked(look) not in world.own_origins or not is_written(look, address):
        return False
    copies = [look.found[question] for question in CREDENTIALS & look.found.keys()]
    return any(one.value == key.reveal() and is_written(look, one) for one in copies)


def _asked(look: Sight) -> str:
    """Scheme, host and port of the address that is asked; "" where it is none."""
    answer = look.found.get("base_url")
    try:
        return origin(answer.value) if answer is not None else ""
    except ProfileError:
        return ""
