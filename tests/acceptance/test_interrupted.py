"""Ctrl-C, wherever it comes: exit code 130 and a word, never success, never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.machine import Machine
from tests.key_print import interrupts

SAID = "error: interrupted; nothing more was done\n"

_REPOSITORY = str(Path(__file__).parents[2])

_PRESSED_AT_IMPORT = """
import builtins, signal
usual = builtins.__import__
def imported(name, *rest, **more):
    if name == {module!r}:
        signal.raise_signal(signal.SIGINT)
    return usual(name, *rest, **more)
builtins.__import__ = imported
"""

_LOST = """
import builtins, signal, time
class Gone:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
usual = builtins.__import__
def imported(name, *rest, **more):
    if name == "typer":
        Gone()
        for _ in range(200):  # what is not heeded within 20 s never is; one long sleep would not be woken
            time.sleep(0.1)
    return usual(name, *rest, **more)
builtins.__import__ = imported
"""


def _run(machine: Machine, prelude: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, in which `prelude` has run first."""
    start = f"import sys; sys.path.insert(0, {_REPOSITORY!r})\n{prelude}"
    start += "\nfrom toolsync.__main__ import main; sys.exit(main())"
    with interrupts():
        return subprocess.run(
            [sys.executable, "-c", start, *arguments],
            env={"HOME": str(machine.home), "PATH": "/nowhere", "TOOLSYNC_CONFIG": str(machine.config)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.mark.parametrize("module", ["toolsync", "typer", "toolsync.commands.status"])
def test_ctrl_c_while_the_program_is_being_loaded_ends_with_130_and_a_word(machine: Machine, module: str) -> None:
    done = _run(machine, _PRESSED_AT_IMPORT.format(module=module), "status")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", SAID)


@pytest.mark.parametrize("module", ["typer", "toolsync.commands.status"])
def test_with_json_it_says_so_in_an_envelope(machine: Machine, module: str) -> None:
    done = _run(machine, _PRESSED_AT_IMPORT.format(module=module), "status", "--json")

    said = json.loads(done.stdout)
    assert (done.returncode, said["exit_code"], done.stderr) == (130, 130, "")
    assert [error["message"] for error in said["errors"]] == ["interrupted; nothing more was done"]


def test_ctrl_c_that_the_interpreter_would_lose_is_heeded_all_the_same(machine: Machine) -> None:
    done = _run(machine, _LOST, "status")

    assert (done.returncode, done.stderr) == (130, SAID)


def test_key_print_says_that_it_was_interrupted(machine: Machine) -> None:
    done = _run(machine, _PRESSED_AT_IMPORT.format(module="toolsync.keyref"), "key", "print")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "toolsync: interrupted\n")
