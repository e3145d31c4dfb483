"""The key is on no command line, and in no environment but that of what `exec` runs: read off every execve there is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine
from tests.acceptance.test_keyring import SCRIPT
from tests.conftest import needs, sampled, takes
from tests.key_print import program
from tests.keys import invented
from toolsync.cli.tree import PARTS

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


EVERY = """
init spare --base-url https://h --model m --key-from env:NONE
profile list
use work
profile remove spare --yes
< key set --stdin
ping
models
diff
apply --yes --allow-plaintext
status
doctor
exec -- true
env --shell sh
hook --shell sh
key print
> key rotate --stdin --yes
key uses
key rotate --back --yes
key list
check
check --fix --yes
explain key_invalid
tools
schema profile
undo --yes
key forget --yes
key remove --yes
uninstall --yes
"""
"""A life with toolsync; `<` gets the key on stdin, and `>` the new one. `demo` and `bench` have a key of their own."""

NEW = invented("argv-new")


@pytest.mark.secret_service
def test_nor_does_any_command_line_of_a_whole_life(machine: Machine, tmp_path: Path) -> None:
    takes("runs every command under strace")
    needs(shutil.which("strace") and shutil.which("gnome-keyring-daemon"), "needs strace and gnome-keyring")
    lines = [line for line in EVERY.splitlines() if line]
    commands = {line.lstrip("<> ").split()[0] for line in lines}
    assert {command for part in PARTS.values() for command in part} - commands == {"demo", "bench"}
    own = shlex.join(program(is_isolated=False))
    fed = {"<": 'echo "$one" | ', ">": 'echo "$new" | '}
    run = [f"{fed.get(line[0], '')}{own} {line.lstrip('<> ')} 2>&1 || echo ended with $?: {line}" for line in lines]
    log = tmp_path / "execve"
    strace = ("strace", "-f", "-qq", "-v", "-s", "100000", "-e", "trace=execve,execveat", "-o", str(log))
    environ = {"HOME": str(machine.home), "PATH": os.environ["PATH"], "TOOLSYNC_CONFIG": str(machine.config)}
    with Both(KEY, NEW) as gateway:
        tool = 'tool.settings-json = { paths = ["~/service/settings.json"], key_way = "plaintext" }\n'
        machine.profile(tool, base_url=gateway.base_url)
        machine.write(".claude/settings.json", "{}")
        done = subprocess.run(
            [SCRIPT, *strace, "sh", "-c", "\n".join(["read -r one", "read -r new", *run])],
            env=environ,
            cwd=machine.project,
            input=f"{KEY}\n{NEW}\n",
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        sent = {key for _, key in gateway.came()}
    ended = [line for line in done.stdout.splitlines() if line.startswith("ended with")]
    assert (ended, sent) == (["ended with 1: diff"], {KEY, NEW}), done.stdout
    runs = [match for line in log.read_text(errors="replace").splitlines() if (match := _EXECVE.search(line))]
    log.unlink()
    held = [run["program"] for run in runs for key in (KEY, NEW) if key in run["argv"]]
    seen = [Path(run["program"]).name for run in runs if KEY in run["environ"] or NEW in run["environ"]]
    assert (held, seen, len(runs) > len(lines)) == ([], ["true"], True)
