"""Files replaced together: all of them or none, whatever happens on the way.

The journal names every temp file before the first is made; the commit point is its `prepared` mark, or the COMMIT of
a store that takes part. Before it, everything is taken back; after it, everything is finished, in this process or in
the next that writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from toolsync import disk
from toolsync.errors import ChangedError, FileError, StoreError, TransactionError
from toolsync.transaction import journal as journals
from toolsync.transaction import lock
from toolsync.transaction.check import Step, Write, steps, unchanged
from toolsync.transaction.folder import Folders, held
from toolsync.transaction.journal import Journal, StoreToken
from toolsync.transaction.settle import Recovery, forward, settled
from toolsync.transaction.stage import announced, staged
from toolsync.value import frozen

__all__ = ["Alongside", "Committed", "Recovery", "StoreCommit", "Write", "commit", "pending", "recover"]

_WAIT_SECONDS = 10.0


@frozen
class StoreCommit:
    """A store (CC Switch's database) that is written together with the files, and whose COMMIT decides.

    Attributes:
        path: the store, as the journal names it.
        token: what its rows were when the plan was made.
        write: write the rows, and call its argument with the new token directly before COMMIT.
        token_now: the token of what the rows of the store at a path are now.
        modes: its permission bits before and after, where `write` changes them.
    """

    path: Path
    token: str
    write: Callable[[Callable[[str], None]], None]
    token_now: Callable[[str], str]
    modes: tuple[int, int] | None = None

    def announced(self) -> StoreToken:
        """What the journal says of it before it is written."""
        return StoreToken(str(self.path), self.token, modes=self.modes)


class Alongside:
    """What is done elsewhere (in the keyring) for the sake of the files, under the lock that they are written under.

    This one does nothing.
    """

    def prepare(self) -> None:
        """Directly before the commit point; what it raises leaves every file old."""

    def take_back(self) -> None:
        """Every file stayed old; `prepare` may not have come to its end, nor begun."""

    def finish(self) -> None:
        """Every file is new."""


_NOTHING = Alongside()


@frozen
class Committed:
    """What a transaction did.

    Attributes:
        files: those that were written or removed; the ones that were right already are not among them.
        folders: those that were made, outermost first.
    """

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()


def commit(
    writes: Sequence[Write],
    *,
    state_dir: Path,
    store: StoreCommit | None = None,
    alongside: Alongside = _NOTHING,
    wait_seconds: float = _WAIT_SECONDS,
) -> Committed:
    """Make every file what its `Write` says, or none.

    Args:
        writes: in the order of replacing, memory last; files that cannot be renamed over (hard links, bind mounts)
            come after all others. What is right already is not touched.
        state_dir: toolsync's own folder, for lock and journal.
        store: takes part, and its COMMIT is then the commit point.
        alongside: goes the way that the files go.
        wait_seconds: how long to wait for another toolsync.

    Raises:
        ChangedError: a file is not what was planned from. Its message says when the others were written all the same.
        FileError: a file, folder or disk does not allow it; nothing was changed.
        TransactionError: another toolsync is writing (nothing was changed), or the disk failed after the commit
            point (the next writing command finishes).
    """
    with lock.held(state_dir, wait_seconds):
        with held(follow=True) as folders:
            _ended(_Run(state_dir, store, alongside, folders), None)  # what an earlier run left
        todo = _possible(writes)
        if not todo and store is None:
            return Committed()
        journal = announced(todo, None if store is None else store.announced())
        with held(follow=False) as folders:
            foreign = _carried_out(_Run(state_dir, store, alongside, folders), journal, todo)
        alongside.finish()
    if foreign:
        raise _overtaken(foreign)
    return Committed(tuple(step.write.path for step in todo), tuple(map(Path, journal.folders)))


def recover(state_dir: Path, *, token_now: Callable[[str], str] | None = None) -> Recovery | None:
    """End a transaction that was interrupted; None when there is none. Every writing command begins with it.

    Args:
        state_dir: toolsync's own folder.
        token_now: the token of what a store's rows are now, for a transaction that a store took part in.

    Raises:
        TransactionError, FileError: it cannot be ended yet.
    """
    if not journals.traces(state_dir):
        return None
    with lock.held(state_dir, _WAIT_SECONDS), held(follow=True) as folders:
        try:
            return settled(state_dir, token_now, folders)
        except (OSError, FileError, StoreError) as error:
            raise _half_done(error) from error


def pending(state_dir: Path) -> bool:
    """Whether an interrupted transaction waits for its end (one that is under way does not count).

    Raises:
        FileError: the folder does not let us look.
    """
    if not disk.is_there(journals.path_in(state_dir)):
        return False
    try:
        with lock.held(state_dir, 0):
            return disk.is_there(journals.path_in(state_dir))
    except TransactionError:
        return False
    except FileError:  # it lies where nobody can write now
        return True


def _possible(writes: Sequence[Write]) -> tuple[Step, ...]:
    try:
        return steps(writes)
    except OSError as error:
        raise disk.file_error(error.filename or "a file", error) from error


@frozen
class _Run:
    """Who takes part in a transaction, and where."""

    state_dir: Path
    store: StoreCommit | None
    alongside: Alongside
    folders: Folders


def _carried_out(run: _Run, journal: Journal, todo: tuple[Step, ...]) -> tuple[Path, ...]:
    """Stage, pass the commit point, finish; the files that another program overtook."""
    try:
        journals.save(run.state_dir, journal)
        journal = staged(journal, todo, run.folders)
        for step in todo:
            unchanged(step.write)
        run.alongside.prepare()
        journal = _committed(run, journal)
        return forward(run.state_dir, journal, run.folders)
    except BaseException as error:
        run.folders.follow = True  # those that were opened are kept; nothing of ours is in the others
        recovery = _ended(run, error)
        if recovery is not None and recovery.outcome == "undone":
            run.alongside.take_back()
        if recovery is not None and recovery.outcome == "finished" and isinstance(error, Exception):
            return recovery.foreign  # a passing fault: the second attempt went through
        if isinstance(error, OSError):
            raise disk.file_error(error.filename or run.state_dir, error) from error
        raise


def _committed(run: _Run, journal: Journal) -> Journal:
    if run.store is None:
        journals.save(run.state_dir, journal.prepared())
        return journal.prepared()
    tokens: list[str] = []

    def prepared(token: str) -> None:
        tokens.append(token)
        journals.save(run.state_dir, journal.prepared(token))

    run.store.write(prepared)
    return journal.prepared(tokens[-1])


def _ended(run: _Run, cause: BaseException | None) -> Recovery | None:
    try:
        return settled(run.state_dir, None if run.store is None else run.store.token_now, run.folders)
    except (OSError, FileError, StoreError) as error:
        raise _half_done(error) from cause or error


def _half_done(error: OSError | FileError | StoreError) -> TransactionError:
    fault = disk.file_error(error.filename or "a file", error) if isinstance(error, OSError) else error
    return TransactionError(
        f"the change could not be ended: {fault.message}",
        hint=f"{fault.hint} The next `toolsync apply` or `undo` ends it, all or nothing.".strip(),
    )


def _overtaken(foreign: tuple[Path, ...]) -> ChangedError:
    names = ", ".join(map(disk.shown, foreign))
    return ChangedError(
        f"{names}: changed by another program while toolsync was writing; left as it is, the other files are written",
        hint="Run the command again: it plans anew.",
    )
