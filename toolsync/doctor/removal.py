"""How a setting that wins over ours is taken out of where it stands: a command where one does it, else file, line."""

from __future__ import annotations

import re
from pathlib import PurePath

from toolsync.doctor.checks.saying import at_line, slot, text
from toolsync.doctor.layers import Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Fix, Where
from toolsync.sentence import Text, say


def removal(look: Look, where: Where, value: str = "") -> Fix | None:
    """What takes it out; None where that is no affair of a person's editor: a login, an organisation, a keyring.

    Args:
        look: the program that it is taken from.
        where: what is to go.
        value: what the profile would have there, fit to be written by hand; "" for a key.
    """
    if where.layer == "environment":
        return _of_variable(look, where)
    one = next((one for one in look.layers if one.layer.name == where.layer), None)
    if one is None or not where.file or one.layer.is_managed or _is_login(one):
        return None
    name = text(slot(look, where))
    first = say("delete_setting", setting=name, place=at_line(look, where))
    above = _own_above(look, one) if value else None
    if above is None:
        return Fix(first)
    file = look.world.session.shown(above.file)
    return Fix(say("delete_or_outdo", first=first, setting=name, value=text(value), file=file))


def _is_login(one: Seen) -> bool:
    return one.layer.at.split(".")[0] == "login"


def _own_above(look: Look, one: Seen) -> Seen | None:
    """A file of the person's own that counts more than one that all who work on the project share.

    Tools call such a file `….local.…` (Claude Code's `settings.local.json`).
    """
    if not one.is_projects:
        return None
    above = look.layers[look.layers.index(one) + 1 :]
    return next((each for each in above if each.is_projects and ".local." in PurePath(each.file).name), None)


def _of_variable(look: Look, where: Where) -> Fix | None:
    name = where.slot.removeprefix("$")
    if not _NAME.fullmatch(name):
        return None
    is_windows = look.world.session.places.platform == "win32"
    line = look.world.set_at(name)
    if not where.file or line is None:
        return Fix(say("unset_windows", variable=name)) if is_windows else Fix(f"unset {name}")
    return Fix(_of_line(name, at_line(look, where), line.file, line.kind))


def _of_line(name: str, place: str, file: str, kind: str) -> Text:
    """What takes a variable out of the file, or the key of Windows' registry, that sets it."""
    if file.startswith(("HKCU", "HKLM")):
        target = "User" if file.startswith("HKCU") else "Machine"
        command = f"[Environment]::SetEnvironmentVariable('{name}', $null, '{target}')"
        return say("unset_registry" if target == "User" else "unset_machine", command=command)
    if PurePath(file).name == "fish_variables":
        return f"fish -c 'set --erase --universal {name}'"
    sentence = {"folder": "take_out_folder", "desktop": "take_out_desktop"}.get(kind, "take_out_variable")
    return say(sentence, variable=name, place=place)


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
