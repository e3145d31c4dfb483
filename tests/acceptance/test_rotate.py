"""`key rotate`: the new key everywhere, or the old one everywhere; never without asking the gateway first."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.acceptance.both import Both
from tests.acceptance.machine import ADDRESS, KEY, Machine, Ran
from tests.acceptance.switch import CODEX, config, contents, furnished, settings
from tests.conftest import needs, takes, thorough
from tests.keys import invented
from tests.store.cc_switch import Home
from toolsync.commands.keys import rotating
from toolsync.commands.keys.rotate import Rotation
from toolsync.commands.leaks.finding import Limits
from toolsync.commands.schema import schema
from toolsync.errors import KeyringLockedError
from toolsync.loopback import Answer
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault

NEW, THIRD = invented("new"), invented("third")
CLINE, TOML, JSON = ".cline/data/secrets.json", "service/config.toml", "service/settings.json"
PROFILE = """plaintext = "allow"

[profiles.work.tool.codex]
key_way = "plaintext"

[profiles.work.tool.config-toml]
paths = ["~/service/config.toml"]
key_way = "plaintext"

[profiles.work.tool.settings-json]
paths = ["~/service/settings.json"]
key_way = "plaintext"
"""
COPIES = (CLINE, ".cline/data/settings/providers.json", CODEX, TOML, JSON)
TOOLS = ("claude-code", "codex", "cline", "cc-switch", "config-toml", "settings-json")
FIRST, SECOND = "work@former-1", "work@former-2"

Rotate = Callable[..., Ran]


@pytest.fixture
def both() -> Iterator[Both]:
    with Both(KEY, NEW, THIRD) as gateway:
        yield gateway


@pytest.fixture
def switch(machine: Machine, both: Both) -> Home:
    """Six tools with the key: one asks for it, four hold it, and CC Switch has rows for two of them."""
    home = furnished(machine)
    machine.write(".cline/data/globalState.json", "{}")
    machine.profile(PROFILE, base_url=both.base_url)
    ran = machine.toolsync("apply", "--yes", *(f"--tool={name}" for name in TOOLS))
    assert ran.said == (0, ""), ran.out
    both.forget()
    return home


@pytest.fixture
def rotate(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Rotate:
    """Runs `key rotate` with a key on stdin."""

    def run(key: str = NEW, *options: str) -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(key))
        return machine.toolsync("key", "rotate", "--stdin", "--yes", *options)

    return run


def held(machine: Machine) -> dict[str, str]:
    """What the keyring holds, by entry; old values aside."""
    assert isinstance(machine.vault, MemoryVault)
    return {name: key.reveal() for name, key in machine.vault._secrets.items() if not name.startswith("origin-")}


def keys_in(machine: Machine, switch: Home) -> set[str]:
    """Which of the keys stand in files and rows."""
    texts = [*(machine.read(name) for name in COPIES if (machine.home / name).exists()), str(switch.everything())]
    return {key for key in (KEY, NEW, THIRD) for text in texts if key in text}


def test_every_copy_is_of_the_new_key_then(machine: Machine, switch: Home, both: Both, rotate: Rotate) -> None:
    claude = machine.read(".claude/settings.json")
    assert (keys_in(machine, switch), KEY in settings(switch, "codex")["config"]) == ({KEY}, True)
    ran = rotate()
    assert ran.said == (0, ""), ran.out
    assert (held(machine), keys_in(machine, switch)) == ({"work": NEW, FIRST: KEY}, {NEW})
    assert json.loads(machine.read(CLINE))["openAiApiKey"] == NEW
    assert config(switch)["model_providers"]["toolsync"]["experimental_bearer_token"] == NEW
    assert machine.read(".claude/settings.json") == claude
    paths = ["/api/v1/messages", "/api/v1/responses", "/api/v1/chat/completions"]
    came = both.came()
    assert (came[:3], {key for _, key in came}) == ([(path, NEW) for path in paths], {NEW})
    assert (KEY in ran.out, NEW in ran.out) == (False, False)
    assert "Nothing changes for Claude Code: the key is asked for when it runs." in ran.out


def test_a_tool_that_is_not_set_up_is_not_said_to_ask(machine: Machine, rotate: Rotate) -> None:
    for name in (".claude/settings.json", ".codex/config.toml"):
        machine.write(name, "")
    assert "Nothing changes for" not in rotate(NEW, "--no-ping").out
    machine.toolsync("apply", "--tool", "codex", "--yes", "--no-ping")
    assert "Nothing changes for Codex CLI: the key is asked for when it runs." in rotate(THIRD, "--no-ping").out
    machine.write(".codex/config.toml", "")
    assert "Nothing changes for" not in rotate(NEW, "--no-ping").out


def test_each_tool_is_asked_afterwards_what_it_sends(
    machine: Machine, switch: Home, both: Both, rotate: Rotate
) -> None:
    ran = rotate(NEW, "--json")
    sent = {one["program"]: (one["new_key"], one["status"]) for one in ran.json["data"]["sent"]}
    assert sent == {
        "Claude Code": (None, None),  # its helper is another process, which does not see this test's keyring
        "Cline (vscode)": (True, 200),
        "Cline (cli)": (True, 200),
        "Codex CLI": (True, 200),
        "config.toml": (True, 200),
        "settings.json": (True, 200),
    }
    came = both.came()
    assert [key for _, key in came] == [NEW] * len(came)
    assert len(came) == 5  # three dialects before, and two of them, which files hold the key for, after
    assert ran.json["data"]["asking"] == ["Claude Code"]
    Draft202012Validator(schema("key rotate").data["content"]).validate(ran.json)
    assert ran.json["data"]["left"] == []
    assert keys_in(machine, switch) == {NEW}


def test_there_is_a_way_back_and_forth(machine: Machine, switch: Home, rotate: Rotate) -> None:
    before = contents(machine)
    assert rotate().code == 0
    assert machine.toolsync("key", "rotate", "--back", "--yes").said == (0, "")
    assert (held(machine), keys_in(machine, switch)) == ({"work": KEY, SECOND: NEW}, {KEY})
    stamped = ".cline/data/settings/providers.json"  # says when it was written
    assert contents(machine) | {stamped: b""} == before | {stamped: b""}
    assert machine.toolsync("key", "rotate", "--back", "--yes").said == (0, "")
    assert (held(machine), keys_in(machine, switch)) == ({"work": NEW, FIRST: KEY}, {NEW})


@pytest.mark.usefixtures("switch")
def test_undo_gives_back_what_the_user_had_all_the_same(machine: Machine, both: Both, rotate: Rotate) -> None:
    assert machine.toolsync("undo", "--yes").code == 0
    before = contents(machine)
    assert machine.toolsync("apply", "--yes", *(f"--tool={name}" for name in TOOLS)).code == 0
    assert rotate().code == 0
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert contents(machine) == before
    assert held(machine) == {"work": NEW, FIRST: KEY}
    both.forget()


def test_only_the_last_key_is_kept(machine: Machine, switch: Home, rotate: Rotate) -> None:
    assert (rotate().code, rotate(THIRD).code) == (0, 0)
    assert (held(machine), keys_in(machine, switch)) == ({"work": THIRD, SECOND: NEW}, {THIRD})


def test_the_same_key_again_changes_nothing(machine: Machine, switch: Home, rotate: Rotate) -> None:
    assert rotate().code == 0
    with machine.untouched():
        ran = rotate(NEW, "--json")
    data = ran.json["data"]
    assert (ran.code, data["changed"], data["written"]) == (0, False, 0)
    assert (held(machine), keys_in(machine, switch)) == ({"work": NEW, FIRST: KEY}, {NEW})


def test_an_old_key_that_is_revoked_already_is_no_obstacle(
    machine: Machine, switch: Home, both: Both, rotate: Rotate
) -> None:
    both.keys = {NEW}
    assert rotate().said == (0, "")
    assert keys_in(machine, switch) == {NEW}
    refused = machine.toolsync("key", "rotate", "--back", "--yes")
    assert refused.code == 2
    assert "the gateway does not know this key (401)" in refused.err
    assert "This was asked with the key from before. Nothing was changed: the key in use stays." in refused.err
    assert (held(machine), keys_in(machine, switch)) == ({"work": NEW, FIRST: KEY}, {NEW})


# Nothing changes


def test_a_new_key_that_is_refused_changes_nothing(machine: Machine, switch: Home, both: Both, rotate: Rotate) -> None:
    both.keys = {KEY}
    with machine.untouched():
        ran = rotate()
    assert (ran.code, "This was asked with the new key. Nothing was changed" in ran.err) == (2, True)
    assert "--no-ping" not in ran.err, "it is no way around a key that is none"
    assert (held(machine), keys_in(machine, switch)) == ({"work": KEY}, {KEY})
    assert rotate(NEW, "--no-ping").code == 0


def test_a_new_key_whose_account_is_empty_is_not_led_past_the_question(
    machine: Machine, switch: Home, both: Both, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`key set`, which is said elsewhere, asks no gateway, and keeps no way back."""
    empty = Answer(402, b'{"error": {"message": "insufficient quota"}}')
    monkeypatch.setattr(both, "answer", lambda _request: empty)
    ran = rotate()
    assert (ran.code, "or use another key: run this again with it. `--no-ping`" in ran.err) == (2, True), ran.err
    assert ("key set" in ran.err, keys_in(machine, switch)) == (False, {KEY})


