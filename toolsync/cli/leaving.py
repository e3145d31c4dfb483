"""`uninstall`: the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Yes, confirmed, run, show
from toolsync.render import screen, undertaking
from toolsync.result import Message, Result

if TYPE_CHECKING:
    from toolsync.commands.uninstall import Plan

app = typer.Typer()


@app.command()
def uninstall(
    yes: Yes = False,
    remove_keys: Annotated[
        bool, typer.Option("--remove-keys", help="The keys go too, which may be kept nowhere else.")
    ] = False,
    json: Json = False,
) -> None:
    """Undo everything; remove what toolsync keeps.

    The profile stays, and the keys unless you say so.
    """
    from toolsync.commands import uninstall as command

    session = run.session()
    planned = command.plan(session, remove_keys=remove_keys)
    if planned.keys.stored and session.is_interactive and not (remove_keys or yes or json):
        names = ", ".join(f"keyring:{name}" for name in planned.keys.stored)
        question = f"Remove {names} from the keyring too, where it may be kept nowhere else?"
        remove_keys = confirmed(question)
        planned = replace(planned, remove_keys=remove_keys)

    def plan() -> Plan:
        return command.plan(session, remove_keys=remove_keys)

    def execute(planned: Plan) -> Result:
        return command.execute(session, planned)

    def shown(planned: Plan) -> tuple[Message, ...]:
        messages = command.messages(session, planned)
        described = command.described(session, planned)
        if not yes and not planned.is_nothing:
            screen.stdout().show(undertaking.uninstall_plan_lines(described))
        elif described["written"]:  # where nobody is asked, the result alone says what goes and what stays
            screen.stdout().show(undertaking.plan_lines(described))
        screen.stdout().show(render.message_lines(messages))
        return messages

    show(shown_and_done(session, planned, plan, execute, shown, yes=yes, question="Remove all this?"))
