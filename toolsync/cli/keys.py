"""The verbs on the key."""

from __future__ import annotations

from typing import Annotated

import typer

from toolsync import disk
from toolsync.cli import streams
from toolsync.cli.context import Json, Yes, ask, help_app, run, show
from toolsync.commands.result import Message, Result
from toolsync.errors import UsageError
from toolsync.session import Session

app = typer.Typer()
key_app = help_app("The key: in the system's keyring, printed for the tools that ask.")
app.add_typer(key_app, name="key")


@key_app.command("set")
def key_set(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the key from stdin.")] = False,
    json: Json = False,
) -> None:
    """Store a key in the keyring, from a prompt without echo or from stdin; never from the command line."""
    from toolsync.commands.key import set_key

    session = run.session()
    name = _key_name(session, profile)
    stored = set_key(_typed_key(session, stdin=stdin), name, session.open_vault(), session.state)
    text = f"keyring:{stored.name} is {'stored' if stored.is_changed else 'unchanged'} in {stored.backend}."
    data = {"name": stored.name, "backend": stored.backend, "changed": stored.is_changed}
    show(Result("key set", data, (Message("note", text),)))


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
    """List the keys by name, never their values."""
    from toolsync.commands.key import list_keys

    session = run.session()
    profiles = session.profiles().profiles if disk.is_there(session.config) else ()
    vault = session.open_vault()
    keys = [
        {"name": one.name, "profiles": list(one.profiles), "stored": one.is_stored}
        for one in list_keys(vault, session.state, profiles)
    ]
    show(Result("key list", {"backend": vault.backend, "keys": keys}))


@key_app.command("remove")
def key_remove(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Remove a key from the keyring."""
    from toolsync.commands.key import remove_key

    session = run.session()
    name = _key_name(session, profile)
    ask(session, f"Remove keyring:{name}?", yes=yes)
    removed = remove_key(name, session.open_vault(), session.state)
    text = f"keyring:{name} {'is removed' if removed else 'was not there'}."
    show(Result("key remove", {"name": name, "removed": removed}, (Message("note", text),)))


@key_app.command("print")
def key_print(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
) -> None:
    """Print the key on one line, for the tools that ask."""
    from toolsync import key_print as command

    run.exit_code = command.run(command.Request(profile, None if run.config is None else str(run.config)))
