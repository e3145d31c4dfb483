"""The user's old values in the keyring that nobody needs any more: noted before they can be, and removed after.

A keyring does not list what it holds. So the names of entries that are about to go in or out are in the note first: at
every instant each of ours is named by memory or by the note, and what only the note names is nobody's.
"""

from __future__ import annotations

from collections.abc import Collection

from toolsync import memory as memories
from toolsync.commands.keys.turning import forget_due, has_due
from toolsync.commands.writing import state_folder
from toolsync.errors import ToolsyncError, TransactionError
from toolsync.result import Message
from toolsync.session import Session
from toolsync.transaction import lock
from toolsync.transaction.journal import traces

_WAIT_SECONDS = 10.0


def expect(session: Session, names: Collection[str]) -> None:
    """Note the names of entries that will go in or out, under the lock that the caller holds.

    Raises:
        FileError: the note cannot be written.
    """
    state_folder.note(session.state, state_folder.noted(session.state) | frozenset(names))


def tidied(session: Session) -> tuple[Message, ...]:
    """Remove what an earlier run left in the keyring; why that could not be done."""
    if not state_folder.has_note(session.state) and not has_due(session):
        return ()
    try:
        with lock.held(session.state, _WAIT_SECONDS):
            removed(session)
            forget_due(session)
    except TransactionError:
        return ()  # another toolsync is at work: it sees to this when it is done
    except ToolsyncError as error:
        return (
            Message("warning", f"old values and keys that nobody needs any more stay in the keyring: {error.message}"),
        )
    return ()


def removed(session: Session) -> list[str]:
    """Remove the entries that the note names and memory does not, and the note; the names of those that were there.

    The caller holds the lock.

    Raises:
        SecretError: the keyring does not let them go; the note stays.
        MemoryFileError, FileError: nobody can tell which they are; the note stays.
    """
    if not state_folder.has_note(session.state):
        return []
    is_pending = traces(session.state) or state_folder.has_entries(session.state)
    if is_pending:  # what an interrupted run needs is not known before it is ended
        return []
    noted = state_folder.noted(session.state)
    memory = memories.read(memories.path_in(session.state))
    idle = sorted(noted.difference(memory.vault_names))
    vault = session.open_vault() if idle else None
    gone = [name for name in idle if vault and vault.remove(name)]
    state_folder.note(session.state, frozenset())
    return gone
