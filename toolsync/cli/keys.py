"""The verbs on the key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import disk, render
from toolsync.cli import streams
from toolsync.cli.asking import shown_and_done
from toolsync.cli.context import Json, Yes, a_number, ask, help_app, run, show
from toolsync.errors import UsageError
from toolsync.render import screen, undertaking
from toolsync.result import Message, Result
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.keyref import KeyRef
    from toolsync.masking import Secret
    from toolsync.profile import Profile

app = typer.Typer()
key_app = help_app("The key in the system's keyring.")
app.add_typer(key_app, name="key")


@key_app.command("set")
def key_set(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the key from stdin.")] = False,
    json: Json = False,
) -> None:
    """Store a key in the keyring.

    From a prompt without echo, or from stdin; never from the command line. Where the profile's key is an `age:`
    file, in that file.
    """
    from toolsync.commands.keys.stored import checked_name, set_key

    session = run.session()
    file = _in_file(session, profile)
    if file is not None:
        from toolsync.commands.keys.file import set_in_file

        show(set_in_file(session, file, lambda: _typed_key(session, stdin=stdin)))
        return
    name, vault = checked_name(_key_name(session, profile)), session.open_vault()
    if not stdin:
        _ = vault.backend  # opened before anybody types a key in vain
    stored = set_key(_typed_key(session, stdin=stdin), name, vault, session.state)
    state = "replaced" if stored.is_replaced else "stored" if stored.is_changed else "unchanged"
    lost = "What stood there is kept nowhere; `toolsync key rotate` keeps it for a week." if stored.is_replaced else ""
    data = {"name": stored.name, "backend": stored.backend, "changed": stored.is_changed}
    text = f"keyring:{stored.name} is {state} in {stored.backend}."
    told = (Message("note", text, lost), *_unused(session, stored.name))
    show(Result("key set", data, (*told, *_outdated(session, stored.name)) if stored.is_replaced else told))


def _in_file(session: Session, profile: str | None) -> KeyRef | None:
    """The file that the profile keeps its key in; None where it keeps it elsewhere."""
    there = _profiles(session)
    if profile is not None and profile not in [one.name for one in there]:
        return None
    reference = session.profiles().get(profile).key
    return reference if reference.kind == "age" else None


def _outdated(session: Session, name: str) -> Iterator[Message]:
    """That files hold copies of the key that stood there before."""
    from toolsync.commands.keys.holders import outdated
    from toolsync.keyref import KeyRef

    yield from outdated(session, KeyRef("keyring", name))


def _unused(session: Session, name: str) -> tuple[Message, ...]:
    """That no profile uses a key, which may be a slip of the pen."""
    from toolsync.commands.keys.stored import uses
    from toolsync.profile import KeyRef
    from toolsync.profile.wording import close

    profiles = _profiles(session)
    if not profiles or uses(KeyRef("keyring", name), profiles):
        return ()
    names = [profile.name for profile in profiles]
    near = close(name, names)
    there = f"Did you mean '{near}'?" if near else f"There are: {', '.join(names)}."
    return (Message("warning", f"no profile uses keyring:{name}", f"{there} `toolsync key remove {name}` removes it."),)


def _profiles(session: Session) -> tuple[Profile, ...]:
    return session.profiles().profiles if disk.is_there(session.config) else ()


def _typed_key(session: Session, *, stdin: bool, command: str = "key set") -> str:
    if stdin:
        return streams.typed_in()
    if not session.is_interactive:
        raise UsageError("nobody is there to type the key", hint=f"Pipe it in: `… | toolsync {command} --stdin`.")
    what = "New key" if command == "key rotate" else "Key"
    typed: str = typer.prompt(f"{what} (nothing is shown)", hide_input=True, err=True)
    return typed


def _key_name(session: Session, profile: str | None) -> str:
    """The keyring name that a profile refers to; a name that is no profile stands for itself."""
    if profile is not None and not disk.is_there(session.config):
        return profile
    profiles = session.profiles()
    if profile is not None and profile not in profiles.names:
        return profile
    reference = profiles.get(profile).key
    if reference.kind != "keyring":
        raise UsageError(
            f"the profile's key comes from {reference.kind}:, not from the keyring",
            hint="Change it there, or `toolsync profile edit --set key=keyring:NAME` first.",
        )
    return reference.name


@key_app.command("rotate")
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
    from toolsync.commands.keys import rotate as command
    from toolsync.commands.keys import rotating

    if back and (stdin or source is not None):
        raise UsageError(
            f"`--back` goes back to the key from before, and `{'--stdin' if stdin else '--from'}` brings another one",
            hint="Leave one of them out.",
        )
    session = run.session()
    name = command.rotated_name(session, profile)
    _ = session.open_vault().backend  # opened before anybody types a key in vain
    new = None if back else _new_key(session, source, stdin=stdin)
    order = command.Order(name, new, keep_days, profile)

    def plan() -> command.Rotation:
        return command.plan(session, order)

    def carried_out(planned: command.Rotation) -> Result:
        return rotating.execute(planned, ping=not no_ping)

    def shown(planned: command.Rotation) -> tuple[Message, ...]:
        messages = tuple(rotating.messages(planned))
        screen.stdout().show(undertaking.rotation_lines(rotating.described(planned)))
        screen.stdout().show(render.message_lines(messages))
        return messages

    question = f"Replace keyring:{name}{' by the key from before' if back else ''}?"
    show(shown_and_done(session, plan(), plan, carried_out, shown, yes=yes, question=question))


def _new_key(session: Session, source: str | None, *, stdin: bool) -> Secret:
    """The key that is to come, from where the person says.

    Raises:
        UsageError: two places are named, or one that keys do not come from.
        SecretError: it cannot be had, or is none.
    """
    from toolsync.keyref import REFERENCE, KeyRef
    from toolsync.secret.key import checked, without_line_end

    if source is None:
        return checked(without_line_end(_typed_key(session, stdin=stdin, command="key rotate")), "the new key")
    if stdin or not REFERENCE.fullmatch(source):
        raise UsageError(
            "one place has the new key: --stdin, or --from command:LINE or env:NAME",
            hint="The key itself never stands on the command line.",
        )
    return session.secret(KeyRef.parse(source))


@key_app.command("forget")
def key_forget(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Forget the key that was replaced.

    There is no `key rotate --back` then.
    """
    from toolsync.commands.keys.stored import checked_name
    from toolsync.commands.keys.turning import forget
    from toolsync.secret import former

    session = run.session()
    name = checked_name(_key_name(session, profile))
    _demand_known(session, name)
    kept = former.read(session.state, name, session.open_vault())
    if kept.entry or kept.going:
        ask(session, f"Forget the key that keyring:{name} has replaced?", yes=yes)
    is_gone = forget(session, name)
    text = f"the key that keyring:{name} has replaced {'is forgotten' if is_gone else 'is not kept'}."
    show(Result("key forget", {"name": name, "forgotten": is_gone}, (Message("note", text),)))


