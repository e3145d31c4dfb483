"""What may hold the user's old key: kept in the keyring for undo, or said not to be before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.errors import NoKeyringError
from toolsync.masking import printable
from toolsync.plan import FilePlan
from toolsync.planning.tracing import Notice
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
        places = [place for file in files.values() for place in _places(session, file)]
        return {path: _unkept(file) for path, file in files.items()}, (_notice(places, error),)
    return dict(files), ()


def _unkept(file: FilePlan) -> FilePlan:
    if file.memory is None or not file.kept:
        return file
    return replace(file, memory=without_vault(file.memory, file.kept), kept={})


def _places(session: Session, file: FilePlan) -> Iterator[str]:
    """Where something stands that only a keyring could keep."""
    for layer in file.memory.layers if file.memory else ():
        for value in layer.values:
            if value.entry in file.kept:
                yield f"{printable(value.path)} in {session.shown(file.path)}"


def _notice(places: Sequence[str], error: NoKeyringError) -> Notice:
    text = f"undo cannot bring back what stands at {', '.join(places)}: it may be a key, and {error.message}"
    return Notice("", text, "Note it down before it is written over, or let a keyring answer.")
