"""What gives tools that hold a key in clear their key another way: the keyring gets it, and `apply` writes the rest."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence

from toolsync.commands import apply
from toolsync.commands.leaks.belonging import profile_at
from toolsync.commands.leaks.check import Checked
from toolsync.errors import FileError, ProfileError, SecretError, ToolsyncError
from toolsync.masking import Secret
from toolsync.planning.fitting import Skipped
from toolsync.planning.plans import Plan, Wish
from toolsync.profile import KeyRef
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen


@frozen
class Moving:
    """A key that is put into the keyring.

    Attributes:
        reference: where the profile takes it from.
        key: the key.
    """

    reference: KeyRef
    key: Secret


def given_otherwise(
    session: Session, checked: Checked, tools: Mapping[str, Collection[str]], options: apply.Options
) -> tuple[Moving | None, Plan | None, tuple[Message, ...]]:
    """What gives tools their key another way: those of one profile, for what is remembered is another thing then.

    Args:
        session: the machine.
        checked: what was found.
        tools: by the profile that they are set to; the active one's are first.
        options: how that is applied.
    """
    messages: list[Message] = []
    active = session.profiles().active if tools else ""
    for profile in sorted(tools, key=lambda name: name != active):
        moved = _moved(session, checked, profile)
        applied, said = _applied(session, profile, tuple(tools[profile]), moved, options)
        messages += said
        if applied is not None:
            return moved, applied, tuple(messages)
    return None, None, tuple(messages)


def _moved(session: Session, checked: Checked, profile: str) -> Moving | None:
    """The one literal key that tools use with the profile's address, where the keyring has none of its name yet."""
    wanted = checked.sought
    ours = {one.key for one in wanted.literals if not one.is_login and profile_at(session, one, wanted) == profile}
    try:
        reference = session.profiles().get(profile).key
        if reference.kind != "keyring" or len(ours) != 1 or session.open_vault().get(reference.name) is not None:
            return None
    except (ProfileError, FileError, SecretError):
        return None
    return Moving(reference, ours.pop())


def _applied(
    session: Session, profile: str, tools: Sequence[str], moved: Moving | None, options: apply.Options
) -> tuple[Plan | None, list[Message]]:
    """The plan that gives the tools their key another way; without those that cannot have it so, which are named."""
    if moved is not None:
        session.secrets[moved.reference] = moved.key
    messages: list[Message] = []
    good: list[str] = []
    for tool in tools:
        try:
            if _is_given_otherwise(apply.plan(session, _wish(profile, [tool]), options)):
                good.append(tool)
        except ToolsyncError as error:
            hint = _hint(profile, tool, error.hint)
            messages.append(Message("warning", f"{tool} keeps the key in clear: {error.message}", hint))
    if not good:
        if moved is not None:
            del session.secrets[moved.reference]
        return None, messages
    planned = apply.plan(session, _wish(profile, good), options)
    return planned, [*messages, *(_left(profile, one) for one in planned.skipped)]


def _hint(profile: str, tool: str, hint: str) -> str:
    """What `apply` says of its own options, for somebody who runs another command."""
    command = shlex.join(["toolsync", "apply", "--tool", tool, "--profile", profile, "--allow-plaintext"])
    return hint.replace("`--allow-plaintext`", f"`{command}`")


def _left(profile: str, one: Skipped) -> Message:
    """Why a tool gets its key no other way."""
    if one.holds_copy:
        return Message(
            "warning", f"{one.tool.title}: {one.reason}", "So it is taken out, and what stood there is given back."
        )
    hint = _hint(profile, one.tool.name, one.hint)
    return Message("warning", f"{one.tool.title} keeps the key in clear: {one.reason}", hint)


def _is_given_otherwise(planned: Plan) -> bool:
    """Whether a value changes, or somebody must be told why none does: modes and ignore files are shut without it."""
    return bool(planned.skipped) or any(file.is_change and file.format != "gitignore" for file in planned.everything)


def _wish(profile: str, tools: Sequence[str]) -> Wish:
    return Wish(profile, tuple(tools), allow_plaintext=False, fix_gitignore=True)
