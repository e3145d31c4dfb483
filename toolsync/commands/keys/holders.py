"""Whose copies of a key stand where, and who asks for whose: what memory and the files know, by profile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.commands.keys.stored import references
from toolsync.errors import FileError, ToolsyncError
from toolsync.planning.stores import Address
from toolsync.profile import KeyRef, Profile
from toolsync.registry import Known
from toolsync.remembered import LayerMemory, Memory
from toolsync.result import Message
from toolsync.session import Session


def users(key: KeyRef, profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """The profiles that name the key, as theirs or in a header."""
    return tuple(one for one in profiles if any(used == key for _, used in references(one)))


def applied(memory: Memory, known: Known) -> dict[str, tuple[str, ...]]:
    """The tools that are applied, by profile."""
    return _by_profile(memory, known, layers_of(memory))


def holders(memory: Memory, known: Known) -> dict[str, tuple[str, ...]]:
    """The tools in whose own files, rows or entries a key was written, by the profile that it was written for."""
    return _by_profile(memory, known, ((real, layer) for real, layer in layers_of(memory) if layer.holds_key))


def _by_profile(memory: Memory, known: Known, layers: Iterable[tuple[str, LayerMemory]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for real, layer in layers:
        if layer.tool in known:
            found.setdefault(profile_of(memory, known, real, layer), {})[layer.tool] = None
    return {profile: tuple(tools) for profile, tools in found.items()}


def outdated(session: Session, key: KeyRef) -> Iterator[Message]:
    """That files hold copies of a key in whose place another one was put, and no file was touched."""
    try:
        memory = memories.read(memories.path_in(session.state))
        known, profiles = registry.tools(session.config.parent), session.profiles().profiles
    except ToolsyncError:  # other commands say so; the key is stored
        return
    held = holders(memory, known)
    for profile in users(key, profiles):
        titles = ", ".join(known[name].title for name in held.get(profile.name, ()))
        if titles:
            way = f"`toolsync apply -p {profile.name}` writes the new one there."
            rotate = f" `toolsync key rotate {profile.name}` asks the gateway first, and does both at once."
            text = f"copies of the key that was replaced still stand in the settings of {titles}"
            yield Message("warning", text, way + (rotate if key.kind == "keyring" else ""))


def bereft(session: Session, key: KeyRef) -> Iterator[Message]:
    """That tools which are applied ask for a key that was removed, or hold copies of it."""
    try:
        memory = memories.read(memories.path_in(session.state))
        known, profiles = registry.tools(session.config.parent), session.profiles().profiles
    except ToolsyncError:  # as above
        return
    held, set_now = holders(memory, known), applied(memory, known)
    using = [profile.name for profile in users(key, profiles)]
    copies = {tool: None for name in using for tool in held.get(name, ())}
    others = {tool: None for name in using for tool in set_now.get(name, ()) if tool not in copies}
    if copies:
        titles, tools = ", ".join(known[tool].title for tool in copies), " ".join(copies)
        text = f"copies of it still stand in the settings of {titles}"
        yield Message("warning", text, f"`toolsync undo {tools}` takes them out.")
    if others:
        titles, tools = ", ".join(known[tool].title for tool in others), " ".join(others)
        yield Message(
            "warning", f"{titles}: set to ask for it", f"`toolsync undo {tools}` gives back what stood there."
        )


def profile_of(memory: Memory, known: Known, real: str, layer: LayerMemory) -> str:
    """The profile that a layer was laid for: a row says so by its name, and a file by the command that it holds."""
    tool = known.get(layer.tool)
    if tool is not None and tool.store:
        return Address.parse(real).profile
    asked = "" if layer.holds_key else _asked_for(real)
    return asked or memory.copies.get(layer.tool) or memory.profile or ""


def is_asked_for(memory: Memory, profile: str) -> bool:
    """Whether a file that was applied asks for the key under this name, whichever profile was applied last."""
    return any(_asked_for(real) == profile for real in memory.files)


def _asked_for(real: str) -> str:
    """The one profile whose key a file asks for by our command; "" where it names none, or several."""
    path = Path(real)
    if not path.is_absolute():
        return ""
    try:
        raw = disk.read(path).raw or b""
    except FileError:  # other commands say so
        return ""
    names = {found.decode() for found in _ASKING.findall(raw)}
    return names.pop() if len(names) == 1 else ""


_ASKING = re.compile(rb"""toolsync\b[^\r\n]*\bkey['",\s]+print['",\s]+([A-Za-z0-9][A-Za-z0-9._-]*)""")
"""In one line for a shell, or as a list of words; as `helper_command` has it."""


def layers_of(memory: Memory) -> Iterator[tuple[str, LayerMemory]]:
    """Every layer, with the file, row or entry that it was laid on."""
    return ((real, layer) for real, file in memory.everything.items() for layer in file.layers)
