"""The key and the address by environment: printed for a shell, or set for one program."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli.context import Tools, run
from toolsync.errors import UsageError
from toolsync.masking import on_one_line
from toolsync.profile.wording import close
from toolsync.render import screen
from toolsync.result import Message

if TYPE_CHECKING:
    from toolsync.commands.environment.export import Environment
    from toolsync.commands.environment.variables import Variable
    from toolsync.session import Session
    from toolsync.shell import Dialect

app = typer.Typer()
OwnProfile = Annotated[
    str | None, typer.Option("--profile", "-p", help="Instead of the one that the tool is set to, or the active one.")
]
_UNREAD = {"allow_interspersed_args": False}
"""What stands behind the program's name is the program's."""


@app.command("exec", context_settings=_UNREAD)
def execute(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND…", help="The program, and what it is told.")],
    profile: OwnProfile = None,
    tool: Annotated[
        str | None, typer.Option("--tool", "-t", help="What the program is, where its name does not tell.")
    ] = None,
) -> None:
    """Run a program with gateway and key.

    They stand in its environment alone, no more of them than it needs: a tool whose settings ask toolsync for the
    key is given none. It takes the place of toolsync: signals, terminal and exit code are its own.
    """
    from toolsync.commands.environment.execution import start
    from toolsync.program import become

    ready = start(run.session(), profile, command, tool)
    screen.stderr().show(render.message_lines(ready.messages))
    run.exit_code = become(ready.argv, ready.environ)


@app.command("env")
def env(
    shell: Annotated[
        str | None,
        typer.Option("--shell", "-s", help="sh, fish, powershell, cmd, dotenv, systemd, launchd; default: this one."),
    ] = None,
    profile: OwnProfile = None,
    tool: Tools = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the key on a terminal too.")] = False,
) -> None:
    """Print lines that set gateway and key.

    For a shell to take in (`eval "$(toolsync env)"`), or for a file. Where one program is to have them,
    `toolsync exec -- PROGRAM` needs no lines.
    """
    from toolsync.commands.environment.export import environment
    from toolsync.shell import DIALECTS, dialect_of, script

    dialect = DIALECTS[_spoken(shell, tuple(DIALECTS), dialect_of)]
    session = run.session()
    found = environment(session, profile, tool or ())
    is_hidden = found.holds_key and not reveal and sys.stdout.isatty()
    text = script({one.name: one.value for one in found.variables}, dialect.name)
    if is_hidden:
        text = script({one.name: _hidden(one) for one in found.variables}, dialect.name)
    _put(text)
    told = _hiding(dialect, profile, tool or ()) if is_hidden else _lying_open(session, found)
    screen.stderr().show(render.message_lines([*found.messages, *told]))


@app.command("hook")
def hook(
    shell: Annotated[
        str | None, typer.Option("--shell", "-s", help="sh, bash, zsh, fish, powershell; default: this one.")
    ] = None,
    profile: OwnProfile = None,
    tool: Tools = None,
) -> None:
    """Print functions that run tools by `exec`.

    For the start-up file of a shell: `eval "$(toolsync hook)"`. The key is looked up when a tool is called, and
    stands in no file and not in the shell. Where there is nothing to run so, it is a remark, and no error.
    """
    from toolsync.commands.environment.hook import idle, wrapped
    from toolsync.shell.hook import SHELLS, functions, remark, shell_of

    name, session = _spoken(shell, tuple(SHELLS), shell_of), run.session()
    reason = idle(session, profile, tool or ())
    if reason:  # every new shell would say it again
        _put(remark(reason))
        return
    try:
        text = functions(wrapped(session, profile, tool or ()), name)
    except ValueError as error:
        raise UsageError(f"a path of toolsync's own {error}, which {name} cannot be given") from error
    _put(text)


def _spoken(wanted: str | None, known: Sequence[str], of_program: Callable[[str], str | None]) -> str:
    """The dialect that is asked for, or that of the shell which runs this.

    Raises:
        UsageError: there is no such, or nobody can tell.
    """
    from toolsync.shell import UNSPOKEN

    if wanted is None:
        program = _running_shell()
        found = of_program(program)
        if found is None:
            text = f"this shell ({on_one_line(program, limit=80)}) speaks a language that toolsync does not"
            raise UsageError(text, hint=f"Say which one will do: `--shell` takes {', '.join(known)}.")
        return found
    spoken = wanted if wanted in known else of_program(wanted)
    if spoken is None or spoken not in known:
        near = close(wanted, known) if wanted not in UNSPOKEN else None
        meant = f"Did you mean '{near}'? " if near else ""
        raise UsageError(f"unknown shell '{on_one_line(wanted, limit=80)}'", hint=f"{meant}Known: {', '.join(known)}.")
    return spoken


def _running_shell() -> str:
    """The program's name: of the shell above this process, else of the user's own."""
    from shellingham import ShellDetectionFailure, detect_shell  # type: ignore[import-untyped]

    try:
        return str(detect_shell()[0])
    except (ShellDetectionFailure, OSError):
        usual = "powershell" if sys.platform == "win32" else "sh"
        return Path(os.environ.get("SHELL") or usual).name


def _put(text: str) -> None:
    """As UTF-8: a shell takes bytes, and no encoding of a terminal may spell them anew."""
    screen.stdout().pass_on(text.encode())


# What is said of the key.


def _hidden(variable: Variable) -> str | None:
    return "***" if variable.is_secret and variable.value else variable.value


def _hiding(dialect: Dialect, profile: str | None, tools: Sequence[str]) -> Iterator[Message]:
    """How the lines are taken in unseen."""
    named = ("--profile", profile) if profile else ()
    options = shlex.join(["--shell", dialect.name, *named, *(word for tool in tools for word in ("--tool", tool))])
    usage = dialect.usage.replace("ARGUMENTS", options)
    yield Message("note", "The key is not shown on a terminal, which remembers what it showed; `--reveal` does.")
    yield Message("note", f"Taken in unseen: {usage}")


def _lying_open(session: Session, found: Environment) -> Iterator[Message]:
    """That the lines go into a file from which others can have the key."""
    from toolsync.commands.environment.lying import lying_open

    if found.holds_key:
        with suppress(OSError, ValueError):  # no stream of the system's
            yield from lying_open(session, sys.stdout.fileno())
