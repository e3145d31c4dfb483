"""Others write at the same time: another toolsync, and a tool that rewrites its settings every few milliseconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import thorough
from toolsync import transaction

CLAUDE, CODEX, SERVICE = ".claude/settings.json", ".codex/config.toml", "service/settings.json"
BEFORE = {
    CLAUDE: '{\n  "env": { "EDITOR": "vim" }\n}\n',
    CODEX: '# mine\nmodel = "gpt-5"\n',
    SERVICE: '{\n  "count": 0\n}\n',
}
PATHS = '\n[profiles.work.tool.settings-json]\npaths = ["~/service/settings.json"]\n'
OTHER = '\n[profiles.other]\nbase_url = "https://other.example"\nmodel = "another"\nkey = "keyring:work"\n'
APPLY = ("apply", "--yes", "--no-ping")


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """Three tools, and two profiles for them."""
    for name, text in BEFORE.items():
        machine.write(name, text)
    machine.profile(PATHS + OTHER + PATHS.replace("work", "other"))
    return machine


def state(machine: Machine) -> dict[str, str]:
    return {name: machine.read(name) for name in BEFORE}


# Another toolsync.


def at_once(machine: Machine, *commands: tuple[str, ...]) -> list[int]:
    """Each command in a child of its own, all let go in the same instant; their exit codes."""
    gate, starts = os.pipe()
    children = []
    for command in commands:
        child = os.fork()
        if child == 0:
            os.close(starts)
            os.read(gate, 1)
            os._exit(machine.toolsync(*command).code)
        children.append(child)
    os.close(gate)
    os.close(starts)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def test_of_two_applies_at_once_one_is_first_and_the_other_wins(ready: Machine) -> None:
    whole = {}
    for profile in ("other", "work"):
        assert ready.toolsync(*APPLY, "--profile", profile).code == 0
        whole[profile] = state(ready)
    for _ in range(thorough(50, 8)):
        commands = [(*APPLY, "--profile", profile) for profile in whole]
        assert at_once(ready, *commands) == [0, 0]
        winner = ready.memory["profile"]
        assert state(ready) == whole[winner]
        assert ready.toolsync("status", "--profile", winner).code == 0
    assert ready.toolsync("undo", "--yes").code == 0
    assert (state(ready), ready.kept) == (BEFORE, {"work"})
    assert not list(ready.home.rglob("*.tmp"))


def test_of_an_apply_and_an_undo_at_once_neither_leaves_half(ready: Machine) -> None:
    assert ready.toolsync(*APPLY).code == 0
    applied = state(ready)
    for _ in range(thorough(25, 6)):
        assert at_once(ready, APPLY, ("undo", "--yes")) == [0, 0]
        assert state(ready) == (applied if ready.memory["files"] else BEFORE)
    assert not list(ready.home.rglob("*.tmp"))


# A tool of the user's.

WRITER = """
import json, os, sys, threading, time
path, how = sys.argv[1:]
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
count, lost = 0, []
print("begun", flush=True)
while not stop.wait(0.005):
    data = json.load(open(path))
    if data["count"] != count:
        lost.append(f"{data['count']} for {count}")
    count += 1
    text = json.dumps({**data, "count": count}, indent=2)
    is_by_rename = how == "by rename" or (how == "by turns" and count % 2)
    with open(path + ".theirs" if is_by_rename else path, "w") as file:
        file.write(text)
    if is_by_rename:
        os.replace(path + ".theirs", path)
print(json.dumps({"count": count, "lost": lost}))
"""


@contextmanager
def rewriting(machine: Machine, how: str, *, seen: dict[str, Any]) -> Iterator[None]:
    """A program that counts up in the settings of the service; what it has seen is in `seen` at the end."""
    argv = [sys.executable, "-I", "-c", WRITER, str(machine.home / SERVICE), how]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        try:
            yield
        finally:
            out, _ = writer.communicate(timeout=60)
        seen |= json.loads(out)


@pytest.mark.settling  # somebody is writing
@pytest.mark.parametrize("how", ["by rename", "in place"])
def test_of_a_file_that_is_rewritten_all_the_time_nothing_is_lost(ready: Machine, how: str) -> None:
    seen: dict[str, Any] = {}
    outcomes = []
    with rewriting(ready, how, seen=seen):
        for number in range(thorough(100, 10)):
            command = ("undo", "--yes") if number % 2 else APPLY
            ran = ready.toolsync(*command)
            outcomes.append(ran.code)
            assert ran.code == 0 or _is_clear(ran.err), ran.err
    assert seen["lost"] == []
    assert json.loads(ready.read(SERVICE))["count"] == seen["count"]
    assert 0 in outcomes
    assert ready.toolsync(*APPLY).code == 0
    assert ready.toolsync("status").code == 0
    assert ready.toolsync("undo", "--yes").code == 0
    assert json.loads(ready.read(SERVICE)) == {"count": seen["count"]}
    assert {**state(ready), SERVICE: ""} == {**BEFORE, SERVICE: ""}
    assert not list(ready.home.rglob("*.tmp"))


def _is_clear(said: str) -> bool:
    last = [line for line in said.splitlines() if line.startswith("error: ")][-1]
    return last.startswith("error: ~/service/settings.json") and last.endswith("; so it was at each of 3 tries")


def test_a_file_that_changes_under_every_plan_ends_in_a_clear_error(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, tries = transaction.commit, []

    def overtaken(*arguments: Any, **named: Any) -> object:
        tries.append(1)
        ready.write(SERVICE, json.dumps({"count": len(tries)}))
        return commit(*arguments, **named)

    monkeypatch.setattr(transaction, "commit", overtaken)
    ran = ready.toolsync(*APPLY)
    changed = "~/service/settings.json was changed by another program meanwhile"
    assert ran.code == 2
    assert ran.err == (
        f"{changed}; planning again\n{changed}; planning again\n"
        f"error: {changed}; so it was at each of 3 tries\n"
        "  hint: Something keeps writing there: close it for a moment, and run the command again.\n"
    )
    assert state(ready) == {**BEFORE, SERVICE: '{"count": 3}'}


def test_a_file_that_changes_once_is_planned_again(ready: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = transaction.commit
    meddling: list[Callable[[], object]] = [lambda: ready.write(SERVICE, '{"count": 7}')]

    def overtaken(*arguments: Any, **named: Any) -> object:
        if meddling:
            meddling.pop()()
        return commit(*arguments, **named)

    monkeypatch.setattr(transaction, "commit", overtaken)
    ran = ready.toolsync(*APPLY)
    assert ran.said == (0, "~/service/settings.json was changed by another program meanwhile; planning again\n")
    assert json.loads(ready.read(SERVICE))["count"] == 7
    assert ready.toolsync("undo", "--yes").code == 0
    assert state(ready) == {**BEFORE, SERVICE: '{"count": 7}'}
