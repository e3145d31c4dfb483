"""What may hold the user's old key: kept in the keyring for undo, or said not to be before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolsync.commands.tracing import Notice
from toolsync.errors import NoKeyringError
from toolsync.masking import printable
from toolsync.plan import FilePlan
from toolsync.remembered import without_vault
from toolsync.session import Session


def kept_or_told(session: Session, files: Mapping[str, FilePlan]) -> tuple[dict[str, FilePlan], tuple[Notice, ...]]:
    """The plans as they can be carried out here, and what undo will not bring back.

    Raises:
        SecretError: there is a keyring, and it is locked or refuses: nobody should lose a key over that.
    """
    if not any(file.kept for file in files.values()):
        return dict(files), ()
    try:
        _ = session.open_vault().backend
    except NoKeyringError as error:
        notices = (notice for file in files.values() for notice in _notices(session, file, error))
        return {path: _unkept(file) for path, file in files.items()}, tuple(notices)
    return dict(files), ()


def _unkept(file: FilePlan) -> FilePlan:
    if file.memory is None or not file.kept:
        return file
    return replace(file, memory=without_vault(file.memory, file.kept), kept={})


def _notices(session: Session, file: FilePlan, error: NoKeyringError) -> Iterator[Notice]:
    for layer in file.memory.layers if file.memory else ():
        for value in layer.values:
            if value.entry in file.kept:
                text = f"{session.shown(file.path)}: what stands at {printable(value.path)} cannot be kept for undo"
                yield Notice(layer.tool, f"{text}: it may be a key, and {error.message}", "Note it down, or say no.")
