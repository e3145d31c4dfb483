"""A file in the middle of being written by its own tool: read again, before anybody calls it broken or empty."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.acceptance.machine import Machine
from toolsync import disk

pytestmark = pytest.mark.settling

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"
THEIRS = {CLAUDE: '{\n  "env": { "EDITOR": "vim" },\n  "model": "x"\n}\n', CODEX: 'model = "x"\n[a]\nb = 1\n'}
APPLY = ("apply", "--yes", "--no-ping")


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, each time: no clock runs, so what was written is as fresh however slow the machine is."""
    kept: list[float] = []
    monkeypatch.setattr(time, "sleep", kept.append)
    monkeypatch.setattr(disk, "_FRESH_SECONDS", 600)
    return kept


@contextmanager
def halfway(machine: Machine, name: str, share: float) -> Iterator[None]:
    """A writer that has emptied the file and written a share of it; the rest comes while it is waited a second time."""
    whole = THEIRS[name].encode()
    first = whole[: int(len(whole) * share)]
    path = machine.write(name, first)
    pauses: list[float] = []

    def rest(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            with path.open("ab") as file:
                file.write(whole[len(first) :])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", rest)
        yield
    assert len(pauses) >= 2


@pytest.mark.parametrize("share", [0, 0.6], ids=["emptied", "begun"])
@pytest.mark.parametrize("name", [CLAUDE, CODEX])
def test_what_is_being_written_is_waited_for(machine: Machine, name: str, share: float) -> None:
    with halfway(machine, name, share):
        ran = machine.toolsync(*APPLY)
    assert ran.said == (0, "")
    assert "some-model" in machine.read(name)
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert machine.read(name) == THEIRS[name]


def test_status_waits_too(machine: Machine) -> None:
    machine.write(CLAUDE, THEIRS[CLAUDE])
    assert machine.toolsync(*APPLY).code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(THEIRS, CLAUDE, machine.read(CLAUDE))
        with halfway(machine, CLAUDE, 0.6):
            assert machine.toolsync("status").said == (0, "")


def test_a_login_that_is_being_rewritten_is_seen(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code rewrites `~/.claude.json` in place: a key in it must not go unseen for that."""
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    machine.write(CLAUDE, "{}\n")
    monkeypatch.setitem(THEIRS, ".claude.json", '{ "numStartups": 1, "primaryApiKey": "theirs, and long" }\n')
    with halfway(machine, ".claude.json", 0.6):
        ran = machine.toolsync(*APPLY)
    assert (ran.code, ran.err.startswith("error: Claude Code would send")) == (2, True), ran.err


def test_what_stays_half_written_is_broken(machine: Machine, pauses: list[float]) -> None:
    machine.write(CLAUDE, THEIRS[CLAUDE][:-3])
    with machine.untouched():
        ran = machine.toolsync(*APPLY)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: ~/.claude/settings.json:1:1: unclosed '{'")
    assert 0 < sum(pauses) < 3


def test_what_has_long_been_broken_is_not_waited_for(machine: Machine, pauses: list[float]) -> None:
    os.utime(machine.write(CLAUDE, "{"), (1, 1))
    os.utime(machine.write(CODEX, ""), (1, 1))
    assert (machine.toolsync(*APPLY).code, pauses) == (2, [])
