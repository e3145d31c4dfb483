"""Tools that ask us for a profile's key by its name, and are set to another gateway: the key would go there."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.asked import asked_for, asked_in
from toolsync.commands.keys.holders import Holders, layers_of, users
from toolsync.document import Document, parse
from toolsync.errors import ToolsyncError
from toolsync.keyref import KeyRef
from toolsync.masking import on_one_line
from toolsync.planning.stores import Address, Shelves
from toolsync.profile import Profile
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.search.placing import existing
from toolsync.session import Session
from toolsync.tool import FileRow, Tool
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.doctor.look import Look


@frozen
class Astray:
    """One program of such a tool.

    Attributes:
        tool: the tool's name.
        called: the program, for people; with what keeps its settings, where that is a row.
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


def left_behind(session: Session, profile: Profile) -> Iterator[Message]:
    """That tools with a copy of the profile's key are set to where the profile led before."""
    try:
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
        profiles = session.profiles()
    except ToolsyncError:  # other commands say so
        return
    tools = [
        one for one in Holders(memory, known, profiles.names).copied().get(profile.name, ()) if not known[one].store
    ]
    if not tools:
        return
    from toolsync.commands.keys.sending import Blind  # as above
    from toolsync.doctor.look import looks

    world = Blind(session, profile, profiles.profiles)
    for look in (look for tool in tools for look in looks(world, known[tool]) if _leads_away(look)):
        text = f"{look.effective.called} holds a copy of the key of '{profile.name}'"
        command = shlex.join(("toolsync", "apply", "-p", profile.name, "--tool", look.tool.name))
        there = f"{text}, and sends it to {on_one_line(look.effective.base_url)} as before"
        yield Message("warning", there, f"`{command}` sets it anew.")


def astray(session: Session, profile: Profile, name: str) -> Iterator[Astray]:
    """The programs that ask for the key of `name`, and lead elsewhere than the profile does; none of them is run."""
    try:
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
    except ToolsyncError:  # other commands say so
        return
    asking: dict[str, set[str]] = {}
    for tool, real in _asking(session, memory, known, name):
        asking.setdefault(tool, set()).add(real)
    rows = list(_asking_rows(session, memory, known, name))
    if not (asking or rows):
        return
    from toolsync.commands.keys.sending import Blind  # with all that looks at tools
    from toolsync.doctor.look import looks, looks_in

    world = Blind(session, profile, session.profiles().profiles)
    for tool, files in asking.items():
        for look in (look for look in looks(world, known[tool]) if _is_away(look, name)):
            where = look.effective.wheres.get("base_url")
            is_set = where is None or (str(disk.resolve(Path(where.file))) in files if where.file else not where.layer)
            yield Astray(tool, look.effective.called, look.effective.base_url, is_set)
    for store, row, document in rows:
        for look in (look for look in looks_in(world, known[row.of], row.template, document) if _is_away(look, name)):
            yield Astray(store.name, f"{store.title} ({look.effective.called})", look.effective.base_url, is_set=True)


def _is_away(look: Look, name: str) -> bool:
    """Whether a program that asks for the key of `name` leads elsewhere than the profile, and has the same key."""
    return _leads_away(look) and _has_key(look, name)


def _leads_away(look: Look) -> bool:
    from toolsync.commands.keys.sending import origin_of

    address, wanted = look.effective.base_url, look.wanted.get("base_url", "")
    if look.damaged:
        return False  # what it says then is not what it is set to
    return bool(address and wanted) and origin_of(address) != origin_of(wanted)


def _has_key(look: Look, name: str) -> bool:
    """Whether the name is one of our file's; in another profile file, whether the key is that of our profile."""
    from toolsync.doctor.elsewhere import elsewhere
    from toolsync.doctor.printing import printing

    session, profile = look.world.session, look.world.profile
    files = (elsewhere(look, printing(look, one)) for one in look.effective.credentials)
    file = next(filter(None, files), "")
    if not file or profile is None:
        return True
    with suppress(ToolsyncError):  # what cannot be read gives no key away
        return profile.name == name and replace(session, config=Path(file)).profiles().get(name).key == profile.key
    return False


def _asking(session: Session, memory: Memory, known: Known, name: str) -> Iterator[tuple[str, str]]:
    """The tools, each with a file of its that asks, be it remembered or not."""
    there = [(layer.tool, real) for real, layer in layers_of(memory) if Path(real).is_absolute()]
    for row, owner in ((row, tool.name) for tool in known.values() for row in tool.files if not row.each):
        with suppress(ToolsyncError):  # what links in a circle lead to asks for nothing
            path = existing(row.path, session.places)
            there += [(owner, str(disk.resolve(path)))] if path is not None and disk.exists(path) else []
    for tool, real in dict.fromkeys(there):
        if tool in known and not known[tool].store and asked_for(real) == name:
            yield tool, real


def _asking_rows(session: Session, memory: Memory, known: Known, name: str) -> Iterator[tuple[Tool, FileRow, Document]]:
    """The rows that ask, as they stand: a click makes them the tool's own file."""
    shelves = Shelves(session)
    for real, layer in layers_of(memory):
        tool = known.get(layer.tool)
        rows = tool.files if tool is not None and tool.store else ()
        row = next((row for row in rows if row.overlay == layer.overlay and row.of in known), None)
        if tool is None or row is None:
            continue
        with suppress(ToolsyncError):  # who applies is told
            text = (shelves.text(tool, Address.parse(real)) or "").encode()
            if asked_in(text) == name:
                yield tool, row, parse(text, row.format)
