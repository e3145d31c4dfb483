"""Whose copies of a key stand where: what memory knows, by profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolsync.commands.key import references
from toolsync.commands.stores import Address
from toolsync.profile import KeyRef, Profile
from toolsync.remembered import LayerMemory, Memory
from toolsync.tool import Tool


def users(key: KeyRef, profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """The profiles that name the key, as theirs or in a header."""
    return tuple(one for one in profiles if any(used == key for _, used in references(one)))


def holders(memory: Memory, known: Mapping[str, Tool]) -> dict[str, dict[str, None]]:
    """The tools in whose own files or rows a key was written, in order, by the profile that it was written for."""
    found: dict[str, dict[str, None]] = {}
    for real, layer in _keyed(memory):
        found.setdefault(profile_of(memory, known, real, layer), {})[layer.tool] = None
    return found


def profile_of(memory: Memory, known: Mapping[str, Tool], real: str, layer: LayerMemory) -> str:
    """The profile that a layer was laid for: a row says so by its name."""
    tool = known.get(layer.tool)
    if tool is not None and tool.store:
        return Address.parse(real).profile
    return memory.copies.get(layer.tool) or memory.profile or ""


def _keyed(memory: Memory) -> Iterator[tuple[str, LayerMemory]]:
    return ((real, layer) for real, file in memory.files.items() for layer in file.layers if layer.holds_key)
