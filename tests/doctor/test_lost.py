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


def test_a_last_profile_that_was_removed_is_gone_without_its_file(machine: Machine) -> None:
    machine.write(CODEX, "")
    machine.profile(base_url=GATEWAY)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    assert machine.toolsync("profile", "remove", "work", "--yes").code == 0
    way = "make it anew, or let `toolsync undo codex` give back what you had before\n"
    said = f"Codex CLI was set to profile 'work', which is gone: {way}"
    ran = machine.toolsync("doctor", "--offline", "codex")
    assert (said in ran.out, "profile.toml is gone" in ran.out) == (True, False), ran.out
    assert f"→ toolsync init work --base-url {GATEWAY} --model some-model\n" in ran.out
    machine.config.unlink()
    assert "profile.toml is gone" in machine.toolsync("doctor", "--offline", "codex").out
    assert (machine.toolsync("undo", "codex", "--yes").code, machine.read(CODEX)) == (0, "")


def test_what_a_project_says_is_none_of_the_profiles(machine: Machine) -> None:
    machine.write(CLAUDE, "{}")
    machine.write(CODEX, "")
    machine.profile(base_url=GATEWAY)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    machine.config.unlink()
    machine.write("project/.claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://other.example"}}')
    (codex,) = machine.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    assert codex["findings"][0]["command"][2:4] == ["--base-url", GATEWAY]
