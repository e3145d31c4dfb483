"""A profile whose file is gone is made anew by one command, whichever of its tools says so."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import Machine

CODEX, CLAUDE = ".codex/config.toml", ".claude/settings.json"
GATEWAY = "https://gw.example"

ROWS: dict[str, tuple[str, str]] = {
    "a root": (GATEWAY, GATEWAY),
    "a version that every client appends": (f"{GATEWAY}/api/v1", f"{GATEWAY}/api"),
    "a version of its own": (f"{GATEWAY}/api/v4", f"{GATEWAY}/api/v4"),
    "a folder of one protocol": (f"{GATEWAY}/anthropic", f"{GATEWAY}/anthropic"),
}


@pytest.mark.parametrize(("base", "expected"), ROWS.values(), ids=ROWS)
def test_all_tools_say_the_same_command(machine: Machine, base: str, expected: str) -> None:
    machine.write(CLAUDE, "{}")
    machine.write(CODEX, "")
    machine.profile(base_url=base)
    tools = ("--tool", "claude-code", "--tool", "codex")
    assert machine.toolsync("apply", "--yes", "--no-ping", *tools).code == 0
    before = [machine.read(name) for name in (CLAUDE, CODEX)]
    machine.config.unlink()
    ran = machine.toolsync("doctor", "--offline", "--json", "claude-code", "codex")
    commands = {tuple(one["findings"][0]["command"]) for one in ran.json["data"]["tools"]}
    assert commands == {("init", "work", "--base-url", expected, "--model", "some-model")}
    assert machine.toolsync(*commands.pop()).code == 0
    assert machine.toolsync("apply", "--yes", "--no-ping", *tools).code == 0
    assert [machine.read(name) for name in (CLAUDE, CODEX)] == before


def test_what_a_project_says_is_none_of_the_profiles(machine: Machine) -> None:
    machine.write(CLAUDE, "{}")
    machine.write(CODEX, "")
    machine.profile(base_url=GATEWAY)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    machine.config.unlink()
    machine.write("project/.claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://other.example"}}')
    (codex,) = machine.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    assert codex["findings"][0]["command"][2:4] == ["--base-url", GATEWAY]
