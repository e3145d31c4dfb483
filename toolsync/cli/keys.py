"""The verbs on the key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import disk
from toolsync.cli import naming, rotation
from toolsync.cli.context import Json, Yes, ask, help_app, run, show
from toolsync.result import Message, Result
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.keyref import KeyRef
    from toolsync.profile import Profile

app = typer.Typer()
key_app = help_app("The key in the system's keyring.")
app.add_typer(key_app, name="key")


@key_app.command("set")
def key_set(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the key from stdin.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Store a key in the keyring.

    From a prompt without echo, or from stdin; never from the command line. Where the profile's key is an `age:`
    file, in that file.
    """
    from toolsync.commands.keys.stored import checked_name, passphrase_files, set_key

    session = run.session()

    def typed() -> str:
        return naming.demand_real(session, naming.typed_key(session, stdin=stdin), yes=yes)

    file = _in_file(session, profile)
    if file is not None:
        from toolsync.commands.keys.file import set_in_file

        show(set_in_file(session, file, typed))
        return
    name, vault = checked_name(naming.key_name(session, profile)), session.open_vault()
    if not stdin:
        _ = vault.backend  # opened before anybody types a key in vain
    files = passphrase_files(name, naming.profiles(session))
    if files:
        from toolsync.commands.keys.file import set_passphrase

        show(set_passphrase(session, name, files, lambda: naming.typed_key(session, stdin=stdin, what="Passphrase")))
        return
    stored = set_key(typed(), name, vault, session.state)
    state = "replaced" if stored.is_replaced else "stored" if stored.is_changed else "unchanged"
    lost = "What stood there is kept nowhere; `toolsync key rotate` keeps it for a week." if stored.is_replaced else ""
    data = {"name": stored.name, "backend": stored.backend, "changed": stored.is_changed}
    text = f"keyring:{stored.name} is {state} in {stored.backend}."
    told = (Message("note", text, lost), *_unused(session, stored.name))
    after = _after(session, stored.name, is_replaced=stored.is_replaced) if stored.is_changed else ()
    show(Result("key set", data, tuple(dict.fromkeys((*told, *after)))))


def _in_file(session: Session, profile: str | None) -> KeyRef | None:
    """The file that the profile keeps its key in; None where it keeps it elsewhere."""
    there = naming.profiles(session)
    if profile is not None and profile not in [one.name for one in there]:
        return None
    reference = session.profiles().get(profile).key
    return reference if reference.kind == "age" else None


def _after(session: Session, name: str, *, is_replaced: bool) -> Iterator[Message]:
    """That files hold copies of the key that stood there before; that tools would send the new one elsewhere."""
    from toolsync.commands.keys.astray import led_astray
    from toolsync.commands.keys.holders import may_have, outdated
    from toolsync.keyref import KeyRef

    reference, profiles = KeyRef("keyring", name), session.profiles() if disk.is_there(session.config) else None
    yield from outdated(session, reference) if is_replaced else ()
    if profiles and is_replaced and any(may_have(profiles, one, reference) for one in profiles.missing):
        yield from _unread(session)
    yield from led_astray(session, reference)


def _unused(session: Session, name: str) -> tuple[Message, ...]:
    """That no profile uses a key, which may be a slip of the pen."""
    from toolsync.commands.keys.stored import uses
    from toolsync.profile import KeyRef
    from toolsync.profile.wording import close

    profiles = naming.profiles(session)
    if not profiles or uses(KeyRef("keyring", name), profiles):
        return ()
    if unread := tuple(_unread(session)):  # which may be the ones that do
        return unread
    names = [profile.name for profile in profiles]
    near = close(name, names)
    there = f"Did you mean '{near}'?" if near else f"There are: {', '.join(names)}."
    return (Message("warning", f"no profile uses keyring:{name}", f"{there} `toolsync key remove {name}` removes it."),)


key_app.command("rotate")(rotation.key_rotate)
key_app.command("forget")(rotation.key_forget)


