"""`doctor`: why it does not work, and, where a command of ours mends it, that command."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsync import render
from toolsync.cli.context import Json, Language, Yes, confirmed, run, show
from toolsync.commands.result import Result
from toolsync.errors import DeclinedError, UsageError
from toolsync.render import screen
from toolsync.render.screen import Line

if TYPE_CHECKING:
    from toolsync.causes import Language as Spoken

app = typer.Typer()

_MOST_ROUNDS = 3
"""A change of the profile, then the tool: two; one more, for a second thing that is wrong."""


@app.command()
def doctor(
    context: typer.Context,
    tools: Annotated[
        list[str] | None, typer.Argument(help="Tools; default: all found here.", show_default=False)
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also ask as a coding tool does: code, and its headers.")
    ] = False,
    client: Annotated[
        bool, typer.Option("--client", help="Also run the tool itself once: it costs a real request.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Offer to run the command that mends it.")] = False,
    yes: Yes = False,
    lang: Language = None,
    json: Json = False,
) -> None:
    """Say why a tool gets no answer.

    What each tool will really ask, whether that works, and if not: the cause, the evidence, the command that mends it.
    Ends with 1 when something is wrong, with 3 when nobody can tell from here.
    """
    from toolsync.causes import language, words
    from toolsync.commands.doctor import Options
    from toolsync.commands.doctor import doctor as command

    if client and offline:
        raise UsageError("`--client` asks a model, and `--offline` asks nobody", hint="Leave one of them out.")
    if fix and not yes and (json or not run.session().is_interactive):
        raise DeclinedError("`--fix` asks before it runs anything, and nobody is there to answer", hint="Add `--yes`.")
    session = run.session()
    spoken = language(lang, session.places.environ)
    options = Options(tuple(tools or ()), spoken, is_deep=deep, is_offline=offline)

    def look(*, is_client: bool = False) -> Result:
        if is_client and session.is_interactive and not json:
            screen.stderr().show([Line(words(spoken)["doctor"]["asking"], "dim")])
        return command(run.session(), replace(options, is_client=is_client))

    if not fix:
        show(look(is_client=client))
        return
    mended = _mended(context, look, spoken, yes=yes)
    show(_with_fixed(look(is_client=True), mended.data["fixed"]) if client else mended)


def _mended(context: typer.Context, look: Callable[[], Result], spoken: Spoken, *, yes: bool) -> Result:
    """What is found, mended as far as commands of ours can, and looked at again."""
    from toolsync.causes import words

    found, done = look(), list[list[str]]()
    while len(done) < _MOST_ROUNDS:
        command = next((one for one in _commands(found) if one not in done), None)
        if command is None:
            break
        if not run.json:
            screen.stdout().show(render.lines(found))
        question = words(spoken)["doctor"]["run"].format(command=f"toolsync {shlex.join(command)}")
        if not yes and not confirmed(question):
            break
        _run(context, command, yes=yes)
        done.append(command)
        found = look()
    return _with_fixed(found, [{"command": one} for one in done])


def _with_fixed(found: Result, fixed: Sequence[Mapping[str, Any]]) -> Result:
    return replace(found, data={**found.data, "fixed": [*fixed]})


def _commands(found: Result) -> Iterator[list[str]]:
    """The command of each primary finding that has one; a key is asked for where somebody is there to type it."""
    for tool in found.data["tools"]:
        command = tool["findings"][0]["command"] if tool["findings"] else []
        if command and tool["state"] != "healthy" and (command[0] != "key" or run.session().is_interactive):
            yield command


def _run(context: typer.Context, command: list[str], *, yes: bool) -> None:
    """One of our own command lines, in this run; what it shows is no part of our JSON."""
    tree: Any = context.find_root().command
    before = ["--config", str(run.config)] if run.config else []
    after = ["--yes"] if yes and command[0] == "apply" else []
    with redirect_stdout(io.StringIO()) if run.json else nullcontext():
        tree.main(args=[*before, *command, *after], prog_name="toolsync", standalone_mode=False)
