"""Copies of a key that no profile which uses the key accounts for any more: a rotation would pass them over."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from toolsync import disk, document
from toolsync.commands.keys.holders import Holders, layers_of
from toolsync.document import Document
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import ToolsyncError
from toolsync.masking import Secret
from toolsync.planning.stores import Address
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
