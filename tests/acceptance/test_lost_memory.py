"""A memory that cannot be read stops what would write over it; a person may have it set aside, and apply goes on."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.machine import Machine
from toolsync import transaction

CODEX = ".codex/config.toml"
APPLY = ("apply", "--yes", "--no-ping")
ANEW = (*APPLY, "--new-memory")


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Codex, applied."""
    machine.write(CODEX, '# mine\nmodel = "gpt-5"\n')
    assert machine.toolsync(*APPLY).code == 0
    return machine


def test_it_is_small_and_its_owners_alone(applied: Machine) -> None:
    memory = applied.state / "memory.json"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (memory, applied.state)] == [0o600, 0o700]
    assert len(memory.read_bytes()) < 8192


def _huge(memory: Path) -> None:
    os.truncate(memory, 200 * 2**20)


def _folder(memory: Path) -> None:
    memory.unlink()
    memory.mkdir()


def _pipe(memory: Path) -> None:
    memory.unlink()
    os.mkfifo(memory)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "torn": lambda memory: os.truncate(memory, 99),
    "empty": lambda memory: os.truncate(memory, 0),
    "no memory": lambda memory: memory.write_text("{}"),
    "200 MiB": _huge,
    "folder": _folder,
    "pipe": _pipe,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_it_is_refused_then_set_aside_when_a_person_says_so(applied: Machine, damage: Callable[[Path], object]) -> None:
    memory, before = applied.state / "memory.json", applied.read(CODEX)
    damage(memory)
    status = memory.lstat()
    for words in (APPLY, ("undo", "--yes"), ("uninstall", "--yes"), ("status",), ("diff",)):
        ran = applied.toolsync(*words)
        assert ran.code == 2
        assert ran.err.startswith("error: ~/.local/state/toolsync/memory.json")
        assert "hint: `toolsync apply --new-memory` sets it aside and begins anew; what was applied before" in ran.err
    assert (memory.lstat().st_ino, memory.lstat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    ran = applied.toolsync(*ANEW)
    aside = "~/.local/state/toolsync/memory.json.damaged"
    said = f"warning: what was remembered lies in {aside} now: what stands in the files already counts as yours\n"
    assert (ran.code, ran.out.count(said)) == (0, 1)
    assert memory.with_name("memory.json.damaged").lstat().st_ino == status.st_ino
    assert applied.read(CODEX) == before
    assert applied.toolsync("status").code == 0
    again = applied.toolsync(*ANEW)
    assert (again.code, aside in again.out) == (0, False)


def test_one_that_can_be_read_stays(applied: Machine) -> None:
    with applied.untouched():
        assert applied.toolsync(*ANEW).said == (0, "")
    assert applied.toolsync("undo", "--yes").said == (0, "")
    assert applied.read(CODEX) == '# mine\nmodel = "gpt-5"\n'


def test_what_was_interrupted_is_ended_first(applied: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that was torn while a change waited for its end."""
    before = applied.read(CODEX)
    applied.write(CODEX, before.replace("some-model", "another"))
    with monkeypatch.context() as patch:
        patch.setattr(transaction, "forward", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        child = os.fork()
        if child == 0:
            applied.toolsync(*APPLY)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    memory = applied.state / "memory.json"
    os.truncate(memory, 99)
    ran = applied.toolsync(*ANEW)
    assert (ran.code, applied.read(CODEX)) == (0, before)
    assert ran.out.count("warning: a change that was interrupted is finished now\n") == 1
    assert ran.out.count("warning: what was remembered lies in ") == 1
    assert not list(applied.home.rglob("*.tmp"))


def test_one_of_a_newer_toolsync_stays(applied: Machine) -> None:
    memory = applied.state / "memory.json"
    memory.write_text(json.dumps({"version": 99}))
    with applied.untouched():
        ran = applied.toolsync(*ANEW)
    said = "~/.local/state/toolsync/memory.json: a newer toolsync wrote it"
    assert ran.said == (2, f"error: {said}\n  hint: Update toolsync, and run the command again.\n")
