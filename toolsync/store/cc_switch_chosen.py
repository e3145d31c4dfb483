"""The row of an app that CC Switch takes for the chosen one, whoever's it is."""

from __future__ import annotations

import sqlite3

from toolsync.errors import StoreError
from toolsync.paths import Places
from toolsync.store import cc_switch_home, cc_switch_table, sqlite

CHOSEN = {"claude": "currentProviderClaude", "codex": "currentProviderCodex", "gemini": "currentProviderGemini"}
"""The apps of which one row is chosen, and where settings.json says which; of the others all rows count at once."""

_WAIT_SECONDS = 1.0


def chosen_id(database: sqlite3.Connection, app: str, places: Places) -> str | None:
    """The id of the chosen row: the one that settings.json names if it exists, else the one that is flagged.

    So settings.rs `get_effective_current_provider`; a database may come from another machine.
    """
    told = cc_switch_home.settings(places).get(CHOSEN.get(app, ""))
    if isinstance(told, str) and cc_switch_table.exists(database, (told, app)):
        return told
    return cc_switch_table.flagged(database, app)


def chosen(app: str, places: Places) -> tuple[str, str] | None:
    """What people call the chosen row, and its settings; None where there is none, or nobody can tell."""
    path = cc_switch_home.database(places)
    try:
        with sqlite.reading(path, _WAIT_SECONDS) as database:
            cc_switch_table.check(database, path)
            id = chosen_id(database, app, places)
            return None if id is None else cc_switch_table.name_and_settings(database, (id, app))
    except StoreError:
        return None
