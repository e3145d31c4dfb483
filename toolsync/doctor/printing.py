"""The command that prints a tool's key: where it stands, and whether we run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolsync.doctor.astray import owner
from toolsync.doctor.layers import is_home
from toolsync.doctor.model import Credential, Where
from toolsync.doctor.sight import Sight
from toolsync.document import KeyPath, Value, parse_path
from toolsync.document import data as _data
from toolsync.masking import Secret
from toolsync.tool import slot
from toolsync.trace import Answer, path_of
from toolsync.trace.credential import CREDENTIALS

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command


def command_path(look: Sight, answer: Answer) -> KeyPath | None:
    """Where the command stands that the tool runs for the answer, mount included; None if it runs none."""
    if not answer.slot or answer.slot[0] in "$=":
        return None
    at = parse_path(answer.slot)
    for text in look.tool.request.runs:
        path = path_of(slot(text), look.found)
        if path is not None and at[: len(path)] == path:
            return path
    return None


def command_value(look: Sight, answer: Answer, path: KeyPath) -> Value:
    """The command as it stands in the layer that the answer comes from."""
    one = look.seen(answer)
    if one is None:
        return None
    mount = parse_path(one.layer.at) if one.layer.at else ()
    return _data.get(one.tree.data, path[len(mount) :])


def printing(look: Sight, credential: Credential) -> Command | None:
    """The command that prints the credential; None where it has none."""
    if credential.kind != "command":
        return None
    from toolsync.doctor.helper import Command

    answer = look.found[credential.question]
    path = command_path(look, answer)
    return Command.of(command_value(look, answer, path)) if path is not None else None


def may_run(look: Sight, answer: Answer, command: Command) -> bool:
    """Whether we run it: what a repository's own file says, or holds, is run by its tool, and never by us."""
    one, places = look.seen(answer), look.world.session.places
    if one is None or (one.is_projects and not _is_users_too(look, answer, command)):
        return False
    return is_home(places) or not command.lies_in(places.project, look.users_environ)


def _is_users_too(look: Sight, answer: Answer, command: Command) -> bool:
    """Whether the user's own files have the tool run the same."""
    own = look.users.get(answer.question)
    path = command_path(look, own) if own is not None and own.value else None
    return own is not None and path is not None and type(command).of(command_value(look, own, path)) == command


def unrun(look: Sight) -> Where | None:
    """Where a command for the key stands that we do not run."""
    from toolsync.doctor.helper import Command

    for question in sorted(CREDENTIALS & look.found.keys()):
        answer = look.found[question]
        path = command_path(look, answer) if answer.value else None
        command = Command.of(command_value(look, answer, path)) if path is not None else None
        if command is not None and not may_run(look, answer, command):
            return look.where(answer)
    return None


def printed(look: Sight, answer: Answer, path: KeyPath) -> Secret | None:
    """What it prints; None where it prints nothing, we do not run it, or its key belongs to another gateway."""
    from toolsync.doctor.helper import Command

    command = Command.of(command_value(look, answer, path))
    if command is None or not may_run(look, answer, command) or owner(look, None, command) is not None:
        return None
    return look.world.printed(command, look.users_environ).key
