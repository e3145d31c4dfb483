"""One run of the program: what its global options said, what it shows, and what it asks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import disk, process, render
from toolsync.errors import DeclinedError, ToolsyncError, UsageError
from toolsync.render import screen
from toolsync.render.envelope import envelope
from toolsync.result import Result
from toolsync.session import Session, default_config, default_state, this_machine
from toolsync.store import variables

if TYPE_CHECKING:
    from toolsync.causes import Language as Spoken
    from toolsync.secret.vault import Vault

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout, and nothing else.")]
ProfileName = Annotated[str | None, typer.Option("--profile", "-p", help="Instead of the active profile.")]
Tools = Annotated[list[str] | None, typer.Option("--tool", "-t", help="Only this tool; may be repeated.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer the question with yes.")]
Language = Annotated[str | None, typer.Option("--lang", help="en or zh; default: as LANG says.", show_default=False)]
Plaintext = Annotated[bool, typer.Option("--allow-plaintext", help="A tool's own file may hold a copy of the key.")]


def a_number(value: float | None) -> float | None:
    """An option's value; `nan`, which Python reads as a number, is within every limit, for it is beyond none."""
    if value is not None and isnan(value):
        raise typer.BadParameter("'nan' is no number")
    return value


def help_app(purpose: str) -> typer.Typer:
    """A group of commands that, named alone, shows its help."""
    group = typer.Typer(help=purpose)

    @group.callback(invoke_without_command=True)
    def _alone(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return group


class Run:
    """What the global options said, and how the run will end; typer's commands cannot be handed it.

    Attributes:
        config: `--config`, or None.
        json: whether stdout is to hold one JSON object and nothing else.
        exit_code: how the program ends.
    """

    def __init__(self) -> None:
        self.begin(())

    def begin(self, arguments: Sequence[str]) -> None:
        """Start afresh, with the words that are told to us."""
        self.config: Path | None = None
        self.json = "--json" in arguments
        self.exit_code = 0
        self._arguments = arguments

    def language(self) -> Spoken:
        """The language that the person is spoken to, also where the command line cannot be read to its end.

        What only doctor, `explain` and `ping` say is in the catalogue; the other commands speak English.
        """
        from toolsync.causes import language

        if not _SPEAKING & {*self._arguments}:
            return "en"
        words = [word for argument in self._arguments for word in argument.split("=", 1)]
        told = [after for before, after in pairwise(words) if before == "--lang"]
        try:
            return language(told[-1] if told else None, os.environ)
        except UsageError:
            return language(None, os.environ)

    def session(self) -> Session:
        """The session of this run."""
        places = this_machine()
        places = replace(places, variables=variables(places))
        config = self.config or default_config(places.environ)
        config = config / "profile.toml" if disk.is_folder(config) else config
        is_interactive = sys.stdin.isatty() and sys.stderr.isatty()
        return Session(
            places,
            config.absolute(),
            default_state(),
            _vault(is_interactive),
            is_interactive=is_interactive,
            processes=process.running,
        )


_SPEAKING = {"doctor", "explain", "ping"}

run = Run()


def _vault(is_interactive: bool) -> Callable[[], Vault]:
    def opened() -> Vault:
        from toolsync.secret.vault import ATTENDED_SECONDS, UNATTENDED_SECONDS, SystemVault

        return SystemVault(timeout_seconds=ATTENDED_SECONDS if is_interactive else UNATTENDED_SECONDS)

    return opened


def show(result: Result) -> None:
    """Show the result, and end with its exit code."""
    run.exit_code = result.exit_code
    if run.json:
        text = envelope(result.command, result.exit_code, result.data, result.messages, None)
        screen.stdout().put(text + "\n")
        return
    screen.stdout().show(render.lines(result))


def spoken(error: ToolsyncError) -> ToolsyncError:
    """The error, in the language that the person is spoken to, as far as the catalogue knows it."""
    language = run.language()
    if language != "en":
        from toolsync.sentence import reported, tell

        error.message, error.hint = (tell(reported(text), language) for text in (error.message, error.hint))
    return error


def ask(session: Session, question: str, *, yes: bool) -> None:
    """Ask, and return if the person says yes.

    Raises:
        DeclinedError: they say no, or nobody is there.
    """
    if yes:
        return
    if not session.is_interactive or run.json:
        raise DeclinedError("nobody is there to say yes; nothing was written", hint="Add `--yes`.")
    if not confirmed(question):
        raise DeclinedError("declined; nothing was written")


def confirmed(question: str, *, default: bool = False) -> bool:
    """Whether the person says yes; what is neither is asked again."""
    choices = "[Y/n]" if default else "[y/N]"
    while True:
        answer = typer.prompt(f"{question} {choices}", default="", show_default=False, err=True).strip().lower()
        if answer in _ANSWERS or not answer:
            return _ANSWERS.get(answer, default)
        screen.stderr().show(render.error_lines(spoken(UsageError("answer with y or n")), run.language()))


_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}