@key_app.command("uses")
def key_uses(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List who holds or asks for the key."""
    from toolsync.commands.keys.uses import key_uses as command

    session = run.session()
    show(command(session, session.profiles().get(profile).key))


@key_app.command("list")
def key_list(json: Json = False) -> None:
    """List the keys, never their values."""
    from toolsync.commands.keys.stored import list_keys, needs_keyring

    session = run.session()
    profiles = _profiles(session)
    vault = session.open_vault() if needs_keyring(session.state, profiles) or not profiles else None
    keys = [
        {"key": str(one.reference), "profiles": list(one.profiles), "stored": one.is_stored}
        for one in list_keys(vault, session.state, profiles)
    ]
    show(Result("key list", {"backend": vault.backend if vault else "", "keys": keys}, tuple(_kept(session))))


def _kept(session: Session) -> Iterator[Message]:
    """The keys that others have replaced."""
    from toolsync.secret import former

    for name, one in former.noted(session.state).items():
        way = f"`toolsync key rotate keyring:{name} --back` goes back to it, `toolsync key forget {name}` forgets it."
        yield Message("note", f"the key that keyring:{name} has replaced is kept until {one.until[:10]}", way)


@key_app.command("remove")
def key_remove(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    yes: Yes = False,
    force: Annotated[bool, typer.Option("--force", help="Although other profiles use it too.")] = False,
    json: Json = False,
) -> None:
    """Remove a key from the keyring."""
    from toolsync.commands.keys.stored import checked_name, demand_unused, remove_key

    session = run.session()
    name = checked_name(_key_name(session, profile))
    _demand_known(session, name)
    if yes and not force:
        demand_unused(name, _profiles(session), besides=_named(session, profile))
    ask(session, _question(session, name), yes=yes)
    removed = remove_key(name, session.open_vault(), session.state)
    text = f"keyring:{name} {'is removed' if removed else 'was not there'}."
    show(Result("key remove", {"name": name, "removed": removed}, (Message("note", text), *_bereft(session, name))))


def _bereft(session: Session, name: str) -> Iterator[Message]:
    """That tools ask for a key that is gone, or hold copies of it."""
    from toolsync.commands.keys.holders import bereft
    from toolsync.keyref import KeyRef

    yield from bereft(session, KeyRef("keyring", name))


def _demand_known(session: Session, name: str) -> None:
    """Nothing, if a profile uses the key, or it was stored from here, or the keyring holds it.

    Raises:
        UsageError: nobody knows it, which is a slip of the pen; says what there is.
        SecretError: the keyring does not answer.
    """
    from toolsync.commands.keys.stored import named
    from toolsync.profile.wording import close
    from toolsync.secret.index import known_names

    there = known_names(session.state, named(_profiles(session)))
    if name in there or session.open_vault().get(name) is not None:
        return
    names = list(dict.fromkeys((*(profile.name for profile in _profiles(session)), *there)))
    near = close(name, names)
    guess = f"Did you mean '{near}'? " if near else ""
    known = f"There are: {', '.join(names)}." if names else "There is none yet."
    raise UsageError(f"there is no profile and no key '{name}'", hint=guess + known)


def _named(session: Session, profile: str | None) -> str | None:
    """The profile whose key is meant: the one named, or the active one."""
    return profile if profile is not None or not disk.is_there(session.config) else session.profiles().active


def _question(session: Session, name: str) -> str:
    from toolsync.commands.keys.stored import uses
    from toolsync.profile import KeyRef

    users = uses(KeyRef("keyring", name), _profiles(session))
    if not users:
        return f"Remove keyring:{name}, which no profile uses?"
    told = " and ".join(f"profile '{user}' uses {role}" for user, role in users.items())
    return f"Remove keyring:{name}, which {told}?"


@key_app.command("print")
def key_print(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
) -> None:
    """Print the key, for the tools that ask."""
    from toolsync import key_print as command

    run.exit_code = command.run(command.Request(profile, None if run.config is None else str(run.config)))
