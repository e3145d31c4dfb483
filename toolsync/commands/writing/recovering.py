"""What an earlier run left half done, ended before a command writes; and what a person should know of it."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync import disk, transaction
from toolsync import memory as memories
from toolsync.commands.writing.entering import settle
from toolsync.errors import DamagedMemoryError
from toolsync.planning.tracing import Notice
from toolsync.session import Session
from toolsync.store import token_now
from toolsync.transaction import Recovery, lock

_WAIT_SECONDS = 10.0


def recovered(session: Session) -> tuple[Notice, ...]:
    """End it, all or nothing; what became of it.

    Raises:
        TransactionError, FileError, SecretError: it cannot be ended yet.
    """
    recovery = transaction.recover(session.state, token_now=token_now)
    is_back = settle(session)
    notices = () if recovery is None else tuple(_notices(recovery))
    if is_back:
        notices += (Notice("", "what it had put into the keyring for another program is taken back too"),)
    return notices


def begun_anew(session: Session) -> tuple[Notice, ...]:
    """Set a memory that cannot be read aside, for a person said so; where it lies now. One that can be read stays.

    What was interrupted is ended first, as ever.

    Raises:
        MemoryFileError: a newer toolsync wrote it.
        FileError, TransactionError: it cannot be moved, or another toolsync is at work.
    """
    news = recovered(session)
    path = memories.path_in(session.state)
    try:
        memories.read(path)
    except DamagedMemoryError:
        with lock.held(session.state, _WAIT_SECONDS):
            aside = memories.set_aside(path)
        text = f"what was remembered lies in {disk.shown(aside)} now: what stands in the files already counts as yours"
        return (*news, Notice("", text))
    return news


def _notices(recovery: Recovery) -> Iterator[Notice]:
    became = {"finished": "finished now", "undone": "taken back now: all is as it was before it"}[recovery.outcome]
    yield Notice("", f"a change that was interrupted is {became}")
    if recovery.store_changed:
        yield Notice("", "its rows are gone, or were changed by their own program since; they stay as they are")
    for path in recovery.foreign:
        yield Notice("", f"{disk.shown(path)} was changed by another program since, and stays as it is")
