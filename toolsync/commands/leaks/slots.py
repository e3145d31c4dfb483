"""Keys that stand literally where tools look for theirs, and scripts that they run for one: found by their place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from toolsync import registry
from toolsync.address import origin
from toolsync.doctor.headers import further_headers
from toolsync.doctor.helper import Command
from toolsync.doctor.look import Look, looks
from toolsync.doctor.printing import command_path, command_value
from toolsync.doctor.world import World
from toolsync.document import data
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import FileError, ProfileError
from toolsync.masking import Secret, is_reference
from toolsync.session import Session
from toolsync.tool import Slot, Tool
from toolsync.trace import is_open
from toolsync.trace.credential import CREDENTIALS
from toolsync.value import frozen


@frozen
class Literal:
    """A key that a tool would use as it stands in a file, just now or with another choice of its provider.

    Attributes:
        tool: whose.
        called: what people call the program.
        file: where it stands.
        key: the key.
        profiles: those of the user's own to whose address it goes.
        is_login: whether the tool itself keeps it there, after a login.
        is_chosen: whether the tool would use it as its settings are now.
    """

    tool: str
    called: str
    file: Path
    key: Secret
    profiles: tuple[str, ...]
    is_login: bool = False
    is_chosen: bool = True

    @property
    def name(self) -> str:
        """What the secret is called."""
        if self.is_chosen:
            return f"the key of {self.called}"
        return f"{'the login' if self.is_login else 'another key'} of {self.called}"

    @property
    def is_ours(self) -> bool:
        """Whether it goes to an address of the user's own profiles."""
        return bool(self.profiles)


def literals(session: Session) -> Iterator[Literal]:
    """Those of every tool; no command that would print one is run.

    Raises:
        FileError: the folder of the user's own tools cannot be read.
    """
    world = _world(session)
    for tool in registry.tools(session.config.parent).values():
        for look in looks(world, tool):
            is_kept = _is_kept(tool)
            for one in _of(look):
                yield replace(one, is_login=one.is_login or (is_kept and not one.profiles))
            for one in _outdone(look):
                yield replace(one, is_login=one.is_login or is_kept)
            for one in (one for other in _chosen_otherwise(look) for one in _of(other)):  # `apply` leaves these alone
                yield replace(one, profiles=(), is_login=one.is_login or is_kept, is_chosen=False)


def scripts(session: Session) -> Iterator[Path]:
    """The user's own scripts that tools run for a key: people write one into them; none is run.

    Raises:
        FileError: the folder of the user's own tools cannot be read.
    """
    world, home = _world(session), session.places.home
    for tool in registry.tools(session.config.parent).values():
        for look in looks(world, tool):
            for word in (word for command in _commands(look) for word in _WORDS.findall(" ".join(command.words))):
                path = Path(_HOME.sub(lambda _: str(home), word))
                if path.is_absolute() and path.is_relative_to(home) and os.path.isfile(path):  # noqa: PTH113  too long
                    yield path


_WORDS = re.compile(r"""[^\s'";|&()<>=]+""")
_HOME = re.compile(r"^(?:~|\$HOME|\$\{HOME\})(?=[/\\])")


def _commands(look: Look) -> Iterator[Command]:
    """Those that print the key in any layer; toolsync's own is none."""
    for layer in look.layers:
        for question, answer in look.slots_of(layer).items():
            path = command_path(look, answer) if question in CREDENTIALS and answer.value else None
            command = Command.of(command_value(look, answer, path)) if path is not None else None
            if command is not None and not command.is_own:
                yield command


def _is_kept(tool: Tool) -> bool:
    """Whether the tool itself keeps its keys in its settings, for these can neither refer to one nor ask for it."""
    can_refer = bool(tool.request.references) or re.search(r"[${]", str(tool.key.get("env", "")))
    return not can_refer and "command" not in tool.key


def _world(session: Session) -> World:
    try:
        profiles = session.profiles()
    except (ProfileError, FileError):
        return World(session)
    active = next((one for one in profiles.profiles if one.name == profiles.active), None)
    return World(session, active, profiles.profiles)


def _of(look: Look) -> Iterator[Literal]:
    base = look.found["base_url"].value if "base_url" in look.found else ""
    for question, answer in look.found.items():
        if question not in CREDENTIALS or question not in look.tool.request.headers or not answer.value:
            continue
        if answer.file and not look.named(question) and command_path(look, answer) is None:
            key, layer = Secret(answer.value.strip()), look.seen(answer)
            is_own = layer is not None and not layer.is_projects  # else whoever wrote the repository wrote it
            is_login = layer is not None and layer.layer.at.partition(".")[0] == "login"
            profiles = tuple(_at(look.world, base)) if is_own else ()
            yield Literal(look.tool.name, look.called, Path(answer.file), key, profiles, is_login)
    for header in further_headers(look).values():
        value, is_stated = header.value, header.question == "headers" and header.where.file
        if is_stated and isinstance(value, Secret) and not is_reference(value.reveal()):
            yield Literal(look.tool.name, look.called, Path(header.where.file), value, ())


def _outdone(look: Look) -> Iterator[Literal]:
    """Those that a layer above hides: our own settings over a login, a project's over the user's."""
    used = {(one.file, one.key) for one in _of(look)}
    for layer in look.layers:
        for question, answer in look.slots_of(layer).items():
            if question not in CREDENTIALS or not answer.value or not answer.file or answer.layer != layer.layer.name:
                continue
            if is_reference(answer.value) or command_path(look, answer) is not None:
                continue
            one = Literal(look.tool.name, look.called, Path(answer.file), Secret(answer.value.strip()), ())
            if (one.file, one.key) not in used:
                used.add((one.file, one.key))
                yield replace(one, is_login=layer.layer.at.partition(".")[0] == "login", is_chosen=False)


def _chosen_otherwise(look: Look) -> Iterator[Look]:
    """The program with each other choice that its settings have ready: a provider that it does not use just now."""
    for question, names in _choices(look).items():
        for name in sorted(names - {look.found[question].value}):
            questions = {**look.reader.questions, question: (Slot("default", name),)}
            yield replace(look, reader=replace(look.reader, questions=questions))


def _choices(look: Look) -> Mapping[str, set[str]]:
    """The questions whose answer says in which table the key stands, each with the names of the tables."""
    found: dict[str, set[str]] = {}
    slots = [slot for name in CREDENTIALS for slot in look.reader.questions.get(name, ()) if slot.kind == "path"]
    for path in (parse_path(slot.text) for slot in slots):
        at = next((at for at, step in enumerate(path) if is_open(step)), None)
        if at is None or (question := str(path[at]).strip("<>")) not in look.found:
            continue
        tables = (data.get(one.tree.data, one.below(path[:at])) for one in look.layers)
        found.setdefault(question, set()).update(name for table in tables if isinstance(table, dict) for name in table)
    return found


def _at(world: World, address: str) -> Iterator[str]:
    """The profiles with an address there."""
    there = _origin(address)
    yield from (one.name for one in world.profiles if there in World(world.session, one).own_origins)


def _origin(address: str) -> str:
    try:
        return origin(address)
    except (ProfileError, ValueError):
        return ""
