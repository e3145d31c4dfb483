"""CC Switch in every shape: several profiles, further apps, moved folders, databases that cannot be used."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.acceptance.switch import APPLY, CLAUDE, CODEX, DATABASE, contents, furnished, models, settings, untouched
from tests.store.cc_switch import ROW, Home
from toolsync.store import cc_switch_table, sqlite

HOME_PROFILE = f'\n[profiles.home]\nbase_url = "{ADDRESS}"\nmodel = "home-model"\nkey = "keyring:work"\n'


@pytest.fixture
def switch(machine: Machine) -> Home:
    return furnished(machine)


# Profiles.


def _ids(switch: Home) -> list[tuple[str, str]]:
    return switch.run("SELECT id, app_type FROM providers WHERE id GLOB 'toolsync-*' ORDER BY id, app_type")


def _rows(*profiles: str) -> list[tuple[str, str]]:
    return [(f"toolsync-{profile}", app) for profile in profiles for app in ("claude", "codex")]


def test_each_profile_has_rows_of_its_own_and_undo_takes_them_all(machine: Machine, switch: Home) -> None:
    before, home = switch.everything(), contents(machine)
    machine.profile(HOME_PROFILE)
    for name in ("work", "home", "work"):
        assert machine.toolsync(*APPLY, "--profile", name).code == 0
        assert machine.toolsync("status", "--profile", name).code == 0
    assert _ids(switch) == _rows("home", "work")
    assert (models(switch), models(switch, "toolsync-home")) == (("some-model",) * 2, ("home-model",) * 2)
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert (switch.everything(), contents(machine)) == (before, home)
    assert machine.memory["files"] == {}


def test_the_rows_of_all_profiles_go_together_or_not_at_all(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.profile(HOME_PROFILE)
    for name in ("home", "work"):
        assert machine.toolsync(*APPLY, "--profile", name).code == 0
    written: list[int] = []

    def counted(put: Callable[..., None]) -> Callable[..., None]:
        def remove(database: sqlite3.Connection, key: tuple[str, str]) -> None:
            put(database, key)
            written.append(1)
            if len(written) == 3:
                raise sqlite3.OperationalError("disk I/O error")

        return remove

    monkeypatch.setattr(cc_switch_table, "remove", counted(cc_switch_table.remove))
    with untouched(machine, switch):
        assert machine.toolsync("undo", "--yes").code == 2
    assert len(written) == 3
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert _ids(switch) == []


def test_undo_is_refused_whoever_of_ours_is_chosen(machine: Machine, switch: Home) -> None:
    machine.profile(HOME_PROFILE)
    for name in ("home", "work"):
        assert machine.toolsync(*APPLY, "--profile", name).code == 0
    switch.click("codex", "toolsync-home")
    with untouched(machine, switch):
        ran = machine.toolsync("undo", "--yes")
    assert ran.err.startswith("error: our row for codex (profile 'home') is the one that is chosen in CC Switch\n")


def test_the_rows_of_a_profile_that_is_renamed_follow(machine: Machine, switch: Home) -> None:
    before = switch.everything()
    assert machine.toolsync(*APPLY).code == 0
    assert machine.toolsync("profile", "rename", "work", "job").code == 0
    assert machine.toolsync(*APPLY).said == (0, "")
    assert _ids(switch) == _rows("job")
    assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert switch.everything() == before


@pytest.mark.parametrize("change", ["renamed", "another"])
def test_in_the_home_folder_what_a_row_replaces_is_no_file_of_a_project(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The project's settings are the user's own there, which hold the command of the profile from before."""
    monkeypatch.setattr(Machine, "project", property(lambda one: one.home))
    machine.profile(HOME_PROFILE)
    machine.write(".claude/settings.json", "{}\n")
    assert machine.toolsync(*APPLY, "--tool", "cc-switch", "--tool", "claude-code").code == 0
    if change == "renamed":
        ran = machine.toolsync("profile", "rename", "work", "job")
        again = ran.out.split("until `toolsync ")[1].split("`")[0].split()
    else:
        again = ["apply", "--profile", "home", "--tool", "cc-switch", "--tool", "claude-code"]
    assert machine.toolsync("status", *again[1:]).code == 1
    assert machine.toolsync(*again, *APPLY[1:]).code == 0
    assert {*_rows("job" if change == "renamed" else "home")} <= {*_ids(switch)}
    assert machine.toolsync("status", *again[1:]).said == (0, "")


