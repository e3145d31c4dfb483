"""A home with CC Switch in it: its database in every schema that people have, and what its own program would do."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolsync.paths import Places
from toolsync.store.cc_switch import CcSwitch

ROW = "toolsync-work"
NOW_MS = 1_790_000_000_000

# The published schema (database/schema.rs at 5ca9459, version 17), as far as it speaks of providers.
_PROVIDERS = {
    "id": "TEXT NOT NULL",
    "app_type": "TEXT NOT NULL",
    "name": "TEXT NOT NULL",
    "settings_config": "TEXT NOT NULL",
    "website_url": "TEXT",
    "category": "TEXT",
    "created_at": "INTEGER",
    "sort_index": "INTEGER",
    "notes": "TEXT",
    "icon": "TEXT",
    "icon_color": "TEXT",
    "meta": "TEXT NOT NULL DEFAULT '{}'",
    "is_current": "BOOLEAN NOT NULL DEFAULT 0",
    "in_failover_queue": "BOOLEAN NOT NULL DEFAULT 0",
}
_OLDER = {
    "cost_multiplier": "TEXT NOT NULL DEFAULT '1.0'",
    "limit_daily_usd": "TEXT",
    "limit_monthly_usd": "TEXT",
    "provider_type": "TEXT",
}
SCHEMAS: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "version 17": (17, _PROVIDERS),
    "version 8, upgraded from 1": (8, _PROVIDERS | _OLDER),
    "a later one": (23, _PROVIDERS | {"region": "TEXT NOT NULL DEFAULT 'eu'", "weight": "REAL"}),
}
_NEIGHBOURS = """
CREATE TABLE provider_endpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT, provider_id TEXT NOT NULL, app_type TEXT NOT NULL,
    url TEXT NOT NULL, added_at INTEGER,
    FOREIGN KEY (provider_id, app_type) REFERENCES providers (id, app_type) ON DELETE CASCADE);
CREATE TABLE provider_health (
    provider_id TEXT NOT NULL, app_type TEXT NOT NULL, is_healthy INTEGER NOT NULL DEFAULT 1,
    consecutive_failures INTEGER NOT NULL DEFAULT 0, last_error TEXT, updated_at TEXT NOT NULL,
    PRIMARY KEY (provider_id, app_type),
    FOREIGN KEY (provider_id, app_type) REFERENCES providers (id, app_type) ON DELETE CASCADE);
CREATE TABLE proxy_live_backup (
    app_type TEXT PRIMARY KEY, original_config TEXT NOT NULL, backed_up_at TEXT NOT NULL);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_providers_failover ON providers (app_type, in_failover_queue, sort_index);
