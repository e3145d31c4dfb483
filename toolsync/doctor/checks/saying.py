"""How findings speak of places and values: fit for a terminal, and never a key."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import urlsplit

from toolsync.address import normal, origin
from toolsync.doctor.look import Look
from toolsync.doctor.model import Where
from toolsync.doctor.plain import text as text  # noqa: PLC0414  the checks have it from here
from toolsync.doctor.world import World
from toolsync.errors import ProfileError
from toolsync.masking import on_one_line
from toolsync.sentence import Text, say
from toolsync.trace.credential import CREDENTIALS


def place(look: Look, where: Where) -> Text:
    """Where a value stands: `~/.claude/settings.json:3 (env.X)`."""
    shown = slot(look, where)
    if not where.layer:
        return say("own_default")
    at = at_line(look, where)
    if where.layer == "environment":
        return say("variable_set_at", slot=shown, place=at) if at else say("variable_of_environment", slot=shown)
    return f"{at or where.layer} ({shown})" if shown else at or where.layer


def slot(look: Look, where: Where) -> str:
    """What stands there, as its file calls it: without the name under which the trace hangs the file's tree."""
    one = next((one for one in look.layers if one.layer.name == where.layer and one.layer.at), None)
    inside = where.slot.removeprefix(f"{one.layer.at}.") if one is not None and one.environ is None else where.slot
    return on_one_line(inside, limit=200)


def at_line(look: Look, where: Where) -> str:
    """The file and the line: `~/.bashrc:12`; "" where there is no file."""
    if not where.file:
        return ""
    return look.world.session.shown(where.file) + (f":{where.line}" if where.line else "")


def values(look: Look, where: Where | None = None, **more: Text) -> dict[str, Text]:
    """What fills the sentences of a cause."""
    found: dict[str, Text] = {"tool": look.tool.name, "called": look.called, "profile": meant(look)}
    found["trusts"] = next(iter(look.tool.connections[look.reader.name].certificates), "")
    if where is not None:
        file = look.world.session.shown(where.file) if where.file else ""
        found |= {"place": place(look, where), "file": file, "layer": file or text(where.slot)}
    return {name: value for name, value in {**found, **more}.items() if value}


def meant(look: Look) -> str:
    """The profile that the tool is to have; where none is in use, the only one of its gateway, or at all."""
    world = look.world
    if world.profile is not None:
        return world.profile.name
    of_gateway = [one for one in world.profiles if _is_of(look, World(world.session, one))]
    found = of_gateway or world.profiles
    return found[0].name if len(found) == 1 else ""


def _is_of(look: Look, world: World) -> bool:
    try:
        return origin(look.effective.base_url) in world.own_origins
    except ProfileError:
        return False


def address(url: str) -> Text:
    """An address for people, without what may be a key in it."""
    try:
        parts = urlsplit(url.strip())
        if parts.username or parts.password or parts.query:
            return text(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")
    except ValueError:
        return say("unreadable_address")
    return text(url.strip())


def same(question: str, one: str, other: str) -> bool:
    """Whether two answers mean the same; addresses may be spelled in several ways."""
    if question != "base_url":
        return one == other
    try:
        return normal(one) == normal(other)
    except ProfileError:
        return one.strip().rstrip("/") == other.strip().rstrip("/")


def used(look: Look, question: str) -> Text:
    """What the tool will use, and where it has it from; of a key, only where."""
    answer = look.found[question]
    if not answer.value:
        return say("used_nothing", called=look.called)
    at = place(look, look.where(answer))
    if question in CREDENTIALS:
        return say("used_key", place=at)
    return say("used", value=address(answer.value) if question == "base_url" else text(answer.value), place=at)


def typed(look: Look, path: Path) -> str:
    """The file as one word of a shell, which puts the home folder in the place of `~` only where that is not quoted."""
    home, sign, inside = look.world.session.shown(path).partition("~/")
    return f"~/{shlex.quote(inside)}" if sign and not home else shlex.quote(str(path))
