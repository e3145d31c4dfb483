"""An apply with rows in it, killed: after the next command that writes, rows, files and memory are all old or new."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import Machine
from tests.acceptance.switch import APPLY, CLAUDE, CODEX, DATABASE, contents, furnished, models, settings
from tests.conftest import sampled
from tests.store.cc_switch import ROW, Home
from tests.transaction.test_faults import dies, nothing, steps
from toolsync.store import Moment
from toolsync.store.cc_switch import CcSwitch

RECOVER = (*APPLY, "--tool", "config-toml")
"""Of a profile that names no file for it: this writes nothing of its own."""


@pytest.fixture
def switch(machine: Machine) -> Home:
    return furnished(machine)


def test_killed_at_any_step(machine: Machine, switch: Home) -> None:
    before, home = switch.everything(), contents(machine)
    shutil.copytree(machine.home, machine.place / "kept", symlinks=True)
    with steps(nothing) as made:
        assert machine.toolsync(*APPLY).code == 0
    outcomes = []
    moving = ("exchange", "place", "replace", "unlink", "rmdir")
    for at in sampled([at for at, call in enumerate(made, 1) if call in moving]):
        shutil.rmtree(machine.home)
        shutil.copytree(machine.place / "kept", machine.home, symlinks=True)
        assert dies(machine.home, at, lambda _home: machine.toolsync(*APPLY)), at
        outcomes.append(_recovered(machine, switch))
        assert machine.toolsync("undo", "--yes").code == 0, at
        assert (switch.everything(), contents(machine)) == (before, home), at
    assert outcomes == sorted(outcomes, reverse=True)  # old, until the rows are committed
    assert set(outcomes) == {"old", "new"}


def _recovered(machine: Machine, switch: Home) -> str:
    """What the next writing command makes of it; before that, `status` says that something is due, if it is."""
    is_due = (machine.state / "journal.json").exists()
    assert ("an apply was interrupted" in machine.toolsync("status").out) == is_due
    assert machine.toolsync(*RECOVER).code == 2
    assert "an apply was interrupted" not in machine.toolsync("status").out
    assert not [name for name in contents(machine) if "toolsync" in name]
    rows = [settings(switch, app) is not None for app in ("claude", "codex")]
    files = ["ANTHROPIC_BASE_URL" in machine.read(CLAUDE), "toolsync" in machine.read(CODEX)]
    (is_new,) = {*rows, *files, (machine.state / "memory.json").exists()}
    return "new" if is_new else "old"


def _killed(machine: Machine, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """An apply that is killed where the rows are committed."""
    write = CcSwitch.write

    def dying(store: CcSwitch, path: Path, parts: Any, seen: Moment, prepared: Callable[[str], None]) -> None:
        def almost(new: str) -> None:
            prepared(new)
            if moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)

        write(store, path, parts, seen, almost)
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(CcSwitch, "write", dying)
        child = os.fork()
        if child == 0:
            machine.toolsync(*APPLY)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize(("moment", "outcome"), [("before", "old"), ("after", "new")])
def test_killed_at_the_commit(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch, moment: str, outcome: str
) -> None:
    _killed(machine, monkeypatch, moment)
    assert _recovered(machine, switch) == outcome
    assert machine.toolsync(*APPLY).code == 0
    assert machine.toolsync("status").code == 0


@pytest.mark.parametrize(("moment", "mode"), [("before", 0o644), ("after", 0o600)])
def test_the_database_is_as_shut_as_its_rows_ask_for(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch, moment: str, mode: int
) -> None:
    """It is shut before a key goes in: where none went in after all, it is opened again."""
    switch.database.chmod(0o644)
    (machine.home / ".config/opencode").mkdir(parents=True)
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.cc-switch-opencode]\nkey_way = "plaintext"\n')
    _killed(machine, monkeypatch, moment)
    assert switch.database.stat().st_mode & 0o777 == 0o600
    assert machine.toolsync(*RECOVER).code == 2
    assert switch.database.stat().st_mode & 0o777 == mode


def test_rows_that_cc_switch_writes_before_the_recovery_are_planned_anew(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed(machine, monkeypatch, "after")
    switch.run("UPDATE providers SET settings_config = '{}' WHERE id = ? AND app_type = 'claude'", ROW)
    assert machine.toolsync(*RECOVER).code == 2
    assert "ANTHROPIC_BASE_URL" not in machine.read(CLAUDE)
    assert machine.toolsync(*APPLY).code == 0
    assert settings(switch, "claude")["env"]["ANTHROPIC_MODEL"] == "some-model"
    assert "ANTHROPIC_BASE_URL" in machine.read(CLAUDE)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_database_that_is_gone_holds_nothing_up(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """CC Switch was removed after the crash."""
    before = {name: machine.read(name) for name in (CLAUDE, CODEX)}
    _killed(machine, monkeypatch, moment)
    shutil.rmtree(switch.database.parent)
    ran = machine.toolsync("undo", "--yes")
    said = "its rows are gone, or were changed by their own program since; they stay as they are"
    assert (ran.code, ran.err, f"warning: {said}\n" in ran.out) == (0, "", True), ran.out
    assert {name: machine.read(name) for name in before} == before
    assert "an apply was interrupted" not in machine.toolsync("status").out


def test_a_database_that_cannot_be_read_leaves_the_recovery_for_later(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    _killed(machine, monkeypatch, "after")
    whole = switch.database.read_bytes()
    switch.database.write_bytes(b"no database, but long" * 99)
    ran = machine.toolsync(*RECOVER)
    text = f"error: the change could not be ended: ~/{DATABASE}: is not an SQLite database\n"
    assert (ran.code, ran.err.startswith(text)) == (2, True), ran.err
    switch.database.write_bytes(whole)
    assert _recovered(machine, switch) == "new"


@pytest.mark.parametrize(
    ("moment", "became"), [("before", "taken back now: all is as it was before it"), ("after", "finished now")]
)
def test_what_became_of_it_is_said_once(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch, moment: str, became: str
) -> None:
    _killed(machine, monkeypatch, moment)
    said = f"warning: a change that was interrupted is {became}\n"
    assert machine.toolsync("undo", "--yes").out.count(said) == 1
    assert "interrupted" not in machine.toolsync("undo", "--yes").out
    assert switch.row("claude") is None


def test_a_change_of_the_profile_ends_it_too(machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    _killed(machine, monkeypatch, "after")
    assert machine.toolsync("profile", "edit", "--set", "model=another").said == (0, "")
    assert "an apply was interrupted" not in machine.toolsync("status").out
    assert models(switch) == ("some-model", "some-model")
    assert "some-model" in machine.read(CLAUDE)


def test_what_another_program_changed_since_is_named(
    machine: Machine, switch: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    del switch
    _killed(machine, monkeypatch, "after")
    machine.write(CLAUDE, '{"theirs": 1}')
    said = "~/.claude/settings.json was changed by another program since, and stays as it is"
    assert said in machine.toolsync("apply", "--yes", "--no-ping").out
    assert '"theirs": 1' in machine.read(CLAUDE)
