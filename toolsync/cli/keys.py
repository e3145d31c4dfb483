"""The verbs on the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import disk
from toolsync.cli import streams
from toolsync.cli.context import Json, Yes, ask, help_app, run, show
from toolsync.commands.result import Message, Result
from toolsync.errors import UsageError
from toolsync.session import Session

if TYPE_CHECKING:
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

    From a prompt without echo, or from stdin; never from the command line.
    """
    from toolsync.commands.key import set_key

    session = run.session()
    name = _key_name(session, profile)
    stored = set_key(_typed_key(session, stdin=stdin), name, session.open_vault(), session.state)
    text = f"keyring:{stored.name} is {'stored' if stored.is_changed else 'unchanged'} in {stored.backend}."
    data = {"name": stored.name, "backend": stored.backend, "changed": stored.is_changed}
    show(Result("key set", data, (Message("note", text), *_unused(session, stored.name))))


def _unused(session: Session, name: str) -> tuple[Message, ...]:
    """That no profile uses a key, which may be a slip of the pen."""
    from toolsync.commands.key import uses
    from toolsync.profile import KeyRef
    from toolsync.profile.wording import close

    profiles = _profiles(session)
    if not profiles or uses(KeyRef("keyring", name), profiles):
        return ()
    names = [profile.name for profile in profiles]
    near = close(name, names)
    there = f"Did you mean '{near}'?" if near else f"There are: {', '.join(names)}."
    return (Message("warning", f"no profile uses keyring:{name}", there),)


def _profiles(session: Session) -> tuple[Profile, ...]:
    return session.profiles().profiles if disk.is_there(session.config) else ()


def _typed_key(session: Session, *, stdin: bool) -> str:
    if stdin:
        return streams.typed_in()
    if not session.is_interactive:
        raise UsageError("nobody is there to type the key", hint="Pipe it in: `… | toolsync key set --stdin`.")
    typed: str = typer.prompt("Key (nothing is shown)", hide_input=True, err=True)
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


@key_app.command("list")
def key_list(json: Json = False) -> None:
    """List the keys, never their values."""
    from toolsync.commands.key import list_keys

    session = run.session()
    vault = session.open_vault()
    keys = [
        {"key": str(one.reference), "profiles": list(one.profiles), "stored": one.is_stored}
        for one in list_keys(vault, session.state, _profiles(session))
    ]
    show(Result("key list", {"backend": vault.backend, "keys": keys}))


@key_app.command("remove")
def key_remove(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    yes: Yes = False,
    force: Annotated[bool, typer.Option("--force", help="Although other profiles use it too.")] = False,
    json: Json = False,
) -> None:
    """Remove a key from the keyring."""
    from toolsync.commands.key import checked_name, demand_unused, remove_key

    session = run.session()
    name = checked_name(_key_name(session, profile))
    if yes and not force:
        demand_unused(name, _profiles(session), besides=_named(session, profile))
    ask(session, _question(session, name), yes=yes)
    removed = remove_key(name, session.open_vault(), session.state)
    text = f"keyring:{name} {'is removed' if removed else 'was not there'}."
    notes = (Message("note", text), *(() if removed else _unused(session, name)))
    show(Result("key remove", {"name": name, "removed": removed}, notes))


def _named(session: Session, profile: str | None) -> str | None:
    """The profile whose key is meant: the one named, or the active one."""
    return profile if profile is not None or not disk.is_there(session.config) else session.profiles().active


def _question(session: Session, name: str) -> str:
    from toolsync.commands.key import uses
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
