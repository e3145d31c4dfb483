"""Tools' files that ask us for a key, or hold one of ours, when all is given back that is remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolsync import disk, registry
from toolsync.asked import asked_in
from toolsync.commands.leaks.suspects import settings
from toolsync.errors import SecretError, ToolsyncError
from toolsync.leaks.secret import SHORTEST
from toolsync.planning.plans import Plan
from toolsync.planning.stores import Address
from toolsync.search.listing import listed
from toolsync.session import Session
from toolsync.tool import Tool


def orphaned(session: Session, undo: Plan, keys: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """The files, each with what stands there, as one sentence.

    Args:
        session: the machine.
        undo: the plan that gives everything back.
        keys: the names of the keys that the keyring holds.
    """
    remembered = {path for real in undo.memory.files for path in _places(real)}
    given = {Path(file.path): file.after or "" for file in undo.files if file.memory is None}
    values = _values(session, keys)
    for tool in _tools(session):
        for path in dict.fromkeys(file for spec in settings(session, tool) for file in listed(spec).files):
            with suppress(ToolsyncError):  # other commands say so
                real = disk.resolve(path)
                if real in given:
                    said = _said_then(tool, given.pop(real).encode())
                else:
                    said = "" if real in remembered else _said(tool, disk.read(real).raw or b"", values)
                remembered.add(real)
                if said:
                    yield path, said


def _tools(session: Session) -> Sequence[Tool]:
    with suppress(ToolsyncError):  # a template of the user's own that cannot be read stops nobody who leaves
        return tuple(registry.tools(session.config.parent).values())
    return ()


def _places(real: str) -> Iterator[Path]:
    yield Path(real)
    with suppress(ToolsyncError):  # links in a circle
        yield Address.parse(real).path


def _values(session: Session, keys: Sequence[str]) -> Mapping[bytes, str]:
    with suppress(SecretError):
        vault = session.open_vault() if keys else None
        found = {name: vault.get(name) for name in keys} if vault else {}
        return {key.reveal().encode(): name for name, key in found.items() if key and len(key.reveal()) >= SHORTEST}
    return {}


def _said_then(tool: Tool, raw: bytes) -> str:
    """What stands in a file that is given back; "" for nothing of ours, and the user's own key is none of it."""
    asked = asked_in(raw)
    undone = "put by hand what is to stand there"
    return f"{tool.title} still asks toolsync there for the key of '{asked}': {undone}" if asked else ""


def _said(tool: Tool, raw: bytes, values: Mapping[bytes, str]) -> str:
    """What stands there; "" for nothing of ours. Of a database that is gone through here, deleted rows would speak."""
    if b"\0" in raw:
        return ""
    undone = "and nothing is remembered of it: put back by hand what is to stand there"
    if asked := asked_in(raw):
        return f"{tool.title} asks toolsync there for the key of '{asked}', {undone}"
    name = next((name for value, name in values.items() if value in raw), "")
    return f"{tool.title} holds keyring:{name} there, {undone}" if name else ""
