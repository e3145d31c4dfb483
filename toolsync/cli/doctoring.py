"""`doctor`: why it does not work."""

from __future__ import annotations

from typing import Annotated

import typer

from toolsync.cli.context import Json, run, show

app = typer.Typer()


@app.command()
def doctor(
    tools: Annotated[
        list[str] | None, typer.Argument(help="Tools; default: all found here.", show_default=False)
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also ask as a coding tool does: code, and its headers.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask nobody.")] = False,
    lang: Annotated[str | None, typer.Option("--lang", help="en or zh; default: by LANG.")] = None,
    json: Json = False,
) -> None:
    """Say why a tool gets no answer.

    What each tool will really ask, whether that works, and if not: the cause, the evidence, the command that mends it.
    Ends with 1 when something is wrong, with 3 when nobody can tell from here.
    """
    from toolsync.causes import language
    from toolsync.commands.doctor import Options
    from toolsync.commands.doctor import doctor as command

    session = run.session()
    spoken = language(lang, session.places.environ)
    show(command(session, Options(tuple(tools or ()), spoken, is_deep=deep, is_offline=offline)))
