"""Programs that write their old values back over a tool's files: named before it happens, and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePath

from toolsync.masking import printable
from toolsync.plan import FilePlan
from toolsync.planning.tracing import Notice
from toolsync.process import Process
from toolsync.session import Session
from toolsync.tool import FileRow, Tool


class Watch:
    """Looks once which programs are running, and only if a file that one of them would write back is to change."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def _processes(self) -> Sequence[Process]:
        return tuple(self._session.processes())

    def notices(self, tool: Tool, plans: Iterable[FilePlan]) -> Iterator[Notice]:
        """Who writes back what of the tool's files that are to change, if somebody does."""
        changing = [plan for plan in plans if plan.is_change]
        files: dict[str, list[str]] = {}
        for row in tool.files:
            for plan in changing if row.running else ():
                if (tool.name, row.overlay) in _rows(plan):
                    for who in self._who(row):
                        files.setdefault(who, []).append(printable(PurePath(plan.path).name))
        for who, names in files.items():
            text = f"{who} is running: it writes its old values back over {' and '.join(dict.fromkeys(names))}"
            yield Notice(tool.title, f"{text} until each of its windows is reloaded", tool.reload)

    def _who(self, row: FileRow) -> Iterator[str]:
        """Each program that the row names and that runs, by the first of its processes."""
        for name in row.running:
            first = next((process for process in self._processes if process.is_called(name)), None)
            if first is not None:
                yield f"{name.rstrip('/')} (pid {first.pid})"


def _rows(plan: FilePlan) -> set[tuple[str, str]]:
    """Whose rows have to do with the file: those that want something of it, and those that it is given back for."""
    layers = plan.remembered.layers if plan.remembered else ()
    return {*plan.edits, *((layer.tool, layer.overlay) for layer in layers)}
