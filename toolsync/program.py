"""Becoming another program: the process itself where the system can, else a child that is waited for."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePath, PureWindowsPath
from typing import NoReturn

from toolsync.errors import ToolsyncError
from toolsync.masking import on_one_line

NOT_FOUND, NOT_RUN = 127, 126
"""How shells end where a program is not there, and where it cannot be run."""


class NoProgramError(ToolsyncError):
    """A program is not there, or cannot be run."""

    def __init__(self, message: str, *, hint: str, exit_code: int) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


def become(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the program in the place of this one; on Windows, beside it: its exit code then.

    Signals that Python ignores for itself (SIGPIPE, SIGXFSZ) are given back first, for they would stay ignored.

    Raises:
        NoProgramError: it is not on the `PATH` of `environ`, or cannot be run.
    """
    program = _found(argv[0], environ)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if sys.platform == "win32":
            return _waited_for(program, argv, environ)
        _replaced(program, argv, environ)
    except (OSError, ValueError) as error:  # ValueError: a null character
        reason = getattr(error, "strerror", None) or "its arguments cannot be passed on"
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
        hint = "Run it without toolsync to see more."
        raise NoProgramError(f"'{_shown(argv[0])}' cannot be run: {reason}", hint=hint, exit_code=code) from error


def _replaced(program: str, argv: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    told = _as_before(environ)
    try:
        os.execve(program, [*argv], told)  # noqa: S606  no shell is what is wanted
    except OSError as error:
        if error.errno != errno.ENOEXEC or not _is_script(program):
            raise
        script = f"./{program}" if program.startswith("-") else program  # no option of the shell's
        os.execve(_SHELL, [argv[0], script, *argv[1:]], told)  # noqa: S606  it reads the file, and no line of ours


_SHELL = "/bin/sh"
"""What runs a script that does not name its interpreter, as POSIX wants it of `execvp`."""


def _is_script(program: str) -> bool:
    """Whether it is text, and no program for another kind of machine."""
    with open(program, "rb") as file:  # noqa: PTH123  as the system takes the name
        return b"\0" not in file.readline(_FIRST_BYTES)


_FIRST_BYTES = 128


def _as_before(environ: Mapping[str, str]) -> dict[str, str]:
    """Without the variable that Python sets for itself where there is no locale (PEP 538)."""
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123  no file of the disk
            was_set = any(entry.startswith(b"LC_CTYPE=") for entry in file.read().split(b"\0"))
    except OSError:
        was_set = True  # nobody knows
    return {name: value for name, value in environ.items() if was_set or name != "LC_CTYPE"}


def _waited_for(program: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Ctrl-C reaches the program by itself; this process is to outlive it."""
    command = _command(program, argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.run(command, env={**environ}, check=False).returncode


def _command(program: str, argv: Sequence[str]) -> Sequence[str] | str:
    """What Windows is to run. A batch file (npm makes them) is read by cmd, which obeys `&` and `|` outside quotes.

    Raises:
        NoProgramError: cmd would take an argument apart however it is quoted.
    """
    if PureWindowsPath(program).suffix.lower() not in (".bat", ".cmd"):
        return [program, *argv[1:]]
    if any(character in word for word in argv[1:] for character in '"%\r\n'):
        text = f"'{_shown(argv[0])}' is a batch file, and takes no argument with a quotation mark, '%' or a line break"
        hint = "Run what it starts by itself (node, and the script's path)."
        raise NoProgramError(text, hint=hint, exit_code=NOT_RUN)
    return " ".join(f'"{word}{_slashes(word)}"' for word in (program, *argv[1:]))


def _slashes(word: str) -> str:
    """The backslashes at its end once more: the program behind cmd takes them in pairs before a quotation mark."""
    return "\\" * (len(word) - len(word.rstrip("\\")))


def _found(name: str, environ: Mapping[str, str]) -> str:
    """The program's file, as a shell finds it."""
    if PurePath(name).name != name:
        return name
    search = environ.get("PATH", os.defpath)
    found = shutil.which(name, path=search)
    if found:
        return found
    shut = shutil.which(name, mode=os.F_OK, path=search)
    if shut:
        raise NoProgramError(f"'{_shown(shut)}' may not be executed", hint="`chmod +x` lets it.", exit_code=NOT_RUN)
    raise NoProgramError(
        f"there is no program '{_shown(name)}' on PATH", hint="Install it, or write its path.", exit_code=NOT_FOUND
    )


def _shown(name: str) -> str:
    return on_one_line(name, limit=200)
