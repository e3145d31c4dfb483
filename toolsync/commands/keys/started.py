"""Programs that were started with a key which is replaced since: they go on with it, whatever is set anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync.leaks.secret import SHORTEST
from toolsync.masking import Secret, on_one_line
from toolsync.process import Process, asking
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Tool

if TYPE_CHECKING:
    from toolsync.doctor.look import Look


def started_with(session: Session, known: Known, key: Secret) -> Iterator[Message]:
    """Each running program of a tool that takes the key from its environment, with what ends it.

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
                look = _look(session, tool, reader, environ) if held and process.pid not in seen else None
                names = sorted(held & _taken(look, key)) if look is not None else []
                if look is not None and names:
                    seen.add(process.pid)
                    yield _said(look, process, names)


def _look(session: Session, tool: Tool, reader: str, environ: Mapping[str, str]) -> Look | None:
    """The program with the environment that it was started in, and the settings that it finds with that."""
    from toolsync.commands.keys.sending import Blind  # with all that looks at tools
    from toolsync.doctor.look import looks

    places = replace(session.places, home=Path(environ.get("HOME") or session.places.home), environ=environ)
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
    listed = ", ".join(f"${on_one_line(name)}" for name in names)
    text = f"{look.called} runs with the old key in {listed} (pid {process.pid}), and goes on with it"
    ends = look.tool.processes[look.reader.name].ends
    behind = f"`{ends}` ends what it leaves running in the background, which serves new runs too; else end"
    return Message("warning", text, f"{behind if ends else 'End'} it, and start it anew where the new key is set.")
