"""The command line: options in, results out. The one place that asks, and the one that turns errors into text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolsync import __version__, render
from toolsync.cli import keys, profiles, work
from toolsync.cli.context import run
from toolsync.errors import ToolsyncError, UsageError
from toolsync.session import default_state

app = typer.Typer(
    name="toolsync",
    help="One gateway, one key, every AI coding tool.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (work, profiles, keys):
    app.add_typer(part.app)


def main(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code."""
    run.begin(json="--json" in arguments)
    command = " ".join(word for word in arguments[:2] if not word.startswith("-"))
    try:
        app(args=list(arguments), prog_name="toolsync", standalone_mode=False)
    except ToolsyncError as error:
        return _failed(command, error)
    except (KeyboardInterrupt, typer.Abort):
        render.stderr().show([render.Line("interrupted; nothing more was done")])
        return 130
    except BrokenPipeError:
        return 1
    except typer.TyperException as error:  # what the command line's own parser says
        return _failed(command, UsageError(error.format_message(), hint=f"`toolsync {command} --help` shows how."))
    except Exception as error:  # noqa: BLE001  the last resort: a crash report instead of a traceback
        return _crashed(error)
    return run.exit_code


def _failed(command: str, error: ToolsyncError) -> int:
    if run.json:
        sys.stdout.write(render.envelope(command, error.exit_code, {}, (), error) + "\n")
    else:
        render.stderr().show(render.error_lines(error))
    return error.exit_code


def _crashed(error: Exception) -> int:
    from toolsync.crash import report

    where = report(error, default_state())
    text = f"a bug in toolsync: {type(error).__name__}; the report is in {where}"
    render.stderr().show([render.Line(text, "bad"), render.Line("  hint: look it through and send it to the project.")])
    return 70


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
