"""A profile that forbids copies of the key: one that stands there is a problem, and is taken back."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import KEY, Machine

SETTINGS = ".claude/settings.json"
MINE = '{\n  "env": { "EDITOR": "vim" }\n}\n'
PLAINTEXT = '\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n'
SAID = 'Claude Code: a copy of the key stands in its own file, and the profile says plaintext = "never"\n'


@pytest.fixture
def holding(machine: Machine) -> Machine:
    """Claude Code with a copy of the key, and a profile that says since that there must be none."""
    machine.write(SETTINGS, MINE)
    machine.profile(f'plaintext = "allow"\n{PLAINTEXT}')
    assert machine.toolsync("apply", "--yes", "--no-ping").said == (0, "")
    assert KEY in machine.read(SETTINGS)
    machine.profile(f'plaintext = "never"\n{PLAINTEXT}')
    return machine


def test_status_and_diff_say_that_it_stands_there(holding: Machine) -> None:
    with holding.untouched():
        status, diff = holding.toolsync("status"), holding.toolsync("diff")
    assert (status.code, diff.code) == (1, 1)
    assert f"problem: {SAID}" in status.out
    assert f"warning: {SAID}" in diff.out
    assert KEY not in diff.out


@pytest.mark.parametrize("narrowed", [(), ("--tool", "claude-code")], ids=["all tools", "this tool"])
def test_apply_takes_it_back_and_says_so(holding: Machine, narrowed: tuple[str, ...]) -> None:
    ran = holding.toolsync("apply", "--yes", "--no-ping", *narrowed)
    assert ran.said == (0, "")
    assert f"warning: {SAID}" in ran.out
    assert holding.read(SETTINGS) == MINE
    assert SAID not in holding.toolsync("status").out


def test_a_tool_that_can_take_the_key_another_way_takes_that(holding: Machine) -> None:
    holding.profile('plaintext = "never"\n')
    ran = holding.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert "asks `toolsync key print work`" in ran.out
    assert KEY not in holding.read(SETTINGS)
