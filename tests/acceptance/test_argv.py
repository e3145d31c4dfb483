"""The key is on no command line, and in no environment but that of what `exec` runs: read off every execve there is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.conftest import needs, sampled

_EXECVE = re.compile(r'execve\("(?P<program>[^"]*)", \[(?P<argv>.*?)\], (?P<environ>\[.*\]|0x.*)\)\s+= 0')

COMMANDS = [
    pytest.param(("key", "print"), True, (), id="key print"),
    pytest.param(("env", "--shell", "sh"), True, (), id="env"),
    pytest.param(("hook", "--shell", "sh", "--tool", "claude-code"), False, (), id="hook"),
    pytest.param(("exec", "--", "true"), True, ("true",), id="exec"),
    pytest.param(("apply", "--yes", "--force", "--tool", "codex"), True, (), id="apply"),
    pytest.param(("exec", "--", "sh", "-c", "/bin/true; :"), True, ("sh", "true"), id="exec of a script"),
]
"""What is run, whether the key is asked for, and which programs see it in their environment."""


@pytest.fixture
def traced(machine: Machine) -> Machine:
    """The key comes from a program, so that nothing else has it."""
    needs(shutil.which("strace"), "strace is not installed")
    kept = machine.write("kept", f"{KEY}\n")
    keeper = machine.write("keeper", f"#!/bin/sh\nread -r key <{kept}; echo $key\n")
    keeper.chmod(0o700)
    machine.profile(key=f"command:{keeper}", base_url="http://127.0.0.1:9/api")
    machine.write(".codex/config.toml", "")
    return machine


@pytest.mark.parametrize(("arguments", "is_asked", "holders"), sampled(COMMANDS))
def test_no_command_line_holds_the_key(
    traced: Machine, tmp_path: Path, arguments: tuple[str, ...], is_asked: bool, holders: tuple[str, ...]
) -> None:
    log = tmp_path / "execve"
    strace = ("strace", "-f", "-qq", "-v", "-s", "100000", "-e", "trace=execve,execveat", "-o", str(log))
    traced.child(*arguments, before=strace, PATH="/usr/bin:/bin")
    runs = [match for line in log.read_text(errors="replace").splitlines() if (match := _EXECVE.search(line))]
    log.unlink()
    assert [run["argv"] for run in runs if KEY in run["argv"]] == []
    assert tuple(Path(run["program"]).name for run in runs if KEY in run["environ"]) == holders
    assert any(run["program"].endswith("/keeper") for run in runs) is is_asked
