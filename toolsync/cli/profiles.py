"""`init` and the verbs on profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render, screen
from toolsync.cli.context import Json, Yes, ask, help_app, run, show
from toolsync.commands.result import Message, Result
from toolsync.errors import ToolsyncError, UsageError
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.commands.init import Wanted
    from toolsync.commands.profile_file import Edited

app = typer.Typer()
profile_app = help_app("Profiles: address, model, limits, and where the key is.")
app.add_typer(profile_app, name="profile")


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="What the profile is called.")] = "default",
    gateway: Annotated[str | None, typer.Option("--gateway", "-g", help="A known gateway.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="The address, as the provider prints it.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="As the gateway names it.")] = None,
    key_from: Annotated[
        str | None, typer.Option("--key-from", help="keyring:NAME (default), env:VARIABLE or command:LINE.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What people call it.")] = None,
    json: Json = False,
) -> None:
    """Make a profile; run without options to be asked."""
    from toolsync import gateways
    from toolsync.commands.init import Wanted, init, profile_table

    session = run.session()
    known = gateways.gateways(session.config.parent)
    if session.is_interactive and not json:
        if gateway is None and base_url is None:
            answer = typer.prompt(f"Gateway ({', '.join(known)}) or address", err=True)
            gateway, base_url = (answer, None) if answer in known else (None, answer)
        chosen = gateways.named(known, gateway) if gateway else None
        if base_url is None and chosen is not None and chosen.base_url is None:
            base_url = typer.prompt(f"Address: {chosen.asks}", err=True)
        if model is None:
            model = typer.prompt("Model", default=chosen.model if chosen else None, err=True)
    wanted = Wanted(gateways.named(known, gateway) if gateway else None, base_url, model, key_from, title)
    edited = init(session, name, profile_table(name, wanted))
    show(_edited("init", name, edited, _next_steps(name, wanted)))


def _next_steps(name: str, wanted: Wanted) -> tuple[Message, ...]:
    steps = [Message("note", f"Profile '{name}' is ready and active.")]
    if wanted.key is None or wanted.key.startswith("keyring:"):
        steps.append(Message("note", "Next: `toolsync key set`, then `toolsync apply`."))
    else:
        steps.append(Message("note", "Next: `toolsync apply`."))
    return tuple(steps)


def _edited(command: str, name: str, edited: Edited, messages: tuple[Message, ...] = ()) -> Result:
    changed = edited.before != edited.after
    said = messages or (Message("note", f"{edited.file.shown} is {'saved' if changed else 'as it was'}."),)
    return Result(command, {"profile": name, "file": edited.file.shown, "changed": changed}, said)


@app.command("use")
@profile_app.command("use")
def use(name: str, json: Json = False) -> None:
    """Make a profile the active one."""
    from toolsync.commands import profile as command

    edited = command.use(run.session(), name)
    show(_edited("profile use", name, edited, (Message("note", f"'{name}' is active. `toolsync apply` writes it."),)))


@profile_app.command("list")
def profile_list(json: Json = False) -> None:
    """List the profiles."""
    from toolsync.commands.profile import entries

    data = [
        {
            "name": one.name,
            "active": one.is_active,
            "title": one.title,
            "base_url": one.base_url,
            "model": one.model,
            "key": one.key,
        }
        for one in entries(run.session().profiles())
    ]
    show(Result("profile list", {"profiles": data}))


@profile_app.command("show")
def profileshow(
    name: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    tool: Annotated[str | None, typer.Option("--tool", "-t", help="As this tool sees it.")] = None,
    json: Json = False,
) -> None:
    """Show the facts that fill the templates, and where each comes from."""
    from toolsync.commands.show import show as command

    show(command(run.session(), name, tool))


@profile_app.command("edit")
def profile_edit(
    name: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="FIELD=VALUE; may be repeated.")] = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", help="FIELD; may be repeated.")] = None,
    json: Json = False,
) -> None:
    """Change fields, or open the file in your editor; it is checked before it is saved."""
    from toolsync.commands import profile as command

    session = run.session()
    if set_ or unset:
        edited = command.edit(session, name, set_ or [], unset or [])
        show(_edited("profile edit", name or "", edited))
        return
    show(_edited("profile edit", name or "", _edited_by_hand(session)))


def _edited_by_hand(session: Session) -> Edited:
    from toolsync.commands import profile_draft as drafts

    if not session.is_interactive:
        raise UsageError("nobody is there to edit", hint="Say `--set FIELD=VALUE`.")
    draft = drafts.draft(session)
    while True:
        drafts.worked_on(draft, drafts.editor(session.places.environ))
        try:
            return drafts.adopted(draft)
        except ToolsyncError as error:
            screen.stderr().show(render.error_lines(error))
            if not typer.confirm("Open it again?", default=True, err=True):
                raise


@profile_app.command("rename")
def profile_rename(old: str, new: str, json: Json = False) -> None:
    """Rename a profile; its key stays under the reference it has."""
    from toolsync.commands import profile as command

    note = Message("note", f"'{old}' is now '{new}'. `toolsync apply` tells the tools that ask for its key.")
    show(_edited("profile rename", new, command.rename(run.session(), old, new), (note,)))


@profile_app.command("remove")
def profile_remove(name: str, yes: Yes = False, json: Json = False) -> None:
    """Remove a profile; its key stays in the keyring."""
    from toolsync.commands import profile as command

    session = run.session()
    session.profiles().get(name)
    ask(session, f"Remove profile '{name}'?", yes=yes)
    show(_edited("profile remove", name, command.remove(session, name)))
