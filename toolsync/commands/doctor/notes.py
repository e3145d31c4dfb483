"""What `doctor` says besides the programs: profiles that cannot be read, tools of other profiles, what was edited."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from toolsync.causes import Language
from toolsync.doctor.behind import behind as answers_behind
from toolsync.doctor.command import applied, spelled
from toolsync.doctor.look import Look
from toolsync.doctor.model import Diagnosis
from toolsync.doctor.world import World
from toolsync.errors import ToolsyncError
from toolsync.planning.aside import broken
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.sentence import reported, say, tell
from toolsync.tool import Tool

Told = Sequence[tuple[Look, Diagnosis]]


def unread(world: World, seen: Sequence[Look], language: Language) -> Iterator[Message]:
    """Why profiles cannot be read, each reason once."""
    faults = {one.message: one for one in (world.fault, *(look.world.fault for look in seen)) if one is not None}
    yield from (_warning(one, language) for one in faults.values())


def forgotten(world: World, language: Language) -> Iterator[Message]:
    """Why memory cannot be read."""
    if world.forgotten is not None:
        yield _warning(world.forgotten, language)


def _warning(error: ToolsyncError, language: Language) -> Message:
    return Message("warning", tell(reported(error.message), language), tell(reported(error.hint), language))


def set_aside(world: World, told: Told, language: Language) -> Iterator[Message]:
    """Tools that were set to another profile than the active one; of one that is ill, nothing but what mends it."""
    asides = {look.tool.name: look for look, _ in told if look.world.is_aside}
    ill = {look.tool.name for look, one in told if one.state == "problem"}
    if asides:
        from toolsync.commands.doctor.rehearsal import COPYING, is_agreed, is_off  # with what fills templates
    for tool, look in asides.items():
        if world.profile is not None and look.world.profile is not None:
            own, active = look.world.profile.name, world.profile.name
            there = replace(look, world=world)
            consent = () if is_agreed(there) else (COPYING,)
            hint = say("set_aside_hint", command=spelled((*applied(tool), *consent)))
            said = say("set_aside", called=look.tool.title, profile=own, active=active)
            yield Message("note", tell(said, language), "" if tool in ill or is_off(there) else tell(hint, language))


def unwritten(told: Told, language: Language) -> Iterator[Message]:
    """Files that their tools read as they are, and that toolsync writes nothing into: in another encoding than UTF-8.

    Of a tool that is ill, what mends it says so.
    """
    found: dict[str, Look] = {}
    for look, one in told:
        for layer in look.layers if one.state != "problem" else ():
            if layer.layer.kind == "overlay" and layer.is_wide:
                found.setdefault(layer.file, look)
    for file, look in found.items():
        shown = look.world.session.shown(file)
        hint = say("save_as_utf_8", called=look.tool.title)
        yield Message(
            "note", tell(say("unwritten", called=look.tool.title, file=shown), language), tell(hint, language)
        )


def behind(told: Told, language: Language) -> Iterator[Message]:
    """Tools that work with what they have, and whose profile was edited since: each profile's in one note.

    Of one with which another tool does not work nobody is told to take it up.
    """
    found: dict[str, dict[str, Look]] = {}
    for look, one in told:
        profile = look.world.profile.name if look.world.profile is not None else ""
        if one.state == "healthy" and profile and any(True for _ in answers_behind(look)):
            found.setdefault(profile, {}).setdefault(look.tool.name, look)
    ill = {look.world.profile.name for look, one in told if one.state == "problem" and look.world.profile is not None}
    for profile, looks in found.items():
        if profile in ill:
            continue
        is_aside = any(look.world.is_aside for look in looks.values())
        names = ", ".join(look.tool.title for look in looks.values())
        command = (*applied(*looks), *(("--profile", profile) if is_aside else ()))
        text = tell(say("unapplied", profile=profile, names=names), language)
        yield Message("note", text, tell(say("applies_them", command=spelled(command)), language))


def about_tools(
    known: Known, chosen: Sequence[Tool], seen: Container[str], language: Language, *, is_named: bool
) -> Iterator[Message]:
    """Templates that cannot be used; and tools asked for by name of which nothing can be looked at."""
    if not is_named:
        yield from (Message("warning", one.text, one.hint) for one in broken(known))
    for tool in chosen if is_named else ():
        if tool.name not in seen:
            name, hint = ("asks_nobody", "asks_nobody_itself") if tool.store else ("has_no_files", "name_its_files")
            text = tell(say(name, called=tool.title), language)
            yield Message("note", text, tell(say(hint, tool=tool.name), language))
