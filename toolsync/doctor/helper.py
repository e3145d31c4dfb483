"""The command that a tool runs for its key: run as the tool runs it, with a limit; what it prints is never shown."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolsync import waiting
from toolsync.document import Value
from toolsync.masking import Secret, masked, on_one_line
from toolsync.sentence import Text, reported, say
from toolsync.value import frozen

_SECONDS = 15.0
_MOST = 16 * 1024
"""More than servers take in a header."""


@frozen
class Command:
    """What is run.

    Attributes:
        argv: the program and its arguments; for a line, the shell with it.
        program: the program that people would look for.
        words: what it comes to: for a line in which nothing is left to the shell, its words. Equal ones print the same.
    """

    argv: tuple[str, ...]
    program: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, value: Value) -> Command | None:
        """The command in a value of the settings: a line, or a table with `command` and `args`; None if it is none."""
        if isinstance(value, str) and value.strip():
            return cls(_shell(value), _first_word(value), _plain_words(value) or _shell(value))
        match value:
            case {"command": str(program)} if program:
                args = value.get("args", [])
                argv = (program, *map(str, args if isinstance(args, list) else ()))
                return cls(argv, program, argv)
        return None

    def lies_in(self, folder: Path, environ: Mapping[str, str]) -> bool:
        """Whether it is run from the folder that it is run in, or hangs on what lies there.

        Args:
            folder: the project's.
            environ: the variables that it is run with.
        """
        program = self.program.replace("\\", "/")
        if "/" in program and not re.match(_ABSOLUTE, program):
            return True
        if self.is_own:
            return False
        from toolsync.doctor.dependence import hangs_on  # only here, for others' commands

        return hangs_on(folder, " ".join(self.argv), program, environ)

    @property
    def is_own(self) -> bool:
        """Whether it is toolsync's."""
        line = " ".join(self.argv)
        return "toolsync" in line and "key print" in line


_ABSOLUTE = r"[/~$%-]|[A-Za-z]:"


def _shell(line: str) -> tuple[str, ...]:
    return ("cmd", "/d", "/s", "/c", line) if sys.platform == "win32" else ("/bin/sh", "-c", line)


def _plain_words(line: str) -> tuple[str, ...]:
    """The words of a line that a POSIX shell only splits and unquotes; nothing for any other."""
    bare = re.sub(r"'[^']*'", "", line)
    if sys.platform == "win32" or re.search(r"""[^\w\s./:=+,@%-]""", bare) or "=" in bare.lstrip().partition(" ")[0]:
        return ()
    return tuple(shlex.split(line))


def _first_word(line: str) -> str:
    """The program's name; where a shell's variable is made of another command first, the beginning of that."""
    try:
        words = shlex.split(line, posix=sys.platform != "win32")
    except ValueError:
        return line.split(maxsplit=1)[0]
    for word in words:
        made = re.match(r"\w+=.*?(?:\$\(|`)", word)
        if made or "=" not in word:
            return made[0] if made else word.strip('"')
    return ""


@frozen
class Printed:
    """What became of running it.

    Attributes:
        key: what it printed; None where that is no key.
        problem: why not, for people; None where all is well.
        is_gone: whether the program is not there at all.
    """

    key: Secret | None = None
    problem: Text | None = None
    is_gone: bool = False


def printed(command: Command, environ: Mapping[str, str], folder: Path) -> Printed:
    """Run the command.

    Args:
        command: what the tool runs.
        environ: what the tool sees.
        folder: where the tool runs it.
    """
    if _is_missing(command.program, environ):
        return Printed(problem=say("no_program", program=_shown(command.program)), is_gone=True)
    try:
        with waiting.on(lambda: say("waits_helper", program=_shown(command.program)), _SECONDS):
            done = _run(command.argv, environ, folder)
    except subprocess.TimeoutExpired:
        return Printed(problem=say("helper_slow", seconds=f"{_SECONDS:g}"))
    except OSError as error:
        return Printed(problem=say("helper_unstartable", reason=_shown(error.strerror or str(error))))
    return _judged(done)


def _is_missing(program: str, environ: Mapping[str, str]) -> bool:
    """Whether nothing of that name can be run; what only a shell understands is left to the shell."""
    if not program or any(mark in program for mark in "$`*?(){}|&;<>"):
        return False
    path = Path(os.path.expanduser(program))  # noqa: PTH111  Path's own raises where there is no home
    if path.name != program:
        return path.is_absolute() and shutil.which(str(path)) is None
    return program not in _OF_SHELL and shutil.which(program, path=environ.get("PATH", os.defpath)) is None


_OF_SHELL = frozenset(
    {
        *(".", ":", "[", "[[", "!", "alias", "bg", "break", "builtin", "case", "cat", "cd", "command", "continue"),
        *("declare", "dirs", "echo", "enable", "eval", "exec", "exit", "export", "false", "fg", "for", "function"),
        *(
            "getopts",
            "hash",
            "if",
            "jobs",
            "kill",
            "let",
            "local",
            "popd",
            "printf",
            "pushd",
            "pwd",
            "read",
            "readonly",
        ),
        *("return", "select", "set", "shift", "shopt", "source", "test", "time", "times", "trap", "true", "type"),
        *("typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while"),
    }
)
"""What a shell does itself, and its reserved words (POSIX, bash); `cat` is everywhere."""


def _run(argv: Sequence[str], environ: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        argv, stdin=nothing, stdout=pipe, stderr=pipe, env=_there(environ, folder), cwd=folder, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            raise
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def _there(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The variables, of which none names the folder that doctor is run in."""
    own = {name: value for name, value in environ.items() if name not in ("PWD", "OLDPWD")}
    return {**own, "PWD": str(folder)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program, and what it started: that may hold the pipes open."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _judged(done: subprocess.CompletedProcess[bytes]) -> Printed:
    text = done.stdout[:_MOST].decode(errors="replace").strip()
    lines = text.splitlines()
    secrets = [Secret(line.strip()) for line in lines]  # known from here on: masked in what it says on stderr
    said = on_one_line(masked(done.stderr.decode(errors="replace")).strip(), limit=300)
    if done.returncode != 0:
        return Printed(problem=_adding(say("helper_ended", code=str(done.returncode)), said))
    if not lines:
        return Printed(problem=_adding(say("helper_silent"), said))
    if len(lines) > 1:
        return Printed(problem=say("helper_talkative", count=str(len(lines))))
    return Printed(secrets[0])


def _adding(problem: Text, said: str) -> Text:
    return say("at", place=problem, said=_quoted(said)) if said else problem


def _quoted(said: str) -> Text:
    """The program's own words, which nobody translates but where it is toolsync."""
    own = said.removeprefix(_OWN)
    return say("at", place="toolsync", said=reported(own)) if own != said else said


_OWN = "toolsync: "
"""How the line begins that `key print` writes where it fails."""


def _shown(program: str) -> str:
    return on_one_line(masked(program), limit=200)
