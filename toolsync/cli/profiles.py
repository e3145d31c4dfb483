"""The verbs on profiles."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from toolsync import render
from toolsync.cli.context import Json, Yes, ask, confirmed, help_app, run, show
from toolsync.errors import ToolsyncError, UsageError
from toolsync.render import screen
from toolsync.render.screen import Line
from toolsync.result import Message, Result
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.commands.profiles.draft import Draft
    from toolsync.commands.profiles.file import Edited

app = typer.Typer()
Name = Annotated[str, typer.Argument(metavar="NAME", help="A profile.")]
Old = Annotated[str, typer.Argument(metavar="OLD", help="A profile.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="What it is to be called.")]
profile_app = help_app("The profiles: address, model, limits.")
app.add_typer(profile_app, name="profile")


def edited_result(command: str, name: str, edited: Edited, messages: tuple[Message, ...]) -> Result:
    """What became of the profile file, with what there is to say of it."""
    changed = edited.before != edited.after
    return Result(command, {"profile": name, "file": edited.file.shown, "changed": changed}, messages)


@app.command("use")
@profile_app.command("use")
def use(name: Name, json: Json = False) -> None:
    """Make a profile the active one."""
    from toolsync.commands.profiles import verbs as command

    session = run.session()
    edited = command.use(session, name)
    step = "" if command.applied(session).keys() == {name} else " `toolsync apply` writes it."
    show(edited_result("profile use", name, edited, (Message("note", f"'{name}' is active.{step}"),)))


@profile_app.command("list")
def profile_list(json: Json = False) -> None:
    """List the profiles."""
    from toolsync.commands.profiles.verbs import entries

    profiles = run.session().profiles()
    data = [
        {
            "name": one.name,
            "active": one.is_active,
            "title": one.title,
            "base_url": one.base_url,
            "model": one.model,
            "key": one.key,
        }
        for one in entries(profiles)
    ]
    missing = (Message("warning", one.message, one.hint) for one in profiles.missing.values())
    show(Result("profile list", {"profiles": data}, tuple(missing)))


@profile_app.command("show")
def profileshow(
    name: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    tool: Annotated[str | None, typer.Option("--tool", "-t", help="As this tool sees it.")] = None,
    json: Json = False,
) -> None:
    """Show what a profile gives the tools.

    Its key reference and the facts that fill the templates, and where each comes from.
    """
    from toolsync.commands.profiles.show import show as command

    show(command(run.session(), name, tool))


@profile_app.command("edit")
def profile_edit(
    name: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="FIELD=VALUE; may be repeated.")] = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", help="FIELD; may be repeated.")] = None,
    json: Json = False,
) -> None:
    """Change fields, or open the file.

    In your editor, unless you say --set or --unset; checked before it is saved. Fields are spelled so:

    \b
      --set model=gpt-5 --set request.timeout_seconds=30
      --set 'tool.config-toml.paths=["~/service/config.toml"]'
      --unset request.max_tokens
    """  # noqa: D301  click leaves the lines after the backspace as they are
    from toolsync.commands.profiles import verbs as command

    session = run.session()
    edited = command.edit(session, name, set_ or [], unset or []) if set_ or unset else _edited_by_hand(session, name)
    name = name or session.profiles().active or ""
    saved = Message("note", f"{edited.file.shown} is {'saved' if edited.before != edited.after else 'as it was'}.")
    show(edited_result("profile edit", name, edited, (saved, *command.doubts(session, name))))


def _edited_by_hand(session: Session, name: str | None) -> Edited:
    from toolsync.commands.profiles import draft as drafts

    if not session.is_interactive:
        raise UsageError("nobody is there to edit", hint="Say `--set FIELD=VALUE`.")
    _demand_there(session, name)
    editor = drafts.editor(session.places.environ)
    draft = drafts.draft(session)
    try:
        return _adopted(draft, editor)
    except (KeyboardInterrupt, typer.Abort):
        if kept := drafts.abandoned(draft):
            screen.stderr().show([Line(kept, "look")])
        raise


def _adopted(draft: Draft, editor: tuple[str, ...]) -> Edited:
    """What the user made of the draft, asked again until it can be, or until they give up."""
    from toolsync.commands.profiles import draft as drafts

    while True:
        drafts.worked_on(draft, editor)
        try:
            return drafts.adopted(draft)
        except ToolsyncError as error:
            screen.stderr().show(render.error_lines(error))
            if not confirmed("Open it again?", default=True):
                raise drafts.declined(draft) from error


def _demand_there(session: Session, name: str | None) -> None:
    """Nothing, if there is such a profile; a file that cannot be read is to be mended.

    Raises:
        ProfileError: there is none.
    """
    try:
        profiles = session.profiles()
    except ToolsyncError:
        return
    if name is not None:
        profiles.named(name)


@profile_app.command("trust")
def profile_trust(
    name: Annotated[str | None, typer.Argument(help="Default: the active one.", show_default=False)] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HASH", help="Of what stands at the address now.")
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Agree to what a shared profile may do.

    A profile with `from` takes the key, addresses, headers and paths of a shared file only after this; and again after
    each change of them. What stands at an address is fetched, held against its hash, and kept.
    """
    from toolsync.cli.asking import shown_and_done
    from toolsync.commands.profiles import trusting as command
    from toolsync.render.inventory import trust_lines

    session = run.session()

    def plan() -> command.Planned:
        return command.plan(session, name, sha256)

    def shown(planned: command.Planned) -> tuple[Message, ...]:
        screen.stdout().show(trust_lines(command.data(planned)))
        return ()

    def carried_out(planned: command.Planned) -> Result:
        return command.execute(session, planned)

    show(shown_and_done(session, plan(), plan, carried_out, shown, yes=yes, question="Trust this?"))


