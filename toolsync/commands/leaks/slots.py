"""Keys that stand literally where tools look for theirs: found by their place, whatever they look like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolsync import registry
from toolsync.address import origin
from toolsync.doctor.look import Look, looks
from toolsync.doctor.printing import command_path
from toolsync.doctor.world import World
from toolsync.errors import FileError, ProfileError
from toolsync.masking import Secret
from toolsync.session import Session
from toolsync.trace.credential import CREDENTIALS
from toolsync.value import frozen


@frozen
class Literal:
    """A key that a tool would use as it stands in a file.

    Attributes:
        tool: whose.
        called: what people call the program.
        file: where it stands.
        key: the key.
        profiles: those of the user's own to whose address it goes.
        is_login: whether the tool itself keeps it there, after a login.
    """

    tool: str
    called: str
    file: Path
    key: Secret
    profiles: tuple[str, ...]
    is_login: bool = False

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
            yield from _of(look)


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


def _at(world: World, address: str) -> Iterator[str]:
    """The profiles with an address there."""
    there = _origin(address)
    yield from (one.name for one in world.profiles if there in World(world.session, one).own_origins)


def _origin(address: str) -> str:
    try:
        return origin(address)
    except (ProfileError, ValueError):
        return ""
