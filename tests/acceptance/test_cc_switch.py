"""CC Switch's rows, from the command line: beside the user's own, agreeing with the files they stand for, and gone."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.acceptance.switch import (
    APPLY,
    CLAUDE,
    CODEX,
    DATABASE,
    LIVE,
    MODEL,
    config,
    contents,
    furnished,
    models,
    settings,
    untouched,
)
from tests.keys import invented
from tests.store.cc_switch import ROW, SCHEMAS, Home, add_neighbours
from toolsync.errors import StoreError
from toolsync.store import cc_switch_table
from toolsync.store.cc_switch import CcSwitch

ELSEWHERE = (
    "  hint: Choose another provider for {} in CC Switch, then run the command again. "
    "Where CC Switch is not here any more, move its database away instead.\n"
)


@pytest.fixture(params=SCHEMAS)
def switch(machine: Machine, request: pytest.FixtureRequest) -> Home:
    """CC Switch in the machine's home, with a row of the user's own for each app, and the two tools that it serves."""
    return furnished(machine, request.param)


@pytest.fixture
def newest(machine: Machine) -> Home:
    """The same, in one schema."""
    return furnished(machine)


def _assert_agreed(machine: Machine, switch: Home) -> None:
    """Rows and live files say the same, but for what CC Switch keeps elsewhere."""
    assert settings(switch, "claude") == json.loads(machine.read(CLAUDE))
    row, live = config(switch), tomllib.loads(machine.read(CODEX))
    assert row | {"mcp_servers": None} == live | {"mcp_servers": None}


@pytest.fixture
def ours(machine: Machine, newest: Home) -> Home:
    """Our rows applied, and chosen by a click each."""
    assert machine.toolsync(*APPLY).code == 0
    for app in ("claude", "codex"):
        newest.click(app, ROW)
    return newest


# Beside the user's own: new, updated, and gone.


def test_rows_come_beside_the_users_own_and_go_again(machine: Machine, switch: Home) -> None:
    before, home = switch.everything(), contents(machine)
    assert machine.toolsync(*APPLY).said == (0, "")
    _assert_agreed(machine, switch)
    assert settings(switch, "claude")["permissions"] == {"allow": ["Bash(git diff:*)"]}
    assert config(switch)["mcp_servers"] == {"docs": {"command": "npx"}}
    assert [switch.row(app, "own") is None for app in ("claude", "codex")] == [False, False]
    with untouched(machine, switch):
        assert machine.toolsync(*APPLY).code == 0
        assert machine.toolsync("status").code == 0
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert (switch.everything(), contents(machine)) == (before, home)
    assert (machine.memory["files"], machine.kept) == ({}, {"work"})


def test_an_update_keeps_what_others_put_there(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").said == (0, "")
    with switch.connection() as database:
        add_neighbours(database, ROW, "claude")
    switch.run("UPDATE providers SET icon = 'cube', sort_index = 2, in_failover_queue = 1 WHERE id = ?", ROW)
    switch.run("UPDATE providers SET meta = json_set(meta, '$.isPartner', json('true')) WHERE id = ?", ROW)
    before, others = switch.row("claude"), switch.run("SELECT * FROM providers WHERE id = 'own'")
    machine.profile(MODEL)
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").said == (0, "")
    after = switch.row("claude")
    assert before is not None
    assert after is not None
    assert models(switch) == ("new-model", "new-model")
    assert {name for name in after if after[name] != before[name]} == {"settings_config"}
    assert json.loads(after["meta"]) == {"commonConfigEnabled": False, "isPartner": True}
    assert switch.run("SELECT * FROM providers WHERE id = 'own'") == others
    assert switch.run("SELECT url FROM provider_endpoints WHERE provider_id = ?", ROW) == [("https://e.example",)]
    assert switch.run("SELECT is_healthy FROM provider_health WHERE provider_id = ?", ROW) == [(1,)]


def test_a_key_in_a_row_shuts_the_database_and_undo_opens_it_again(machine: Machine, newest: Home) -> None:
    newest.database.chmod(0o644)
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    ran = machine.toolsync(*APPLY)
    assert (ran.code, KEY in ran.out) == (0, False)
    assert settings(newest, "claude")["env"]["ANTHROPIC_AUTH_TOKEN"] == KEY
    assert machine.entries()[DATABASE].mode == 0o600
    assert machine.toolsync("undo", "--yes").code == 0
    assert machine.entries()[DATABASE].mode == 0o644


def test_a_database_that_is_not_written_after_all_is_as_open_as_it_was(
    machine: Machine, newest: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StoreError("the disk is full")

    newest.database.chmod(0o644)
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    monkeypatch.setattr(cc_switch_table, "put", fails)
    with untouched(machine, newest):
        assert machine.toolsync(*APPLY).said == (2, "error: the disk is full\n")


def test_a_journal_that_others_could_read_is_shut_too(machine: Machine, newest: Home) -> None:
    newest.run("PRAGMA journal_mode = WAL")
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    with newest.connection() as other:  # CC Switch is at work, and its journal is there
        other.execute("UPDATE providers SET notes = 'mine' WHERE id = 'own'")
        journal = machine.home / f"{DATABASE}-wal"
        newest.database.chmod(0o644)
        journal.chmod(0o644)
        assert machine.toolsync(*APPLY).code == 0
        assert (KEY.encode() in journal.read_bytes(), journal.stat().st_mode & 0o077) == (True, 0)
    assert machine.toolsync("undo", "--yes").code == 0


def test_without_the_tools_the_rows_hold_what_they_would(machine: Machine, newest: Home) -> None:
    for name in LIVE:
        (machine.home / name).unlink()
        (machine.home / name).parent.rmdir()
    assert machine.toolsync(*APPLY).said == (0, "")
    assert (machine.home / ".claude").exists() is False
    assert settings(newest, "claude")["env"]["ANTHROPIC_BASE_URL"] == ADDRESS
    assert models(newest) == ("some-model", "some-model")


# Chosen, and ours: row and file never disagree.


@pytest.mark.parametrize("tools", [(), ("claude-code", "codex"), ("cc-switch",)], ids=["all", "the tools", "the rows"])
def test_a_chosen_row_and_its_file_are_written_together(machine: Machine, switch: Home, tools: tuple[str, ...]) -> None:
    assert machine.toolsync(*APPLY).code == 0
    for app in ("claude", "codex"):
        switch.click(app, ROW)
    chosen = switch.run("SELECT id, app_type FROM providers WHERE is_current ORDER BY app_type")
    machine.profile(MODEL)
    ran = machine.toolsync(*APPLY, *(word for tool in tools for word in ("--tool", tool)))
    assert ran.said == (0, "")
    _assert_agreed(machine, switch)
    assert models(switch) == ("new-model", "new-model")
    assert switch.run("SELECT id, app_type FROM providers WHERE is_current ORDER BY app_type") == chosen
    assert machine.toolsync("status").code == 0


def test_there_is_an_order_in_which_no_row_of_the_users_takes_in_our_values(machine: Machine, newest: Home) -> None:
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").said == (0, "")
    for app in ("claude", "codex"):
        newest.click(app, ROW)
    ran = machine.toolsync(*APPLY)
    assert (ran.code, "warning" in ran.out) == (0, False)
    _assert_agreed(machine, newest)
    machine.profile(MODEL)
    assert machine.toolsync(*APPLY).said == (0, "")
    for app in ("claude", "codex"):
        newest.click(app, "own")
    assert settings(newest, "claude", "own") == json.loads(machine.read(CLAUDE)) == json.loads(LIVE[CLAUDE])
    assert config(newest, "own") == {"model": "gpt-5"}
    assert machine.toolsync("undo", "--yes").code == 0
    assert json.loads(machine.read(CLAUDE)) == json.loads(LIVE[CLAUDE])
    assert (newest.row("claude"), machine.memory["files"]) == (None, {})


def test_a_tool_that_is_asked_for_brings_its_own_row_and_no_other(machine: Machine, ours: Home) -> None:
    ours.click("codex", "own")
    machine.profile(MODEL)
    ran = machine.toolsync(*APPLY, "--tool", "claude-code")
    assert (ran.code, "\nCC Switch    as Claude Code  " in ran.out) == (0, True), ran.out
    assert models(ours) == ("new-model", "some-model")
    assert machine.toolsync(*APPLY, "--tool", "codex").said == (0, "")
    assert models(ours) == ("new-model", "some-model")
    assert machine.toolsync(*APPLY).said == (0, "")
    assert models(ours) == ("new-model", "new-model")


def test_rows_are_counted_as_such(machine: Machine, newest: Home) -> None:
    assert "Applied profile 'work': 2 files changed, 2 rows created.\n" in machine.toolsync(*APPLY).out
    tools = {one["tool"]: one for one in machine.toolsync("tools", "--json").json["data"]["tools"]}
    assert tools["cc-switch"]["holds"] == ["claude-code", "codex"]
    machine.profile(MODEL)
    assert machine.toolsync("status").out.count("4 files wait for `toolsync apply`.\n") == 1
    assert "Applied profile 'work': 2 files changed, 2 rows changed.\n" in machine.toolsync(*APPLY).out
    assert "Given back: 2 files, 2 rows.\n" in machine.toolsync("undo", "--yes").out
    assert newest.row("claude") is None


def test_a_value_that_goes_back_to_the_user_does_so_in_both(machine: Machine, newest: Home) -> None:
    own = '{ "env": { "ANTHROPIC_DEFAULT_HAIKU_MODEL": "mine", "API_TIMEOUT_MS": "5" } }'
    machine.write(CLAUDE, own)
    machine.profile('\n[profiles.work.models]\nhaiku = "ours"\n\n[profiles.work.request]\ntimeout_seconds = 10\n')
    assert machine.toolsync(*APPLY).code == 0
    newest.click("claude", ROW)
    machine.profile()
    assert machine.toolsync(*APPLY).code == 0
    _assert_agreed(machine, newest)
    assert settings(newest, "claude")["env"]["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "mine"
    with untouched(machine, newest):
        assert machine.toolsync(*APPLY).code == 0


@pytest.mark.parametrize(
    ("arguments", "app"),
    [((), "claude"), (("cc-switch",), "claude"), (("claude-code",), "claude"), (("codex",), "codex")],
    ids=["all", "the rows", "Claude Code", "Codex"],
)
def test_undo_while_a_row_is_chosen_is_refused_before_it_is_asked(
    machine: Machine, ours: Home, arguments: tuple[str, ...], app: str
) -> None:
    text = f"error: our row for {app} (profile 'work') is the one that is chosen in CC Switch\n{ELSEWHERE.format(app)}"
    with untouched(machine, ours):
        assert machine.toolsync("undo", *arguments, "--yes").said == (2, f"{text.rstrip()}\n")
    for name in ("claude", "codex"):
        ours.click(name, "own")
    assert machine.toolsync("undo", "--yes").code == 0
    assert ours.row("claude") is None
    assert machine.memory["files"] == {}


def test_a_row_that_is_wanted_no_more_stays_while_it_is_chosen(machine: Machine, ours: Home) -> None:
    machine.profile("\n[profiles.work.tool.cc-switch]\nenabled = false\n")
    with untouched(machine, ours):
        ran = machine.toolsync(*APPLY)
    text = "Claude Code and CC Switch go together while our row for claude is chosen, and one cannot: "
    assert (ran.code, ran.err.startswith(f"error: {text}")) == (2, True), ran.err
    for name in ("claude", "codex"):
        ours.click(name, "own")
    assert machine.toolsync(*APPLY).code == 0
    assert (ours.row("claude"), ours.row("codex")) == (None, None)
    assert "ANTHROPIC_BASE_URL" in machine.read(CLAUDE)


# Chosen, and somebody else's; or taken over.


def test_what_the_next_click_does_with_our_values_is_said(machine: Machine, switch: Home) -> None:
    ran = machine.toolsync(*APPLY)
    assert (ran.code, switch.row("claude") is None) == (0, False)
    said = [line for line in ran.out.splitlines() if line.startswith("warning: ")]
    text = "warning: At the next click, CC Switch takes our values for {} into 'Own', which is chosen now."
    assert said == [text.format("claude"), text.format("codex")]
    hint = (
        "    The way around it: `toolsync undo claude-code codex` where that is applied, "
        "`toolsync apply --tool cc-switch`, a click on our row there, `toolsync apply`."
    )
    assert ran.out.splitlines().count(hint) == 2


def test_the_way_around_the_next_click_is_one(machine: Machine, switch: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    assert machine.toolsync("undo", "claude-code", "codex", "--yes").code == 0
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    for app in ("claude", "codex"):
        switch.click(app, ROW)
    ran = machine.toolsync(*APPLY)
    assert (ran.code, "At the next click" in ran.out) == (0, False)
    assert "warning" not in machine.toolsync(*APPLY, "--tool", "cc-switch").out


def test_a_login_that_the_next_click_takes_is_said(machine: Machine, newest: Home) -> None:
    newest.put(".codex/auth.json", '{"tokens": {"refresh_token": "a-login"}}')
    text = "Choosing our row for Codex in CC Switch takes the ChatGPT login out of auth.json"
    assert text in machine.toolsync(*APPLY, "--tool", "cc-switch").out


@pytest.fixture
def taken(machine: Machine, newest: Home) -> Home:
    """Our values applied; then CC Switch's local proxy has taken Claude's settings over."""
    assert machine.toolsync(*APPLY).code == 0
    kept = machine.read(CLAUDE)
    newest.run("INSERT INTO proxy_live_backup VALUES ('claude', ?, '2026-01-01')", kept)
    proxied = json.loads(kept)
    proxied["env"] |= {"ANTHROPIC_BASE_URL": "http://127.0.0.1:15721", "ANTHROPIC_AUTH_TOKEN": "PROXY_MANAGED"}
    machine.write(CLAUDE, json.dumps(proxied))
    return newest


def test_while_the_proxy_has_a_file_only_the_row_is_set(machine: Machine, taken: Home) -> None:
    live = machine.read(CLAUDE)
    machine.profile(MODEL)
    ran = machine.toolsync(*APPLY)
    assert ran.said == (0, "")
    assert "Claude Code is left out: the local proxy of CC Switch has taken its settings file over\n" in ran.out
    assert "    Only the row in CC Switch is set. For the file, stop the proxy, and apply again.\n" in ran.out
    assert (machine.read(CLAUDE), models(taken)) == (live, ("new-model", "new-model"))


def test_asked_for_by_name_it_is_refused(machine: Machine, taken: Home) -> None:
    with untouched(machine, taken):
        ran = machine.toolsync(*APPLY, "--tool", "claude-code")
    assert ran.code == 2
    assert "`--tool cc-switch` sets the row in CC Switch." in ran.out


def test_undo_waits_for_the_proxy_to_stop(machine: Machine, taken: Home) -> None:
    with untouched(machine, taken):
        ran = machine.toolsync("undo", "--yes")
    assert ran.code == 2
    assert ran.err.startswith("error: the local proxy of CC Switch has taken the settings file of Claude Code over, ")
    taken.run("DELETE FROM proxy_live_backup")
    machine.write(CLAUDE, LIVE[CLAUDE])
    assert machine.toolsync("undo", "--yes").code == 0
    assert taken.row("claude") is None


# CC Switch writes too.


def test_what_cc_switch_wrote_into_our_row_is_drift_and_is_set_right(machine: Machine, ours: Home) -> None:
    live = json.loads(machine.read(CLAUDE))
    live["env"] |= {"ANTHROPIC_MODEL": "by hand", "MINE": "1"}
    machine.write(CLAUDE, json.dumps(live))
    ours.click("claude", "own")  # the live file goes into our row
    assert settings(ours, "claude") == live
    status = machine.toolsync("status")
    assert status.code == 1
    assert "~/.cc-switch/cc-switch.db#work/claude/settings_config: env.ANTHROPIC_MODEL: changed since" in status.out
    assert machine.toolsync(*APPLY).code == 0
    assert settings(ours, "claude")["env"] == live["env"] | {"ANTHROPIC_MODEL": "some-model"}
    ours.click("codex", "own")
    assert machine.toolsync("undo", "--yes").code == 0
    assert (ours.row("claude"), ours.row("codex")) == (None, None)


def test_undo_says_what_cc_switch_took_into_another_row(machine: Machine, newest: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    newest.run("INSERT INTO providers (id, app_type, name, settings_config) VALUES ('x', 'claude', 'Third', '{}')")
    newest.click("claude", "x")  # what is chosen was 'Own', and our values go there
    assert settings(newest, "claude", "own")["env"]["ANTHROPIC_BASE_URL"] == ADDRESS
    text = "warning: 'Own' for claude has values like ours in it, which CC Switch takes into a row at a click: "
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, ran.out.count(text), "'Third'" in ran.out) == (0, 1, False), ran.out


def test_undo_says_that_a_login_goes_with_the_row(machine: Machine, ours: Home) -> None:
    login = '{"tokens": {"refresh_token": "rt-invented"}}'
    sql = "UPDATE providers SET settings_config = json_set(settings_config, '$.auth', json(?)) WHERE id = ?"
    ours.run(sql, login, ROW)
    for app in ("claude", "codex"):
        ours.choose(app, "own")
    text = "warning: Our row for Codex has a ChatGPT login in it, which CC Switch put there at a click"
    ours.put(".codex/auth.json", login)
    assert text not in machine.toolsync("undo").out
    (machine.home / ".codex/auth.json").unlink()
    unanswered = machine.toolsync("undo")
    assert (unanswered.code, unanswered.out.count(text)) == (2, 1), unanswered
    assert machine.toolsync("undo", "--yes").code == 0


def test_a_row_that_its_user_took_out_is_made_anew(machine: Machine, newest: Home) -> None:
    assert machine.toolsync(*APPLY).code == 0
    newest.run("DELETE FROM providers WHERE id = ? AND app_type = 'codex'", ROW)
    assert re.search(r"#work/codex +taken out since", machine.toolsync("status").out)
    assert machine.toolsync(*APPLY).code == 0
    assert models(newest) == ("some-model", "some-model")


def test_rows_that_change_between_reading_and_writing_are_planned_again(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    _once_before_writing(monkeypatch, lambda: switch.run("UPDATE providers SET notes = 'mine' WHERE id = ?", ROW))
    machine.profile(MODEL)
    ran = machine.toolsync(*APPLY)
    assert (ran.code, ran.err.count("; planning again\n")) == (0, 1)
    row = switch.row("claude")
    assert row is not None
    assert (models(switch), row["notes"]) == (("new-model", "new-model"), "kept by toolsync")
    assert machine.toolsync("status").code == 0


def test_a_row_that_is_chosen_between_reading_and_writing_brings_its_file_along(
    machine: Machine, newest: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.toolsync(*APPLY).code == 0
    machine.profile(MODEL)
    _once_before_writing(monkeypatch, lambda: newest.click("claude", ROW))
    ran = machine.toolsync(*APPLY, "--tool", "cc-switch")
    assert (ran.code, ran.err.count("or others chosen, after they were read; planning again\n")) == (0, 1), ran.err
    assert settings(newest, "claude") == json.loads(machine.read(CLAUDE))
    assert models(newest) == ("new-model", "new-model")


def test_what_is_not_ours_may_change_meanwhile(machine: Machine, newest: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    _once_before_writing(monkeypatch, lambda: newest.run("UPDATE providers SET name = 'Renamed' WHERE id = 'own'"))
    assert machine.toolsync(*APPLY).said == (0, "")
    assert newest.run("SELECT DISTINCT name FROM providers WHERE id = 'own'") == [("Renamed",)]


def _once_before_writing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Another program comes first, between our reading and our writing."""
    write, acts = CcSwitch.write, iter([act])

    def later(*arguments: Any) -> None:
        for one in acts:
            one()
        write(*arguments)

    monkeypatch.setattr(CcSwitch, "write", later)


