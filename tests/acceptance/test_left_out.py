"""A tool that is asked for and has no files: said, with the command that names them."""

from __future__ import annotations

import shlex

import pytest

from tests.acceptance.machine import Machine

HINTS = {
    "config-toml": "toolsync profile edit work --set 'tool.config-toml.paths=[\"~/service/config.toml\"]'",
    "settings-json": "toolsync profile edit work --set 'tool.settings-json.paths=[\"~/service/settings.json\"]'",
}


@pytest.mark.parametrize(("tool", "command"), HINTS.items(), ids=HINTS)
def test_a_tool_without_paths_is_left_out_with_the_command_that_names_them(
    machine: Machine, tool: str, command: str
) -> None:
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping", "--tool", tool)
    assert ran.said == (2, "")
    title = "config.toml" if tool == "config-toml" else "settings.json"
    assert f"problem: {title} is left out: profile 'work' names no `paths` for it\n" in ran.out
    assert f"    Name its files: `{command}`.\n" in ran.out
    assert machine.toolsync(*shlex.split(command)[1:]).said == (0, "")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", tool).said == (0, "")
    assert [name for name in machine.contents() if name.startswith("service/")] == [f"service/{title}"]


@pytest.mark.parametrize("tool", ["cc-switch", "cc-switch-opencode"])
def test_a_row_without_its_database_is_not_said_to_be_right(machine: Machine, tool: str) -> None:
    machine.write(".config/opencode/opencode.json", "{}")
    with machine.untouched():
        ran = machine.toolsync("apply", "--yes", "--no-ping", "--tool", tool)
    assert ran.said == (2, "")
    assert "is left out: it is a row of a database, and ~/.cc-switch/cc-switch.db is not there\n" in ran.out
    assert ran.out.endswith("Nothing was applied.\n")
    listed = {one["tool"]: one["installed"] for one in machine.toolsync("tools", "--json").json["data"]["tools"]}
    assert listed[tool] is False
