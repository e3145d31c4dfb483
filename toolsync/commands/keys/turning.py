"""A key replaced in the keyring, beside the files that hold copies of it: it goes the way that they go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from toolsync.errors import ChangedError, ToolsyncError
from toolsync.masking import Secret
from toolsync.secret import former
from toolsync.secret.former import Former
from toolsync.secret.index import drafts, record
from toolsync.session import Session
from toolsync.transaction import Alongside, lock
from toolsync.value import frozen

_WAIT_SECONDS = 10.0


@frozen
class Change:
    """What becomes of a key.

    Attributes:
        name: under which the keyring holds it.
        new: what it is to be.
        days: for how long the one that it replaces is kept.
        is_back: whether this goes back to the key that was replaced before.
    """

    name: str
    new: Secret
    days: float
    is_back: bool = False


class Unturned(Alongside):
    """Lets files with copies of keys be written only while the keyring holds these keys.

    One may have been replaced since the plan was made, and nobody would write the new one there then.
    """

    def __init__(self, session: Session) -> None:
        """Every key of the keyring's that the plan was made with is looked at."""
        self._session = session

    def prepare(self) -> None:
        """Look, under the lock that a rotation takes too.

        Raises:
            ChangedError: another key is in use now.
            SecretError: the keyring does not answer.
        """
        for reference, key in self._session.secrets.items():
            if reference.kind == "keyring" and self._session.open_vault().get(reference.name) != key:
                raise ChangedError(f"{reference} was replaced meanwhile", hint="Run the command again.")


class Turn(Alongside):
    """Puts the key in use away, and the new one in its place; under the lock that the files are written under.

    Attributes:
        is_made: whether the keyring holds the new key.
        old: the key that was in use; None where there was none.
        kept: what is noted of it.
        problem: why something of this is left for the next rotation to do; "" where nothing is.
    """

    def __init__(self, session: Session, change: Change) -> None:
        """Nothing is done yet."""
        self._session, self._change = session, change
        self._before = Former()
        self._is_begun = False
        self.is_made = False
        self.old: Secret | None = None
        self.kept = Former()
        self.problem = ""

    def prepare(self) -> None:
        """Put the key in use away, the new one in its place, and read it back.

        Raises:
            SecretError, FileError: the keyring or the folder does not allow it.
        """
        session, change = self._session, self._change
        vault = session.open_vault()
        self._before = former.settled(session.state, change.name, vault)
        self.kept = self._before
        self.old = vault.get(change.name)
        record(session.state, change.name)
        if self.old == change.new:
            self.is_made = True
            return
        self._is_begun = True
        now = session.clock()
        until = now + timedelta(days=change.days)
        dates = {"since": now.isoformat(timespec="seconds"), "until": until.isoformat(timespec="seconds")}
        self.kept = replace(self._before, going=former.free(change.name, self._before), is_back=change.is_back, **dates)
        former.note(session.state, change.name, self.kept)
        if self.old is not None:
            vault.set(self.kept.going, self.old)
        vault.set(change.name, change.new)
        self.is_made = True

    def take_back(self) -> None:
        """Every file stayed old, and so does the key; where that cannot be, the next rotation sees to it."""
        if not self._is_begun:
            return
        session, name = self._session, self._change.name
        try:
            vault = session.open_vault()
            if self.old is None:
                vault.remove(name)
            elif vault.get(name) != self.old:
                vault.set(name, self.old)
            self.is_made = False
            vault.remove(self.kept.going)
            former.note(session.state, name, self._before)
        except ToolsyncError as error:
            self.problem = error.message

    def finish(self) -> None:
        """Everything is new: what was kept of the rotation before this one goes."""
        if not self._is_begun:
            return
        session, name = self._session, self._change.name
        try:
            self.kept = former.closed(session.state, name, session.open_vault(), self.kept)
        except ToolsyncError as error:
            self.problem = error.message


def forget(session: Session, name: str) -> bool:
    """Keep no key that `name` has replaced; whether one was kept.

    Raises:
        SecretError, FileError: the keyring or the folder does not allow it.
        TransactionError: another toolsync is writing.
    """
    with lock.held(session.state, _WAIT_SECONDS):
        return former.forgotten(session.state, name, session.open_vault())


def forget_due(session: Session) -> None:
    """Forget the keys that were replaced long enough ago, and drafts of the note, under the lock that the caller holds.

    Raises:
        SecretError, FileError: one cannot be forgotten yet.
    """
    due = [name for name, one in former.noted(session.state).items() if former.is_due(one, session.clock())]
    for name in due:
        former.forgotten(session.state, name, session.open_vault())
    for draft in drafts(session.state):
        draft.unlink(missing_ok=True)


def has_due(session: Session) -> bool:
    """Whether there are such, or what was left of a note that was cut short."""
    is_due = (former.is_due(one, session.clock()) for one in former.noted(session.state).values())
    return any(is_due) or bool(drafts(session.state))
