"""The commands that read and write the tools' settings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Plaintext, ProfileName, Tools, Yes, confirmed, run, show
from toolsync.planning.plans import Plan, Wish
from toolsync.planning.tracing import Notice
from toolsync.render import screen, undertaking
from toolsync.result import Message, Result
from toolsync.session import Session
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.commands.apply import Options

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
    options = command.Options(ping=not no_ping, force=force)
    applying = _Applying(session, options, news, is_asked=not yes, stops_at_loss=yes and not lose_old_values)
    wish = Wish(profile, tuple(tool or ()), allow_plaintext, fix_gitignore)
    planned = applying.plan(wish)
    if not json and _consents(session, planned):
        wish = replace(wish, allow_plaintext=True)
        planned = applying.plan(wish)
    plan = partial(applying.plan, wish)
    show(shown_and_done(session, planned, plan, applying.carried_out, applying.shown, yes=yes))


@frozen
class _Applying:
    """What becomes of a wish.

    Attributes:
        session: the machine.
        options: what is to be done about the gateway.
        news: what was found before anything was planned.
        is_asked: whether somebody is asked, and so shown a sum of what will be done.
        stops_at_loss: whether nothing is planned that undo could not bring back.
    """

    session: Session
    options: Options
    news: tuple[Notice, ...]
    is_asked: bool
    stops_at_loss: bool

    def plan(self, wish: Wish) -> Plan:
        """The plan; raises as the command's."""
        from toolsync.commands import apply as command

        planned = command.plan(self.session, wish, self.options)
        if self.stops_at_loss:
            command.stop_at_loss(planned)
        return replace(planned, asides=(*self.news, *planned.asides))

    def carried_out(self, planned: Plan) -> Result:
        """What comes of it; raises as the command's."""
        from toolsync.commands import apply as command

        return command.execute(self.session, planned, self.options)

    def shown(self, planned: Plan) -> tuple[Message, ...]:
        """Show it; what that said in messages."""
        from toolsync.commands import apply as command

        messages = tuple(command.plan_messages(self.session, planned))
        described = command.described(self.session, planned)
        screen.stdout().show(undertaking.plan_lines(described))
        screen.stdout().show(render.message_lines(messages))
        if self.is_asked:
            screen.stdout().show(undertaking.summary_lines(described))
        return messages


def _consents(session: Session, planned: Plan) -> bool:
    """Whether somebody, asked about the tools that can have the key in no other way, allows a copy of it."""
    asking = [skipped.tool.title for skipped in planned.skipped if skipped.needs_consent]
    if not asking or not session.is_interactive:
        return False
    return confirmed(f"{', '.join(asking)}: may the tool's own file hold a copy of the key in clear?")


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
    from toolsync.commands.apply import described

    session = run.session()

    def shown(planned: Plan) -> tuple[Message, ...]:
        messages = command.messages(session, planned)
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
