"""Tools that ask us for a profile's key by its name, and are set to another gateway: the key would go there."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.asked import asked_for
from toolsync.commands.keys.holders import layers_of, users
from toolsync.errors import ToolsyncError
from toolsync.keyref import KeyRef
from toolsync.masking import on_one_line
from toolsync.profile import Profile
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen


@frozen
class Astray:
    """One program of such a tool.

    Attributes:
        tool: the tool's name.
        called: the program, for people.
        address: where it sends the key that it gets.
        is_set: whether that stands where `apply` writes: else a project's file says so, or this shell.
    """

    tool: str
    called: str
    address: str
    is_set: bool


def led_astray(session: Session, key: KeyRef, besides: Collection[str] = ()) -> Iterator[Message]:
    """That tools which ask for the key send it to another gateway than their profile's.

    Args:
        session: the machine.
        key: whose profiles' tools are looked at.
        besides: tools that are set anew anyway.
    """
    try:
        profiles = session.profiles()
    except ToolsyncError:  # other commands say so
        return
    for profile in users(key, profiles.profiles):
        if profile.key == key:
            yield from of_profile(session, profile, besides)


def of_profile(session: Session, profile: Profile, besides: Collection[str] = ()) -> Iterator[Message]:
    """The same of one profile."""
    for one in astray(session, profile, profile.name):
        if one.tool not in besides:
            text = f"{one.called} asks for the key of '{profile.name}', and sends it to {on_one_line(one.address)}"
            command = shlex.join(("toolsync", "apply", "-p", profile.name, "--tool", one.tool))
            way = (
                f"`{command}` sets it anew."
                if one.is_set
                else f"`toolsync doctor {one.tool}` says what leads it there."
            )
            yield Message("warning", f"{text}, where the profile does not lead{' any more' if one.is_set else ''}", way)


def astray(session: Session, profile: Profile, name: str) -> Iterator[Astray]:
    """The programs that ask for the key of `name`, and lead elsewhere than the profile does; none of them is run."""
    try:
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
    except ToolsyncError:  # other commands say so
        return
    asking: dict[str, set[str]] = {}
    for tool, real in _asking(memory, known, name):
        asking.setdefault(tool, set()).add(real)
    if not asking:
        return
    from toolsync.commands.keys.sending import Blind, origin_of  # with all that looks at tools
    from toolsync.doctor.look import looks

    world = Blind(session, profile, session.profiles().profiles)
    for tool, files in asking.items():
        for look in looks(world, known[tool]):
            address, wanted = look.effective.base_url, look.wanted.get("base_url", "")
            if address and wanted and origin_of(address) != origin_of(wanted):
                where = look.effective.wheres.get("base_url")
                is_set = where is None or (
                    str(disk.resolve(Path(where.file))) in files if where.file else not where.layer
                )
                yield Astray(tool, look.effective.called, address, is_set)


def _asking(memory: Memory, known: Known, name: str) -> Iterator[tuple[str, str]]:
    """The tools, each with a file of its that asks."""
    for real, layer in layers_of(memory):
        tool = known.get(layer.tool)
        if tool is not None and not tool.store and Path(real).is_absolute() and asked_for(real) == name:
            yield layer.tool, real
