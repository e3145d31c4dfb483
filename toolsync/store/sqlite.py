"""SQLite databases of other programs: opened, never made; locked for a moment; every fault in plain words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from toolsync.disk import shown
from toolsync.errors import StoreError
from toolsync.masking import printable


@contextmanager
def reading(path: Path, wait_seconds: float) -> Iterator[sqlite3.Connection]:
    """The database at one moment. Text comes as bytes, for it need not be UTF-8.

    It is opened for writing all the same: a journal that its owner left when it crashed is rolled back by whoever
    opens the database next, and one opened for reading only cannot be (`unable to open database file`).

    Raises:
        StoreError: it cannot be opened or read.
    """
    with _opened(path, wait_seconds) as database:
        database.execute("BEGIN")
        yield database


@contextmanager
def writing(path: Path, wait_seconds: float) -> Iterator[sqlite3.Connection]:
    """One transaction, with the lock taken at its start; committed at the end of the block, unless it raises.

    Journal mode, version and schema stay the owner's. Foreign keys are enforced, as the owner's own connections do.

    Raises:
        StoreError: it cannot be opened, read or written; nothing was changed.
    """
    with _opened(path, wait_seconds) as database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA secure_delete = ON")  # of this connection: a key that goes leaves no bytes behind
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # closing rolls back too; the first error is the one that counts
                database.execute("ROLLBACK")
            raise


@contextmanager
def _opened(path: Path, wait_seconds: float) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise StoreError(f"{shown(path)}: there is no database", hint="Start its program once: it makes one.")
    try:
        with closing(sqlite3.connect(_uri(path), uri=True, timeout=wait_seconds, isolation_level=None)) as database:
            database.text_factory = bytes
            yield database
    except sqlite3.Error as error:
        raise _in_words(path, error, wait_seconds) from error


def _uri(path: Path) -> str:
    """`mode=rw` never makes a database; a network path of Windows keeps its two slashes, and so takes four."""
    posix = path.as_posix()
    return f"file://{quote(posix if posix.startswith('/') else f'/{posix}')}?mode=rw"


def _in_words(path: Path, error: sqlite3.Error, wait_seconds: float) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is detail
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"{shown(path)}: another program has had it locked for {wait_seconds:g} seconds",
            hint="Wait until that program is done, or close it, and run the command again.",
        )
    said, hint = _PLAIN.get(code, (f"SQLite cannot use it ({printable(str(error))})", ""))
    return StoreError(f"{shown(path)}: {said}", hint=hint)


_RESTORE = "Restore it from a backup of the program that it belongs to."
_PLAIN = {
    sqlite3.SQLITE_NOTADB: ("is not an SQLite database", _RESTORE),
    sqlite3.SQLITE_CORRUPT: ("is damaged", _RESTORE),
    sqlite3.SQLITE_READONLY: ("is read-only", "See who owns it and its folder (`ls -ld`)."),
    sqlite3.SQLITE_PERM: ("permission denied", "See who owns it and its folder (`ls -ld`)."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "See who owns it and its folder (`ls -ld`)."),
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and run the command again."),
    sqlite3.SQLITE_IOERR: ("the disk reports a fault", "Look into the system's log; the disk may be failing."),
}
