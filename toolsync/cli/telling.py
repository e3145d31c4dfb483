"""The commands that say what toolsync knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolsync import render
from toolsync.cli.context import Json, Language, run, show
from toolsync.render import screen
from toolsync.render.envelope import enveloped
from toolsync.render.screen import Line
from toolsync.result import Result

if TYPE_CHECKING:
    from toolsync.commands.demo import Step

app = typer.Typer()


@app.command()
def explain(
    cause: Annotated[str | None, typer.Argument(help="Default: list them.", show_default=False)] = None,
    lang: Language = None,
    json: Json = False,
) -> None:
    """Say what a cause is, and what mends it.

    A cause is what `ping`, `apply` and `models` name when the gateway does not answer as it must.
    """
    from toolsync.causes import language
    from toolsync.commands.explain import explain as command

    show(command(cause, language(lang, run.session().places.environ)))


@app.command()
def tools(json: Json = False) -> None:
    """List the tools, and which are found here.

    A tool is found when a program of its is on PATH, or a file or folder of its is there.
    """
    from toolsync.commands.tools import tools as command

    show(command(run.session()))


@app.command()
def demo(json: Json = False) -> None:
    """Play the whole story in a throw-away home.

    No key, network or tool is needed.
    """
    from toolsync.commands.demo import story

    if json:
        steps = list(story())
        show(Result("demo", {"steps": [_step(step) for step in steps]}, exit_code=steps[-1].exit_code))
        return
    terminal = screen.stdout()
    for step in story():
        if step.command:
            terminal.show([Line(""), Line(f"$ {step.command}", "place")])
        if step.text:
            terminal.show([Line(step.text)])
        if step.result is not None:
            terminal.show(render.lines(step.result))
        if step.error is not None:
            terminal.show(render.error_lines(step.error))
        run.exit_code = step.exit_code


def _step(step: Step) -> dict[str, Any]:
    """A step of the demonstration as data; what its command said is that command's own envelope."""
    envelope = None
    if step.result is not None:
        result = step.result
        envelope = enveloped(result.command, result.exit_code, result.data, result.messages, None)
    if step.error is not None:
        envelope = enveloped(step.command.split()[1], step.error.exit_code, {}, (), step.error)
    return {"command": step.command, "text": step.text, "envelope": envelope}


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="Default: list them.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Print a JSON Schema.

    Of a file that toolsync reads, or of what a command says with --json.
    """
    from toolsync.commands.schema import schema as command

    show(command(name))
