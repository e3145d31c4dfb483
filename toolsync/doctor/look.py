"""One program of a tool, looked at: what it finds, the request that it makes of that, and who wins."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from toolsync.doctor.effective import effective
from toolsync.doctor.layers import Seen, Standing, own_files, seen, standings, unread
from toolsync.doctor.model import Effective
from toolsync.doctor.sight import Sight
from toolsync.doctor.wanted import wanted_edits
from toolsync.doctor.world import World
from toolsync.document import Document
from toolsync.overlay import Edit
from toolsync.tool import Reader, Tool
from toolsync.trace import Answer, Tree, answers, unhindered
from toolsync.trace.version import spoken_of
from toolsync.value import frozen

Edits = Mapping[str, Sequence[Edit]]
"""What the profile wants, by overlay."""


@frozen
class Look(Sight):
    """What a program finds, and what comes of it."""

    @cached_property
    def effective(self) -> Effective:
        """The request that it will really make."""
        return effective(self)

    def standings(self) -> tuple[Standing, ...]:
        """Who sets what, and who wins, for people."""
        alone: dict[str, Sequence[str]] = {}
        for one in self.layers:
            asked = self.slots_of(one)
            alone[one.layer.name] = [question for question, answer in asked.items() if answer.layer == one.layer.name]
        return tuple(standings(self.layers, alone, {name: answer.layer for name, answer in self.raw.items()}))

    def slots_of(self, one: Seen, *, is_heeded: bool = True) -> Mapping[str, Answer]:
        """What would be answered if this layer were the only one, with the real answers where one speaks of another.

        Args:
            one: the layer.
            is_heeded: whether what it may not set is left out.
        """
        layer = one.tree.layer if is_heeded else unhindered(one.tree.layer)
        return answers(self.reader, [Tree(layer, one.tree.data, one.file)], {})


def looks(world: World, tool: Tool) -> Iterator[Look]:
    """Every program of the tool; one that keeps its settings as parts of a store has none of its own.

    Args:
        world: what it is looked at with.
        tool: whose.
    """
    if tool.store:
        return
    own = world.profile.tool.get(tool.name, {}) if world.profile else {}
    given = world.facts(tool.name)
    wanted_of = wanted_edits(tool, given)
    elsewhere = unread(world.session, tool)
    for files in own_files(world.session, tool, own.get("paths", ())):
        layers = seen(world.session, tool, files, world.version)
        yield from _programs(world, tool, layers, elsewhere, wanted_of)


def looks_in(world: World, tool: Tool, overlay: str, document: Document) -> Iterator[Look]:
    """Every program of the tool as it would be with one file alone, which lies elsewhere: in a row of a store.

    Args:
        world: what it is looked at with.
        tool: whose.
        overlay: which of its files.
        document: what that says.
    """
    layers = tuple(Seen(layer, "read", document=document) for layer in tool.layers if layer.overlay == overlay)
    wanted_of = wanted_edits(tool, world.facts(tool.name))
    yield from _programs(world, tool, layers, (), wanted_of)


def _programs(
    world: World, tool: Tool, layers: tuple[Seen, ...], elsewhere: tuple[Seen, ...], wanted_of: Edits
) -> Iterator[Look]:
    """Who reads the layers."""
    one = Look(world, tool, tool.readers[0], layers, elsewhere, wanted_of, is_alone=len(tool.readers) == 1)
    for reader in spoken_of(tool.readers, lambda reader: replace(one, reader=reader).found):
        yield replace(one, reader=reader)


def here(found: Sequence[Look]) -> tuple[Look, ...]:
    """The programs of a tool that are on this machine, by files of their own or by themselves; all where none is.

    Args:
        found: every program of one tool.
    """
    named = {look.reader.name for look in found if _is_here(look)}
    return tuple(look for look in found if {look.reader.name, look.reader.newer_than} & named) or tuple(found)


def _is_here(look: Look) -> bool:
    if look.is_alone:
        return True
    if look.reader.newer_than:
        return False  # where the older one is
    apart = [one for one in look.tool.readers if look.reader.name not in (one.name, one.newer_than)]
    others = {name for one in apart for name in _read_by(one, look.layers)}
    read = _read_by(look.reader, look.layers)
    own = read - others or read
    if any(one.state not in ("missing", "environment") for one in look.layers if one.layer.name in own):
        return True
    programs = look.tool.processes.get(look.reader.name)
    names, search = programs.names if programs is not None else (), look.world.session.places.environ.get("PATH", "")
    is_installed = any(shutil.which(name, path=search) for name in names if not name.endswith("/"))
    return is_installed or any(one.is_called(name) for one in look.world.processes for name in names)


def _read_by(reader: Reader, layers: Sequence[Seen]) -> set[str]:
    """The layers in which a program looks for its answers."""
    paths = [slot.text for slots in reader.questions.values() for slot in slots if slot.kind == "path"]
    return {one.layer.name for one in layers if any(f"{text}.".startswith(f"{one.layer.at}.") for text in paths)}
