"""What a person types without seeing it: one line, and what was pasted behind it is never passed over in silence."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select
from typing import Any

from toolsync.errors import SecretError

if sys.platform == "win32":
    import msvcrt
    from getpass import getpass
else:
    import termios

_MOST_BYTES = 64 * 1024
_LONGEST = {"linux": 4096, "darwin": 1024}
"""Bytes of a line, its end among them, that a terminal hands over; it drops the rest (termios(3), MAX_CANON)."""
_PAUSE_SECONDS = 0.1
"""A terminal hands over what is pasted at once; nobody who has pressed Enter types on so soon."""


def typed(question: str, *, hint: str) -> str:
    """The line that a person types, shown to nobody; `getpass` throws away what is waiting behind it.

    Args:
        question: stands before it, on the terminal.
        hint: the other way to hand it over.

    Raises:
        EOFError: nobody is there, or they end the input.
        SecretError: there is more than one line, none of which goes to the shell; or more than a terminal hands over.
    """
    line, rest = _read(question)
    if len(line.encode()) + 1 >= _LONGEST.get(sys.platform, sys.maxsize):
        raise SecretError("what was pasted is longer than a terminal takes, and its end is lost", hint=hint)
    if rest.strip():
        text = "what was pasted has more than one line, and the first may be but a part of it"
        raise SecretError(text, hint=f"Copy it again as one line. {hint}".strip())
    return line


if sys.platform == "win32":

    def _read(question: str) -> tuple[str, str]:
        line, rest = getpass(question), ""
        while msvcrt.kbhit():
            rest += msvcrt.getwch()
        return line, rest

else:

    def _read(question: str) -> tuple[str, str]:
        """The line without its end, and what is waiting behind it."""
        with _terminal() as handle:
            before = termios.tcgetattr(handle)
            silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
            try:
                with _silent(handle, silent, question) as told:
                    line = _line(handle, told)
                termios.tcsetattr(handle, termios.TCSANOW, _byte_by_byte(silent))  # half a line counts too
                rest = _waiting(handle)
            finally:
                termios.tcsetattr(handle, termios.TCSAFLUSH, before)
                _show("\n")
        if not line.endswith(b"\n"):
            raise EOFError
        return _text(line).rstrip("\r\n"), _text(rest)

    @contextmanager
    def _terminal() -> Iterator[int]:
        """The terminal itself, for stdin may be a pipe; stdin, where the process has no terminal of its own."""
        try:
            handle = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            handle = os.dup(sys.stdin.fileno())
        try:
            yield handle
        except termios.error as error:  # a pipe, at which nobody types
            raise EOFError from error
        finally:
            os.close(handle)

    @contextmanager
    def _silent(handle: int, mode: list[Any], question: str) -> Iterator[int]:
        """Ask with nothing shown; again where it was stopped meanwhile (Ctrl-Z), and a shell has set its own mode.

        What it yields can be read once a signal has come: one that comes just before a read would wait for its end.
        """

        def again(*_: object) -> None:
            termios.tcsetattr(handle, termios.TCSAFLUSH, mode)
            with suppress(OSError):
                os.write(handle, question.encode())  # stderr may be just in the midst of it

        told, tells = os.pipe()
        os.set_blocking(tells, False)
        before, former = signal.set_wakeup_fd(tells, warn_on_full_buffer=False), signal.signal(signal.SIGCONT, again)
        try:
            termios.tcsetattr(handle, termios.TCSAFLUSH, mode)
            _show(question)
            yield told
        finally:
            signal.signal(signal.SIGCONT, former)
            signal.set_wakeup_fd(before)
            os.close(told)
            os.close(tells)

    def _line(handle: int, told: int) -> bytes:
        """One line with its end; without it, where the input ends before."""
        line = b""
        while not line.endswith(b"\n"):
            if told in select([handle, told], [], [])[0]:
                os.read(told, _MOST_BYTES)
                continue
            piece = os.read(handle, _MOST_BYTES)  # Ctrl-D hands over what is typed so far, and the end where nothing is
            if not piece:
                break
            line += piece
        return line

    def _byte_by_byte(mode: list[Any]) -> list[Any]:
        """The terminal's mode in which it hands over what it has, without waiting for a line's end."""
        characters = list(mode[6])
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0
        return [*mode[:3], mode[3] & ~termios.ICANON, *mode[4:6], characters]

    def _waiting(handle: int) -> bytes:
        """What comes without a pause."""
        rest = b""
        while len(rest) < _MOST_BYTES and select([handle], [], [], _PAUSE_SECONDS)[0]:
            piece = os.read(handle, _MOST_BYTES)
            if not piece:
                break
            rest += piece
        return rest

    def _show(text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def _text(raw: bytes) -> str:
        return raw.decode(errors="replace")
