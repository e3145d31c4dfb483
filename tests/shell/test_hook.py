"""Functions of a hook hand on what they are given, word for word, in the real shells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.shell.readers import ENVIRON, is_there
from toolsync.shell.hook import SHELLS, functions, shell_of

ARGUMENTS = ["", "a b", "it's", '"', "$(id)", "`id`", "*", "\\", "a\nb", "--", "-p", "é中😀", "!x", "%PATH%"]
TOLD = " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in ARGUMENTS)
FISH = " ".join("'" + argument.replace("\\", "\\\\").replace("'", "\\'") + "'" for argument in ARGUMENTS)
TAKE_IN = 'eval "$(cat {})"'
REAL = [
    pytest.param("sh", ["dash", "-c"], f"{TAKE_IN}\nclaude {TOLD}", id="dash"),
    pytest.param(
        "bash",
        ["bash", "-c"],
        f"shopt -s expand_aliases; alias claude=false\n{TAKE_IN}\nclaude {TOLD}",
        id="bash, an alias in the way",
    ),
    pytest.param("zsh", ["zsh", "-fc"], f"alias claude=false\n{TAKE_IN}\nclaude {TOLD}", id="zsh, an alias in the way"),
    pytest.param("fish", ["fish", "--no-config", "-c"], f"cat {{}} | source; claude {FISH}", id="fish"),
]


@pytest.mark.parametrize(("shell", "argv", "call"), REAL)
def test_arguments_arrive_as_they_were_given(tmp_path: Path, shell: str, argv: list[str], call: str) -> None:
    needs(is_there(argv[0]), f"{argv[0]} is not installed")
    folder = tmp_path / "a b'c$(id)\\é"
    folder.mkdir()
    told = folder / "told.py"
    told.write_text("import json, sys; print(json.dumps(sys.argv[1:]))", encoding="utf-8")
    lines = tmp_path / "hook"
    lines.write_text(
        functions({"claude": (sys.executable, str(told), "exec", "--", "claude")}, shell), encoding="utf-8"
    )
    done = subprocess.run(
        [*argv, call.replace("{}", str(lines))], env=ENVIRON, capture_output=True, text=True, check=False, timeout=20
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["exec", "--", "claude", *ARGUMENTS]


def test_a_script_that_stops_at_errors_may_hold_the_functions() -> None:
    needs(is_there("bash"), "bash is not installed")
    text = functions({"claude": ("true",)}, "bash")
    done = subprocess.run(["bash", "-euc", text + "claude; echo well"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("well\n", "")


def test_powershell_is_told_of_a_pipe_and_of_a_path_with_quotes() -> None:
    text = functions({"claude": ("C:\\it's here\\python.exe", "-I", "--", "claude")}, "powershell")
    call = "& ('C:\\it''s here\\python.exe') -I ('--') claude @args"
    piped = f"if ($MyInvocation.ExpectingInput) {{ $input | {call} }} else {{ {call} }}"
    assert text == f"function claude {{ {piped} }}\n"


@pytest.mark.parametrize("name", ["a b", "$(id)", "x;id", "", "é", "-x"])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_can_be_no_function_is_left_out(shell: str, name: str) -> None:
    assert functions({name: ("true",)}, shell) == ""


@pytest.mark.parametrize(
    ("program", "shell"),
    [("bash", "bash"), ("zsh", "zsh"), ("dash", "sh"), ("fish", "fish"), ("pwsh", "powershell"), ("cmd", None)],
)
def test_a_shell_is_known_by_its_program(program: str, shell: str | None) -> None:
    assert shell_of(program) == shell
