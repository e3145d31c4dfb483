"""The wanted value where the tool does not look: in a file of another name, or in a variable that it does not read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from toolsync import disk
from toolsync.doctor.checks.saying import at_line, place, same, used, values
from toolsync.doctor.command import applied, commands
from toolsync.doctor.exported import is_exported
from toolsync.doctor.layers import Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding, Where
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import FileError
from toolsync.search.placing import spelled
from toolsync.sentence import say
from toolsync.tool import Slot


def in_unread_file(look: Look, question: str, want: str) -> Finding | None:
    """A file that people take for the tool's settings holds it."""
    for one in look.unread:
        line = _line_of(one, question, want)
        if line is not None:
            where = Where(one.layer.name, question, one.file, line)
            lines = (
                say("in_unread_file", place=at_line(look, where), called=look.called),
                used(look, question),
            )
            return Finding("config_wrong_file", "sure", lines, values(look, where), where)
    return None


def in_own_file(look: Look, question: str, want: str) -> Finding | None:
    """The tool's own file holds the address where the tool does not look: in another table, under a name not chosen."""
    if question != "base_url" or look.found[question].layer or _is_chosen(look, question):
        return None  # what is set somewhere may be meant
    for one in (one for one in look.layers if one.layer.overlay and not one.is_projects):
        place_of = _place_of(one, question, want)
        if place_of is not None:
            where = Where(one.layer.name, *place_of)
            lines = (say("in_unread_variable", place=place(look, where), called=look.called), used(look, question))
            return Finding(
                "base_url_not_honoured", "sure", lines, values(look, where), where, commands(applied(look.tool.name))
            )
    return None


def _is_chosen(look: Look, question: str) -> bool:
    """Whether a file says whose address is asked for: a name that nothing stands under has a check of its own."""
    slots, known = look.reader.questions[question], look.reader.known
    return any(
        answer.layer and (name in known or any(f"<{name}>" in slot.text for slot in slots))
        for name, answer in look.found.items()
    )


def _place_of(one: Seen, question: str, want: str) -> tuple[str, str, int | None] | None:
    """Slot, file and line of a value."""
    for path, _ in one.document.leaves() if one.document is not None and one.state == "read" else ():
        value = one.document.get(path) if one.document is not None else None
        if isinstance(value, str) and same(question, value, want):
            line = (one.document.position(path) or (None,))[0] if one.document is not None else None
            return spell((*parse_path(one.layer.at), *path) if one.layer.at else path), one.file, line
    return None


def in_near_file(look: Look, question: str, want: str) -> Finding | None:
    """A file beside the tool's own, or in a folder that is easily mistaken for theirs, holds the wanted address."""
    if question != "base_url":
        return None
    read = {os.path.realpath(one.file) for one in look.layers if one.file} | _of_others(look)
    for path in _near(look):
        if os.path.realpath(path) in read:
            continue
        line = _line_with(path, want)
        if line is not None:
            where = Where(path.name, question, str(path), line)
            lines = (say("in_near_file", place=at_line(look, where), called=look.called), used(look, question))
            return Finding("config_wrong_file", "likely", lines, values(look, where), where)
    return None


def _of_others(look: Look) -> set[str]:
    """Files that the profile names for other tools, or that toolsync set for them: they are in their place."""
    world = look.world
    named = [
        os.path.realpath(path)
        for profile in world.profiles
        for own in profile.tool.values()
        for spec in own.get("paths", ())
        for path in spelled(spec, world.session.places)
    ]
    return {*named, *world.memory.files}


_SUFFIXES = (".json", ".jsonc", ".toml", ".yaml", ".yml", ".env")
_MOST_FILES = 100
_MOST_BYTES = 2**20


def _near(look: Look) -> Iterator[Path]:
    """Settings files in the folders of the tool's own, and in those that differ by a dot, or lie in `.config`."""
    home = look.world.session.places.home
    own = [one.path.parent for one in look.layers if one.path is not None and one.layer.overlay]
    folders: dict[Path, None] = {}
    for folder in own:
        if folder in (home, folder.parent):
            continue
        bare = folder.name.removeprefix(".")
        near = (folder, folder.parent / bare, folder.parent / f".{bare}", home / ".config" / bare, home / f".{bare}")
        folders |= dict.fromkeys(near)
    for folder in folders:
        try:
            files = sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES))
        except OSError:
            continue
        yield from files[:_MOST_FILES]


def _line_with(path: Path, want: str) -> int | None:
    """The line of a file on which the address stands as a value."""
    try:
        raw = disk.read(path).raw or b""
    except FileError:
        return None
    text = raw[:_MOST_BYTES].decode(errors="replace")
    match = re.search(rf"""(?:^|[\s"'=:]){re.escape(want.rstrip("/"))}/?(?=["'\s,;]|$)""", text, re.MULTILINE)
    return text.count("\n", 0, match.end()) + 1 if match else None


def _line_of(one: Seen, question: str, want: str) -> int | None:
    if one.document is None:
        return None
    for path, _ in one.document.leaves():
        value = one.document.get(path)
        if isinstance(value, str) and same(question, value, want):
            return (one.document.position(path) or (None,))[0]
    return None


def in_unread_variable(look: Look, question: str, want: str) -> Finding | None:
    """A variable that the tool does not look at holds the wanted address, and was meant for the tool."""
    if question != "base_url":
        return None
    names = [name for name, value in look.environ.items() if name.isupper() and same(question, value, want)]
    names = [name for name in sorted(names) if not name.lower().endswith("_proxy") and not _is_read(look, name)]
    names = [name for name in names if not is_exported(look.world, name)]
    if not names:
        return None
    answer = look.found[question]
    certainty: Certainty = "sure" if answer.slot.startswith("=") or not answer.value else "likely"
    line = look.world.set_at(names[0])
    where = Where("environment", f"${names[0]}", line.file if line else "", (line.line or None) if line else None)
    lines = (say("in_unread_variable", place=place(look, where), called=look.called), used(look, question))
    found = values(look, where, variable=names[0])
    return Finding("base_url_not_honoured", certainty, lines, found, where, commands(applied(look.tool.name)))


def _is_read(look: Look, name: str) -> bool:
    slots = [slot for asked in look.reader.questions.values() for slot in asked]
    return any(slot.kind == "variable" and slot.text == name for slot in slots) or name in _named_by_path(slots)


def _named_by_path(slots: Sequence[Slot]) -> set[str]:
    """The last keys of paths: `env.ANTHROPIC_BASE_URL` is how a layer of variables is asked."""
    return {slot.text.rpartition(".")[2] for slot in slots if slot.kind == "path"}
