"""Settings in an encoding that their tool reads and toolsync does not write: they work, and what they bar is said."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import KEY, Machine

CLAUDE = ".claude/settings.json"
DOCTOR = ("doctor", "--offline")
NOTE = (
    "Claude Code reads ~/.claude/settings.json, which is UTF-16; toolsync sets nothing in it, and gives nothing back\n"
    "    Save it as UTF-8 before `toolsync apply` or `toolsync undo`; Claude Code reads that too.\n"
)


@pytest.fixture
def applied(machine: Machine) -> Machine:
    machine.write(CLAUDE, "{}")
    machine.environ["WORK_KEY"] = KEY
    machine.profile(key="env:WORK_KEY")
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    return machine


def _widen(machine: Machine, name: str) -> None:
    text = machine.read(name)
    (machine.home / name).write_bytes(f"\ufeff{text}".encode("utf-16-le"))


def test_own_settings_in_utf_16_are_read_and_it_is_said_that_nothing_is_set_there(applied: Machine) -> None:
    assert "UTF-16" not in applied.toolsync(*DOCTOR).out
    _widen(applied, CLAUDE)
    for words in (DOCTOR, (*DOCTOR, "claude-code")):
        ran = applied.toolsync(*words)
        assert (ran.code, ran.out.count(NOTE), "✓ Claude Code" in ran.out) == (0, 1, True), ran.out
    assert "UTF-16 编码的 ~/.claude/settings.json" in applied.toolsync(*DOCTOR, "--lang", "zh").out
    for verb in ("apply", "undo"):
        assert "the file is UTF-16" in applied.toolsync(verb, "--yes").err
    text = (applied.home / CLAUDE).read_bytes().decode("utf-16")
    applied.write(CLAUDE, text)
    assert "UTF-16" not in applied.toolsync(*DOCTOR).out
    assert applied.toolsync("undo", "--yes").code == 0
    assert applied.read(CLAUDE) == "{}"


def test_settings_that_toolsync_never_writes_need_no_word(applied: Machine) -> None:
    (applied.project / ".claude").mkdir()
    (applied.project / ".claude/settings.json").write_bytes("\ufeff{}".encode("utf-16-le"))
    ran = applied.toolsync(*DOCTOR)
    assert (ran.code, "UTF-16" in ran.out) == (0, False), ran.out
