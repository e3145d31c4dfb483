"""What an earlier run left half done, ended before a command writes; and what a person should know of it."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync import disk, transaction
from toolsync.commands.tracing import Notice
from toolsync.session import Session
from toolsync.store import token_now
from toolsync.transaction import Recovery


def recovered(session: Session) -> tuple[Notice, ...]:
    """End it, all or nothing; what became of it.

    Raises:
        TransactionError, FileError: it cannot be ended yet.
    """
    recovery = transaction.recover(session.state, token_now=token_now)
    return () if recovery is None else tuple(_notices(recovery))


def _notices(recovery: Recovery) -> Iterator[Notice]:
    became = {"finished": "finished now", "undone": "taken back now: all is as it was before it"}[recovery.outcome]
    yield Notice("", f"a change that was interrupted is {became}")
    if recovery.store_changed:
        yield Notice("", "its rows were changed by their own program since, and stay as they are")
    for path in recovery.foreign:
        yield Notice("", f"{disk.shown(path)} was changed by another program since, and stays as it is")
