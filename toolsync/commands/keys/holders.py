"""Whose copies of a key stand where, and who asks for whose: what memory and the files know, by profile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from toolsync import memory as memories
from toolsync import registry
from toolsync.asked import asked_for
from toolsync.commands.keys.stored import references
from toolsync.errors import ToolsyncError
from toolsync.planning.stores import Address
from toolsync.profile import KeyRef, Profile, Profiles
from toolsync.registry import Known
from toolsync.remembered import NOTHING, LayerMemory, Memory
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen


def users(key: KeyRef, profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """The profiles that name the key, as theirs or in a header."""
    return tuple(one for one in profiles if any(used == key for _, used in references(one)))


def may_have(profiles: Profiles, name: str, key: KeyRef) -> bool:
    """Whether a profile that cannot be had from its shared file may have the key: what its user's own file says wins.

    A copy that it has in a header is found where it stands.
    """
    own = profiles.document.data["profiles"][name].get("key")
    return own is None or KeyRef.parse(own) == key


@frozen
class Holders:
    """Which tools are set to which profile: memory has the record, and a file has its own word.

    Attributes:
        memory: what was applied.
        known: every tool.
        names: the profiles that there are.
    """

    memory: Memory
    known: Known
    names: Collection[str]

    def applied(self) -> dict[str, tuple[str, ...]]:
        """The tools that are applied, by profile."""
        return self._by_profile(layers_of(self.memory))

    def copied(self) -> dict[str, tuple[str, ...]]:
        """The tools in whose own files, rows or entries a key was written, by the profile that it was written for."""
        return self._by_profile((real, layer) for real, layer in layers_of(self.memory) if layer.holds_key)

    def copies_of(self, key: KeyRef, profile: Profile) -> tuple[str, ...]:
        """The tools in which a copy of this one key of the profile's was written.

        Where a file asks for the profile's key by our command, what it holds are the secrets of headers.
        """
        is_header = key in [used for _, used in references(profile)][1:]
        held = ((real, layer) for real, layer in layers_of(self.memory) if layer.holds_key)
        copies = [(real, layer) for real, layer in held if is_header or not asked_for(real)]
        return self._by_profile(copies).get(profile.name, ())

    def _by_profile(self, layers: Iterable[tuple[str, LayerMemory]]) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for real, layer in layers:
            if layer.tool in self.known:
                found.setdefault(self.profile_of(real, layer), {})[layer.tool] = None
        return {profile: tuple(tools) for profile, tools in found.items()}

    def profile_of(self, real: str, layer: LayerMemory) -> str:
        """The profile that a layer was laid for; "" where nobody knows.

        A row says so by its name. A file's own command counts before the record, for it is what the tool runs; one that
        names a profile which is called otherwise by now counts after it.
        """
        tool = self.known.get(layer.tool)
        if tool is not None and tool.store:
            return Address.parse(real).profile
        asked = "" if layer.holds_key else asked_for(real)
        if asked in self.names:
            return asked
        return self.memory.applied.get(layer.tool) or asked or self.memory.profile_of(layer.tool)

    def asked_by(self, real: str, layer: LayerMemory) -> str:
        """The profile whose key a layer asks for by name; "" for none, and where it holds no word on that."""
        tool = self.known.get(layer.tool)
        if tool is None or not tool.store:
            return asked_for(real)
        says = any(value.secret and value.after != NOTHING for value in layer.values)
        return self.profile_of(real, layer) if says else ""


def outdated(session: Session, key: KeyRef) -> Iterator[Message]:
    """That files hold copies of a key in whose place another one was put, and no file was touched."""
    try:
        memory = memories.read(memories.path_in(session.state))
        known, profiles = registry.tools(session.config.parent), session.profiles().profiles
    except ToolsyncError:  # other commands say so; the key is stored
        return
    there = Holders(memory, known, {one.name for one in profiles})
    for profile in users(key, profiles):
        tools = there.copies_of(key, profile)
        titles = ", ".join(known[name].title for name in tools)
        if titles:
            named = "".join(f" --tool {name}" for name in tools)  # else every tool would be set to the profile
            way = f"`toolsync apply -p {profile.name}{named}` writes the new one there."
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
    there = Holders(memory, known, {one.name for one in profiles})
    set_now, using = there.applied(), users(key, profiles)
    copies = {tool: None for profile in using for tool in there.copies_of(key, profile)}
    others = {tool: None for one in using for tool in set_now.get(one.name, ()) if tool not in copies}
    if copies:
        titles, tools = ", ".join(known[tool].title for tool in copies), " ".join(copies)
        text = f"copies of it still stand in the settings of {titles}"
        yield Message("warning", text, f"`toolsync undo {tools}` takes them out.")
    if others:
        titles, tools = ", ".join(known[tool].title for tool in others), " ".join(others)
        yield Message(
            "warning", f"{titles}: set to ask for it", f"`toolsync undo {tools}` gives back what stood there."
        )


def layers_of(memory: Memory) -> Iterator[tuple[str, LayerMemory]]:
    """Every layer, with the file, row or entry that it was laid on."""
    return ((real, layer) for real, file in memory.everything.items() for layer in file.layers)