@pytest.mark.usefixtures("switch")
def test_the_rows_that_were_applied_last_stay_so_though_another_profile_is_renamed(machine: Machine) -> None:
    machine.profile(HOME_PROFILE)
    for name in ("work", "home"):
        assert machine.toolsync(*APPLY, "--tool", "cc-switch", "--profile", name).code == 0
    for old, new, said in (("work", "job", "home"), ("home", "house", "house")):
        assert machine.toolsync("profile", "rename", old, new).code == 0
        (tool,) = [one for one in machine.toolsync("status", "--json").json["data"]["tools"] if one["profile"]]
        assert (tool["tool"], tool["profile"]) == ("cc-switch", said)


def test_the_rows_of_a_profile_that_is_removed_go_alone(machine: Machine, switch: Home) -> None:
    machine.profile(HOME_PROFILE)
    for name in ("work", "home"):
        assert machine.toolsync(*APPLY, "--tool", "cc-switch", "--profile", name).code == 0
    way = "`toolsync apply --tool cc-switch` takes its rows away"
    ran = machine.toolsync("profile", "remove", "home", "--yes")
    assert (way in ran.out, "undo" in ran.out) == (True, False)
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    assert _ids(switch) == _rows("work")


def test_a_chosen_row_of_a_profile_that_is_gone_stays_until_another_is_chosen(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    switch.click("claude", ROW)
    assert machine.toolsync("profile", "rename", "work", "job").code == 0
    assert machine.toolsync(*APPLY).said == (0, "")
    assert _ids(switch) == [*_rows("job"), (ROW, "claude")]
    switch.click("claude", "toolsync-job")
    assert machine.toolsync(*APPLY).said == (0, "")
    assert _ids(switch) == _rows("job")


# Further apps.


def test_opencode_reads_the_key_from_a_variable(machine: Machine, switch: Home) -> None:
    (machine.home / ".config" / "opencode").mkdir(parents=True)
    before = switch.everything()
    assert machine.toolsync(*APPLY).said == (0, "")
    row = settings(switch, "opencode")
    assert row["options"] == {"baseURL": f"{ADDRESS}/v1", "apiKey": "{env:TOOLSYNC_API_KEY}"}
    assert row["models"] == {"some-model": {"name": "some-model"}}
    assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert switch.everything() == before


def test_a_row_that_is_switched_on_is_left_as_it_is_and_not_taken_away(machine: Machine, switch: Home) -> None:
    own = machine.write(".config/opencode/opencode.json", "{}\n")
    assert machine.toolsync(*APPLY).code == 0
    assert json.loads(str((switch.row("opencode") or {})["meta"])) == {"liveConfigManaged": False}
    own.write_text(json.dumps({"provider": {ROW: settings(switch, "opencode")}}))  # as switching it on does
    switch.run("UPDATE providers SET meta = '{\"liveConfigManaged\":true}' WHERE app_type = 'opencode'")
    assert machine.toolsync("status").code == 0
    machine.profile('\n[profiles.work.tool.cc-switch-opencode]\nmodel = "new-model"\n')
    with untouched(machine, switch):
        ran = machine.toolsync(*APPLY)
        assert (ran.code, "CC Switch: OpenCode is left out: its row is switched on" in ran.out) == (0, True), ran.out
        said = "error: our row for opencode (profile 'work') is switched on, so that the app's own file holds a copy\n"
        said += "  hint: Switch it off in CC Switch, then run the command again."
        said += " `toolsync undo cc-switch claude-code codex` gives the rest back.\n"
        assert machine.toolsync("undo", "--yes").said == (2, said)
    own.write_text("{}\n")
    assert machine.toolsync(*APPLY).code == 0
    assert settings(switch, "opencode")["models"] == {"new-model": {"name": "new-model"}}
    assert json.loads(str((switch.row("opencode") or {})["meta"])) == {"liveConfigManaged": True}
    assert machine.toolsync("undo", "--yes").code == 0
    assert _ids(switch) == []


def test_a_file_of_opencode_that_cannot_be_read_is_named_where_it_matters(machine: Machine, switch: Home) -> None:
    (machine.home / ".config/opencode/opencode.json").mkdir(parents=True)
    assert machine.toolsync(*APPLY).said == (0, "")  # a new row stands in no file yet
    assert switch.row("opencode") is not None
    with untouched(machine, switch):
        said = machine.toolsync(*APPLY).err
        assert said.startswith("error: ~/.config/opencode/opencode.json is a folder, not a file\n")
        assert machine.toolsync("status").code == 1


GEMINI = f'[profiles.work.urls]\ngemini = "{ADDRESS}/gemini"\n'


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        ("", "few gateways serve gemini, which is what it speaks, and the profile names no urls.gemini"),
        (GEMINI, "it would hold a copy of the key in its own file, and that needs your consent"),
    ],
    ids=["no address", "no consent"],
)
def test_gemini_is_left_out_without_address_and_consent(
    machine: Machine, switch: Home, profile: str, reason: str
) -> None:
    (machine.home / ".gemini").mkdir()
    machine.profile(profile)
    ran = machine.toolsync(*APPLY)
    assert ran.said == (0, "")
    assert f"CC Switch: Gemini is left out: {reason}\n" in ran.out
    assert switch.row("gemini") is None


