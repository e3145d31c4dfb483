"""A program that does not start with its settings, by its own words: what no list of rules could keep up with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from toolsync.doctor import client as clients
from toolsync.doctor.checks.saying import text, values
from toolsync.doctor.diagnosis import is_blocked
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix, Where
from toolsync.doctor.unasked import is_unset
from toolsync.secret.helper import open_to_others
from toolsync.sentence import reported, say
from toolsync.tool import Client


def unstarted(look: Look, found: Sequence[Finding]) -> Iterator[Finding]:
    """That it does not start, where its template knows a command that has it read its settings and ask nobody.

    Args:
        look: the program.
        found: what the checks found; where that says already why it makes no request, nothing is run.
    """
    row = next((one for one in look.tool.clients if one.loads and one.reader == look.reader.name), None)
    if row is None or is_blocked(found) or is_unset(look, found) or open_template(look) is not None:
        return
    environ = look.world.session.places.environ
    file = clients.program(row, environ)
    if file is None or _is_projects(look, file) or not clients.fits(row, _version(look, row)):
        return
    words = clients.refusal(row, file, environ)
    if words:
        yield _told(look, row, words)


def open_template(look: Look) -> Path | None:
    """The template that names the command, if it is one of the user's own that others can change, or the project's."""
    if not look.tool.is_users_own:
        return None
    places = look.world.session.places
    file = look.world.session.config.parent / "tools" / look.tool.name / "tool.toml"
    roots = [folder for folder in (places.project, *places.project.parents) if os.path.lexists(folder / ".git")]
    is_projects = any(file.resolve().is_relative_to(root.resolve()) for root in roots if root != places.home)
    return file if is_projects or open_to_others((file,)) is not None else None


def _is_projects(look: Look, file: Path) -> bool:
    """Whether the program is the project's own: nobody has asked for that one to be run."""
    places = look.world.session.places
    folders = (Path(folder) for folder in places.around.values() if folder)
    return any(file.is_relative_to(folder) for folder in folders if folder != places.home)


def _version(look: Look, row: Client) -> str:
    return look.world.version(row.command[0]) if row.version else ""


def _told(look: Look, row: Client, words: str) -> Finding:
    command = " ".join((row.command[0], *row.loads))
    where, at, reason = _placed(look, words)
    said = reported(text(_QUOTED.sub(r"\1…", reason), limit=300))
    lines = (say("at", place=at, said=said) if at else said, say("starts_not", called=look.called, command=command))
    fix = Fix(say("mend_named", place=at, command=command) if at else say("mend_said", command=command))
    return Finding("config_parse_error", "sure", lines, values(look, where, place=at), where, fix)


def _placed(look: Look, words: str) -> tuple[Where | None, str, str]:
    """The place that the words begin with, as it is and for people, and what is said of it; all of them where none."""
    for one in look.layers:
        names = {one.file, str(one.snapshot.real) if one.snapshot is not None else ""} - {""}
        for name in sorted(names):
            match = re.match(re.escape(name) + r":(\d+)(:\d+)?: ", words)
            if match is not None:
                place = f"{look.world.session.shown(one.file)}:{match[1]}{match[2] or ''}"
                return Where(one.layer.name, "", one.file, int(match[1])), place, words[match.end() :]
    return None, "", words


_QUOTED = re.compile(r"((?:unknown variant|invalid (?:type|value): \w+(?: \w+)*) )(?:`[^`]*`|\"(?:[^\"\\]|\\.)*\")")
"""Where serde, by which programs in Rust read their settings, repeats a value: it may be a key."""
