"""The texts in an SQLite database: a long one lies on several pages, where no search of the file finds it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from toolsync.masking import mask_strange_words, on_one_line
from toolsync.value import frozen

MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 1.0
_LONGEST = 64 * 2**20
"""Of a text: what is longer would fill the memory."""


@frozen
class Cell:
    """A text of a database.

    Attributes:
        table: its table, for people.
        place: its table, its row by number and name, and its column.
        text: what it says.
    """

    table: str
    place: str
    text: bytes


def cells(path: Path) -> Iterator[Cell]:
    """Every text and blob of every table. Nothing is written, though a reader of a database with a log may leave files.

    Raises:
        sqlite3.Error: it cannot be read, another program has it locked, or a text is too long.
        ValueError: a name in it is no text.
    """
    uri = f"file:{quote(os.fsencode(path.as_posix()))}?mode=ro{'&immutable=1' if _is_at_rest(path) else ''}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)) as database:
        database.text_factory = bytes
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        for (name,) in names.fetchall():
            yield from _rows(database, name.decode("utf-8", "replace"))


def logs(path: Path) -> tuple[Path, ...]:
    """The files beside a database in which changes wait that are not in it yet, and in which deleted ones stay."""
    return tuple(path.with_name(f"{path.name}{end}") for end in ("-wal", "-journal"))


def _is_at_rest(path: Path) -> bool:
    """Whether it is of the kind with a log, and no other program has it open: SQLite would make the log's files anew.

    The 19th byte is 2 for such a database (SQLite, "Database File Format", 1.3.3).
    """
    with path.open("rb") as file:
        has_log = file.read(19)[18:] == b"\2"
    return has_log and not all(path.with_name(f"{path.name}{end}").exists() for end in ("-wal", "-shm"))


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Cell]:
    quoted, called = table.replace('"', '""'), on_one_line(f"table {table}", limit=200)
    rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608  names cannot be parameters
    columns = [description[0] for description in rows.description]
    for number, row in enumerate(rows, start=1):
        place = f"{called}, row {number}{_called(row[0])}"
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, bytes):
                yield Cell(called, on_one_line(f"{place}, {column}", limit=200), value)


_NAME = re.compile(rb"[A-Za-z0-9._-]{1,40}")


def _called(first: object) -> str:
    """What a row is called, if its first column is a name; what may be a key is none."""
    name = first.decode() if isinstance(first, bytes) and _NAME.fullmatch(first) else ""
    return f" ({name})" if name and mask_strange_words(name) == name else ""
