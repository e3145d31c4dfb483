"""The command line: options in, results out. The one place that asks, and the one that turns errors into text."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from toolsync import __version__, render
from toolsync.cli import streams
from toolsync.cli.context import run, spoken
from toolsync.cli.tree import Tree
from toolsync.errors import BugError, InterruptedRunError, OutputError, ToolsyncError, UsageError
from toolsync.render import screen
from toolsync.render.envelope import envelope
from toolsync.session import default_state

app = typer.Typer(
    name="toolsync",
    cls=Tree,
    help="One gateway, one key, every AI coding tool.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code."""
    streams.prepare()
    run.begin(_own(arguments))
    try:
        with _waits():
            code = _tree()(args=list(arguments), prog_name="toolsync", standalone_mode=False)
    except ToolsyncError as error:
        return _failed(arguments, error)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except BrokenPipeError:
        return 1
    except typer.TyperException as error:  # what the command line's own parser says
        said = error.format_message()
        return _failed(arguments, UsageError(said, hint=_help(arguments, said)))
    except OSError as error:  # of the help, which the parser itself writes; whoever else writes says what failed
        is_of_stream = error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
        return _failed(arguments, screen.stdout().unwritten(error) if is_of_stream else _bug(error))
    except Exception as error:  # noqa: BLE001  the last resort: a crash report instead of a traceback
        return _failed(arguments, _bug(error))
    if code == InterruptedRunError.exit_code:  # how typer passes Ctrl-C on, unless it was pressed at a question
        return _interrupted(arguments)
    return run.exit_code


def _waits() -> AbstractContextManager[None]:
    """Shows what is waited for, on a terminal that can take a line back; elsewhere what may take minutes is told.

    A program that reads us is told nothing.
    """
    if run.json:
        return nullcontext()
    from toolsync.cli import patience

    is_plain = not sys.stderr.isatty() or os.environ.get("TERM") == "dumb"
    return patience.told(run.language) if is_plain else patience.shown(run.language)


def _own(arguments: Sequence[str]) -> Sequence[str]:
    """What is told to us, not to the program that `exec` runs."""
    for index, word in enumerate(arguments):
        if not word.startswith("-") and arguments[index - 1 : index] != ["--config"]:
            return arguments[:index] if word == "exec" else arguments
    return arguments


@cache  # building it takes longer than most commands do, and what fails asks for it again
def _tree() -> Any:
    """The commands as typer builds them of the functions."""
    tree: Any = typer.main.get_command(app)
    for option in tree.params:  # typer's own words for them take three lines
        if option.name in _COMPLETION:
            option.help = _COMPLETION[option.name]
    return tree


_COMPLETION = {
    "install_completion": "Let this shell complete commands and options.",
    "show_completion": "Print the script that does.",
}


_MEANT = {
    "show": "`toolsync profile show` shows the profile.",
    "help": "`toolsync --help` lists the commands.",
    "rotate": "`toolsync key rotate` replaces the key, here and in every copy.",
    "--dry-run": "`toolsync diff` shows what `toolsync apply` would change, and writes nothing.",
    "-n": "`toolsync diff` shows what `toolsync apply` would change, and writes nothing.",
}
"""What people try, and what does it."""
_NARROWED = {"apply", "diff", "status", "ping"}
_TYPED = {"key set", "key rotate"}


def _help(arguments: Sequence[str], said: str) -> str:
    """What leads on after what the parser of the command line said."""
    command = _command(arguments)
    if "unexpected extra argument" in said and command in _TYPED:
        return f"A key never stands on the command line, which the shell remembers: `… | toolsync {command} --stdin`."
    tried = arguments[:1] if command == "toolsync" else arguments
    meant = next((_MEANT[word] for word in tried if word in _MEANT), None)
    if meant:
        return meant
    if arguments[:1] == ["--json"]:
        return f"It stands behind the command: `toolsync {command} --json`."
    if "unexpected extra argument" in said and command in _NARROWED:
        return f"A tool is named so: `toolsync {command} --tool NAME`."
    if arguments[:1] and arguments[0].startswith("-") and not arguments[0].startswith("--config"):
        command = "toolsync"  # an option of the program's own
    words = "toolsync" if command == "toolsync" else f"toolsync {command}"
    return f"`{words} --help` shows how."


_ALIASES = {"": "toolsync", "use": "profile use"}


def _command(arguments: Sequence[str]) -> str:
    """The command meant, as results call it: the words that lead down the tree of commands."""
    names: list[str] = []
    here: Any = _tree()
    rest = iter(arguments)
    for word in rest:
        if word == "--config":
            next(rest, None)
        elif not word.startswith("-"):
            here = getattr(here, "commands", {}).get(word)
            if here is None:
                break
            names.append(word)
    name = " ".join(names)
    return _ALIASES.get(name, name)


def _failed(arguments: Sequence[str], error: ToolsyncError) -> int:
    error = spoken(error)
    with suppress(BrokenPipeError, OutputError):  # where nothing can be said, the exit code speaks
        if run.json and not isinstance(error, OutputError):
            screen.stdout().put(envelope(_command(arguments), error.exit_code, {}, (), error) + "\n")
        else:
            screen.stderr().show(render.error_lines(error, run.language()))
    return error.exit_code


def _interrupted(arguments: Sequence[str]) -> int:
    return _failed(arguments, InterruptedRunError("interrupted; nothing more was done"))


def _bug(error: Exception) -> BugError:
    from toolsync.crash import report

    text = f"a bug in toolsync: {type(error).__name__}; {report(error, default_state())}"
    return BugError(text, hint="Look it through and send it to the project.")


@app.callback(invoke_without_command=True)
def _global(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option("--config", help="Another profile.toml.", show_default=False)] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    run.config = config
    if version:
        typer.echo(f"toolsync {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
