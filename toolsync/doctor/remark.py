"""What is no trouble as far as doctor saw, and may be one where the tool does what doctor does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolsync.doctor.checks.saying import place, text
from toolsync.doctor.effective import command_path, command_value, may_run
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix, Where
from toolsync.sentence import say
from toolsync.trace.credential import CREDENTIALS


def left_out(look: Look) -> Iterator[Finding]:
    """The variables of a project's file without which we run the command for the key, and with which its tool does."""
    where = _command(look)
    if where is None:
        return
    others = _others(look, is_own=where[1])
    if others:
        names = ", ".join(text(name) for name in sorted(others))
        line = say("left_out", place=place(look, where[0]), names=names, called=look.called)
        first = others[min(others)]
        fix = Fix(say("run_with_them", called=look.called, place=place(look, first)))
        yield Finding("key_helper_failed", "open", (line,), where=first, fix=fix, weight="info")


def _command(look: Look) -> tuple[Where, bool] | None:
    """Where a command stands that we run, and whether it is toolsync's."""
    for question in sorted(CREDENTIALS & look.found.keys()):
        answer = look.found[question]
        path = command_path(look, answer) if answer.value else None
        if path is None:
            continue
        from toolsync.doctor.helper import Command

        command = Command.of(command_value(look, answer, path))
        if command is not None and may_run(look, answer, command):
            return look.where(answer), command.is_own
    return None


def _others(look: Look, *, is_own: bool) -> Mapping[str, Where]:
    """What a project's file sets otherwise than it is for us, but for what the tool itself reads, and its own key's."""
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


_OF_OURS = frozenset(
    {
        *("HOME", "USER", "LOGNAME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        *("DBUS_SESSION_BUS_ADDRESS", "LD_PRELOAD", "LD_LIBRARY_PATH", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    }
)
"""Variables on which `key print` hangs, wherever the key is kept."""
