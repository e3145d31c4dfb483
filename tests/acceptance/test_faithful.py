"""What apply leaves alone: every byte, line, mode, link and time stamp that is not ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.furniture import LINKS, OURS, SETTINGS
from tests.acceptance.machine import Machine
from tests.conftest import needs

PATHS = """
[profiles.work.tool.config-toml]
paths = ["~/service/config.toml"]

[profiles.work.tool.settings-json]
paths = ["~/service/settings.json"]
"""


@pytest.fixture
def furnished(machine: Machine) -> Machine:
    """A home with the settings of many tools, five files of which are ours to edit."""
    machine.profile(PATHS)
    for name, content in SETTINGS.items():
        machine.write(name, content).chmod(0o640 if "dotfiles" in name else 0o644)
    for name, target in LINKS.items():
        (machine.home / name).symlink_to(target)
    return machine


def test_git_sees_no_changed_line_but_ours(furnished: Machine, tmp_path: Path) -> None:
    before = _copy(furnished, tmp_path / "before")
    ran = furnished.toolsync("apply", "--yes", "--no-ping")
    assert (ran.code, ran.err) == (0, "")
    assert len(SETTINGS) >= 30
    after = _copy(furnished, tmp_path / "after")
    assert _changed_lines(before, after) == {name: _placed(lines, furnished) for name, lines in OURS.items()}
    assert furnished.toolsync("undo", "--yes").code == 0
    assert _changed_lines(before, _copy(furnished, tmp_path / "undone")) == {}


def test_links_stay_links_and_modes_stay_modes(furnished: Machine) -> None:
    before = furnished.entries()
    assert furnished.toolsync("apply", "--yes", "--no-ping").code == 0
    after = {name: entry for name, entry in furnished.entries().items() if not name.startswith(".local")}
    assert {name: (entry.kind, entry.mode) for name, entry in after.items()} == {
        name: (entry.kind, entry.mode) for name, entry in before.items()
    }
    links = [name for name, entry in before.items() if entry.kind == "link"]
    assert sorted(links) == sorted(LINKS)
    assert [after[name].content for name in links] == [before[name].content for name in links]


def test_the_second_apply_writes_nothing(furnished: Machine) -> None:
    assert furnished.toolsync("apply", "--yes", "--no-ping").code == 0
    with furnished.untouched():
        ran = furnished.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 0
    assert ran.out.startswith("Nothing to change.\nApplied profile 'work': everything was right already.\n")


def _copy(machine: Machine, place: Path) -> Path:
    shutil.copytree(machine.home, place, symlinks=True, ignore=lambda _, names: {".local", "Library"} & set(names))
    return place


def _changed_lines(before: Path, after: Path) -> dict[str, list[str]]:
    """The lines that `git diff` shows as taken out or put in, by file."""
    needs(shutil.which("git"), "needs git")
    options = ("-c", "core.fsmonitor=false", "diff", "--no-index", "--no-color", "--no-ext-diff", "--unified=0")
    done = subprocess.run(
        ["git", *options, str(before), str(after)],
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    assert done.returncode in (0, 1), done.stderr
    files: dict[str, list[str]] = {}
    for line in done.stdout.decode().split("\n"):
        if line.startswith("+++ "):
            lines = files.setdefault(line.split(f"{after}/", 1)[1], [])
        elif line.startswith(("+", "-")) and not line.startswith("--- "):
            lines.append(line)
    return files


def _placed(lines: str, machine: Machine) -> list[str]:
    return lines.replace("@PYTHON@", sys.executable).replace("@CONFIG@", str(machine.config)).split("\n")


# What leaves nothing behind.

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"
BEFORE = {
    CLAUDE: '{\n  "env": {\n    "EDITOR": "vim"\n  }\n}\n',
    CODEX: '# mine\nmodel = "gpt-5" # good\n\n[features]\nx = true\n',
    "service/config.toml": '[api]\napi_key = "${OLD}"\n',
}
WAY = '\n[profiles.work.tool.{tool}]\n{paths}key_way = "{way}"\n'


def _ways(**ways: str) -> str:
    paths = 'paths = ["~/service/config.toml"]\n'
    tables = (
        WAY.format(tool=tool.replace("_", "-"), way=way, paths=paths if tool == "config_toml" else "")
        for tool, way in ways.items()
    )
    return 'plaintext = "allow"\n' + "".join(tables)


STEPS = {
    "by command": _ways(claude_code="command", codex="command", config_toml="env"),
    "by variable": _ways(claude_code="command", codex="env", config_toml="env"),
    "in clear": _ways(claude_code="plaintext", codex="plaintext", config_toml="plaintext"),
    "model slots": '\n[profiles.work.models]\nopus = "large"\nsonnet = "middle"\nhaiku = "small"\n',
    "fewer slots": '\n[profiles.work.models]\nsonnet = "other"\n',
    "headers": '\n[profiles.work.request]\nheaders = { X-Team = "tools" }\ntimeout_seconds = 10\nmax_retries = 1\n',
    "one tool": "\n[profiles.work.tool.codex]\nenabled = false\n",
    "no tool": "\n[profiles.work.tool.codex]\nenabled = false\n\n[profiles.work.tool.claude-code]\nenabled = false\n",
}
JOURNEYS = {
    "key ways": ["by command", "by variable", "in clear", "by command"],
    "slots": ["model slots", "fewer slots", "by command"],
    "headers": ["headers", "by variable", "headers", "model slots"],
    "switched off": ["by command", "one tool", "no tool", "in clear"],
}


@pytest.mark.parametrize("journey", JOURNEYS.values(), ids=JOURNEYS)
@pytest.mark.parametrize("start", [BEFORE, {}], ids=["foreign settings", "empty home"])
def test_what_was_applied_before_leaves_nothing_behind(
    another: Callable[[], Machine], start: dict[str, str], journey: list[str]
) -> None:
    machine = _with_tools(another(), start)
    for step in journey:
        machine.profile(STEPS[step])
        assert machine.toolsync("apply", "--yes", "--no-ping").said == (0, ""), step
        fresh = _with_tools(another(), start)
        if step != "no tool":
            assert fresh.toolsync("apply", "--yes", "--no-ping").said == (0, ""), step
        assert machine.contents() == fresh.contents(), step
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert machine.contents() == start
    assert machine.memory["files"] == {}
    assert machine.kept == {"work"}


def _with_tools(machine: Machine, files: dict[str, str]) -> Machine:
    for folder in (".claude", ".codex"):
        (machine.home / folder).mkdir()
    for name, content in files.items():
        machine.write(name, content)
    return machine
