"""A field of the user's own for which Claude Code takes nothing of the file: `apply` writes beside it, and says so."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import Machine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the program of these tests is a shell script")

OWN = ".claude/settings.json"
WORDS = ("apply", "--yes", "--no-ping", "--tool", "claude-code")


@pytest.fixture
def programs(machine: Machine) -> Path:
    """A folder on PATH."""
    folder = machine.home / "bin"
    machine.environ["PATH"] = f"{folder}{os.pathsep}{os.defpath}"
    machine.profile()
    return folder


def _install(programs: Path, version: str) -> None:
    programs.mkdir()
    program = programs / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
    program.chmod(0o755)


_NOT_OBJECT = "~/.claude/settings.json:2: `statusLine` is not what belongs there: object; "
_DOUBT = "versions of Claude Code that were tried read nothing of a file for that; the one installed here was not"
_READ = {"statusLine": {"type": "command", "command": "x"}, "unknown": 5}
ROWS: dict[str, tuple[str, dict[str, Any], tuple[int, list[str]]]] = {  # version, the file; exit code, what is said
    "a version that was tried": (
        "2.1.332",
        {"statusLine": "x"},
        (1, [f"problem: {_NOT_OBJECT}Claude Code reads nothing of the file"]),
    ),
    "another one": (
        "2.1.400",
        {"statusLine": "x"},
        (0, [f"warning: {_NOT_OBJECT}{_DOUBT}"]),
    ),
    "another one, a new value": ("2.1.400", {"cleanupPeriodDays": 0}, (0, [])),
    "what it takes": ("2.1.332", _READ, (0, [])),
}


@pytest.mark.parametrize(("version", "fields", "expected"), ROWS.values(), ids=ROWS)
def test_apply_writes_and_says_it(
    machine: Machine, programs: Path, version: str, fields: dict[str, Any], expected: tuple[int, list[str]]
) -> None:
    _install(programs, version)
    machine.write(OWN, json.dumps(fields, indent=1))
    ran = machine.toolsync(*WORDS, "--json")
    said = [f"{one['level']}: {one['text']}" for one in ran.json["messages"] if "Claude Code" in one["text"]]
    assert (ran.code, said) == expected
    assert fields.items() < json.loads(machine.read(OWN)).items()


def test_nobody_is_asked_for_a_version_where_nothing_is_wrong(machine: Machine, programs: Path) -> None:
    _install(programs, "2.1.332'; touch \"$HOME/ran\"; echo '")
    machine.write(OWN, "{}")
    assert machine.toolsync(*WORDS).code == 0
    assert not (machine.home / "ran").exists()


def test_undo_says_nothing_of_it(machine: Machine, programs: Path) -> None:
    _install(programs, "2.1.332")
    machine.write(OWN, '{"statusLine": "x"}')
    machine.toolsync(*WORDS)
    undone = machine.toolsync("undo", "--yes")
    assert (undone.code, "belongs there" in undone.out + undone.err, json.loads(machine.read(OWN))) == (
        0,
        False,
        {"statusLine": "x"},
    )