@key_app.command("uses")
def key_uses(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List who holds or asks for the key.

    A key that no profile is called by has a name too: `keyring:NAME`, as `key list` shows it.
    """
    from toolsync.commands.keys.stored import meant
    from toolsync.commands.keys.uses import key_uses as command

    session = run.session()
    result = command(session, meant(session.profiles(), session.state, profile))
    told = () if result.data["profiles"] else tuple(_unread(session))
    show(replace(result, messages=(*result.messages, *told)))


@key_app.command("list")
def key_list(json: Json = False) -> None:
    """List the keys, never their values."""
    from toolsync.commands.keys.stored import list_keys, needs_keyring

    session = run.session()
    profiles = naming.profiles(session)
    vault = session.open_vault() if needs_keyring(session.state, profiles) or not profiles else None
    keys = [
        {"key": str(one.reference), "profiles": list(one.profiles), "stored": one.is_stored}
        for one in list_keys(vault, session.state, profiles)
    ]
    told = (*_unread(session), *_kept(session, profiles))
    show(Result("key list", {"backend": vault.backend if vault else "", "keys": keys}, told))


def _unread(session: Session) -> Iterator[Message]:
    """That a profile cannot be had from its shared file, so that nobody can tell which keys it uses."""
    for name, error in session.profiles().missing.items() if disk.is_there(session.config) else ():
        text = f"which keys profile '{name}' uses cannot be told: {error.message}"
        yield Message("warning", text, error.hint)


def _kept(session: Session, profiles: Collection[Profile]) -> Iterator[Message]:
    """The keys that others have replaced; the way back is open where a profile still names the key."""
    from toolsync.commands.keys.stored import named
    from toolsync.secret import former

    in_use = {str(reference) for reference in named(profiles)}
    for name, one in former.noted(session.state).items():
        back = f"`toolsync key rotate keyring:{name} --back` goes back to it, "
        way = f"{back if f'keyring:{name}' in in_use else ''}`toolsync key forget {name}` forgets it."
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
    from toolsync.secret import former

    session = run.session()
    name = checked_name(naming.key_name(session, profile))
    naming.demand_known(session, name)
    if yes and not force:
        demand_unused(name, naming.profiles(session), besides=_named(session, profile))
    has_former = name in former.noted(session.state)
    also = ", and the key that it has replaced" if has_former else ""
    ask(session, f"Remove keyring:{name}{_told(session, name)}{also}?", yes=yes)
    removed = remove_key(name, session.open_vault(), session.state)
    text = f"keyring:{name} {'is removed' if removed else 'was not there'}."
    gone = [Message("note", "The key that it has replaced is removed.")] if has_former else []
    after = (*gone, *_bereft(session, name), *_unread(session))
    show(Result("key remove", {"name": name, "removed": removed}, (Message("note", text), *after)))


def _bereft(session: Session, name: str) -> Iterator[Message]:
    """That tools ask for a key that is gone, or hold copies of it."""
    from toolsync.commands.keys.holders import bereft
    from toolsync.keyref import KeyRef

    yield from bereft(session, KeyRef("keyring", name))


def _named(session: Session, profile: str | None) -> str | None:
    """The profile whose key is meant: the one named, or the active one."""
    return profile if profile is not None or not disk.is_there(session.config) else session.profiles().active


def _told(session: Session, name: str) -> str:
    """Who uses the key, behind its name."""
    from toolsync.commands.keys.stored import uses
    from toolsync.profile import KeyRef

    users = uses(KeyRef("keyring", name), naming.profiles(session))
    if not users:
        there = " that can be read" if disk.is_there(session.config) and session.profiles().missing else ""
        return f", which no profile{there} uses"
    return ", which " + " and ".join(f"profile '{user}' uses {role}" for user, role in users.items())


@key_app.command("print")
def key_print(
    profile: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
) -> None:
    """Print the key, for the tools that ask."""
    from toolsync import key_print as command

    run.exit_code = command.run(command.Request(profile, None if run.config is None else str(run.config)))
