"""A profile that tools were set to and that is gone, alone or with its file, and what they still have of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from toolsync import disk, registry
from toolsync.address import addresses
from toolsync.doctor.look import Look, here, looks
from toolsync.errors import ProfileError
from toolsync.secret.index import recorded
from toolsync.sentence import Text, say


def lost_profile(look: Look) -> str:
    """The profile that the tool was set to, where no profile is left, or the whole file is gone; "" where one is."""
    world = look.world
    return "" if world.profiles or world.fault is not None else world.memory.applied.get(look.tool.name, "")


def gone(look: Look) -> Text:
    """That the profile which the tool was set to is gone, alone or with the file of profiles."""
    session = look.world.session
    if disk.exists(session.config):
        return say("profile_gone", called=look.called, profile=lost_profile(look), tool=look.tool.name)
    file = session.shown(session.config)
    return say("profiles_gone", called=look.called, profile=lost_profile(look), file=file)


def has_key(look: Look, name: str) -> bool:
    """Whether the key of the profile is where a profile of that name looks for it."""
    return name in recorded(look.world.session.state)


def had(look: Look, name: str) -> tuple[str, str]:
    """Address and model with which the profile is made anew: the same, whichever of its tools asks.

    Args:
        look: one of its tools.
        name: what it was called.
    """
    world, own = look.world, look.effective
    known = registry.tools(world.session.config.parent)
    tools = [known[tool] for tool, profile in world.memory.applied.items() if profile == name and tool in known]
    told = [one for tool in tools for one in here(tuple(looks(world.of(tool.name), tool))) if _is_told(one)]
    asked = [one.effective for one in told]
    models = Counter(one.model for one in asked if one.model)
    model = own.model if not models else max(models, key=lambda name: (models[name], name == own.model, name))
    return _address([one.base_url for one in asked]) or own.base_url, model


def _is_told(look: Look) -> bool:
    """Whether something tells it whom to ask; what a project tells is not made the user's own."""
    where = look.effective.wheres.get("base_url")
    return where is not None and bool(where.layer) and not look.is_steered("base_url")


def _address(asked: Sequence[str]) -> str:
    """The one from which all others are derived, as short as it can be; "" where they are not of one profile."""
    for base in sorted({*asked}):
        try:
            derived = addresses(base)
            root = addresses(derived.root_url)
        except ProfileError:
            continue
        if {*asked} <= {base, *vars(derived).values()}:
            return root.root_url if root == derived else base
    return ""
