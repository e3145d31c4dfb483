"""Programs that were started with a key which is replaced since: they go on with it, whatever is set anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolsync.masking import Secret, on_one_line
from toolsync.process import Process, mains
from toolsync.registry import Known
from toolsync.result import Message
from toolsync.session import Session
from toolsync.tool import Tool


def started_with(session: Session, known: Known, key: Secret) -> Iterator[Message]:
    """Each running program of a tool that has the key in its environment, with what ends it.

    What people start from a desktop is left out: editors hand on an environment that they do not show.

    Args:
        session: the machine.
        known: the tools.
        key: the one that is in use no more.
    """
    processes, seen = tuple(session.processes()), set[int]()
    for tool in known.values():
        for reader, program in tool.processes.items():
            named = (
                [one for one in processes if any(map(one.is_called, program.names))] if not program.is_desktop else []
            )
            for process in mains(named):
                held = _held(process.environ() or {}, key)
                if held and process.pid not in seen:
                    seen.add(process.pid)
                    yield _said(tool, reader, process, held)


def _held(environ: Mapping[str, str], key: Secret) -> list[str]:
    return sorted(name for name, value in environ.items() if key.reveal() in value)


def _said(tool: Tool, reader: str, process: Process, held: list[str]) -> Message:
    called = f"{tool.title} ({reader})" if len(tool.readers) > 1 else tool.title
    names = ", ".join(f"${on_one_line(name)}" for name in held)
    text = f"{called} runs with the old key in {names} (pid {process.pid}), and goes on with it"
    ends = tool.processes[reader].ends
    behind = (
        f"`{ends}` ends what it leaves running in the background, which serves new runs too; else end"
        if ends
        else "End"
    )
    return Message("warning", text, f"{behind} it, and start it anew where the new key is set.")
