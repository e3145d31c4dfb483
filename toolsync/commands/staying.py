"""What `uninstall` leaves, and why: the user's own text, keys that exist nowhere else, what other programs made."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from toolsync import disk
from toolsync.commands.orphaned import orphaned
from toolsync.commands.profiles.draft import left_behind
from toolsync.commands.writing.state_folder import other_files
from toolsync.doctor import startup
from toolsync.errors import FileError
from toolsync.planning.copies import copies
from toolsync.planning.plans import Plan
from toolsync.planning.stores import lost_rows
from toolsync.profile.page import SCHEMA_FILE
from toolsync.secret import filled
from toolsync.session import Session
from toolsync.sharing import FOLDER
from toolsync.value import frozen

Kind = Literal["profile", "key", "row", "copy", "file", "program"]


@frozen
class Staying:
    """Something that stays.

    Attributes:
        kind: of what sort.
        name: a path as people write it, `keyring:NAME`, or what it is.
        reason: why, and how it would go.
    """

    kind: Kind
    name: str
    reason: str


def staying(session: Session, undo: Plan, keys: Sequence[str] = ()) -> Iterator[Staying]:
    """What stays on this machine, keys aside: those that are there are asked about.

    Args:
        session: the machine.
        undo: the plan that gives everything back.
        keys: the names of the keys that the keyring holds, which tools' files are looked through for.
    """
    yield from _settings(session)
    yield from _rows(session, undo)
    for path in copies(undo.files):
        reason = "another program's copy, in which values of ours stand; look whether a key is among them"
        yield Staying("copy", session.shown(path), reason)
    for path, said in orphaned(session, undo, keys):
        yield Staying("file", session.shown(path), said)
    for place in _lines(session):
        yield Staying("file", place, "your own line; a new shell that finds no toolsync complains of it")
    for path in filled.recorded(session.state):
        yield Staying("file", session.shown(path), "`toolsync env` filled it, perhaps with a key")
    for path in _strangers(session):
        yield Staying("file", session.shown(path), "toolsync did not make it")
    yield Staying("program", "the program", f"`{_removal(session.python)}` removes it")


_SETTINGS = {
    "tools": "your own tools",
    "gateways": "your own gateways",
    FOLDER: "what was fetched for your profiles, and what you agreed to; it holds no key",
    SCHEMA_FILE: "editors check the profile with it",
}
"""What lies beside the profile, and what it is."""


def _settings(session: Session) -> Iterator[Staying]:
    if disk.is_there(session.config):
        yield Staying("profile", session.shown(session.config), "your own text; it holds no key")
    for draft in left_behind(session.config.parent):
        yield Staying("file", session.shown(draft), "your text, which `toolsync profile edit` did not take over")
    for name, what in _SETTINGS.items():
        if disk.is_there(session.config.with_name(name)):
            yield Staying("file", session.shown(session.config.with_name(name)), what)


def _rows(session: Session, undo: Plan) -> Iterator[Staying]:
    """Parts of containers that are not there: if they come back, our rows come with them."""
    for path, rows in lost_rows(undo.files).items():
        yield Staying("row", session.shown(path), f"it is gone; if it comes back, remove there: {', '.join(rows)}")


_POWERSHELL = ("profile.ps1", "Microsoft.PowerShell_profile.ps1")
_RUNS_US = re.compile(r"[^#]*\btoolsync\b")


def _lines(session: Session) -> Iterator[str]:
    """Where the user's start-up files run toolsync, or its completion: `eval "$(toolsync hook)"`."""
    places = session.places
    files = [*startup.files(places), *(places.home / ".config" / "powershell" / name for name in _POWERSHELL)]
    for file in (one for one in files if one.is_relative_to(places.home)):
        with suppress(FileError):  # nobody's shell reads it either
            text = (disk.read(file).raw or b"").decode(errors="replace")
            yield from (
                f"{session.shown(file)}:{number}"
                for number, line in enumerate(text.splitlines(), start=1)
                if _RUNS_US.match(line)
            )


def _strangers(session: Session) -> Iterator[Path]:
    """What lies in toolsync's folder and is not ours; where the profile lies there too, nobody can tell."""
    if session.config.parent != session.state:
        yield from other_files(session.state)


def _removal(python: Path) -> str:
    """The command that removes the program: that of the installer whose folder it lies in."""
    if "pipx" in python.parts:
        return "pipx uninstall toolsync"
    if {"uv", "tools"} <= set(python.parts):
        return "uv tool uninstall toolsync"
    return shlex.join([str(python), "-m", "pip", "uninstall", "toolsync"])
