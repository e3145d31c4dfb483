"""What toolsync remembers cannot be read: the command that doctor prints goes through all the same, or waits."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.acceptance.machine import Machine

CODEX = ".codex/config.toml"
APPLY = "toolsync apply --tool codex"


@pytest.fixture
def drifted(machine: Machine) -> Machine:
    """Codex was set, and is set otherwise by now."""
    machine.write(CODEX, "")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    machine.write(CODEX, 'model_provider = "gone"\n')
    return machine


def _fix(machine: Machine, *options: str) -> dict[str, Any]:
    ran = machine.toolsync("doctor", "--offline", "--json", *options, "codex")
    return dict(ran.json["data"]["tools"][0]["findings"][0])


@pytest.mark.parametrize("text", ["garbage", "{}"], ids=["no JSON", "another form"])
def test_one_that_is_damaged_is_set_aside_by_the_command(drifted: Machine, text: str) -> None:
    (drifted.state / "memory.json").write_text(text, encoding="utf-8")
    said = _fix(drifted)
    assert said["fix"] == f"{APPLY} --new-memory"
    assert "what was applied before cannot be undone then" in said["evidence"][-1]
    assert "此前写入的内容就无法再用 undo 还原" in _fix(drifted, "--lang", "zh")["evidence"][-1]
    assert drifted.toolsync(*said["command"], "--yes", "--no-ping").code == 0
    assert 'model_provider = "toolsync"' in drifted.read(CODEX)


def test_nobody_who_says_yes_to_all_gives_it_up(drifted: Machine) -> None:
    memory = drifted.state / "memory.json"
    memory.write_text("garbage", encoding="utf-8")
    ran = drifted.toolsync("doctor", "--offline", "--fix", "--yes", "--json", "codex")
    assert (ran.code, ran.json["data"]["fixed"], memory.read_text(encoding="utf-8")) == (1, [], "garbage")


def test_one_of_a_newer_toolsync_is_left_to_that(drifted: Machine) -> None:
    memory = drifted.state / "memory.json"
    memory.write_text(json.dumps({**json.loads(memory.read_text()), "version": 99}), encoding="utf-8")
    said = _fix(drifted)
    assert said["fix"] == f"Update toolsync, and run the command again. Then run `{APPLY}`."
    assert (said["command"], "a newer toolsync wrote it" in said["evidence"][-1]) == ([], True)
    assert "更新 toolsync" in _fix(drifted, "--lang", "zh")["fix"]


def test_a_journal_that_cannot_be_read_comes_first(drifted: Machine) -> None:
    journal = drifted.state / "journal.json"
    journal.write_text("garbage", encoding="utf-8")
    said = _fix(drifted)
    assert re.fullmatch(rf"If a newer toolsync wrote it, .* remove it, .* Then run `{APPLY}`\.", said["fix"])
    assert (said["command"], said["evidence"][-1].endswith("an interrupted run cannot be read")) == ([], True)
    assert not re.search("[a-z]{3,} [a-z]{3,} ", _fix(drifted, "--lang", "zh")["fix"].split("`")[0])
    journal.unlink()
    assert _fix(drifted)["fix"] == APPLY