@pytest.fixture
def gemini(machine: Machine, switch: Home) -> Home:
    """Gemini's row applied."""
    machine.write(".gemini/.env", "OTHER=1\nGEMINI_API_KEY=old\n")
    machine.profile(f'plaintext = "allow"\n{GEMINI}')
    ran = machine.toolsync(*APPLY)
    assert (ran.code, KEY in ran.out) == (0, False)
    return switch


def test_geminis_row_holds_the_key(machine: Machine, gemini: Home) -> None:
    assert settings(gemini, "gemini")["env"] == {
        "OTHER": "1",
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": f"{ADDRESS}/gemini",
        "GEMINI_MODEL": "some-model",
    }
    assert machine.read(".gemini/.env") == "OTHER=1\nGEMINI_API_KEY=old\n"
    assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert gemini.row("gemini") is None


def test_geminis_row_stays_as_it_is_while_it_is_chosen(machine: Machine, gemini: Home) -> None:
    gemini.choose("gemini", ROW)
    machine.profile(f'plaintext = "allow"\n{GEMINI}'.replace("[profiles", "\n[profiles"))
    before = gemini.row("gemini")
    ran = machine.toolsync(*APPLY, "--tool", "cc-switch-gemini")
    assert ran.code == 2
    assert "CC Switch: Gemini is left out: its row is the one that is chosen, and what is written there " in ran.out
    assert gemini.row("gemini") == before


# Moved.


def test_tools_are_set_where_cc_switch_was_told_they_are(machine: Machine, switch: Home) -> None:
    for name, folder in ((CLAUDE, "claude"), (CODEX, "codex")):
        shutil.move((machine.home / name).parent, machine.home / "moved" / folder)
    switch.told({"claudeConfigDir": "~/moved/claude", "codexConfigDir": str(machine.home / "moved" / "codex")})
    before = contents(machine)
    assert machine.toolsync(*APPLY).said == (0, "")
    live = json.loads(machine.read("moved/claude/settings.json"))
    assert live == settings(switch, "claude")
    assert 'model = "some-model"   # good' in machine.read("moved/codex/config.toml")
    assert not (machine.home / ".claude").exists()
    assert machine.toolsync("undo", "--yes").code == 0
    assert contents(machine) == before


def test_a_tool_that_its_user_moved_stays_where_that_user_said(machine: Machine, switch: Home) -> None:
    switch.told({"claudeConfigDir": "~/elsewhere"})
    machine.environ["CLAUDE_CONFIG_DIR"] = str(machine.home / ".claude")
    assert machine.toolsync(*APPLY).code == 0
    assert "ANTHROPIC_BASE_URL" in machine.read(CLAUDE)
    assert not (machine.home / "elsewhere").exists()


