"""Programs that were started with a key which is replaced since: they go on with it, whatever is set anew."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync.leaks.secret import SHORTEST
from toolsync.masking import Secret, on_one_line
from toolsync.process import Process, above, asking
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.session import Session, seen_from
from toolsync.tool import Tool

if TYPE_CHECKING:
    from toolsync.doctor.look import Look


def started_with(session: Session, known: Known, key: Secret) -> Iterator[Message]:
    """Each running program of a tool that takes the key from its environment, with what ends it; then all others.

    What people start from a desktop is left out: editors hand on an environment that they do not show.

    Args:
        session: the machine.
        known: the tools.
        key: the one that is in use no more.
    """
    processes, seen = tuple(session.processes()), set[int]()
    for tool in known.values():
        for reader, program in tool.processes.items():
            if program.is_desktop:
                continue
            for process in asking(processes, program):
                environ = process.environ() or {}
                held = {name for name, value in environ.items() if _holds(value, key)}
                look = _look(session, tool, reader, process) if held and process.pid not in seen else None
                names = sorted(held & _taken(look, key)) if look is not None else []
                if look is not None and names:
                    seen.add(process.pid)
                    yield _said(look, process, names)
    yield from _others(session, known, processes, key)


def _others(session: Session, known: Known, processes: Sequence[Process], key: Secret) -> Iterator[Message]:
    """Programs of no tool that were started with the key, in one line: which of them use it, nobody here knows.

    What one of them or a tool's program started is not named beside that: it has its variables from there.
    """
    tools = {one.pid for one in processes if any(_is_of(one, tool) for tool in known.values())}
    ours = {one.pid for one in processes if one.is_of_job()}
    held = {one.pid: _held_in(session, one, key) for one in processes if one.pid not in {*ours, *tools}}
    holders = {pid for pid, names in held.items() if names}
    handing = holders | tools
    first = [
        one
        for one in processes
        if one.pid in holders and handing.isdisjoint(other.pid for other in above(one, processes))
    ]
    listed = (f"{on_one_line(one.called)} in {_variables(held[one.pid])} (pid {one.pid})" for one in first)
    if first:
        text = f"other programs were started with the old key: {', '.join(listed)}"
        yield Message("warning", text, "What of them uses it goes on with it: end that, and start it anew.")


def _is_of(process: Process, tool: Tool) -> bool:
    return any(process.is_called(name) for program in tool.processes.values() for name in program.names)


def _held_in(session: Session, process: Process, key: Secret) -> list[str]:
    """The variables in which it has the key, if it is at home here."""
    environ, home = process.environ() or {}, session.places.home
    is_here = os.path.realpath(environ.get("HOME") or home) == os.path.realpath(home) and process.has(home)
    return sorted(name for name, value in environ.items() if _holds(value, key)) if is_here else []


def _variables(names: Sequence[str]) -> str:
    return ", ".join(f"${on_one_line(name)}" for name in names)


def _look(session: Session, tool: Tool, reader: str, process: Process) -> Look | None:
    """The program with the variables and the folder that it was started with, and the settings that it finds there."""
    from toolsync.commands.keys.sending import Blind  # with all that looks at tools
    from toolsync.doctor.look import looks

    environ, here = process.environ() or {}, session.places
    places = replace(here, home=Path(environ.get("HOME") or here.home), environ=environ)
    places = seen_from(places, process.folder() or here.project)
    found = looks(Blind(replace(session, places=places)), tool)
    return next((look for look in found if look.reader.name == reader), None)


def _taken(look: Look, key: Secret) -> set[str]:
    """The variables from which it takes the key; none where it has another way to one, which comes before them."""
    sends = [one for one in look.effective.credentials if one.value is not None and _holds(one.value.reveal(), key)]
    own = {one.where.slot.removeprefix("$") for one in sends if one.where.layer == "environment"}
    return own | {name for one in sends for name in look.named(one.question)}


def _holds(text: str, key: Secret) -> bool:
    """Whether the key stands in a value; a short one, as for a server that wants none, stands in many by chance."""
    return key.reveal() in text if len(key.reveal()) >= SHORTEST else key.reveal() == text


def _said(look: Look, process: Process, names: Sequence[str]) -> Message:
    text = f"{look.called} runs with the old key in {_variables(names)} (pid {process.pid}), and goes on with it"
    ends = look.tool.processes[look.reader.name].ends
    behind = f"`{ends}` ends what it leaves running in the background, which serves new runs too; else end"
    return Message("warning", text, f"{behind if ends else 'End'} it, and start it anew where the new key is set.")
