"""The verbs that put one key in the place of another: `key rotate` and `key forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli import naming
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Yes, a_number, ask, run, show
from toolsync.errors import UsageError
from toolsync.render import screen, undertaking
from toolsync.result import Message, Result
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.masking import Secret


def key_rotate(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    back: Annotated[bool, typer.Option("--back", help="Go back to the key that was replaced.")] = False,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the new key from stdin.")] = False,
    source: Annotated[
        str | None, typer.Option("--from", help="command:LINE or env:NAME has the new key.", show_default=False)
    ] = None,
    keep_days: Annotated[
        float, typer.Option("--keep-days", help="How long the old key is kept.", min=0, max=3650, callback=a_number)
    ] = 7,
    no_ping: Annotated[bool, typer.Option("--no-ping", help="Do not ask the gateway.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Replace the key, here and in every copy.

    The gateway is asked with the new key first. Then the keyring and all files change together, or nothing does.
    """
    from toolsync.commands.keys import notices, rotating
    from toolsync.commands.keys import rotate as command

    if back and (stdin or source is not None):
        raise UsageError(
            f"`--back` goes back to the key from before, and `{'--stdin' if stdin else '--from'}` brings another one",
            hint="Leave one of them out.",
        )
    session = run.session()
    name = command.rotated_name(session, profile)
    _ = session.open_vault().backend  # opened before anybody types a key in vain
    new = None if back else _new_key(session, source, stdin=stdin, is_sure=yes or not no_ping)
    order = command.Order(name, new, keep_days, profile)

    def plan() -> command.Rotation:
        return command.plan(session, order)

    def carried_out(planned: command.Rotation) -> Result:
        return rotating.execute(planned, ping=not no_ping)

    def shown(planned: command.Rotation) -> tuple[Message, ...]:
        messages = tuple(notices.messages(planned))
        screen.stdout().show(undertaking.rotation_lines(rotating.described(planned)))
        screen.stdout().show(render.message_lines(messages))
        return messages

    question = f"Replace keyring:{name}{' by the key from before' if back else ''}?"
    show(shown_and_done(session, plan(), plan, carried_out, shown, yes=yes, question=question))


def _new_key(session: Session, source: str | None, *, stdin: bool, is_sure: bool) -> Secret:
    """The key that is to come, from where the person says.

    Args:
        session: the machine.
        source: the reference that names it; None: a person types it.
        stdin: they do so on stdin.
        is_sure: whether nobody is to be asked about a placeholder, for a gateway is, or they said yes to all.

    Raises:
        UsageError: two places are named, or one that keys do not come from.
        SecretError: it cannot be had, or is none.
    """
    from toolsync.keyref import REFERENCE, KeyRef
    from toolsync.secret.key import checked_typed, without_line_end

    if source is None:
        typed = naming.typed_key(session, stdin=stdin, command="key rotate", what="New key")
        return checked_typed(without_line_end(naming.demand_real(session, typed, yes=is_sure)), "the new key")
    if stdin or not REFERENCE.fullmatch(source):
        raise UsageError(
            "one place has the new key: --stdin, or --from command:LINE or env:NAME",
            hint="The key itself never stands on the command line.",
        )
    return session.secret(KeyRef.parse(source))


def key_forget(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Forget the key that was replaced.

    There is no `key rotate --back` then. What still holds it is named first.
    """
    from toolsync.commands.keys.earlier import kept_in_spite
    from toolsync.commands.keys.outdated import still_held
    from toolsync.commands.keys.stored import checked_name
    from toolsync.commands.keys.turning import forget
    from toolsync.secret import former

    session = run.session()
    name = checked_name(naming.key_name(session, profile))
    naming.demand_known(session, name)
    kept = former.read(session.state, name, session.open_vault())
    lasting = (*still_held(session, name), *kept_in_spite(session, name))
    if kept.entry or kept.going:
        lasting = _asked(session, f"Forget the key that keyring:{name} has replaced?", lasting, yes=yes)
    is_gone = forget(session, name)
    text = f"the key that keyring:{name} has replaced {'is forgotten' if is_gone else 'is not kept'}."
    show(Result("key forget", {"name": name, "forgotten": is_gone}, (Message("note", text), *lasting)))


def _asked(session: Session, question: str, known: tuple[Message, ...], *, yes: bool) -> tuple[Message, ...]:
    """Ask, what a person should know of it told first; what is left to tell.

    Raises:
        DeclinedError: they say no, or nobody is there.
    """
    if yes or run.json:
        ask(session, question, yes=yes)
        return known
    screen.stdout().show(render.message_lines(known))
    ask(session, question, yes=yes)
    return ()