"""

CLAUDE = {
    "claude": '{ "name": "Gateway", "notes": "kept by toolsync", "meta": { "commonConfigEnabled": false } }',
    "claude/settings_config": '{\n  "env": { "ANTHROPIC_BASE_URL": "https://gateway.example" }\n}',
}
CODEX = {
    "codex": '{ "name": "Gateway", "website_url": "https://gateway.example", "meta": {} }',
    "codex/settings_config": '{ "auth": {} }',
    "codex/settings_config/config": '# mine\nmodel_provider = "toolsync"\n',
}
OPENCODE = {
    "opencode": '{ "name": "Gateway", "meta": { "liveConfigManaged": false } }',
    "opencode/settings_config": '{ "npm": "@ai-sdk/openai-compatible", "options": {}, "models": {} }',
}


@dataclass(frozen=True)
class Home:
    """A user's home folder with CC Switch's database, and rows of the user's own in it."""

    path: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.path / ".cc-switch" / "cc-switch.db"

    @property
    def places(self) -> Places:
        return Places(self.path, self.environ, self.path, Path("/"), "linux")

    @property
    def store(self) -> CcSwitch:
        return CcSwitch("work", self.places, wait_seconds=0.05, now_ms=lambda: NOW_MS)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """As CC Switch itself is connected."""
        with closing(sqlite3.connect(self.database, timeout=0.05, isolation_level=None)) as database:
            database.execute("PRAGMA foreign_keys = ON")
            database.execute("PRAGMA synchronous = OFF")  # these tests survive no power cut
            yield database

    def run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.connection() as database:
            return database.execute(sql, values).fetchall()

    def row(self, app: str, id: str = ROW) -> dict[str, Any] | None:
        """A whole row by column, or None."""
        with self.connection() as database:
            database.row_factory = sqlite3.Row
            found = database.execute("SELECT * FROM providers WHERE id = ? AND app_type = ?", (id, app)).fetchone()
            return None if found is None else dict(found)

    def everything(self) -> list[str]:
        """The whole database as SQL."""
        with self.connection() as database:
            return list(database.iterdump())

    def foreign(self) -> list[str]:
        """Everything in it but our rows."""
        return [line for line in self.everything() if "toolsync-" not in line]

    def write(self, parts: Mapping[str, str | None]) -> str:
        """Read, and write these parts; the new token."""
        tokens: list[str] = []
        self.store.write(self.database, {"work": parts}, self.store.read(self.database)[1], tokens.append)
        return tokens[-1]

    def choose(self, app: str, id: str, *, where: str = "both") -> None:
        """What a click changes about which row is chosen."""
        if where in ("both", "database"):
            self.run("UPDATE providers SET is_current = (id = ?) WHERE app_type = ?", id, app)
        if where in ("both", "settings"):
            self.told({f"currentProvider{app.title()}": id})

    def told(self, settings: Mapping[str, object]) -> None:
        """CC Switch's settings.json with these in it too."""
        file = self.path / ".cc-switch" / "settings.json"
        old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"language": "en"}
        file.write_text(json.dumps(old | dict(settings)), encoding="utf-8")

    def click(self, app: str, id: str) -> None:
        """Choose a row as CC Switch does: live file into the row that was chosen, then the new row over live file.

        So services/provider/mod.rs `switch_normal`; Claude's keys are sorted on the way (config.rs), and Codex's
        servers stay out of rows (live.rs `restore_live_settings_for_provider_backfill`).
        """
        before = self.run("SELECT id FROM providers WHERE app_type = ? AND is_current", app)
        if before and before[0][0] != id:
            kept = json.dumps(self._live(app), separators=(",", ":"))
            sql = "UPDATE providers SET settings_config = ? WHERE id = ? AND app_type = ?"
            self.run(sql, kept, before[0][0], app)
        self.choose(app, id)
        row = self.row(app, id)
        assert row is not None
        settings = json.loads(row["settings_config"])
        if app == "claude":
            self.put(".claude/settings.json", json.dumps(settings, indent=2, sort_keys=True))
        else:
            self.put(".codex/config.toml", settings["config"])

    def _live(self, app: str) -> Any:
        if app == "claude":
            return json.loads((self.path / ".claude/settings.json").read_text(encoding="utf-8"))
        text = (self.path / ".codex/config.toml").read_text(encoding="utf-8")
        return {"auth": {}, "config": re.sub(r"(?ms)^\[mcp_servers\..*?(?=^\[|\Z)", "", text)}

    def put(self, name: str, text: str) -> Path:
        """A file in the home folder."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file


def home(path: Path, schema: str = "version 17") -> Home:
    """A home in which the user has a row of their own for each app, chosen, with endpoints and health."""
    made = Home(path)
    made.database.parent.mkdir(parents=True)
    version, columns = SCHEMAS[schema]
    named = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    with made.connection() as database:
        database.execute(f"CREATE TABLE providers ({named}, PRIMARY KEY (id, app_type))")
        for statement in _NEIGHBOURS.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {version}")
        for app in ("claude", "codex", "gemini", "opencode"):
            _add_own(database, app)
    return made


def _add_own(database: sqlite3.Connection, app: str) -> None:
    database.execute(
        "INSERT INTO providers (id, app_type, name, settings_config, category, created_at, sort_index, is_current) "
        "VALUES ('own', ?, 'Own', '{}', 'custom', 1, 7, ?)",
        (app, app != "opencode"),
    )
    add_neighbours(database, "own", app)


def add_neighbours(database: sqlite3.Connection, id: str, app: str) -> None:
    """Endpoints and health of a row, as the user and CC Switch's proxy add them."""
    database.execute(
        "INSERT INTO provider_endpoints (provider_id, app_type, url, added_at) VALUES (?, ?, 'https://e.example', 2)",
        (id, app),
    )
    database.execute(
        "INSERT INTO provider_health (provider_id, app_type, updated_at) VALUES (?, ?, '2026-01-01')", (id, app)
    )
