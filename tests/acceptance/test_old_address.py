"""Giving back never sends the user's own key to the gateway: where an edited address stays, no old key returns."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.machine import ADDRESS, Machine
from tests.keys import invented

CLAUDE = ".claude/settings.json"
MINE = invented("mine")


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Claude Code, which had a key of the user's own, applied."""
    machine.write(CLAUDE, json.dumps({"env": {"ANTHROPIC_API_KEY": MINE}}, indent=2))
    assert machine.toolsync("apply", "--yes", "--no-ping").said == (0, "")
    return machine


def _edit(machine: Machine, **env: str) -> None:
    data = json.loads(machine.read(CLAUDE))
    data["env"] |= env
    machine.write(CLAUDE, json.dumps(data, indent=2))


REFUSED = (
    "error: ~/.claude/settings.json: env.ANTHROPIC_BASE_URL was edited since, stays, and still leads to the gateway: "
    "Claude Code would then send your own key there (env.ANTHROPIC_API_KEY in ~/.claude/settings.json)\n"
    "  hint: Change env.ANTHROPIC_BASE_URL in ~/.claude/settings.json first, or take it out there.\n"
)
EDITS = {"a slash": f"{ADDRESS}/", "another path": "https://gateway.example/v2", "upper case": ADDRESS.upper()}


@pytest.mark.parametrize("address", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("words", [("undo",), ("undo", "claude-code"), ("uninstall",)], ids=" ".join)
def test_an_edited_address_of_ours_and_an_old_key_do_not_meet(
    applied: Machine, address: str, words: tuple[str, ...]
) -> None:
    _edit(applied, ANTHROPIC_BASE_URL=address)
    with applied.untouched():
        ran = applied.toolsync(*words, "--yes")
    assert ran.said == (2, REFUSED)


def test_nor_when_the_tool_is_switched_off(applied: Machine) -> None:
    _edit(applied, ANTHROPIC_BASE_URL=f"{ADDRESS}/")
    applied.write(".codex/config.toml", "")
    applied.profile("\n[profiles.work.tool.claude-code]\nenabled = false\n")
    with applied.untouched():
        ran = applied.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (2, f"{REFUSED.rstrip()} `--tool NAME` applies one tool alone.\n")


def test_nor_when_the_old_key_is_in_the_environment(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    _edit(machine, ANTHROPIC_BASE_URL=f"{ADDRESS}/")
    machine.environ["ANTHROPIC_AUTH_TOKEN"] = MINE
    with machine.untouched():
        ran = machine.toolsync("undo", "--yes")
    assert ran.code == 2
    assert "would then send your own key there (env.ANTHROPIC_AUTH_TOKEN" in ran.err
    assert MINE not in ran.err + ran.out


ELSEWHERE = {
    "an address of another host": "https://someone.example",
    "a host that only begins alike": "https://gateway.example.org",
}


@pytest.mark.parametrize("before", [{}, {"ANTHROPIC_BASE_URL": "https://mine.example/anthropic"}], ids=["none", "mine"])
@pytest.mark.parametrize("address", ELSEWHERE.values(), ids=ELSEWHERE)
def test_an_old_key_does_not_meet_the_address_of_a_stranger(
    machine: Machine, address: str, before: dict[str, str]
) -> None:
    machine.write(CLAUDE, json.dumps({"env": {**before, "ANTHROPIC_API_KEY": MINE}}, indent=2))
    assert machine.toolsync("apply", "--yes", "--no-ping").said == (0, "")
    _edit(machine, ANTHROPIC_BASE_URL=f"{address}/x")
    with machine.untouched():
        ran = machine.toolsync("undo", "--yes")
    said = REFUSED.replace("still leads to the gateway", f"leads to {address}, which was not there before")
    assert ran.said == (2, said)


def test_an_address_of_the_host_that_the_user_had_is_left_with_the_key(machine: Machine) -> None:
    mine, edited = ({"ANTHROPIC_BASE_URL": f"https://mine.example/{path}"} for path in ("anthropic", "v2"))
    machine.write(CLAUDE, json.dumps({"env": {**mine, "ANTHROPIC_API_KEY": MINE}}, indent=2))
    assert machine.toolsync("apply", "--yes", "--no-ping").said == (0, "")
    _edit(machine, **edited)
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert json.loads(machine.read(CLAUDE))["env"] == {**edited, "ANTHROPIC_API_KEY": MINE}


def test_an_address_and_a_key_that_were_there_before_come_back(machine: Machine) -> None:
    """Whoever used the gateway by hand gets that back."""
    before = json.dumps({"env": {"ANTHROPIC_BASE_URL": f"{ADDRESS}/", "ANTHROPIC_API_KEY": MINE}}, indent=2)
    machine.write(CLAUDE, before)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    _edit(machine, ANTHROPIC_MODEL="another")
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert json.loads(machine.read(CLAUDE))["env"]["ANTHROPIC_BASE_URL"] == f"{ADDRESS}/"


def test_an_edited_address_without_an_old_key_stays(machine: Machine) -> None:
    machine.write(CLAUDE, "{}\n")
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    _edit(machine, ANTHROPIC_BASE_URL=f"{ADDRESS}/")
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert json.loads(machine.read(CLAUDE)) == {"env": {"ANTHROPIC_BASE_URL": f"{ADDRESS}/"}}
