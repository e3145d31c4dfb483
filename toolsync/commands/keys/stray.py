"""Copies of a key that no profile which uses the key accounts for any more: a rotation would pass them over."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from toolsync import disk, document
from toolsync.commands.keys.holders import Holders, layers_of
from toolsync.document import Document
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import PlanRefusedError, ToolsyncError
from toolsync.masking import Secret, on_one_line
from toolsync.planning.stores import Address
from toolsync.profile import Profiles
from toolsync.registry import Known
from toolsync.remembered import LayerMemory, Memory, mark
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen


@frozen
class Stray:
    """A place with such a copy.

    Attributes:
        tool: whose.
        place: the file, row or entry.
        profile: for which it was written; "" where no profile sets the tool any more.
    """

    tool: str
    place: str
    profile: str


def strays(session: Session, there: Holders, key: Secret, using: Collection[str]) -> tuple[Stray, ...]:
    """The copies of `key` that were written for other profiles than `using`, or for tools without a template.

    Raises:
        SecretError: the keyring does not answer.
    """
    here = _Here(session, there.memory, there.known, key)
    return tuple(
        Stray(layer.tool, real, profile)
        for real, layer in layers_of(there.memory)
        if layer.holds_key
        and (profile := there.profile_of(real, layer) if layer.tool in there.known else "") not in using
        and here.stands(real, layer)
    )


def unreached(session: Session, there: Holders, key: Secret, reached: Collection[tuple[str, str]]) -> tuple[Stray, ...]:
    """The copies of `key` that a plan leaves as they are, though it is one for their profiles.

    That is a tool which the profile has switched off since, or which it no longer serves.

    Args:
        session: the machine.
        there: what is applied.
        key: what is looked for.
        reached: the files, rows and entries that the plan changes, each with the tool for which it does.

    Raises:
        SecretError: the keyring does not answer.
    """
    here = _Here(session, there.memory, there.known, key)
    return tuple(
        Stray(layer.tool, real, "")
        for real, layer in layers_of(there.memory)
        if layer.holds_key and (real, layer.tool) not in reached and here.stands(real, layer)
    )


def stop_at(session: Session, found: Sequence[Stray], profiles: Profiles) -> None:
    """Let a key pass of which every copy is rewritten.

    Raises:
        PlanRefusedError: some would stay the old one; names them, and what sees to each.
    """
    if not found:
        return
    places = dict.fromkeys(f"{session.shown(one.place)} ({on_one_line(one.tool)})" for one in found)
    text = "copies of the key would stay the old one, for no profile with this key sets them any more"
    raise PlanRefusedError(f"{text}: {', '.join(places)}; nothing was changed", hint=_seeing_to(found, profiles))


def _seeing_to(found: Sequence[Stray], profiles: Profiles) -> str:
    """The commands that leave no stray copy."""
    commands: dict[tuple[str, ...], dict[str, None]] = {}
    for one in found:
        named = ("-p", one.profile) if one.profile in profiles.names else ()
        commands.setdefault(("apply", *named) if one.profile else ("undo",), {})[one.tool] = None
    lines = (
        (*command, *(word for tool in tools for word in (("--tool", tool) if command[0] == "apply" else (tool,))))
        for command, tools in commands.items()
    )
    told = " and ".join(f"`{shlex.join(('toolsync', *line))}`" for line in lines)
    return f"{told} first, then this again."


@frozen
class _Here:
    """A machine, and the key that is looked for on it."""

    session: Session
    memory: Memory
    known: Known
    key: Secret

    def stands(self, real: str, layer: LayerMemory) -> bool:
        """Whether the key stands where a layer put one, by itself or as a part; of a row, whether it put this one."""
        if real in self.memory.entries:
            return self.session.open_vault().get(Entry(real)) == self.key
        secret = [value for value in layer.values if value.secret]
        now = settings_now(Path(real), self.known.get(layer.tool), layer)
        if now is not None:
            return any(self.key.reveal() in str(now.get(parse_path(value.path))) for value in secret)
        wanted = mark(self.key.reveal(), self.memory.key)
        is_row = not Path(real).exists() and Address.parse(real).path.is_file()
        return is_row and any(value.after == wanted for value in secret)


def settings_now(path: Path, tool: Tool | None, layer: LayerMemory) -> Document | None:
    """The file on which a layer was laid, as it stands; None where it cannot be read."""
    row = next((row for row in tool.files if row.overlay == layer.overlay), None) if tool else None
    with suppress(ToolsyncError):
        raw = disk.read(path).raw
        return document.parse(raw, row.format if row else document.format_of(str(path))) if raw is not None else None
    return None
