"""What a project's file sets for a command that prints the key, and what that command is run without here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from toolsync.doctor.model import Where
from toolsync.doctor.printing import command_path, command_value, may_run
from toolsync.doctor.sight import Sight
from toolsync.trace.credential import CREDENTIALS

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command, Printed


def runs(look: Sight) -> Iterator[tuple[Where, Command]]:
    """The commands for a key that we run, and where each stands.

    Args:
        look: the program.
    """
    for question in sorted(CREDENTIALS & look.found.keys()):
        answer = look.found[question]
        path = command_path(look, answer) if answer.value else None
        if path is not None:
            from toolsync.doctor.helper import Command

            command = Command.of(command_value(look, answer, path))
            if command is not None and may_run(look, answer, command):
                yield look.where(answer), command


def withheld(look: Sight, *, is_own: bool) -> Mapping[str, Where]:
    """What a project's file sets otherwise than it is for us, but for what the tool itself reads, and its own key's.

    Args:
        look: the program.
        is_own: whether the command is toolsync's.
    """
    slots = [slot for asked in look.reader.questions.values() for slot in asked]
    asked = {slot.text.rpartition(".")[2] for slot in slots}
    profile = look.world.profile
    name = profile.key.name if profile is not None else ""
    return {
        variable: where
        for variable, where in look.variables.items()
        if look.is_projects(where)
        and look.environ[variable] != look.users_environ.get(variable)
        and (variable in _OF_OURS or variable == name if is_own else variable not in asked)
    }


def may_fail_by_it(look: Sight, command: Command, done: Printed) -> bool:
    """Whether a command that fails may fail for want of them only, so that its tool has the key.

    Args:
        look: the program.
        command: what was run.
        done: what became of it.
    """
    names = withheld(look, is_own=command.is_own)
    return done.problem is not None and ("PATH" in names if done.is_gone else bool(names))


def failing(look: Sight) -> Where | None:
    """The first of the variables for want of which the command may fail; None where it does not.

    Args:
        look: the program.
    """
    for _where, command in runs(look):
        if may_fail_by_it(look, command, look.world.printed(command, look.users_environ)):
            names = withheld(look, is_own=command.is_own)
            return names[min(names)]
    return None


_OF_OURS = frozenset(
    {
        *("HOME", "USER", "LOGNAME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        *("DBUS_SESSION_BUS_ADDRESS", "LD_PRELOAD", "LD_LIBRARY_PATH", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    }
)
"""Variables on which `key print` hangs, wherever the key is kept."""
