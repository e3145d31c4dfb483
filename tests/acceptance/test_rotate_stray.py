"""`key rotate` where copies of the key are not where the profile says, or come while it is at work."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine, Ran
from tests.acceptance.test_rotate import CLINE, JSON, NEW, PROFILE, TOML, Rotate, both, held, keys_in, rotate, switch
from tests.keys import invented
from tests.store.cc_switch import Home
from toolsync.cli import asking
from toolsync.commands.keys import rotating
from toolsync.commands.keys.rotate import Rotation
from toolsync.masking import Secret

__all__ = ["both", "rotate", "switch"]

OTHER = invented("other")
FILES = "~/.codex/config.toml (codex), ~/service/config.toml (config-toml), ~/service/settings.json (settings-json)"


# Copies of which no profile that uses the key knows.


def test_a_profile_that_was_renamed_by_hand_leaves_no_tool_on_the_old_key(
    machine: Machine, switch: Home, rotate: Rotate
) -> None:
    text = machine.config.read_text(encoding="utf-8").replace('"work"\n\n', '"main"\n\n')
    machine.config.write_text(text.replace("profiles.work", "profiles.main"), encoding="utf-8")
    with machine.untouched():
        ran = rotate()
    assert (ran.code, f"{FILES}; nothing was changed" in ran.err, held(machine)) == (2, True, {"work": KEY}), ran.err
    tools = ("cc-switch", "cline", "codex", "config-toml", "settings-json")
    words = [word for tool in tools for word in ("--tool", tool)]
    assert f"`toolsync apply {' '.join(words)}` first, then this again." in ran.err
    assert machine.toolsync("apply", *words, "--yes").code == 0
    assert (rotate().code, keys_in(machine, switch)) == (0, {NEW})


def test_a_profile_that_was_renamed_by_toolsync_keeps_its_copies_and_the_consent_to_them(
    machine: Machine, both: Both, rotate: Rotate
) -> None:
    machine.profile(PROFILE.replace('"allow"', '"ask"', 1), base_url=both.base_url)
    tools = ("--tool=config-toml", "--tool=settings-json")
    assert machine.toolsync("apply", "--yes", "--allow-plaintext", *tools).code == 0
    assert machine.toolsync("profile", "rename", "work", "main").code == 0
    ran = rotate()
    assert (ran.code, ran.err) == (0, ""), ran.out
    assert (NEW in machine.read(TOML), NEW in machine.read(JSON)) == (True, True)
    assert machine.toolsync("status").code == 0


@pytest.mark.parametrize("way_out", ["undo", "apply"])
def test_a_tool_that_was_switched_off_since_is_not_left_on_the_old_key(
    machine: Machine, switch: Home, rotate: Rotate, way_out: str
) -> None:
    text = machine.config.read_text(encoding="utf-8")
    machine.config.write_text(
        text.replace("tool.config-toml]\n", "tool.config-toml]\nenabled = false\n"), encoding="utf-8"
    )
    with machine.untouched():
        ran = rotate()
    assert (ran.code, "~/service/config.toml (config-toml); nothing was changed" in ran.err) == (2, True), ran.err
    assert "`toolsync undo config-toml` first, then this again." in ran.err
    assert (held(machine), keys_in(machine, switch)) == ({"work": KEY}, {KEY})
    assert machine.toolsync(*({"undo": ("undo", "config-toml"), "apply": ("apply",)}[way_out]), "--yes").code == 0
    assert (rotate().code, keys_in(machine, switch)) == (0, {NEW})


def test_a_copy_within_something_longer_counts(machine: Machine, both: Both, rotate: Rotate) -> None:
    """Claude Code has its headers as lines of one text."""
    fields = f'base_url = "{both.base_url}"\nmodel = "m"\nkey = "env:TEAM_KEY"\nplaintext = "allow"\n'
    header = 'request.headers = { X-Team-Key = "keyring:work", X-Other = "1" }\n'
    machine.profile(f"\n[profiles.team]\n{fields}{header}", base_url=both.base_url)
    machine.environ["TEAM_KEY"] = OTHER
    assert machine.toolsync("apply", "--yes", "--no-ping", "-p", "team", "-t", "claude-code").code == 0
    text = machine.config.read_text(encoding="utf-8")
    machine.config.write_text(text.replace("profiles.team", "profiles.group"), encoding="utf-8")
    ran = rotate(NEW, "--no-ping")
    assert (ran.code, "~/.claude/settings.json (claude-code); nothing was changed" in ran.err) == (2, True), ran.err


def test_a_profile_that_takes_another_key_since_is_applied_first(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.vault.set("other", Secret(OTHER))
    text = machine.config.read_text(encoding="utf-8").replace("keyring:work", "keyring:other")
    more = '\n[profiles.b]\nbase_url = "https://b.example"\nmodel = "m"\nkey = "keyring:work"\n'
    machine.config.write_text(text + more, encoding="utf-8")

    def turned() -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
        return machine.toolsync("key", "rotate", "b", "--stdin", "--yes", "--no-ping")

    ran = turned()
    assert (ran.code, "`toolsync apply -p work --tool cc-switch --tool cline" in ran.err) == (2, True)
    assert machine.toolsync("apply", "-p", "work", "--yes", "--no-ping").code == 0
    assert (turned().code, keys_in(machine, switch), held(machine)["work"]) == (0, set(), NEW)


@pytest.mark.parametrize("is_removed", [False, True], ids=["undone", "removed by hand"])
def test_a_tool_whose_template_is_gone_is_given_back_first(
    machine: Machine, both: Both, rotate: Rotate, *, is_removed: bool
) -> None:
    folder = machine.config.parent / "tools/mine"
    folder.mkdir(parents=True)
    table = '[key]\nplaintext = "<key>"\n[[file]]\noverlay = "mine.json"\npath = "~/mine.json"\n'
    (folder / "tool.toml").write_text(f'title = "Mine"\nspeaks = ["openai-chat"]\n{table}', encoding="utf-8")
    (folder / "mine.json").write_text('{"url": "<openai_url>", "key": "<key_plaintext>"}\n', encoding="utf-8")
    machine.profile('plaintext = "allow"\n', base_url=both.base_url)
    assert machine.toolsync("apply", "--yes", "--tool=mine").code == 0
    shutil.rmtree(folder)
    assert "~/mine.json" in machine.toolsync("check").out
    assert "~/mine.json" in machine.toolsync("key", "uses").out
    ran = rotate()
    assert (ran.code, "`toolsync undo mine` first, then this again." in ran.err) == (2, True), ran.err
    if not is_removed:
        assert machine.toolsync("undo", "mine", "--yes").code == 0
    else:
        (machine.home / "mine.json").unlink()
    assert (rotate().code, held(machine)["work"]) == (0, NEW)


def test_a_tool_that_sends_the_key_in_a_header_only_is_not_said_to_send_another(
    machine: Machine, both: Both, rotate: Rotate
) -> None:
    """Its own key is another one, as it should be."""
    team = f'[profiles.team]\nbase_url = "{both.base_url}"\nmodel = "m"\nkey = "env:TEAM_KEY"\nplaintext = "allow"\n'
    header = 'request.headers = { X-Team-Key = "keyring:work" }\n'
    machine.profile(f"\n{team}{header}", base_url=both.base_url)
    machine.write(".cline/data/globalState.json", "{}")
    machine.environ["TEAM_KEY"] = OTHER
    assert machine.toolsync("apply", "--yes", "--no-ping", "-p", "team", "-t", "cline").code == 0
    ran = rotate(NEW, "--no-ping")
    assert (ran.code, "another key" in ran.out) == (0, False), ran.out
    providers = json.loads(machine.read(".cline/data/settings/providers.json"))["providers"]["openai-compatible"]
    assert providers["settings"]["headers"] == {"X-Team-Key": NEW}
    assert providers["settings"]["apiKey"] == OTHER


@pytest.mark.parametrize("called", ["team", "keyring:team"])
def test_the_key_of_a_header_is_rotated_by_its_own_name(
    machine: Machine, both: Both, rotate: Rotate, called: str
) -> None:
    machine.vault.set("team", Secret(OTHER))
    machine.profile('plaintext = "allow"\nrequest.headers = { X-Team = "keyring:team" }\n', base_url=both.base_url)
    machine.write(".cline/data/globalState.json", "{}")
    assert machine.toolsync("apply", "--yes", "--tool=cline").code == 0
    ran = rotate(NEW, called)
    assert (ran.code, held(machine)["team"], held(machine)["work"]) == (0, NEW, KEY), ran.out + ran.err
    assert json.loads(machine.read(".cline/data/globalState.json"))["openAiHeaders"] == {"X-Team": NEW}
    assert "`toolsync key rotate keyring:team --back` goes back" in ran.out
    assert "`toolsync key rotate keyring:team --back`" in machine.toolsync("key", "list").out
    assert machine.toolsync("key", "rotate", called, "--back", "--yes").code == 0
    assert (held(machine)["team"], json.loads(machine.read(CLINE))["openAiApiKey"]) == (OTHER, KEY)


# Somebody else at the same time.


@dataclass
class Meanwhile:
    """Another toolsync, whose command runs when the first one asks its question; once."""

    command: Callable[[], Ran]
    is_begun: bool = False
    codes: list[int] = field(default_factory=list)

    def __call__(self, *_arguments: object, **_named: object) -> None:
        if not self.is_begun:
            self.is_begun = True
            self.codes.append(self.command().code)


@pytest.fixture
def ready(machine: Machine, both: Both) -> Machine:
    """A machine with three tools that want a copy."""
    machine.write(".cline/data/globalState.json", "{}")
    machine.profile(PROFILE, base_url=both.base_url)
    return machine


@pytest.mark.parametrize("before", [(), ("--tool=config-toml",)], ids=["no copy yet", "a copy elsewhere"])
def test_an_apply_that_was_planned_before_a_rotation_writes_the_new_key(
    ready: Machine, rotate: Rotate, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    if before:
        assert ready.toolsync("apply", "--yes", *before).code == 0
    meanwhile = Meanwhile(rotate)
    monkeypatch.setattr(asking, "ask", meanwhile)
    ran = ready.toolsync("apply", "--yes", "--tool=cline", "--tool=codex")
    assert (ran.code, meanwhile.codes, "planning again" in ran.err) == (0, [0], True), ran.err
    contents = "".join(ready.contents().values())
    assert (KEY in contents, json.loads(ready.read(CLINE))["openAiApiKey"]) == (False, NEW)


def test_a_rotation_that_was_planned_before_an_apply_rewrites_its_copy(
    ready: Machine, rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile = Meanwhile(lambda: ready.toolsync("apply", "--yes", "--no-ping", "--tool=config-toml"))
    tried = rotating._tried

    def overtaken(rotation: Rotation) -> object:
        meanwhile()
        return tried(rotation)

    monkeypatch.setattr(rotating, "_tried", overtaken)
    ran = rotate()
    assert (ran.code, meanwhile.codes, "planning again" in ran.err) == (0, [0], True), ran.err
    assert (NEW in ready.read(TOML), KEY in ready.read(TOML), held(ready)["work"]) == (True, False, NEW)