def test_a_file_that_cannot_be_written_at_the_last_moment_leaves_the_key(
    machine: Machine, switch: Home, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = rotating._tried

    def overtaken(rotation: Rotation) -> object:
        (machine.home / TOML).unlink()
        (machine.home / TOML).mkdir()
        return tried(rotation)

    monkeypatch.setattr(rotating, "_tried", overtaken)
    ran = rotate()
    assert (ran.code, ran.err.endswith(" The key in use stays.\n")) == (2, True), ran.err
    assert (held(machine), KEY in machine.read(JSON), NEW in str(switch.everything())) == ({"work": KEY}, True, False)


def test_where_no_gateway_answers_the_way_without_it_is_said(machine: Machine, rotate: Rotate) -> None:
    machine.write(".codex/config.toml", "")
    machine.profile(base_url="http://127.0.0.1:9")
    ran = rotate()
    assert (ran.code, "`--no-ping` replaces the key without asking." in ran.err) == (2, True)
    assert held(machine) == {"work": KEY}


@pytest.mark.parametrize("name", [CODEX, TOML, ".cc-switch/cc-switch.db"])
def test_a_file_that_is_read_only_changes_nothing(machine: Machine, switch: Home, rotate: Rotate, name: str) -> None:
    (machine.home / name).chmod(0o400)
    needs(not os.access(machine.home / name, os.W_OK) or os.getuid() == 0, "modes")
    with machine.untouched():
        ran = rotate()
    assert (ran.code, Path(name).name in ran.err) == (2, True), ran.err
    assert (held(machine), keys_in(machine, switch)) == ({"work": KEY}, {KEY})


class Locking(MemoryVault):
    """A keyring that locks itself at a certain call."""

    def __init__(self, secrets: dict[str, Secret], at: int) -> None:
        super().__init__()
        self._secrets = secrets
        self.calls = 0
        self.at = at

    def _called(self) -> None:
        self.calls += 1
        if self.calls >= self.at:
            raise KeyringLockedError("the keyring is locked")

    def get(self, name: str) -> Secret | None:
        self._called()
        return super().get(name)

    def set(self, name: str, secret: Secret) -> None:
        self._called()
        super().set(name, secret)

    def remove(self, name: str) -> bool:
        self._called()
        return super().remove(name)


def test_a_keyring_that_locks_itself_at_any_moment(machine: Machine, switch: Home, rotate: Rotate) -> None:
    """Whatever the moment: the copies are of one key, the keyring holds both, and the same command ends it."""
    takes("locks the keyring at each of many moments")
    assert isinstance(machine.vault, MemoryVault)
    assert (rotate(THIRD).code, machine.toolsync("key", "rotate", "--back", "--yes").code) == (0, 0)
    unlocked, note = machine.vault._secrets, machine.state / "keys.json"
    kept, noted = dict(unlocked), note.read_bytes()
    machine.vault = counting = Locking(unlocked, 1000)
    assert rotate(NEW, "--no-ping").code == 0
    outcomes: list[str] = []
    for at in sorted({*range(1, counting.calls, thorough(1, 4)), *range(counting.calls - 3, counting.calls + 1)}):
        unlocked.clear()
        unlocked.update(kept)
        note.write_bytes(noted)
        machine.toolsync("apply", "--yes", "--no-ping")
        machine.vault = vault = Locking(unlocked, at)
        ran = rotate(NEW, "--no-ping")
        vault.at = vault.calls + 1000
        (copies,) = keys_in(machine, switch)
        outcomes.append({KEY: "old", NEW: "new"}[copies])
        assert ran.code == {"old": 2, "new": 0}[outcomes[-1]], (at, ran.err)
        assert {KEY, copies} <= set(held(machine).values()), at
        assert rotate(NEW, "--no-ping").code == 0, at
        assert (keys_in(machine, switch), set(held(machine).values())) == ({NEW}, {KEY, NEW}), at
    assert outcomes == sorted(outcomes, reverse=True)
    assert {"old", "new"} == set(outcomes)


WRONG = [
    pytest.param("", "the new key is empty", id="nothing"),
    pytest.param("sk-invented-a b", "the new key has a space at position 14", id="a space"),
    pytest.param("sk-invented-a\nX-Evil: 1", "the new key has a line break at position 14", id="a line break"),
    pytest.param("sk-invented-ключ", "the new key has a character that is not ASCII", id="not ASCII"),
    pytest.param('"sk-invented-a"', "the new key stands in quotation marks", id="in quotation marks"),
    pytest.param("sk-invented-\x1b[31m", "the new key has a control character", id="an escape"),
    pytest.param("Bearer sk-invented-a", "the new key has a space", id="with its scheme"),
]


@pytest.mark.parametrize(("key", "said"), WRONG)
def test_what_is_no_key_changes_nothing(machine: Machine, rotate: Rotate, key: str, said: str) -> None:
    with machine.untouched():
        ran = rotate(key)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert held(machine) == {"work": KEY}


HOSTILE = [
    pytest.param(f"{NEW}\"'`", id="quotes"),
    pytest.param(f"{NEW}$(id)`id`%PATH%", id="what shells fill in"),
    pytest.param(f"{NEW}\\n\\u0041\\", id="escapes"),
    pytest.param(f"{NEW}<key>#;,&|!*", id="what formats use"),
    pytest.param(NEW + "x" * 3000, id="three thousand characters"),
]


@pytest.mark.parametrize("key", HOSTILE)
def test_any_key_that_may_be_one_arrives_as_it_is(
    machine: Machine, switch: Home, both: Both, rotate: Rotate, key: str
) -> None:
    both.keys.add(key)
    ran = rotate(key, "--json")
    assert ran.code == 0, ran.out
    assert {one["new_key"] for one in ran.json["data"]["sent"]} == {None, True}
    assert (key in ran.out, held(machine)["work"]) == (False, key)
    both.keys.add(NEW)
    assert rotate(THIRD).code == 0
    assert keys_in(machine, switch) == {THIRD}


def test_a_key_that_a_tool_would_read_otherwise_is_told(
    machine: Machine, switch: Home, both: Both, rotate: Rotate
) -> None:
    key = f"{NEW}${{HOME}}"
    both.keys.add(key)
    ran = rotate(key)
    assert (ran.code, ran.out.count("takes a part of the key for a variable's name")) == (1, 2), ran.out
    assert keys_in(machine, switch) == {NEW}


ELSEWHERE = [
    pytest.param("env:WORK_KEY", "Set $WORK_KEY to the new key where it is set now", id="variable"),
    pytest.param("command:pass show work", "Replace the key where that command finds it.", id="program"),
    pytest.param("age:/k.age", "`toolsync key set work` replaces it in its file.", id="file"),
    pytest.param("systemd:gw", "Replace the credential 'gw' where the service's unit loads it from", id="service"),
]


@pytest.mark.parametrize(("key", "hint"), ELSEWHERE)
def test_a_key_that_is_kept_elsewhere_is_replaced_there(machine: Machine, rotate: Rotate, key: str, hint: str) -> None:
    machine.profile(key=key)
    with machine.untouched():
        ran = rotate()
    assert (ran.code, f"comes from {key}\n" in ran.err, hint in ran.err) == (2, True, True), ran.err
    assert "Then `toolsync ping -p work` tries it. Revoke the old key after that." in ran.err


def test_only_the_tools_of_its_profile_get_a_key_that_is_kept_elsewhere(machine: Machine, rotate: Rotate) -> None:
    """`apply -p team` alone would set every tool to that profile."""
    machine.profile(SHARED)
    machine.environ["TEAM_KEY"] = THIRD
    assert machine.toolsync("apply", "--yes", "--no-ping", "-p", "team", "-t", "claude-code").code == 0
    ran = rotate(NEW, "team")
    assert "and `toolsync apply -p team --tool claude-code` writes it wherever a copy stands." in ran.err


def test_whose_key_is_missing_is_said_where_another_profile_uses_this_one_too(machine: Machine, rotate: Rotate) -> None:
    machine.profile(SHARED)
    machine.environ["TEAM_KEY"] = THIRD
    assert machine.toolsync("apply", "--yes", "--no-ping", "-p", "team", "-t", "claude-code").code == 0
    del machine.environ["TEAM_KEY"]
    with machine.untouched():
        ran = rotate()
    said = "error: profile 'team' uses keyring:work too, and its own key cannot be had: env:TEAM_KEY: the variable is"
    assert (ran.code, said in ran.err, "Nothing was changed: the key in use stays." in ran.err) == (2, True, True), ran


@pytest.mark.parametrize("also", [("--stdin",), ("--from", "env:NEW_KEY")], ids=lambda also: also[0])
def test_back_and_a_new_key_are_two_things(machine: Machine, also: tuple[str, ...]) -> None:
    with machine.untouched():
        ran = machine.toolsync("key", "rotate", "--back", *also, "--yes")
    assert (ran.code, f"and `{also[0]}` brings another one" in ran.err) == (2, True)


def test_there_may_be_no_key_from_before(machine: Machine) -> None:
    with machine.untouched():
        ran = machine.toolsync("key", "rotate", "--back", "--yes")
    assert (ran.code, "the keyring keeps no key that keyring:work has replaced" in ran.err) == (2, True)
    assert "is not kept" in machine.toolsync("key", "forget", "--yes").out


@pytest.mark.parametrize("source", [NEW, "keyring:", "file:/etc/passwd"])
def test_a_key_on_the_command_line_is_refused_and_not_repeated(machine: Machine, source: str) -> None:
    ran = machine.toolsync("key", "rotate", "--yes", "--from", source)
    assert (ran.code, source in ran.err, held(machine)) == (2, False, {"work": KEY})


def test_nobody_there_to_say_yes_changes_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    with machine.untouched():
        ran = machine.toolsync("key", "rotate", "--stdin")
    assert (ran.code, "nobody is there to say yes" in ran.err, held(machine)) == (2, True, {"work": KEY})


# Where the new key comes from, and who uses it


@pytest.mark.parametrize("kind", ["env", "command"])
def test_the_new_key_may_come_from_elsewhere(machine: Machine, switch: Home, kind: str) -> None:
    machine.environ = {"NEXT_KEY": NEW, "PATH": os.environ["PATH"]}
    source = "env:NEXT_KEY" if kind == "env" else "command:printenv NEXT_KEY"
    ran = machine.toolsync("key", "rotate", "--yes", "--from", source)
    assert (held(machine)["work"], keys_in(machine, switch)) == (NEW, {NEW}), ran.err


SHARED = f"""plaintext = "allow"
tool.config-toml = {{ paths = ["~/service/config.toml"], key_way = "plaintext" }}

[profiles.home]
base_url = "{ADDRESS}"
model = "m"
key = "keyring:work"
plaintext = "allow"
tool.settings-json = {{ paths = ["~/service/settings.json"], key_way = "plaintext" }}

[profiles.team]
base_url = "{ADDRESS}"
model = "m"
key = "env:TEAM_KEY"
plaintext = "allow"
request.headers = {{ X-Team-Key = "keyring:work" }}
tool.claude-code.key_way = "plaintext"
"""


def test_all_profiles_that_use_the_key_get_the_new_one(machine: Machine, rotate: Rotate) -> None:
    machine.profile(SHARED)
    machine.environ["TEAM_KEY"] = THIRD
    for profile, tool in (("work", "config-toml"), ("home", "settings-json"), ("team", "claude-code")):
        assert machine.toolsync("apply", "--yes", "--no-ping", "-p", profile, "-t", tool).code == 0
    ran = rotate(NEW, "--no-ping", "--json")
    assert ran.json["data"]["profiles"] == ["work", "home", "team"]
    claude = json.loads(machine.read(".claude/settings.json"))["env"]
    assert (NEW in machine.read(TOML), NEW in machine.read(JSON)) == (True, True)
    assert claude["ANTHROPIC_CUSTOM_HEADERS"] == f"X-Team-Key: {NEW}"
    assert claude["ANTHROPIC_AUTH_TOKEN"] == THIRD


def test_only_what_is_in_use_is_asked_about(machine: Machine, both: Both, rotate: Rotate) -> None:
    machine.write(".codex/config.toml", "")
    machine.write(".claude/settings.json", "{}")
    machine.profile(base_url=both.base_url)
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool=claude-code").code == 0
    assert rotate().said == (0, "")
    assert {path for path, _ in both.came()} == {"/api/v1/messages"}


@pytest.mark.usefixtures("switch")
def test_what_a_file_gets_beside_the_key_is_told(machine: Machine, both: Both, rotate: Rotate) -> None:
    more = f"{PROFILE}\n[profiles.work.tool.config-toml.request]\nmax_retries = 9\n"
    machine.profile(more, base_url=both.base_url)
    ran = rotate()
    assert "warning: ~/service/config.toml gets more than the key: api.max_retries\n" in ran.out
    assert (ran.code, ran.out.count("gets more than the key")) == (0, 1)


@pytest.mark.usefixtures("both")
def test_a_copy_that_the_profile_forbids_by_now_is_taken_out(machine: Machine, switch: Home, rotate: Rotate) -> None:
    text = machine.config.read_text(encoding="utf-8").replace('"allow"', '"never"')
    machine.config.write_text(text, encoding="utf-8")
    ran = rotate()
    said = 'Codex CLI: a copy of the key stands in its own file, and the profile says plaintext = "never"'
    assert f"warning: {said}\n    So it is taken out now, and what stood there is given back.\n" in ran.out
    assert ("gets more than the key" in ran.out, keys_in(machine, switch)) == (False, set()), ran.out


# What somebody has deleted since it was applied


@pytest.mark.parametrize("name", [TOML, CLINE])
def test_a_file_that_was_deleted_is_not_made_again(machine: Machine, switch: Home, rotate: Rotate, name: str) -> None:
    (machine.home / name).unlink()
    ran = rotate()
    told = f"warning: ~/{name} was deleted since it was applied, and is not made again\n"
    assert (ran.code, ran.out.count(told), (machine.home / name).exists()) == (0, 1, False), ran.out + ran.err
    assert (keys_in(machine, switch), f"~/{name}" in machine.toolsync("key", "uses").out) == ({NEW}, False)
    assert machine.toolsync("apply", "--yes", *(f"--tool={name}" for name in TOOLS)).code == 0
    assert NEW in machine.read(name)


def test_a_key_that_is_removed_takes_along_the_one_that_it_has_replaced(
    machine: Machine, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotate()
    asked: list[str] = []
    monkeypatch.setattr("toolsync.cli.keys.ask", lambda _session, question, **_: asked.append(question))
    ran = machine.toolsync("key", "remove")
    assert asked == ["Remove keyring:work, which profile 'work' uses as its key, and the key that it has replaced?"]
    assert ran.out.startswith("keyring:work is removed.\nThe key that it has replaced is removed.\n")
    assert machine.kept == set()


def test_nor_is_a_row(machine: Machine, switch: Home, rotate: Rotate) -> None:
    with closing(sqlite3.connect(machine.home / ".cc-switch/cc-switch.db")) as database:
        database.execute("DELETE FROM providers WHERE id = 'toolsync-work' AND app_type = 'codex'")
        database.commit()
    ran = rotate()
    told = "warning: ~/.cc-switch/cc-switch.db#work/codex was deleted since it was applied, and is not made again\n"
    assert (ran.code, ran.out.count(told)) == (0, 1), ran.out + ran.err
    assert (keys_in(machine, switch), NEW in str(switch.everything())) == ({NEW}, False)


def test_a_key_that_was_taken_out_of_a_file_comes_back_and_is_told(
    machine: Machine, switch: Home, rotate: Rotate
) -> None:
    text = json.loads(machine.read(JSON))
    del text["apiKey"]
    machine.write(JSON, json.dumps(text))
    ran = rotate()
    told = f"warning: ~/{JSON}: apiKey was taken out since it was applied, and comes back\n"
    assert (ran.code, ran.out.count(told), keys_in(machine, switch)) == (0, 1, {NEW}), ran.out


def test_another_key_in_the_place_of_a_copy_is_told_and_can_be_had_back(
    machine: Machine, switch: Home, rotate: Rotate
) -> None:
    machine.write(TOML, machine.read(TOML).replace(KEY, THIRD))
    ran = rotate()
    told = f"warning: ~/{TOML}: api.api_key holds another key by now, which gives way\n"
    assert (ran.code, ran.out.count(told), ran.out.count("holds another key")) == (0, 1, 1), ran.out
    assert keys_in(machine, switch) == {NEW}
    assert machine.toolsync("undo", "config-toml", "--yes").code == 0
    assert THIRD in machine.read(TOML)


# What is left of the old key


@pytest.mark.usefixtures("switch")
def test_where_the_old_key_is_left_is_named_and_never_shown(machine: Machine, rotate: Rotate) -> None:
    machine.write(".bashrc", f"alias ll='ls -l'\nexport OPENAI_API_KEY={KEY}\n")
    machine.write(".codex/config.toml.bak", f'key = "{KEY}"\n')
    machine.write(".claude/backups/settings.json.1", f'{{\n"k": "{KEY}"}}\n')
    machine.write(".bash_history", f"curl -H 'Authorization: Bearer {KEY}'\n")
    machine.write(".codex/history.jsonl", json.dumps({"text": base64.b64encode(KEY.encode()).decode()}) + "\n")
    machine.environ["MY_KEY"] = KEY
    ran = rotate(NEW, "--json")
    found = {one["where"]: (one["lines"], one["copy"]) for one in ran.json["data"]["left"]}
    assert found == {
        "$MY_KEY": ([], False),
        "~/.bashrc": ([2], False),
        "~/.codex/config.toml.bak": ([1], True),
        "~/.claude/backups/settings.json.1": ([2], True),
        "~/.bash_history": ([1], True),
        "~/.codex/history.jsonl": ([1], True),
    }
    assert (ran.code, KEY in ran.out) == (1, False)


@pytest.mark.usefixtures("switch")
def test_what_there_was_no_time_to_look_through_is_told(rotate: Rotate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolsync.commands.leaks.leftover._QUICK", Limits(seconds=-1))
    ran = rotate()
    told = re.findall("warning: the old key was not looked for everywhere: .*", ran.out)
    assert (ran.code, len(told), "(codex tool)" in told[0]) == (0, 1, True)


def test_a_tool_whose_settings_are_broken_by_then_is_said_to_be_unknown(machine: Machine, rotate: Rotate) -> None:
    machine.profile()
    machine.write(".claude/settings.json", "{}")
    assert machine.toolsync("apply", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    machine.write(".claude/settings.json", machine.read(".claude/settings.json") + "{")
    ran = rotate(NEW, "--no-ping")
    said = "warning: what Claude Code sends now is not known: ~/.claude/settings.json cannot be read as it stands"
    assert (ran.code, said in ran.out) == (0, True)


def test_who_stops_it_when_the_key_is_replaced_is_told_so(
    machine: Machine, switch: Home, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> Iterator[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr("toolsync.commands.keys.rotating.sent", stopped)
    ran = rotate()
    assert (ran.code, held(machine)["work"], keys_in(machine, switch)) == (130, NEW, {NEW})
    assert "interrupted after keyring:work was replaced" in ran.err
    assert "`toolsync key rotate work --back` goes back" in ran.err


def test_a_placeholder_that_no_gateway_is_asked_about_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("your-api-key"))
    with machine.untouched():
        ran = machine.toolsync("key", "rotate", "--stdin", "--no-ping")
    assert (ran.code, "error: the key is a placeholder, as examples have it\n" in ran.err) == (2, True)


# How long it is kept


@pytest.mark.usefixtures("switch")
def test_it_is_forgotten_when_its_time_is_over_by_the_next_command_that_writes(
    machine: Machine, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rotate(NEW, "--keep-days", "2").code == 0

    class Later(datetime):
        days = 1.9

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            del tz
            return datetime.now(UTC) + timedelta(days=cls.days)

    monkeypatch.setattr("toolsync.session.datetime", Later)
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool=codex").code == 0
    assert FIRST in held(machine)
    Later.days = 2.1
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool=codex").code == 0
    assert held(machine) == {"work": NEW}


@pytest.mark.usefixtures("switch")
def test_it_is_forgotten_at_once_where_nobody_wants_it(machine: Machine, rotate: Rotate) -> None:
    ran = rotate(NEW, "--keep-days", "0", "--json")
    assert (ran.code, ran.json["data"]["kept_until"], held(machine)) == (0, None, {"work": NEW})


@pytest.mark.usefixtures("switch")
def test_forgetting_and_removing_leave_nothing_of_it(machine: Machine, rotate: Rotate) -> None:
    assert rotate().code == 0
    assert "is forgotten" in machine.toolsync("key", "forget", "--yes").out
    assert held(machine) == {"work": NEW}
    assert rotate(THIRD).code == 0
    kept = machine.toolsync("key", "list").out
    assert "the key that keyring:work has replaced is kept until 20" in kept
    assert "`toolsync key rotate keyring:work --back` goes back to it" in kept
    assert machine.toolsync("key", "remove", "--yes").code == 0
    assert held(machine) == {}


def test_no_way_back_is_named_that_there_is_not(machine: Machine, rotate: Rotate) -> None:
    """Where no profile names the key any more, nothing could be rotated."""
    assert rotate(NEW, "--no-ping").code == 0
    machine.toolsync("profile", "remove", "work", "--yes")
    kept = machine.toolsync("key", "list").out
    assert ("--back" in kept, "\n    `toolsync key forget work` forgets it.\n" in kept) == (False, True)
    assert machine.toolsync("key", "forget", "work", "--yes").code == 0


@pytest.mark.usefixtures("switch")
def test_uninstall_tells_of_it_and_takes_it_along(machine: Machine, rotate: Rotate) -> None:
    assert rotate().code == 0
    kept = machine.toolsync("uninstall", "--yes", "--json").json["data"]["left"]
    assert [one["name"] for one in kept if one["kind"] == "key"] == ["keyring:work", f"keyring:{FIRST}"]
    assert machine.toolsync("uninstall", "--yes", "--remove-keys").code == 0
    assert (held(machine), machine.state.exists()) == ({}, False)


def test_a_lost_note_loses_no_way_back(machine: Machine, switch: Home, rotate: Rotate) -> None:
    assert rotate().code == 0
    (machine.state / "keys.json").unlink()
    assert machine.toolsync("key", "rotate", "--back", "--yes").code == 0
    assert (held(machine), keys_in(machine, switch)) == ({"work": KEY, SECOND: NEW}, {KEY})


def test_where_memory_is_lost_the_way_to_the_copies_is_said(machine: Machine, switch: Home, rotate: Rotate) -> None:
    (machine.state / "memory.json").unlink()
    ran = rotate()
    assert (ran.code, "Nothing is remembered of what was applied: `toolsync apply` writes it" in ran.out) == (1, True)
    assert machine.toolsync("apply", "--yes", *(f"--tool={name}" for name in TOOLS)).code == 0
    assert keys_in(machine, switch) == {NEW}


# Who uses it


@pytest.mark.usefixtures("switch")
def test_uses_are_listed_without_a_value(machine: Machine) -> None:
    machine.write(".bashrc", f"export A={KEY}\n")
    ran = machine.toolsync("key", "uses", "--json")
    found = {(one["kind"], one["who"], one["where"], one["path"]) for one in ran.json["data"]["uses"]}
    row = "~/.cc-switch/cc-switch.db#work"
    assert found == {
        ("helper", "Claude Code", "~/.claude/settings.json", "toolsync key print work"),
        ("copy", "Codex CLI", "~/.codex/config.toml", "model_providers.toolsync.experimental_bearer_token"),
        ("copy", "Cline", "~/.cline/data/secrets.json", "openAiApiKey"),
        ("copy", "Cline", "~/.cline/data/settings/providers.json", "providers.openai-compatible.settings.apiKey"),
        ("copy", "config.toml", "~/service/config.toml", "api.api_key"),
        ("copy", "settings.json", "~/service/settings.json", "apiKey"),
        ("row", "CC Switch", f"{row}/codex", "model_providers.toolsync.experimental_bearer_token"),
        ("helper", "CC Switch", f"{row}/claude", "toolsync key print work"),
        ("found", "", "~/.bashrc", "line 1"),
    }
    assert (ran.code, KEY in ran.out, KEY in machine.toolsync("key", "uses").out) == (0, False, False)
    Draft202012Validator(schema("key uses").data["content"]).validate(ran.json)


def test_a_row_asks_as_its_own_tool_does(machine: Machine) -> None:
    furnished(machine)
    machine.profile('[profiles.work.tool.codex]\nkey_way = "env"\n')
    machine.toolsync("apply", "--yes", "--force", "--tool", "cc-switch")
    uses = machine.toolsync("key", "uses", "--json").json["data"]["uses"]
    assert sorted((one["kind"], one["where"]) for one in uses) == [
        ("helper", "~/.cc-switch/cc-switch.db#work/claude"),
        ("variable", "~/.cc-switch/cc-switch.db#work/codex"),
    ]


def test_uses_of_a_key_that_nobody_can_read_are_not_guessed(machine: Machine) -> None:
    machine.vault = MemoryVault()
    ran = machine.toolsync("key", "uses")
    assert (ran.code, "so nobody can tell where else it stands" in ran.out) == (1, True)


def test_run_again_it_names_what_is_left_of_the_key_before(machine: Machine, rotate: Rotate) -> None:
    machine.write(".zshrc", f"export MY_KEY={KEY}\n")
    for ran in (rotate(NEW, "--no-ping"), rotate(NEW, "--no-ping")):
        assert ran.code == 1
        assert "problem: the old key still stands in ~/.zshrc (line 1)\n" in ran.out
    machine.write(".zshrc", "")
    assert rotate(NEW, "--no-ping").code == 0


def test_what_is_left_of_the_key_before_the_old_one_is_named_as_well(machine: Machine, rotate: Rotate) -> None:
    """It is forgotten with this rotation, and nobody would know of it any more."""
    machine.write(".zshrc", f"export MY_KEY={KEY}\n")
    rotate(NEW, "--no-ping")
    ran = rotate(invented("newest"), "--no-ping")
    assert "problem: the key from before the old one still stands in ~/.zshrc (line 1)\n" in ran.out
    assert (ran.code, "once what is named above is mended" in ran.out) == (1, True)
    assert "stands in" not in rotate(invented("newest yet"), "--no-ping").out
    machine.write(".zshrc", "")


def test_a_key_in_a_tools_file_of_variables_is_not_said_to_be_this_shells(machine: Machine, rotate: Rotate) -> None:
    """Vibe reads its own `.env`: no new shell mends that."""
    machine.profile()
    machine.write(".vibe/.env", f"TOOLSYNC_API_KEY={invented('elsewhere')}\n")
    machine.toolsync("apply", "--yes", "--force", "--tool", "mistral-vibe")
    ran = rotate(NEW, "--no-ping")
    assert "problem: Mistral Vibe still sends another key, from dotenv.TOOLSYNC_API_KEY\n" in ran.out
    assert (ran.code, "in this shell" in ran.out) == (1, False)
    assert "`toolsync doctor mistral-vibe` says where that stands." in ran.out
    machine.write(".vibe/.env", "")


def test_a_variable_that_a_file_names_is_said_to_be_this_shells(machine: Machine, rotate: Rotate) -> None:
    """As `apply` advises it, the shell exports the key that was in use when it started."""
    machine.profile('[profiles.work.tool.config-toml]\npaths = ["~/service/config.toml"]\n')
    machine.toolsync("apply", "--yes", "--force", "--tool", "config-toml")
    machine.environ["TOOLSYNC_API_KEY"] = KEY
    ran = rotate(NEW, "--no-ping")
    assert "warning: config.toml reads $TOOLSYNC_API_KEY, which holds another key in this shell\n" in ran.out
    assert "Open a new shell, in which it is set from the keyring anew.\n" in ran.out
    assert "still sends another key" not in ran.out


def test_a_variable_is_not_said_to_be_set_by_anybody(machine: Machine, rotate: Rotate) -> None:
    machine.profile('[profiles.work.tool.config-toml]\npaths = ["~/service/config.toml"]\n')
    machine.toolsync("apply", "--yes", "--force", "--tool", "config-toml")
    said = "$TOOLSYNC_API_KEY: what runs keeps the old key in it; set it anew where you set it. `exec` needs nothing.\n"
    assert said in rotate(NEW, "--no-ping").out