def test_a_database_that_was_moved_behind_a_link_is_the_same(machine: Machine, switch: Home) -> None:
    before = switch.everything()
    assert machine.toolsync(*APPLY).code == 0
    elsewhere = machine.write("synced/cc-switch.db", switch.database.read_bytes())
    switch.database.unlink()
    switch.database.symlink_to(elsewhere)
    with untouched(machine, switch):
        assert machine.toolsync(*APPLY).code == 0
        assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert switch.everything() == before


@pytest.fixture
def keyed(machine: Machine, gemini: Home) -> Home:
    """Rows of ours in a database that is about to leave its place, one of them with the key."""
    assert KEY in "".join(gemini.everything())
    (machine.home / "elsewhere").mkdir()
    return gemini


def test_rows_that_came_along_with_a_database_are_ours(machine: Machine, keyed: Home) -> None:
    shutil.move(machine.home / ".cc-switch", machine.home / "elsewhere/cc")
    machine.environ["CC_SWITCH_DIR"] = str(machine.home / "elsewhere/cc")
    ran = machine.toolsync(*APPLY)
    assert (ran.code, machine.kept) == (0, {"work"})
    assert machine.toolsync("undo", "--yes").code == 0
    shutil.move(machine.home / "elsewhere/cc", machine.home / ".cc-switch")
    assert (_ids(keyed), KEY in "".join(keyed.everything())) == ([], False)


