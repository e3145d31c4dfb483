"""A program that runs with the key which a rotation replaces goes on with it: the rotation names it."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.masking import Secret
from toolsync.process import Process

NEW = invented("started-new")
AGAIN = "it, and start it anew where the new key is set."
ENDS = "ends what it leaves running in the background, which serves new runs too; else end"
AUTH = {"ANTHROPIC_AUTH_TOKEN": KEY}
AGENT = {"AGENT_KEY": KEY}
HUB, DAEMON = f"`cline hub stop` {ENDS}", f"`codex app-server daemon stop` {ENDS}"


def other(pid: int, name: str, parent: int = 1, environ: Mapping[str, str] | None = AGENT) -> Process:
    return Process(pid, frozenset({name}), parent, environ=lambda: environ, called=name)


Running = tuple[str, Mapping[str, str] | None, tuple[str, str] | None]
RUNNING: dict[str, Running] = {
    # the program, its variables, and what is said of it
    "with the old key": ("claude", {"ANTHROPIC_AUTH_TOKEN": KEY}, ("Claude Code", f"End {AGAIN}")),
    "in a variable that its settings name": ("codex", {"GW_KEY": KEY}, ("Codex CLI", f"{DAEMON} {AGAIN}")),
    "one that leaves a hub behind": ("cline", {"OPENAI_API_KEY": KEY}, ("Cline (cli)", f"{HUB} {AGAIN}")),
    "in a variable that it never looks at": ("claude", {"OPENAI_API_KEY": KEY}, None),
    "with another key": ("claude", {"ANTHROPIC_AUTH_TOKEN": NEW}, None),
    "not ours to look into": ("claude", None, None),
}
OTHERS: dict[str, tuple[Sequence[Process], str | None]] = {
    "one": ([other(7, "python3")], "python3 in $AGENT_KEY (pid 7)"),
    "without variables of its own": ([other(7, "python3", environ=None)], None),
    "with another key": ([other(7, "python3", environ={"AGENT_KEY": NEW})], None),
    "of another home": ([other(7, "python3", environ={"AGENT_KEY": KEY, "HOME": "/nowhere"})], None),
    "and what it started": (
        [other(7, "sh"), other(8, "cat", 7), other(9, "sleep", 8, environ={}), other(10, "node", 9), other(11, "vi")],
        "sh in $AGENT_KEY (pid 7), vi in $AGENT_KEY (pid 11)",
    ),
    "what a tool started": ([other(7, "codex"), other(8, "sh", 7)], None),
    "what an editor started": ([other(7, "code", environ=None), other(8, "sh", 7)], None),
    "toolsync itself": ([other(os.getpid(), "python3")], None),
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


@pytest.mark.parametrize(("processes", "expected"), OTHERS.values(), ids=OTHERS)
def test_a_rotation_names_other_programs_that_were_started_with_the_old_key(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, processes: Sequence[Process], expected: str | None
) -> None:
    machine.profile()
    assert machine.vault is not None
    machine.vault.set("work", Secret(KEY))
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    machine.processes = tuple(processes)
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    said = [one["text"] for one in ran.json["messages"] if "pid" in one["text"]]
    assert said == ([] if expected is None else [f"other programs were started with the old key: {expected}"])
    assert KEY not in ran.out


@pytest.mark.parametrize(("folder", "is_named"), [("has", False), ("has/inner", True), ("lacks", True)])
def test_what_runs_in_another_folder_is_looked_at_there(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, folder: str, *, is_named: bool
) -> None:
    """The folder's own settings set another key, which comes before the one that the program was started with."""
    machine.profile()
    assert machine.vault is not None
    machine.vault.set("work", Secret(KEY))
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    machine.write("has/.claude/settings.local.json", '{"env": {"ANTHROPIC_AUTH_TOKEN": "another-of-this-project"}}')
    (machine.home / folder).mkdir(exist_ok=True)
    one = Process(7, frozenset({"claude"}), environ=lambda: AUTH, folder=lambda: machine.home / folder)
    machine.processes = (one,)
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes", "--no-ping", "--json")
    assert any("pid 7" in one["text"] for one in ran.json["messages"]) == is_named


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
