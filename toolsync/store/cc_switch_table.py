"""SQL: the statements on CC Switch's table `providers`, and the few looks into its neighbours.

The schema is asked for, never assumed: versions come and go within weeks (17 to 19 in one month), and a database that
an older or newer CC Switch made is as good. Its version, its journal mode and every column that is not ours stay.
"""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import astuple
from pathlib import Path
from typing import Any

from toolsync.disk import shown
from toolsync.errors import StoreError
from toolsync.store.cc_switch_row import COLUMNS, MEND, Row

RowKey = tuple[str, str]
"""`id` and `app_type`."""

_KEYS = ("id", "app_type")
_OURS = ", ".join(COLUMNS)
_SETS = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS)


def check(database: sqlite3.Connection, path: Path) -> None:
    """Ask whether the table has every column that we need, whatever else it has.

    Raises:
        StoreError: it has not.
    """
    found = {_text(row[1]) for row in database.execute("PRAGMA table_info(providers)")}
    if not {*_KEYS, *COLUMNS, "created_at", "sort_index", "is_current"} <= found:
        raise StoreError(
            f"{shown(path)}: is no database of CC Switch's that toolsync knows",
            hint="Update CC Switch and start it once: it brings its database up to date.",
        )


def token(database: sqlite3.Connection) -> str:
    """A digest of what we write, over all our rows, as the database holds it: null and the empty text told apart."""
    query = f"SELECT id, app_type, {_OURS} FROM providers WHERE id GLOB 'toolsync-*' ORDER BY id, app_type"  # noqa: S608  constants
    return hashlib.sha256(repr(database.execute(query).fetchall()).encode()).hexdigest()


def rows(database: sqlite3.Connection, id: str) -> dict[str, Row]:
    """The rows of one provider by app.

    Raises:
        StoreError: a column is no text.
    """
    found = database.execute(f"SELECT app_type, {_OURS} FROM providers WHERE id = ?", (id,))  # noqa: S608  constants
    return {_text(app): _row(_text(app), values) for app, *values in found.fetchall()}


def _row(app: str, values: list[Any]) -> Row:
    name, settings_config, website_url, notes, meta = values
    return Row(
        _text(name, app),
        _text(settings_config, app),
        None if website_url is None else _text(website_url, app),
        None if notes is None else _text(notes, app),
        _text(meta, app),
    )


def _text(value: object, app: str = "") -> str:
    try:
        if isinstance(value, bytes):
            return value.decode()
    except UnicodeDecodeError:
        pass
    raise StoreError(
        f"a column of CC Switch's row for {app} is no text" if app else "CC Switch's database is no text",
        hint=MEND,
    )


def put(database: sqlite3.Connection, key: RowKey, row: Row, now_ms: int) -> None:
    """Update a row in place, or add it behind all others of its app.

    Never REPLACE: that deletes the row first, and what other tables hold of it goes with it (ON DELETE CASCADE).
    """
    values = (*key, *astuple(row), now_ms, _next_place(database, key[1]))
    database.execute(
        f"INSERT INTO providers (id, app_type, {_OURS}, created_at, sort_index) "  # noqa: S608  constants
        f"VALUES ({', '.join('?' * len(values))}) ON CONFLICT (id, app_type) DO UPDATE SET {_SETS}",
        values,
    )


def _next_place(database: sqlite3.Connection, app: str) -> int:
    """As CC Switch's own `next_sort_index_for_app` counts (dao/providers.rs)."""
    query = "SELECT COALESCE(MAX(sort_index) + 1, 0) FROM providers WHERE app_type = ?"
    place: int = database.execute(query, (app,)).fetchone()[0]
    return place


def remove(database: sqlite3.Connection, key: RowKey) -> None:
    """The row, and with it what other tables hold of it."""
    database.execute("DELETE FROM providers WHERE id = ? AND app_type = ?", key)


def exists(database: sqlite3.Connection, key: RowKey) -> bool:
    """Whether there is such a row."""
    return database.execute("SELECT 1 FROM providers WHERE id = ? AND app_type = ?", key).fetchone() is not None


def name_and_meta(database: sqlite3.Connection, key: RowKey) -> tuple[str, str]:
    """What people call a row that is there, and its `meta`."""
    found = database.execute("SELECT name, meta FROM providers WHERE id = ? AND app_type = ?", key).fetchone()
    return _text(found[0]), _text(found[1])


def name_and_settings(database: sqlite3.Connection, key: RowKey) -> tuple[str, str]:
    """What people call a row that is there, and its settings."""
    query = "SELECT name, settings_config FROM providers WHERE id = ? AND app_type = ?"
    found = database.execute(query, key).fetchone()
    return _text(found[0]), _text(found[1])


def others(database: sqlite3.Connection) -> list[tuple[str, str, bytes]]:
    """Name, app and settings of every row that is not ours; the settings may be anything."""
    query = "SELECT name, app_type, settings_config FROM providers WHERE id NOT GLOB 'toolsync-*'"
    found = database.execute(query).fetchall()
    return [(_text(name), _text(app), settings) for name, app, settings in found if isinstance(settings, bytes)]


def is_flagged(database: sqlite3.Connection, key: RowKey) -> bool:
    """Whether the row is marked as the chosen one; a running CC Switch may know better."""
    query = "SELECT 1 FROM providers WHERE id = ? AND app_type = ? AND is_current"
    return database.execute(query, key).fetchone() is not None


def flagged(database: sqlite3.Connection, app: str) -> str | None:
    """The id of the row that is marked as the chosen one of an app."""
    query = "SELECT id FROM providers WHERE app_type = ? AND is_current = 1 LIMIT 1"
    found = database.execute(query, (app,)).fetchone()
    return None if found is None else _text(found[0])


def proxy_copy(database: sqlite3.Connection, app: str) -> str | None:
    """What the live files held before the local proxy took them over, as a `settings_config`; None if it did not."""
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'proxy_live_backup'"
    if database.execute(there).fetchone() is None:
        return None
    found = database.execute("SELECT original_config FROM proxy_live_backup WHERE app_type = ?", (app,)).fetchone()
    return None if found is None else _text(found[0], app)