def test_a_row_that_is_chosen_where_nobody_can_choose_any_more_goes(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    switch.click("claude", ROW)
    shutil.copytree(machine.home / ".cc-switch", machine.home / "synced")  # and CC Switch is told to go there
    machine.write(
        ".local/share/com.ccswitch.desktop/app_paths.json",
        json.dumps({"app_config_dir_override": str(machine.home / "synced")}),
    )
    assert machine.toolsync(*APPLY).said == (0, "")
    assert _ids(switch) == []
    said = machine.toolsync("undo", "--yes").err
    assert said.startswith("error: our row for claude (profile 'work') is the one that is chosen in CC Switch\n")


def test_a_database_that_comes_back_is_said_to_bring_our_rows_and_does_not_keep_them(
    machine: Machine, keyed: Home
) -> None:
    rows = _ids(keyed)
    shutil.move(keyed.database, machine.home / "elsewhere")
    ran = machine.toolsync("undo", "--yes")
    said = (
        f"warning: ~/{DATABASE} is not there: our rows in it (toolsync-work) are forgotten\n"
        "    If it comes back, remove them there, or apply and undo once more.\n"
    )
    assert (ran.code, said in ran.out, "CC Switch: " in ran.out) == (0, True, False), ran.out
    assert machine.memory["files"] == {}
    shutil.move(machine.home / "elsewhere/cc-switch.db", keyed.database)
    assert _ids(keyed) == rows
    assert machine.toolsync(*APPLY).code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert (_ids(keyed), KEY in "".join(keyed.everything())) == ([], False)


# Databases that cannot be used.


def _damaged(switch: Home) -> None:
    raw = switch.database.read_bytes()
    switch.database.write_bytes(raw[:100] + b"\xff" * (len(raw) - 100))


HARMS: dict[str, tuple[Callable[[Home], object], str]] = {
    "no database": (lambda switch: switch.database.write_bytes(b"no database, but long" * 99), "is not"),
    "damaged": (_damaged, "is damaged"),
    "another schema": (lambda switch: switch.run("ALTER TABLE providers RENAME TO other"), "is no database of CC"),
}


@pytest.mark.parametrize(("harm", "said"), HARMS.values(), ids=HARMS)
def test_a_database_that_cannot_be_used_stops_everything(
    machine: Machine, switch: Home, harm: Callable[[Home], object], said: str
) -> None:
    harm(switch)
    with machine.untouched():
        ran = machine.toolsync(*APPLY)
        assert (ran.code, ran.err.startswith(f"error: ~/{DATABASE}: {said}")) == (2, True), ran.err
        assert machine.toolsync("status").code == 1
    assert machine.toolsync(*APPLY, "--tool", "claude-code").said == (0, "")
    machine.profile("\n[profiles.work.tool.cc-switch]\nenabled = false\n")
    assert machine.toolsync(*APPLY).said == (0, "")


@pytest.mark.parametrize(("harm", "said"), HARMS.values(), ids=HARMS)
def test_rows_that_cannot_be_seen_any_more_are_not_written_past(
    machine: Machine, switch: Home, harm: Callable[[Home], object], said: str
) -> None:
    assert machine.toolsync(*APPLY).code == 0
    harm(switch)
    machine.profile("\n[profiles.work.models]\nhaiku = 'small'\n")
    for arguments in (APPLY, (*APPLY, "--tool", "claude-code"), ("undo", "--yes")):
        with machine.untouched():
            ran = machine.toolsync(*arguments)
        assert (ran.code, said in ran.err) == (2, True), arguments
    status = machine.toolsync("status")
    assert (status.code, "unknown" in status.out) == (1, True)
    assert machine.toolsync("undo", "claude-code", "codex", "--yes").code == 0


def test_a_database_that_is_gone_holds_nothing_up(machine: Machine, switch: Home) -> None:
    before = contents(machine)
    assert machine.toolsync(*APPLY).code == 0
    switch.database.unlink()
    assert machine.toolsync(*APPLY).said == (0, "")
    status = machine.toolsync("status")
    said = f"problem: ~/{DATABASE} is not there, with the rows that we kept in it\n"
    said += "    `toolsync undo cc-switch` forgets them.\n"
    assert (status.code, "taken out since" in status.out, said in status.out) == (1, True, True), status.out
    assert machine.toolsync("undo", "cc-switch", "--yes").said == (0, "")
    assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert contents(machine) == before
    assert machine.memory["files"] == {}


@pytest.mark.parametrize("name", [DATABASE, ".cc-switch"])
@pytest.mark.usefixtures("switch")
def test_a_database_that_is_read_only_is_said_before_anybody_is_asked(machine: Machine, name: str) -> None:
    assert machine.toolsync(*APPLY).code == 0
    (machine.home / name).chmod(0o555)
    machine.profile("\n[profiles.work.models]\nhaiku = 'small'\n")
    for arguments in (("apply", "--no-ping"), ("undo",)):  # without `--yes`, and nobody there to ask
        ran = machine.toolsync(*arguments)
        assert (ran.code, ran.out, ran.err.startswith(f"error: ~/{name} is read-only")) == (2, "", True), ran
    (machine.home / name).chmod(0o755)


def test_a_row_that_cannot_be_read_is_named(machine: Machine, switch: Home) -> None:
    machine.profile(HOME_PROFILE)
    for name in ("home", "work"):
        assert machine.toolsync(*APPLY, "--profile", name).code == 0
    switch.run("UPDATE providers SET settings_config = '{' WHERE id = 'toolsync-home' AND app_type = 'claude'")
    with untouched(machine, switch):
        said = f"error: ~/{DATABASE}, 'toolsync-home': settings_config of CC Switch's row for claude is no JSON\n"
        said += (
            "  hint: CC Switch itself reads it as nothing. Open the row in CC Switch and save it, or delete it there, "
        )
        said += "and run the command again. `toolsync undo claude-code codex` gives the rest back.\n"
        assert machine.toolsync("undo", "--yes").said == (2, said)
    switch.run("DELETE FROM providers WHERE id = 'toolsync-home' AND app_type = 'claude'")
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert _ids(switch) == []


def test_a_lock_is_waited_for_and_then_named(machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    hint = "Wait until that program is done, or close it, and run the command again."
    connect: Any = sqlite3.connect
    waits: list[float] = []

    def impatient(*arguments: Any, timeout: float, **named: Any) -> Any:
        waits.append(timeout)
        return connect(*arguments, timeout=timeout / 100, **named)

    with switch.connection() as other, machine.untouched(), monkeypatch.context() as patch:
        other.execute("BEGIN EXCLUSIVE")
        patch.setattr(sqlite3, "connect", impatient)
        text = f"error: ~/{DATABASE}: another program has had it locked for 10 seconds\n  hint: {hint}\n"
        assert machine.toolsync(*APPLY).said == (2, text)
    assert waits == [10.0]
    assert machine.toolsync(*APPLY).code == 0


def test_a_lock_is_waited_for_once(machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.toolsync(*APPLY).code == 0
    reading, waits = sqlite.reading, list[Path]()

    def counted(path: Path, _wait_seconds: float) -> AbstractContextManager[sqlite3.Connection]:
        waits.append(path)
        return reading(path, 0.05)

    monkeypatch.setattr(sqlite, "reading", counted)
    with switch.connection() as other, machine.untouched():
        other.execute("BEGIN EXCLUSIVE")
        status = machine.toolsync("status")
    assert (status.code, waits) == (1, [switch.database])
    assert status.out.count("another program has had it locked") == 1


def test_a_journal_that_cc_switch_left_is_rolled_back_first(machine: Machine, switch: Home, tmp_path: Path) -> None:
    with switch.connection() as other:
        other.execute("PRAGMA cache_size = 1")
        other.execute("BEGIN IMMEDIATE")
        for number in range(200):
            other.execute("UPDATE providers SET notes = ? WHERE id = 'own'", (f"{number}" * 500,))
            other.execute("INSERT INTO settings VALUES (?, ?)", (f"{number}", "x" * 500))
        for name in ("cc-switch.db", "cc-switch.db-journal"):  # as a crash would leave both
            shutil.copy(switch.database.with_name(name), tmp_path / name)
    for name in ("cc-switch.db", "cc-switch.db-journal"):
        shutil.copy(tmp_path / name, switch.database.with_name(name))
    assert machine.toolsync(*APPLY).said == (0, "")
    assert not switch.database.with_name("cc-switch.db-journal").exists()
    assert switch.run("SELECT count(*) FROM settings") == [(0,)]
    assert models(switch) == ("some-model", "some-model")


# Tools of the user's own.


def _own_codex(machine: Machine, overlay: str, text: str) -> Path:
    folder = machine.config.parent / "tools" / "codex"
    folder.mkdir(parents=True)
    file = f'[[file]]\noverlay = "{overlay}"\npath = "~/.codex/{overlay}"\n'
    detect = 'detect = { paths = ["~/.codex"] }'
    (folder / "tool.toml").write_text(f'title = "Own"\nspeaks = ["openai-chat"]\n{detect}\n{file}')
    (folder / overlay).write_text(text)
    return folder


def test_the_row_holds_what_a_tool_of_the_users_own_sets(machine: Machine, switch: Home) -> None:
    _own_codex(machine, "config.toml", 'model = "<model>"\nmine = true\n')
    assert machine.toolsync(*APPLY).said == (0, "")
    row = tomllib.loads(settings(switch, "codex")["config"])
    assert row == tomllib.loads(machine.read(CODEX))
    assert row == {"model": "some-model", "mine": True, "mcp_servers": {"docs": {"command": "npx"}}}


def test_a_row_whose_tool_was_replaced_by_one_with_another_file_goes(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    _own_codex(machine, "other.json", '{ "model": "<model>" }\n')
    assert machine.toolsync(*APPLY).said == (0, "")
    assert _ids(switch) == [(ROW, "claude")]
    assert machine.toolsync("undo", "--yes").code == 0
    assert _ids(switch) == []


def test_rows_are_not_forgotten_while_a_template_is_broken(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    folder = _own_codex(machine, "config.toml", "[broken\n")
    rows = _ids(switch)
    with untouched(machine, switch):
        ran = machine.toolsync("undo", "--yes")
    assert (ran.code, "the template of 'cc-switch', which wrote it, is gone or wrong" in ran.err) == (2, True), ran.err
    assert _ids(switch) == rows
    shutil.rmtree(folder)
    assert machine.toolsync("undo", "--yes").code == 0
    assert _ids(switch) == []
