"""`check`: where keys lie in clear, for people, for programs, and for a commit's hook."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from toolsync import screen
from toolsync.cli.context import Json, run, show
from toolsync.errors import UsageError
from toolsync.masking import masked_data

app = typer.Typer()


@app.command()
def check(
    staged: Annotated[bool, typer.Option("--staged", help="Only what git is about to commit.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Without limits of time and size.")] = False,
    sarif: Annotated[bool, typer.Option("--sarif", help="One SARIF 2.1.0 log on stdout, and nothing else.")] = False,
    json: Json = False,
) -> None:
    """Find keys that lie about in clear.

    In tools' files, their backups and logs, shell histories, and git: now and earlier. No key is shown. Ends with 1
    when one is found, with 3 when it could not be looked everywhere that matters.
    """
    from toolsync.commands import check as command

    if sarif and json:
        raise UsageError("--json and --sarif are two forms of one answer", hint="Choose one.")
    session = run.session()
    result = command.result(session, command.check(session, command.Options(staged, deep)))
    if sarif:
        run.exit_code = result.exit_code
        screen.stdout().put(dumps(masked_data(command.sarif_of(session, result)), indent=2) + "\n")
        return
    show(result)