@profile_app.command("rename")
def profile_rename(old: Old, new: New, json: Json = False) -> None:
    """Rename a profile.

    Its key stays under the reference it has.
    """
    from toolsync.commands.profiles import verbs as command

    session = run.session()
    applied, asking = (command.applied(session), command.asking(session, old)) if old != new else ({}, {})
    edited = command.rename(session, old, new)
    messages = [Message("note", f"'{old}' is now '{new}'.")]
    if asking:
        profile = () if session.profiles().active == new else ("--profile", new)
        named = () if applied.keys() == {old} else (word for tool in sorted(asking) for word in ("--tool", tool))
        apply = shlex.join(("toolsync", "apply", *profile, *named))
        is_one = len(asking) == 1
        does = f"{'asks' if is_one else 'ask'} toolsync for the key of '{old}', and {'gets' if is_one else 'get'} none"
        messages.append(Message("warning", f"{', '.join(asking.values())} {does} until `{apply}`"))
    show(edited_result("profile rename", new, edited, tuple(messages)))


@profile_app.command("remove")
def profile_remove(name: Name, yes: Yes = False, json: Json = False) -> None:
    """Remove a profile.

    Its key stays in the keyring.
    """
    from toolsync.commands.profiles import verbs as command

    session = run.session()
    is_active = command.is_active(session, name)
    lost = tuple(_lost(name, command.applied(session), is_active=is_active))
    if session.is_interactive and not (yes or run.json):
        screen.stderr().show(render.message_lines(lost))
    ask(session, f"Remove profile '{name}'?", yes=yes)
    kept = command.key_left(session, name)
    edited = command.remove(session, name)
    hint = f"Its key stays in the keyring: `toolsync key remove {kept}` removes it." if kept else ""
    note = Message("note", f"Profile '{name}' is removed.", hint)
    show(edited_result("profile remove", name, edited, (note, *(lost if yes else ()))))


def _lost(name: str, applied: Mapping[str, Collection[str]], *, is_active: bool) -> Iterator[Message]:
    """What goes with a profile."""
    if is_active:
        hint = "`toolsync use NAME` makes another the active one."
        yield Message("warning", f"'{name}' is the active profile; without it none is", hint)
    if name in applied:
        others = {tool for profile, tools in applied.items() if profile != name for tool in tools}
        own, shared = sorted({*applied[name]} - others), sorted({*applied[name]} & others)
        text = f"'{name}' is applied: the tools that ask toolsync for its key get none until another is applied"
        undo = shlex.join(("toolsync", "undo", *(() if applied.keys() == {name} else own)))
        apply = shlex.join(("toolsync", "apply", *(word for tool in shared for word in ("--tool", tool))))
        ways = [f"`{undo}` gives them back what you had before."] if own else []
        ways += [f"`{apply}` takes its rows away, and leaves other profiles' there."] if shared else []
        yield Message("warning", text, " ".join(ways))
