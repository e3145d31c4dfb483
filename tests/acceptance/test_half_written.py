"""A file in the middle of being written by its own tool: read again, before anybody calls it broken or empty."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.acceptance.machine import Machine

pytestmark = pytest.mark.settling

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"
THEIRS = {CLAUDE: '{\n  "env": { "EDITOR": "vim" },\n  "model": "x"\n}\n', CODEX: 'model = "x"\n[a]\nb = 1\n'}
APPLY = ("apply", "--yes", "--no-ping")


@contextmanager
def halfway(machine: Machine, name: str, share: float, *, rest_after_seconds: float) -> Iterator[None]:
    """A writer that has emptied the file and written a share of it, and writes the rest a moment later."""
    whole = THEIRS[name].encode()
    first = whole[: int(len(whole) * share)]
    path = machine.write(name, first)
    descriptor = os.open(path, os.O_WRONLY)
    os.lseek(descriptor, len(first), os.SEEK_SET)

    def rest() -> None:
        time.sleep(rest_after_seconds)
        os.write(descriptor, whole[len(first) :])

    writer = threading.Thread(target=rest)
    writer.start()
    try:
        yield
    finally:
        writer.join()
        os.close(descriptor)


@pytest.mark.parametrize("share", [0, 0.6], ids=["emptied", "begun"])
@pytest.mark.parametrize("name", [CLAUDE, CODEX])
def test_what_is_being_written_is_waited_for(machine: Machine, name: str, share: float) -> None:
    with halfway(machine, name, share, rest_after_seconds=0.12):
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
        with halfway(machine, CLAUDE, 0.6, rest_after_seconds=0.12):
            assert machine.toolsync("status").said == (0, "")


def test_a_login_that_is_being_rewritten_is_seen(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code rewrites `~/.claude.json` in place: a key in it must not go unseen for that."""
    machine.profile('plaintext = "allow"\n\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    machine.write(CLAUDE, "{}\n")
    monkeypatch.setitem(THEIRS, ".claude.json", '{ "numStartups": 1, "primaryApiKey": "theirs, and long" }\n')
    with halfway(machine, ".claude.json", 0.6, rest_after_seconds=0.12):
        ran = machine.toolsync(*APPLY)
    assert (ran.code, ran.err.startswith("error: Claude Code would send")) == (2, True), ran.err


def test_what_stays_half_written_is_broken(machine: Machine) -> None:
    machine.write(CLAUDE, THEIRS[CLAUDE][:-3])
    started = time.monotonic()
    with machine.untouched():
        ran = machine.toolsync(*APPLY)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: ~/.claude/settings.json:1:1: unclosed '{'")
    assert time.monotonic() - started < 3


def test_what_has_long_been_broken_is_not_waited_for(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(machine.write(CLAUDE, "{"), (1, 1))
    os.utime(machine.write(CODEX, ""), (1, 1))
    monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("it waits"))
    assert machine.toolsync(*APPLY).code == 2
