"""What becomes of CC Switch's database, in every schema: our rows as wanted, and nothing else touched."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.cc_switch import CLAUDE, CODEX, NOW_MS, OPENCODE, ROW, SCHEMAS, Home, add_neighbours
from tests.store.cc_switch import home as made
from toolsync.errors import ChangedError, StoreError
from toolsync.store import Moment, token_now
from toolsync.store.cc_switch import CcSwitch


@pytest.fixture(params=SCHEMAS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return made(tmp_path, request.param)


def _with_row(home: Home) -> Home:
    """Our rows for Claude and Codex, with endpoints, health, and what CC Switch and the user added since."""
    home.write(CLAUDE | CODEX)
    with home.connection() as database:
        for app in ("claude", "codex"):
            add_neighbours(database, ROW, app)
        database.execute(
            "UPDATE providers SET category = 'custom', icon = 'star', in_failover_queue = 1, sort_index = 3, "
            'meta = \'{"endpointAutoSelect":true, "usage_script":{"enabled":false}}\' WHERE id = ?',
            (ROW,),
        )
    return home


def _neighbours(home: Home, id: str = ROW) -> list[tuple[object, ...]]:
    query = "SELECT app_type, url FROM provider_endpoints WHERE provider_id = ? ORDER BY 1"
    health = "SELECT app_type, is_healthy FROM provider_health WHERE provider_id = ? ORDER BY 1"
    return home.run(query, id) + home.run(health, id)


def test_a_row_that_is_not_there_has_no_parts(home: Home) -> None:
    assert home.store.read(home.database)[0] == {}


def test_a_new_row_stands_behind_the_others_and_is_not_chosen(home: Home) -> None:
    before = home.foreign()
    home.write(CLAUDE | CODEX | OPENCODE)
    row = home.row("codex")
    assert row is not None
    assert row["name"] == "Gateway"
    assert row["website_url"] == "https://gateway.example"
    assert json.loads(row["settings_config"]) == {"auth": {}, "config": CODEX["codex/settings_config/config"]}
    assert (row["created_at"], row["sort_index"]) == (NOW_MS, 8)
    assert (row["is_current"], row["in_failover_queue"], row["category"], row["notes"]) == (0, 0, None, None)
    assert home.foreign() == before


def test_what_was_written_is_read(home: Home) -> None:
    token = home.write(CLAUDE | CODEX)
    parts, now = home.store.read(home.database)
    assert now.rows == token == token_now(str(home.database))
    assert {name: parts[name] for name in CODEX if name.count("/") == 2} == {
        "codex/settings_config/config": CODEX["codex/settings_config/config"]
    }
    assert parts["claude/settings_config"] == CLAUDE["claude/settings_config"]
    assert json.loads(parts["claude"]) == json.loads(CLAUDE["claude"])


def test_an_update_keeps_what_others_put_there(home: Home) -> None:
    _with_row(home)
    before, others = home.row("claude"), home.foreign()
    parts = home.store.read(home.database)[0]
    home.write({"claude": parts["claude"].replace('"Gateway"', '"Renamed"')})
    assert home.row("claude") == {**(before or {}), "name": "Renamed"}
    assert len(_neighbours(home)) == 4
    assert home.foreign() == others


def test_meta_is_edited_by_span(home: Home) -> None:
    _with_row(home)
    text = home.store.read(home.database)[0]["claude"]
    home.write({"claude": text.replace('"endpointAutoSelect":true', '"commonConfigEnabled":false')})
    row = home.row("claude")
    assert row is not None
    assert row["meta"] == '{"commonConfigEnabled":false, "usage_script":{"enabled":false}}'


@pytest.mark.parametrize("id", [ROW, "own"])
def test_which_row_is_chosen_does_not_change(home: Home, id: str) -> None:
    _with_row(home)
    home.choose("claude", id)
    told = (home.path / ".cc-switch" / "settings.json").read_bytes()
    home.write({"claude/settings_config": '{"model": "other"}'})
    assert home.run("SELECT id FROM providers WHERE app_type = 'claude' AND is_current") == [(id,)]
    assert (home.path / ".cc-switch" / "settings.json").read_bytes() == told


def test_a_row_is_written_while_the_proxy_holds_the_live_file(home: Home) -> None:
    home.run("INSERT INTO proxy_live_backup VALUES ('claude', '{\"model\": \"mine\"}', '2026-01-01')")
    home.write(CLAUDE)
    assert home.row("claude") is not None
    assert home.run("SELECT original_config FROM proxy_live_backup") == [('{"model": "mine"}',)]


def test_undo_removes_the_row_and_nothing_else(home: Home) -> None:
    before = home.everything()
    _with_row(home)
    home.write({"claude": None, "claude/settings_config": None, "codex": None})
    assert (home.row("claude"), home.row("codex")) == (None, None)
    assert _neighbours(home) == []
    assert [line for line in home.everything() if "sqlite_sequence" not in line] == [
        line for line in before if "sqlite_sequence" not in line
    ]


def test_undo_of_one_app_leaves_the_others_rows(home: Home) -> None:
    _with_row(home)
    codex = home.row("codex")
    home.write({"claude": None})
    assert home.row("claude") is None
    assert home.row("codex") == codex


def test_undo_of_values_gives_the_old_row_back_byte_for_byte(home: Home) -> None:
    _with_row(home)
    before = home.everything()
    parts = home.store.read(home.database)[0]
    home.write(
        {
            "codex/settings_config": '{"auth": {"x": 1}, "config": ""}',
            "codex/settings_config/config": 'model = "other"\n',
            "codex": parts["codex"].replace("Gateway", "Other"),
        }
    )
    assert home.everything() != before
    home.write(parts)
    assert home.everything() == before


@pytest.mark.parametrize("where", ["database", "settings", "both"])
def test_undo_while_the_row_is_chosen_is_refused(home: Home, where: str) -> None:
    _with_row(home)
    home.choose("codex", ROW, where=where)
    before = home.everything()
    with pytest.raises(StoreError, match="chosen in CC Switch") as caught:
        home.write({"claude": None, "codex": None})
    assert "Choose another provider for codex" in caught.value.hint
    assert home.everything() == before


def test_a_choice_of_a_row_that_is_gone_does_not_count(home: Home) -> None:
    _with_row(home)
    home.told({"currentProviderClaude": "gone"})
    assert home.store.live(home.database)["claude"] == "theirs"
    home.write({"claude": None})
    assert home.row("claude") is None


def test_rows_that_changed_after_they_were_read_are_not_written(home: Home) -> None:
    _with_row(home)
    seen = home.store.read(home.database)[1]
    home.run('UPDATE providers SET settings_config = \'{ "model": "theirs" }\' WHERE id = ?', ROW)
    before = home.everything()
    with pytest.raises(ChangedError, match="after they were read"):
        home.store.write(home.database, {"work": CLAUDE}, seen, lambda _: pytest.fail("must not come so far"))
    assert home.everything() == before


def test_what_the_proxy_counts_meanwhile_is_no_change(home: Home) -> None:
    _with_row(home)
    seen = home.store.read(home.database)[1]
    home.run("UPDATE provider_health SET is_healthy = 0 WHERE provider_id = ?", ROW)
    home.run("UPDATE providers SET in_failover_queue = 0 WHERE id = ?", ROW)
    home.store.write(home.database, {"work": CLAUDE}, seen, lambda _: None)
    row = home.row("claude")
    assert row is not None
    assert row["in_failover_queue"] == 0


def test_the_token_is_of_all_profiles(home: Home) -> None:
    other = CcSwitch("home", home.places, now_ms=lambda: NOW_MS)
    before = token_now(str(home.database))
    other.write(home.database, {"home": CLAUDE}, other.read(home.database)[1], lambda _: None)
    assert token_now(str(home.database)) == home.store.read(home.database)[1].rows != before
    assert home.store.read(home.database)[0] == {}


def test_what_prepared_raises_leaves_all_as_it_was(home: Home) -> None:
    before = home.everything()

    def fails(_: str) -> None:
        raise OSError("no space for the journal")

    with pytest.raises(OSError, match="no space"):
        home.store.write(home.database, {"work": CLAUDE}, home.store.read(home.database)[1], fails)
    assert home.everything() == before


def test_nothing_wanted_anew_writes_nothing(home: Home) -> None:
    _with_row(home)
    before = home.database.read_bytes()
    home.write(home.store.read(home.database)[0])
    assert home.database.read_bytes() == before


def test_version_and_journal_mode_stay(home: Home) -> None:
    def circumstances() -> list[tuple[object, ...]]:
        names = ("user_version", "journal_mode", "auto_vacuum", "application_id")
        return [row for name in names for row in home.run(f"PRAGMA {name}")]

    before = circumstances()
    home.write(CLAUDE | CODEX)
    assert circumstances() == before


@pytest.mark.parametrize("lock", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_lock_is_waited_for_and_then_named(home: Home, lock: str) -> None:
    seen = home.store.read(home.database)[1]
    before = home.everything()
    with home.connection() as other:
        other.execute(f"BEGIN {lock}")
        with pytest.raises(StoreError, match=r"locked for 0\.05 seconds") as caught:
            home.store.write(home.database, {"work": CLAUDE}, seen, lambda _: pytest.fail("must not come so far"))
        if lock == "EXCLUSIVE":
            with pytest.raises(StoreError, match="locked"):
                home.store.read(home.database)
    assert "close it" in caught.value.hint
    assert home.everything() == before


def test_a_reader_that_stays_stops_the_commit_and_leaves_all_as_it_was(home: Home) -> None:
    before = home.everything()
    seen = home.store.read(home.database)[1]
    with home.connection() as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM providers").fetchone()
        with pytest.raises(StoreError, match="locked"):
            home.store.write(home.database, {"work": CLAUDE}, seen, lambda _: None)
    assert home.everything() == before
    assert token_now(str(home.database)) == seen.rows


def test_a_journal_that_a_crash_left_is_rolled_back_first(home: Home, tmp_path: Path) -> None:
    _with_row(home)
    parts = home.store.read(home.database)[0]
    crashed = Home(tmp_path / "crashed")
    crashed.database.parent.mkdir(parents=True)
    with home.connection() as database:
        database.execute("PRAGMA cache_size = 1")  # so that changed pages go to the disk before the commit
        database.execute("BEGIN")
        database.execute("UPDATE providers SET settings_config = ?", ("x" * 200_000,))
        for name in ("cc-switch.db", "cc-switch.db-journal"):
            shutil.copy(home.database.with_name(name), crashed.database.with_name(name))
        database.execute("ROLLBACK")
    assert crashed.store.read(crashed.database)[0] == parts
    crashed.write({"claude": None})
    assert crashed.row("codex") == home.row("codex")


@pytest.mark.parametrize("rest", [b"garbage" * 100, b"", b"\0" * 512], ids=["garbage", "empty", "zeros"])
def test_a_malformed_journal_is_in_nobodys_way(home: Home, rest: bytes) -> None:
    _with_row(home)
    parts = home.store.read(home.database)[0]
    home.database.with_name("cc-switch.db-journal").write_bytes(rest)
    assert home.store.read(home.database)[0] == parts
    home.write(CODEX)


def _emptied(home: Home) -> None:
    home.database.write_bytes(b"")


def _no_database(home: Home) -> None:
    home.database.write_bytes(b"SQLite format 2\0" + b"x" * 5000)


def _damaged(home: Home) -> None:
    raw = home.database.read_bytes()
    home.database.write_bytes(raw[:100] + b"\xff" * (len(raw) - 100))


def _removed(home: Home) -> None:
    home.database.unlink()


def _a_folder(home: Home) -> None:
    home.database.unlink()
    home.database.mkdir()


def _another_schema(home: Home) -> None:
    home.run("ALTER TABLE providers RENAME COLUMN settings_config TO config")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_emptied, "is no database of CC Switch's"),
        (_no_database, "is not an SQLite database"),
        (_damaged, "is (damaged|not an SQLite database)"),
        (_removed, "there is no database"),
        (_a_folder, "there is no database"),
        (_another_schema, "is no database of CC Switch's"),
    ],
)
def test_a_database_that_is_none_is_named_and_left(home: Home, harm: Callable[[Home], None], said: str) -> None:
    harm(home)
    before = home.database.read_bytes() if home.database.is_file() else None
    with pytest.raises(StoreError, match=said) as caught:
        home.store.read(home.database)
    assert caught.value.hint
    with pytest.raises(StoreError, match=said):
        home.store.write(home.database, {"work": CLAUDE}, Moment("", ""), lambda _: None)
    assert (home.database.read_bytes() if home.database.is_file() else None) == before


@pytest.mark.parametrize("column", ["name", "settings_config", "notes"])
def test_a_column_that_is_no_text_is_named(home: Home, column: str) -> None:
    _with_row(home)
    home.run(f"UPDATE providers SET {column} = ? WHERE id = ?", b"\xff", ROW)  # noqa: S608  a name of the table above
    with pytest.raises(StoreError, match="is no text"):
        home.store.read(home.database)


@pytest.mark.parametrize("name", ["plain", "with space", "per%20cent", "hash#question?", "ünï"])
def test_the_database_may_lie_anywhere(tmp_path: Path, name: str) -> None:
    home = made(tmp_path / name)
    home.write(CLAUDE)
    assert home.row("claude") is not None


def test_a_database_behind_a_link_is_the_one_that_is_written(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    real = home.database.rename(tmp_path / "real.db")
    home.database.symlink_to(real)
    home.write(CLAUDE)
    assert home.database.is_symlink()
    with closing(sqlite3.connect(real)) as database:
        assert database.execute("SELECT 1 FROM providers WHERE id = ?", (ROW,)).fetchone() == (1,)


def test_a_trigger_that_changes_what_is_written_is_noticed(home: Home) -> None:
    home.run(
        "CREATE TRIGGER spoil AFTER INSERT ON providers "
        "BEGIN UPDATE providers SET name = 'spoilt' WHERE id = new.id; END"
    )
    before = home.everything()
    with pytest.raises(StoreError, match="does not keep what is written"):
        home.write(CLAUDE)
    assert home.everything() == before
