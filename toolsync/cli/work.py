"""The commands that read and write the tools' settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from toolsync import render
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Plaintext, ProfileName, Tools, Yes, confirmed, run, show
from toolsync.planning.plans import Plan, Wish
from toolsync.render import screen, undertaking
from toolsync.result import Message, Result

app = typer.Typer()


@app.command()
def apply(
    tool: Tools = None,
    profile: ProfileName = None,
    yes: Yes = False,
    no_ping: Annotated[
        bool,
        typer.Option("--no-ping", help="Neither ask the gateway nor, where all is as it should be, the key's command."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write although the ping fails.")] = False,
    allow_plaintext: Plaintext = False,
    lose_old_values: Annotated[
        bool, typer.Option("--lose-old-values", help="With --yes: although no keyring can keep them for undo.")
    ] = False,
    fix_gitignore: Annotated[
        bool, typer.Option("--fix-gitignore", help="Let git ignore the files that will hold the key.")
    ] = False,
    new_memory: Annotated[bool, typer.Option("--new-memory", help="Set one aside that cannot be read.")] = False,
    json: Json = False,
) -> None:
    """Set every tool to the profile.

    Every tool that is found on this machine; `toolsync tools` lists them. What will change is shown first, and asked
    about; the gateway is pinged; then all files are written, or none. Consent to a copy of the key lasts until `undo`.
    """
    from toolsync.commands import apply as command
    from toolsync.commands.writing.recovering import begun_anew

    session = run.session()
    news = begun_anew(session) if new_memory else ()
    wish = Wish(profile, tuple(tool or ()), allow_plaintext, fix_gitignore)
    options = command.Options(ping=not no_ping, force=force)

    def plan(wish: Wish) -> Plan:
        planned = command.plan(session, wish, options)
        if yes and not lose_old_values:
            command.stop_at_loss(planned)
        return replace(planned, asides=(*news, *planned.asides))

    planned = plan(wish)
    asking = [skipped.tool.title for skipped in planned.skipped if skipped.needs_consent]
    if asking and session.is_interactive and not json:
        question = f"{', '.join(asking)}: may the tool's own file hold a copy of the key in clear?"
        if confirmed(question):
            wish = replace(wish, allow_plaintext=True)
            planned = plan(wish)

    def carried_out(planned: Plan) -> Result:
        return command.execute(session, planned, options)

    def shown(planned: Plan) -> tuple[Message, ...]:
        messages = tuple(command.plan_messages(session, planned))
        described = command.described(session, planned)
        screen.stdout().show(undertaking.plan_lines(described))
        screen.stdout().show(render.message_lines(messages))
        if not yes:
            screen.stdout().show(undertaking.summary_lines(described))
        return messages

    show(shown_and_done(session, planned, lambda: plan(wish), carried_out, shown, yes=yes))


@app.command()
def undo(
    tools: Annotated[list[str] | None, typer.Argument(help="Tools; default: all.", show_default=False)] = None,
    tool: Tools = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Give every value back to what you had.

    Your later edits stay.
    """
    from toolsync.commands import undo as command
    from toolsync.commands.apply import described, plan_messages

    session = run.session()

    def shown(planned: Plan) -> tuple[Message, ...]:
        messages = tuple(plan_messages(session, planned))
        if planned.files:
            screen.stdout().show(undertaking.plan_lines(described(session, planned)))
        screen.stdout().show(render.message_lines(messages))
        return messages

    def plan() -> Plan:
        return command.plan(session, [*(tools or ()), *(tool or ())])

    show(shown_and_done(session, plan(), plan, lambda planned: command.execute(session, planned), shown, yes=yes))


@app.command()
def diff(
    tool: Tools = None, profile: ProfileName = None, allow_plaintext: Plaintext = False, json: Json = False
) -> None:
    """Show what `apply` would change.

    Ends with 1 when something would.
    """
    from toolsync.commands.diff import diff as command

    show(command(run.session(), Wish(profile, tuple(tool or ()), allow_plaintext)))


@app.command()
def status(tool: Tools = None, profile: ProfileName = None, json: Json = False) -> None:
    """Show what drifted since the last apply.

    Last applied against now, and now against the profile. Ends with 1 when they differ.
    """
    from toolsync.commands.status import status as command

    show(command(run.session(), Wish(profile, tuple(tool or ()))))


@app.command()
def ping(tool: Tools = None, profile: ProfileName = None, json: Json = False) -> None:
    """Send the gateway the smallest request.

    One for each address and dialect that the tools on this machine use.
    """
    from toolsync.commands.pinging import run as command

    show(command(run.session(), Wish(profile, tuple(tool or ()))))


@app.command()
def models(profile: ProfileName = None, json: Json = False) -> None:
    """List what the gateway serves."""
    from toolsync.commands.models import models as command

    show(command(run.session(), profile))
