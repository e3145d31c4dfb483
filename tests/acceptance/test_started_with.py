"""A program that runs with the key which a rotation replaces goes on with it: the rotation names it."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.masking import Secret
from toolsync.process import Process

NEW = invented("started-new")
AGAIN = "it, and start it anew where the new key is set."
ENDS = "ends what it leaves running in the background, which serves new runs too; else end"
HUB, DAEMON = f"`cline hub stop` {ENDS}", f"`codex app-server daemon stop` {ENDS}"
Running = tuple[str, Mapping[str, str] | None, tuple[str, str] | None]
RUNNING: dict[str, Running] = {
    # the program, its variables, and what is said of it
    "with the old key": ("claude", {"ANTHROPIC_AUTH_TOKEN": KEY}, ("Claude Code", f"End {AGAIN}")),
    "in a variable that its settings name": ("codex", {"GW_KEY": KEY}, ("Codex CLI", f"{DAEMON} {AGAIN}")),
    "one that leaves a hub behind": ("cline", {"OPENAI_API_KEY": KEY}, ("Cline (cli)", f"{HUB} {AGAIN}")),
    "in a variable that it never looks at": ("claude", {"OPENAI_API_KEY": KEY}, None),
    "with another key": ("claude", {"ANTHROPIC_AUTH_TOKEN": NEW}, None),
    "not ours to look into": ("claude", None, None),
    "no tool of ours": ("another", {"ANTHROPIC_AUTH_TOKEN": KEY}, None),
}
CODEX = """model_provider = "gw"

[model_providers.gw]
base_url = "https://gw.example/v1"
env_key = "GW_KEY"
"""


@pytest.mark.parametrize("running", RUNNING.values(), ids=RUNNING)
def test_a_rotation_names_what_runs_with_the_old_key(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, running: Running
) -> None:
    name, environ, expected = running
    machine.profile()
    machine.write(".codex/config.toml", CODEX)
    machine.write(".claude/settings.json", "{}")
    assert machine.vault is not None
    machine.vault.set("work", Secret(KEY))
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    machine.processes = (Process(7, frozenset({name}), environ=lambda: environ),)
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    found = [(one["text"], one["hint"]) for one in ran.json["messages"] if "pid" in one["text"]]
    if expected is None:
        assert found == []
    else:
        variable = next(iter(environ or {}))
        text = f"{expected[0]} runs with the old key in ${variable} (pid 7), and goes on with it"
        assert found == [(text, expected[1])]
    assert KEY not in ran.out


def test_what_has_another_way_to_its_key_is_not_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.profile()
    machine.write(".claude/settings.json", "{}")
    assert machine.toolsync("apply", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    environ = {"ANTHROPIC_AUTH_TOKEN": KEY, "HOME": str(machine.home)}
    machine.processes = (Process(7, frozenset({"claude"}), environ=lambda: environ),)
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    assert [one["text"] for one in ran.json["messages"] if "pid" in one["text"]] == []


@pytest.mark.parametrize(("value", "is_named"), [("none", True), (f"none-{NEW}", False)])
def test_a_placeholder_counts_as_a_whole(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, value: str, *, is_named: bool
) -> None:
    machine.profile()
    assert machine.vault is not None
    machine.vault.set("work", Secret("none"))
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    machine.processes = (Process(7, frozenset({"claude"}), environ=lambda: {"ANTHROPIC_AUTH_TOKEN": value}),)
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    assert any("pid 7" in one["text"] for one in ran.json["messages"]) == is_named
