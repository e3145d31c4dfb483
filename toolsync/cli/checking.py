"""`check`: where keys lie in clear, for people, for programs, and for a commit's hook."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Yes, run, show
from toolsync.errors import DeclinedError, UsageError
from toolsync.masking import masked_data
from toolsync.render import leakage, screen

if TYPE_CHECKING:
    from toolsync.commands.leaks.check import Checked, Options
    from toolsync.commands.leaks.mending import Plan
    from toolsync.result import Message, Result
    from toolsync.session import Session

app = typer.Typer()


@app.command()
def check(
    staged: Annotated[bool, typer.Option("--staged", help="Only what git is about to commit.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Without limits of time and size.")] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is safe to: modes, .gitignore, tools' own keys.")
    ] = False,
    no_ping: Annotated[bool, typer.Option("--no-ping", help="With --fix: do not ask the gateway first.")] = False,
    yes: Yes = False,
    sarif: Annotated[bool, typer.Option("--sarif", help="One SARIF 2.1.0 log on stdout, and nothing else.")] = False,
    json: Json = False,
) -> None:
    """Find keys that lie about in clear.

    In tools' files, their backups and logs, shell histories, and git: now and earlier. No key is shown. Ends with 1
    when one is found, with 3 when it could not look everywhere that matters.
    """
    from toolsync.commands.leaks import check as command

    session = run.session()
    _stop_at_contradiction(session, staged=staged, fix=fix, yes=yes, silent=json or sarif, both=json and sarif)
    options = command.Options(staged, deep)
    checked = command.check(session, options)
    result = command.result(session, checked)
    if fix and checked.leaks:
        result = _mended(session, checked, options, ping=not no_ping, yes=yes, silent=sarif)
    if sarif:
        run.exit_code = result.exit_code
        screen.stdout().put(dumps(masked_data(command.sarif_of(session, result)), indent=2) + "\n")
        return
    show(result)


def _stop_at_contradiction(session: Session, *, staged: bool, fix: bool, yes: bool, silent: bool, both: bool) -> None:
    if both:
        raise UsageError("--json and --sarif are two forms of one answer", hint="Choose one.")
    if staged and fix:
        raise UsageError("--fix mends files, and --staged looks at what is to be committed", hint="Choose one.")
    if fix and not yes and (silent or not session.is_interactive):
        raise DeclinedError(
            "`--fix` asks before it writes anything, and nobody is there to answer", hint="Add `--yes`."
        )


def _mended(session: Session, checked: Checked, options: Options, *, ping: bool, yes: bool, silent: bool) -> Result:
    """What is safe to mend, shown, asked about, and done; then another look."""
    from toolsync.commands.leaks import check as command
    from toolsync.commands.leaks import mending
    from toolsync.result import Message

    seen = [checked]

    def plan() -> Plan:
        return mending.plan(session, seen[-1], ping=ping)

    def again() -> Plan:
        seen.append(command.check(run.session(), options))
        return plan()

    def tell(planned: Plan) -> tuple[Message, ...]:
        if silent or planned.is_nothing:  # then the result says it all
            return ()
        screen.stdout().show(leakage.leakage_lines(command.data(session, seen[-1])))
        screen.stdout().show(leakage.mending_lines(mending.described(session, planned)))
        screen.stdout().show(render.message_lines(planned.messages))
        return planned.messages

    def execute(planned: Plan) -> Result:
        if planned.is_nothing:
            nothing = [Message("note", "nothing of this can be mended from here")] if seen[-1].leaks else []
            return command.result(session, seen[-1], messages=(*planned.messages, *nothing))
        fixed = mending.execute(session, planned)
        after = run.session()
        return command.result(after, command.check(after, options), fixed, planned.messages)

    return shown_and_done(session, plan(), again, execute, tell, yes=yes, question="Mend this?")
