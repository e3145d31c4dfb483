"""The texts in an SQLite database: a long one lies on several pages, where no search of the file finds it."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from toolsync.masking import mask_strange_words, on_one_line
from toolsync.value import frozen

MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 1.0
_PIECE_BYTES = 2**20
_LONGEST = 64 * 2**20
"""Of a text: what is longer would fill the memory."""


@frozen
class Part:
    """A text of a database, or many of one table.

    Attributes:
        place: its table; of a single text its row too, by number and name, and its column.
        text: what it says.
    """

    place: str
    text: bytes


def cells(path: Path) -> Iterator[Part]:
    """Every text and blob of every table. Nothing is written, though a reader of a database with a log may leave files.

    Raises:
        sqlite3.Error: it cannot be read, another program has it locked, or a text is too long.
        ValueError: a name in it is no text.
    """
    with _opened(path) as database:
        for table, rows in _tables(database):
            columns = [description[0] for description in rows.description]
            for number, row in enumerate(rows, start=1):
                place = f"{table}, row {number}{_called(row[0])}"
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, bytes):
                        yield Part(on_one_line(f"{place}, {column}", limit=200), value)


def tables(path: Path) -> Iterator[Part]:
    """The same in large pieces, many texts in one, each on a line of its own: faster by far where there are millions.

    Raises:
        sqlite3.Error, ValueError: as `cells`.
    """
    with _opened(path) as database:
        for table, rows in _tables(database):
            texts: list[bytes] = []
            size = 0
            for value in (value for row in rows for value in row if isinstance(value, bytes)):
                texts.append(value)
                size += len(value)
                if size >= _PIECE_BYTES:
                    yield Part(table, b"\n".join(texts))
                    texts, size = [], 0
            yield Part(table, b"\n".join(texts))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    uri = f"file:{quote(os.fsencode(path.as_posix()))}?mode=ro{'&immutable=1' if _is_at_rest(path) else ''}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)) as database:
        database.text_factory = bytes
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        yield database


def _tables(database: sqlite3.Connection) -> Iterator[tuple[str, sqlite3.Cursor]]:
    """Every table for people, and its rows."""
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    for name in [name.decode("utf-8", "replace") for (name,) in names.fetchall()]:
        quoted = name.replace('"', '""')
        rows = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608  names cannot be parameters
        yield on_one_line(f"table {name}", limit=200), rows


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


_NAME = re.compile(rb"[A-Za-z0-9._-]{1,40}")


def _called(first: object) -> str:
    """What a row is called, if its first column is a name; what may be a key is none."""
    name = first.decode() if isinstance(first, bytes) and _NAME.fullmatch(first) else ""
    return f" ({name})" if name and mask_strange_words(name) == name else ""
