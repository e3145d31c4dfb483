"""Adding a tool is two files in the config directory: it applies, shows, and undoes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.machine import ADDRESS, Machine

MANIFEST = """title  = "My own tool"
speaks = ["openai-chat"]
reload = "Restart it."
detect = { paths = ["~/.mine"] }

[key]
env = "${<key_variable>}"

[[file]]
overlay = "settings.json"
path    = "~/.mine/settings.json"
"""
OVERLAY = '{ "server": { "url": "<openai_url>", "key": "<key_ref>" }, "model": "<model>" }\n'
BEFORE = '{\n\t"theme": "dark",\n\t"server": { "port": 80 }\n}'


def _add(config: Path, name: str = "mine") -> None:
    folder = config.parent / "tools" / name
    folder.mkdir(parents=True)
    (folder / "tool.toml").write_text(MANIFEST)
    (folder / "settings.json").write_text(OVERLAY)


def test_a_tool_of_the_user_applies_shows_and_undoes(machine: Machine) -> None:
    _add(machine.config)
    machine.write(".mine/settings.json", BEFORE)
    listed = {tool["tool"]: tool for tool in machine.toolsync("tools", "--json").json["data"]["tools"]}
    assert listed["mine"] == {
        "tool": "mine",
        "title": "My own tool",
        "installed": True,
        "users_own": True,
        "speaks": ["openai-chat"],
        "key_ways": ["env"],
        "files": ["~/.mine/settings.json"],
        "reload": "Restart it.",
    }
    assert "My own tool" in machine.toolsync("tools").out

    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert "My own tool  reads $TOOLSYNC_API_KEY from its environment  Restart it.\n" in ran.out
    assert json.loads(machine.read(".mine/settings.json")) == {
        "theme": "dark",
        "server": {"port": 80, "url": f"{ADDRESS}/v1", "key": "${TOOLSYNC_API_KEY}"},
        "model": "some-model",
    }
    status = machine.toolsync("status")
    assert status.code == 0
    assert "mine  ~/.mine/settings.json  as applied           as the profile wants\n" in status.out

    assert machine.toolsync("undo", "mine", "--yes").said == (0, "")
    assert machine.read(".mine/settings.json") == BEFORE


def test_it_wins_over_a_shipped_one_of_its_name(machine: Machine) -> None:
    _add(machine.config, "codex")
    machine.write(".mine/settings.json", "{}\n")
    machine.write(".codex/config.toml", "")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").said == (0, "")
    assert machine.read(".codex/config.toml") == ""
    assert json.loads(machine.read(".mine/settings.json"))["model"] == "some-model"
    assert machine.toolsync("undo", "--yes").code == 0
    assert machine.read(".mine/settings.json") == "{}\n"


def test_its_folder_may_go_before_undo(machine: Machine) -> None:
    _add(machine.config)
    machine.write(".mine/settings.json", BEFORE)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    for file in (machine.config.parent / "tools" / "mine").iterdir():
        file.unlink()
    (machine.config.parent / "tools" / "mine").rmdir()
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert machine.read(".mine/settings.json") == BEFORE