# A row that asks for the key, and leads elsewhere than the profile.


@pytest.mark.usefixtures("newest")
def test_a_row_that_would_send_the_key_elsewhere_is_said(machine: Machine) -> None:
    """Nothing but the next click stands between the new gateway's key and the old gateway."""
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    edited = machine.toolsync("profile", "edit", "work", "--set", "base_url=https://new.example/api")
    for called, path in (("Claude Code", "/api"), ("Codex CLI", "/api/v1")):
        said = f"CC Switch ({called}) asks for the key of 'work', and sends it to https://gateway.example{path}, "
        assert f"warning: {said}where the profile does not lead any more\n" in edited.out
    assert edited.out.count("`toolsync apply -p work --tool cc-switch` sets it anew.") == 2
    machine.environ["NEXT"] = invented("new-gateway")
    ran = machine.toolsync("key", "rotate", "work", "--from", "env:NEXT", "--yes", "--no-ping")
    assert (ran.code, ran.out.count("problem: CC Switch (")) == (1, 2), ran.out
    assert machine.toolsync(*APPLY, "-p", "work", "--tool", "cc-switch").code == 0
    edited = machine.toolsync("profile", "edit", "work", "--set", "model=new-model")
    assert "sends it to" not in edited.out


def test_what_a_click_put_there_goes_by_undo_where_cc_switch_is_gone(machine: Machine, newest: Home) -> None:
    """In the order in which no row of the user's takes our values in, the files have them before we look."""
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    for app in ("claude", "codex"):
        newest.click(app, ROW)
    assert machine.toolsync(*APPLY).code == 0
    newest.database.unlink()
    assert machine.toolsync("undo", "--yes").code == 0
    left = json.loads(machine.read(CLAUDE))
    assert (left["permissions"], left["env"]) == ({"allow": ["Bash(git diff:*)"]}, {"EDITOR": "vim"})
    assert "apiKeyHelper" not in left
    assert "toolsync" not in machine.read(CODEX)


@pytest.mark.usefixtures("newest")
def test_no_profile_gets_the_name_by_which_a_row_of_another_gateways_asks(machine: Machine) -> None:
    assert machine.toolsync(*APPLY, "--tool", "cc-switch").code == 0
    init = ("init", "home", "--base-url", "https://home.example/api", "--model", "m", "--key-from", "keyring:home")
    assert machine.toolsync(*init).code == 0
    assert machine.toolsync("profile", "rename", "work", "aside").code == 0
    ran = machine.toolsync("profile", "rename", "home", "work")
    assert (ran.code, "CC Switch (Claude Code) asks for the key of 'work'" in ran.err) == (2, True), ran
    assert "`toolsync apply -p aside --tool cc-switch` first, then this again." in ran.err
    assert machine.toolsync(*APPLY, "-p", "aside", "--tool", "cc-switch").code == 0
    assert machine.toolsync("profile", "rename", "home", "work").code == 0
