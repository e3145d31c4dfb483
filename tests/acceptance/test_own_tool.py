"""Adding a tool is two files in the config directory: it applies, shows, and undoes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

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


def test_an_overlay_of_no_format_is_named_with_its_tool(machine: Machine) -> None:
    _add(machine.config)
    manifest = machine.config.parent / "tools" / "mine" / "tool.toml"
    manifest.write_text(MANIFEST.replace("settings.json", "settings.yaml"))
    manifest.with_name("settings.yaml").write_text("")
    said = f"error: {manifest}: 'settings.yaml' does not tell its format\n"
    assert machine.toolsync("apply", "--tool", "mine").err.startswith(said)


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
        "holds": [],
        "files": ["~/.mine/settings.json"],
        "reload": "Restart it.",
    }
    assert "My own tool (yours)" in machine.toolsync("tools").out

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


def test_a_broken_one_stops_nothing_but_itself(machine: Machine) -> None:
    _add(machine.config)
    machine.write(".mine/settings.json", BEFORE)
    machine.write(".codex/config.toml", 'model = "mine"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    overlay = machine.config.parent / "tools/mine/settings.json"
    overlay.write_text('{ "model": "<modell>" }\n')
    said = f"mine is left out: {overlay}: '<modell>' is no fact"

    listed = machine.toolsync("tools", "--json")
    assert (listed.code, listed.json["messages"][0]["text"]) == (1, said)
    assert "codex" in {tool["tool"] for tool in listed.json["data"]["tools"]}
    for command in ("diff", "status", "apply"):
        ran = machine.toolsync(command, *(("--yes", "--no-ping") if command == "apply" else ()))
        assert (ran.code, f"problem: {said}\n    Did you mean '<model>'? " in ran.out) == (1, True), command
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").said == (0, "")
    asked = machine.toolsync("apply", "--yes", "--no-ping", "--tool", "mine")
    assert (asked.code, asked.err.startswith(f"error: {overlay}: '<modell>' is no fact\n")) == (2, True)

    undone = machine.toolsync("undo", "--yes")
    assert undone.said == (0, "")
    told = "warning: mine is given back by what is remembered alone, for its template cannot be used: "
    assert undone.out.count(f"{told}{overlay}"[:150]) == 1  # the rest may be cut off: the path is long
    assert machine.read(".mine/settings.json") == BEFORE
    assert machine.read(".codex/config.toml") == 'model = "mine"\n'


def test_what_is_applied_is_given_back_although_nobody_can_read_the_tools(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(machine.config)
    machine.write(".mine/settings.json", BEFORE)
    machine.write(".codex/config.toml", 'model = "mine"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    shut, listed = machine.config.parent / "tools", Path.iterdir

    def refused(folder: Path) -> Iterator[Path]:
        if folder == shut:
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refused)
    assert machine.toolsync("apply", "--yes").code == 2
    undone = machine.toolsync("undo", "--yes")
    assert undone.said == (0, "")
    assert undone.out.count("warning: your own tools cannot be read, and count for nothing here: ") == 1
    assert (machine.read(".mine/settings.json"), machine.read(".codex/config.toml")) == (BEFORE, 'model = "mine"\n')


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"~/.mine/settings.json"', '"$UNSET/settings.json"', "no path can be made of $UNSET/settings.json"),
        ('"~/.mine/settings.json"', '"$REL/x.json"', "$REL is 'rel', which is not an absolute path"),
        ('"~/.mine/settings.json"', '"~/x.json"\nneeds = "$UNSET"', "no path can be made of $UNSET"),
    ],
    ids=["a variable that is not set", "a variable with a relative path", "what it needs"],
)
def test_one_that_cannot_be_used_here_stops_nothing_but_itself(machine: Machine, old: str, new: str, said: str) -> None:
    _add(machine.config)
    machine.environ["REL"] = "rel"
    machine.write(".mine/settings.json", BEFORE)
    machine.write(".codex/config.toml", 'model = "mine"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    applied = machine.read(".mine/settings.json")
    (machine.config.parent / "tools/mine/tool.toml").write_text(MANIFEST.replace(old, new))
    machine.profile("\n[profiles.work.request]\nmax_retries = 7\n")

    for command in (("status",), ("diff",), ("apply", "--yes", "--no-ping")):
        ran = machine.toolsync(*command)
        assert (ran.code, ran.out.count(f"problem: mine is left out: {said}\n")) == (1, 1), command
    assert "request_max_retries = 7" in machine.read(".codex/config.toml")
    assert machine.read(".mine/settings.json") == applied
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").said == (0, "")
    asked = machine.toolsync("apply", "--yes", "--no-ping", "--tool", "mine")
    assert (asked.code, asked.err.startswith(f"error: mine: {said}\n")) == (2, True)

    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert (machine.read(".mine/settings.json"), machine.read(".codex/config.toml")) == (BEFORE, 'model = "mine"\n')


def test_a_layer_of_which_nobody_says_where_it_lies_is_not_there(machine: Machine) -> None:
    _add(machine.config)
    manifest = machine.config.parent / "tools/mine/tool.toml"
    manifest.write_text(f'{MANIFEST}\n[[layer]]\nname = "x"\nfile = "$UNSET/x.json"\n')
    machine.write(".mine/settings.json", BEFORE)
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.err == ""
    machine.write(".mine/settings.json", machine.read(".mine/settings.json").replace("some-model", "another"))
    assert machine.toolsync("undo", "--yes").said == (0, "")


def test_a_name_in_the_profile_that_means_no_tool_is_called_one(machine: Machine) -> None:
    machine.profile('\n[profiles.work.tool.codx]\nmodel = "x"\n')
    machine.write(".codex/config.toml", "")
    said = "warning: [profiles.work.tool.codx] means no tool\n    Did you mean 'codex'?\n"
    for arguments in (("diff",), ("status",), ("apply", "--yes", "--no-ping")):
        assert said in machine.toolsync(*arguments).out, arguments
