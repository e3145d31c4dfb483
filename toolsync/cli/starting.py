"""`init`: a first profile, or one more; what was not said is asked for, on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from toolsync import render
from toolsync.cli.context import Json, run, show
from toolsync.cli.profiles import edited_result
from toolsync.errors import ToolsyncError
from toolsync.render import screen
from toolsync.render.screen import Line
from toolsync.result import Message
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.commands.init import Wanted
    from toolsync.commands.profiles.file import Edited
    from toolsync.errors import NoKeyringError
    from toolsync.gateways import Gateway

app = typer.Typer()
T = TypeVar("T")

_TRIES = 3
"""How often a question is asked whose answer cannot be."""


@app.command()
def init(
    name: Annotated[
        str | None, typer.Argument(help="What the profile is called; default: default.", show_default=False)
    ] = None,
    gateway: Annotated[
        str | None, typer.Option("--gateway", "-g", help="A known gateway; a name that is none lists them.")
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="The address, as the provider prints it.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="As the gateway names it.")] = None,
    key_from: Annotated[
        str | None,
        typer.Option("--key-from", help="keyring:NAME (default), env:VARIABLE, command:LINE, systemd:NAME, age:PATH."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What people call it.")] = None,
    no_use: Annotated[bool, typer.Option("--no-use", help="Leave the active profile as it is.")] = False,
    json: Json = False,
) -> None:
    """Make a profile, and use it.

    On a terminal, what you leave out is asked.
    """
    from toolsync import gateways
    from toolsync.commands import init as command

    session = run.session()
    known = gateways.gateways(session.config.parent)
    wanted = command.Wanted(gateways.named(known, gateway) if gateway else None, base_url, model, key_from, title)
    if session.is_interactive and not json:
        wanted = _completed(wanted, known)
        name = name or _name(session, wanted)
    name = name or _DEFAULT
    edited = command.init(session, name, command.profile_table(name, wanted), active=not no_use)
    show(edited_result("init", name, edited, tuple(_told(session, name, edited))))


_DEFAULT = "default"


# What is asked.


def _completed(wanted: Wanted, known: Mapping[str, Gateway]) -> Wanted:
    """What is wanted, with what the person answers where it says nothing."""
    from dataclasses import replace

    from toolsync import gateways

    if wanted.gateway is None and wanted.base_url is None:
        names = textwrap.wrap(", ".join(known), 76, break_on_hyphens=False)
        screen.stderr().show([Line("Known gateways:"), *(Line(f"  {line}") for line in names)])
        chosen, address = _asked("Gateway or address", lambda answer: _gateway_or_address(answer, known))
        wanted = replace(wanted, gateway=chosen, base_url=address)
    if wanted.gateway is not None and wanted.gateway.base_url is None and wanted.base_url is None:
        wanted = replace(wanted, base_url=_asked(f"Address: {wanted.gateway.asks}", _address))
    if wanted.model is None:
        meant = wanted.gateway or gateways.at(known, wanted.base_url or "")
        wanted = replace(wanted, model=typer.prompt("Model", default=meant.model if meant else None, err=True))
    return wanted


def _asked(question: str, read: Callable[[str], T], default: str | None = None) -> T:
    """The answer, read; one that cannot be is answered with the reason, and asked for again."""
    for _ in range(_TRIES - 1):
        try:
            return read(typer.prompt(question, default=default, err=True).strip())
        except ToolsyncError as error:
            screen.stderr().show(render.error_lines(error))
    return read(typer.prompt(question, default=default, err=True).strip())


def _gateway_or_address(answer: str, known: Mapping[str, Gateway]) -> tuple[Gateway | None, str | None]:
    from toolsync import gateways

    if answer not in known and set(answer) & set(":/."):
        return None, _address(answer)
    return gateways.named(known, answer), None


def _address(answer: str) -> str:
    from toolsync.address import addresses

    addresses(answer)
    return answer


def _name(session: Session, wanted: Wanted) -> str:
    """What the person calls the profile; a name that is free is proposed."""
    from toolsync.commands.init import demand_free

    taken = _names(session)
    proposed = (_DEFAULT, *([wanted.gateway.name] if wanted.gateway else []))
    free = next((name for name in proposed if name not in taken), None)

    def read(answer: str) -> str:
        demand_free(session, answer)
        return answer

    return _asked("Name of the profile", read, free)


def _names(session: Session) -> tuple[str, ...]:
    from toolsync import disk

    return session.profiles().names if disk.is_there(session.config) else ()


# What is said then.


def _told(session: Session, name: str, edited: Edited) -> Iterator[Message]:
    """That the profile is ready, which one is active, and what comes next."""
    from toolsync.commands.keys.astray import of_profile
    from toolsync.profile.reader import read

    before = read(edited.before).active if edited.before else None
    active = session.profiles().active
    if edited.before == edited.after:
        yield Message("note", f"Profile '{name}' is there already, and says the same.")
    elif active != name:
        stays = f"'{active}' stays active" if active else "no profile is active"
        yield Message("note", f"Profile '{name}' is ready; {stays}.")
    elif before not in (None, name):
        yield Message("note", f"Profile '{name}' is ready, and active now in place of '{before}'.")
    else:
        yield Message("note", f"Profile '{name}' is ready and active.")
    yield from of_profile(session, session.profiles().get(name))  # tools ask by the name from before, if it was removed
    lacks_key = _lacks_key(session, name)
    if lacks_key:
        yield from _keyless(session, name)
    missing = _no_keyring(session, name) if lacks_key else None
    if missing is not None:
        yield Message("warning", f"{missing.message}, and profile '{name}' takes its key from one", missing.hint)
    way = f"`toolsync key set {name}`" if missing is None else f"`toolsync profile edit {name} --set key=…`"
    steps = [way] if lacks_key else []
    steps += [] if active == name else [f"`toolsync use {name}`"]
    yield Message("note", f"Next: {', then '.join([*steps, '`toolsync apply`'])}.")


def _keyless(session: Session, name: str) -> Iterator[Message]:
    """That the gateway ignores the key which tools want all the same."""
    from toolsync import gateways

    gateway = gateways.find(session.profiles().get(name).gateway, session.config.parent)
    if gateway and not gateway.needs_key:
        yield Message("note", f"{gateway.title} looks at no key, and tools want one: any word will do.")


def _no_keyring(session: Session, name: str) -> NoKeyringError | None:
    """That no keyring answers where the profile's key is to be kept in one."""
    from toolsync.errors import NoKeyringError, SecretError

    if session.profiles().get(name).key.kind != "keyring":
        return None
    try:
        _ = session.open_vault().backend
    except NoKeyringError as error:
        return error
    except SecretError:  # one that is locked is there
        return None
    return None


def _lacks_key(session: Session, name: str) -> bool:
    """Whether the key is to be stored yet, as far as can be told without asking the keyring."""
    from toolsync.commands.keys.stored import uses
    from toolsync.secret.index import recorded
    from toolsync.secret.reference import file_of

    profiles = session.profiles()
    key = profiles.get(name).key
    if key.kind == "age":
        return not file_of(key).exists()
    others = [profile for profile in profiles.profiles if profile.name != name]
    return key.kind == "keyring" and key.name not in recorded(session.state) and not uses(key, others)
