"""What is typed without being seen, on a real terminal: one line is taken whole, and more than one not at all."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable

import pytest

from tests.key_print import program

if sys.platform == "win32":
    pytest.skip("Windows has no pty", allow_module_level=True)
import pty
import termios

QUESTION = "Key (nothing is shown): "
ASKING = f"""
import os, sys
from toolsync.errors import SecretError
from toolsync.hidden import typed
try:
    print(typed({QUESTION!r}, hint="Pipe it in."))
except SecretError as error:
    print(error.message, "|", error.hint)
except EOFError:
    print("the end")
print("left:", repr(input()))
"""
REFUSED = (
    "what was pasted has more than one line, and the first may be but a part of it | "
    "Copy it again as one line. Pipe it in."
)
LONG = "what was pasted is longer than a terminal takes, and its end is lost | Pipe it in."
linux = pytest.mark.skipif(sys.platform != "linux", reason="how much that is differs")


def ask(pasted: str, before: Callable[[int, int], None] = lambda _pid, _terminal: None) -> list[str]:
    """What the program says of what is pasted at its question; the line after that is asked for when it has.

    Args:
        pasted: what is.
        before: what is done to the program, and at its terminal, while it asks.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        python = program()[0]
        os.execve(python, [python, "-c", ASKING], {"PATH": "/usr/bin:/bin", "TERM": "dumb"})  # noqa: S606
    try:
        said = _until(terminal, QUESTION)
        before(pid, terminal)
        os.write(terminal, pasted.encode())
        said += _until(terminal, "\n", "\n")
        os.write(terminal, b"typed later\n")
        said += _until(terminal, "left: ")
        said += _until(terminal, "\n")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    return said.partition(QUESTION)[2].split("\r\n")


def _until(terminal: int, *ends: str) -> str:
    said, deadline = "", time.monotonic() + 30
    wanted = list(ends)
    while wanted and time.monotonic() < deadline and select.select([terminal], [], [], 30)[0]:
        said += os.read(terminal, 1).decode()
        if said.endswith(wanted[0]):
            wanted.pop(0)
    assert not wanted, said
    return said


@pytest.mark.parametrize(
    ("pasted", "answer"),
    [
        pytest.param("sk-whole\n", "sk-whole", id="one line"),
        pytest.param(" sk whole \n", " sk whole ", id="blanks are nobody's to take away"),
        pytest.param("sk-whole\n\n  \n", "sk-whole", id="empty lines behind it"),
        pytest.param("sk-first\nhalf\n", REFUSED, id="two lines"),
        pytest.param("sk-first\nhalf", REFUSED, id="the second without an end"),
        pytest.param("sk-first\r\nhalf\r\n", REFUSED, id="as Windows ends lines"),
        pytest.param("sk-first\n\nhalf\n", REFUSED, id="an empty line between"),
        pytest.param("\x04", "the end", id="the end of the input"),
        pytest.param("sk-wh\x04ole\n", "sk-whole", id="no end in the middle of a line"),
        pytest.param("sk-half\x04\x04", "the end", id="the end of the input in the middle of a line"),
        pytest.param(f"{'k' * 3000}\n", "k" * 3000, id="a long one"),
        pytest.param(f"{'k' * 5000}\n", LONG, id="longer than a terminal takes", marks=linux),
        pytest.param("\n", "", id="nothing"),
    ],
)
def test_one_line_is_taken_and_more_is_refused(pasted: str, answer: str) -> None:
    assert ask(pasted) == ["", answer, "typed later", "left: 'typed later'", ""]


def _stopped(pid: int, terminal: int) -> None:
    """As Ctrl-Z and `fg`: while the program is stopped, the shell sets the terminal as it wants it itself."""
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    mode = termios.tcgetattr(terminal)
    assert not mode[3] & termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, [*mode[:3], mode[3] | termios.ECHO, *mode[4:]])
    os.kill(pid, signal.SIGCONT)
    _until(terminal, QUESTION)


def test_nothing_is_shown_after_the_program_was_stopped() -> None:
    assert ask("sk-whole\n", _stopped) == ["", "sk-whole", "typed later", "left: 'typed later'", ""]
