"""What tools make of what is planned: each set of files that one of them reads together, traced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk
from toolsync.paths import candidates
from toolsync.plan import FilePlan
from toolsync.planning.returning import stop_at_old_key
from toolsync.planning.tracing import Notice, traced
from toolsync.session import Session
from toolsync.tool import Tool

Files = Mapping[tuple[str, str], Sequence[str]]
"""The real paths that each row of a tool means, by tool and overlay."""


class Reading:
    """The plans of one command, as tools read them.

    Args:
        session: where their other layers are read.
        known: every tool.
        files: what rows mean.
        plans: the plan of each file, by real path.
    """

    def __init__(
        self, session: Session, known: Mapping[str, Tool], files: Files, plans: Mapping[str, FilePlan]
    ) -> None:
        self._session, self._known, self._files, self._plans = session, known, files, plans

    def notices(self, tool: Tool) -> list[Notice]:
        """What keeps the tool from using what is planned.

        Raises:
            PlanRefusedError: a credential that is not ours would reach our gateway, of a store's row at a click.
        """
        for name in tool.holds:  # what else is to say is said of that tool's own file
            if parts := self._as_own(tool, name):
                traced(self._session, self._known[name], parts, self._own_places(name, parts))
        if tool.holds:
            return []
        wanted = (together for together in self._together(tool) if any(plan.edits for plan in together.values()))
        found = (notice for together in wanted for notice in traced(self._session, tool, together))
        return list(dict.fromkeys(found))

    def stop_at_old_keys(self, given: Iterable[Tool]) -> None:
        """Let tools that are given back pass, as `stop_at_old_key` does for each set of files."""
        for tool in given:
            for together in self._together(tool):
                stop_at_old_key(self._session, tool, together)

    def _together(self, tool: Tool) -> Iterator[dict[str, FilePlan]]:
        """The plans of each set of files that the tool reads together, by overlay."""
        files = {row.overlay: self._files.get((tool.name, row.overlay), []) for row in tool.files}
        for index in range(max(map(len, files.values()), default=0)):
            yield {overlay: self._plans[paths[index]] for overlay, paths in files.items() if len(paths) > index}

    def _own_places(self, name: str, parts: Mapping[str, FilePlan]) -> dict[str, FilePlan]:
        """The parts by the files that they would stand in: in the home folder these are the project's, too."""
        rows = [row for row in self._known[name].files if row.overlay in parts]
        places = [(row, candidates(row.path, self._session.places)) for row in rows]
        return {
            str(disk.resolve(next(filter(Path.exists, found), found[0]))): parts[row.overlay] for row, found in places
        }

    def _as_own(self, store: Tool, name: str) -> dict[str, FilePlan]:
        """The plans of the parts that hold a tool's own files, as if they were those."""
        rows = {row.template: (store.name, row.overlay) for row in store.files if row.of == name}
        seated = {
            template: self._plans[path] for template, key in rows.items() for path in self._files.get(key, ())[:1]
        }
        return {
            template: replace(plan, edits={(name, template): plan.edits.get(rows[template], ())})
            for template, plan in seated.items()
        }
