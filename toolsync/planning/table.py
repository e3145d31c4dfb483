"""Where rows of several tools meet in one real file: each file is read once, and planned once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document, gitguard
from toolsync.errors import DocumentError, FileError, PlanRefusedError, SecretError, TemplateError, ToolsyncError
from toolsync.facts import Facts
from toolsync.masking import printable
from toolsync.overlay import Edit
from toolsync.paths import candidates
from toolsync.plan import FilePlan, Place, Row, plan_file
from toolsync.planning.copied import copy_of, resembles
from toolsync.planning.fitting import ToolPlan
from toolsync.planning.rack import Rack, agreeing, stop_at_stranded
from toolsync.planning.rows import row_of
from toolsync.planning.stores import Address, names
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.tool import FileRow, Tool
from toolsync.tool.breach import check_of


class Table:
    """The rows of every tool in question, by the real file they mean.

    Attributes:
        in_scope: the tools in question: what is remembered of them, and no longer wanted, is given back.
        snapshots: what the files were read as, by real path.
        files: the real paths that each row means, by tool and overlay.
        doubtful: tools and files that stay as they are, though something in them may be ours.
    """

    def __init__(
        self,
        session: Session,
        memory: Memory,
        known: Mapping[str, Tool],
        in_scope: set[str],
        rack: Rack,
    ) -> None:
        """Nothing is seated yet.

        Args:
            session: where files are read.
            memory: what is remembered.
            known: every tool.
            in_scope: the tools in question.
            rack: the parts of stores in question.
        """
        self.in_scope = in_scope
        self.snapshots: dict[str, disk.Snapshot] = {}
        self._session, self._memory, self._known, self._rack = session, memory, known, rack
        self._rows: dict[str, list[Row]] = {}
        self._formats: dict[str, str] = {}
        self.files: dict[tuple[str, str], list[str]] = {}
        self._unreachable: dict[str, SecretError] = {}
        self._names = names(memory)
        self._parts: dict[str, FileRow] = {}
        self._made: set[str] = set()
        self.doubtful: list[tuple[str, str]] = []

    def seat(self, wanted: ToolPlan) -> tuple[str, ...]:
        """Lay the tool's filled overlays beside the files they mean; the real paths.

        Raises:
            MissingFactError: the profile lacks something that the tool needs; nothing of it is seated.
            TemplateError: it cannot be filled, or a path cannot be made; nothing of it is seated.
            FileError, PlanRefusedError: a file cannot be read, or is of another format to another tool.
        """
        tool, given, now = wanted.tool, wanted.facts, self._session.now()
        facts = {"": given, **{name: one.facts for name, one in wanted.of.items()}}
        if wanted.apps is not None:
            self._rack.narrow(tool, wanted.apps)
        # No row of a store without its settings.
        unserved = {row.app for row in tool.files if row.is_replaced or row.of not in facts}
        asked = [row for row in tool.files if wanted.apps is None or row.app in wanted.apps]
        rows = [row for row in asked if self._counts(row) and not (row.part and row.app in unserved)]
        filled = [(row, row_of(tool, row, facts[row.of], now, self._known)) for row in rows]
        ready = [(file_row, row, () if file_row.part else self._paths(file_row, given)) for file_row, row in filled]
        for file_row, row, paths in ready:
            self.files.setdefault((tool.name, row.overlay), [])
            if file_row.part:
                self._place_part(tool, file_row, row)
            for path in paths:
                self._place(path, file_row.format, row)
        return tuple(dict.fromkeys(file for row, *_ in ready for file in self.files[tool.name, row.overlay]))

    def _counts(self, row: FileRow) -> bool:
        return row.needs is None or any(disk.exists(path) for path in candidates(row.needs, self._session.places))

    def _paths(self, row: FileRow, given: Facts) -> list[Path]:
        specs = [row.path] if row.each is None else given[row.each].value if row.each in given else []
        return [_existing(candidates(spec, self._session.places)) for spec in specs]

    def _place_part(self, tool: Tool, file_row: FileRow, row: Row) -> None:
        """The row, at the part of the store that it means."""
        shelf = self._rack.shelf(tool)
        if shelf is None:
            return
        start = None if file_row.part in shelf.parts else shelf.store.start(shelf.path, file_row.part)
        if start is not None:
            row = replace(row, start=start, start_is_filled=False)
        snapshot = shelf.snapshot(file_row.part)
        self._lay_part(snapshot, file_row, row)
        if file_row.app in shelf.made:
            self._made.add(self._named(snapshot))

    def _lay_part(self, snapshot: disk.Snapshot, file_row: FileRow, row: Row) -> None:
        self._parts[self._named(snapshot)] = file_row
        self._lay(snapshot, file_row.format, row)

    def _place(self, path: Path, format: str, row: Row) -> None:
        self._lay(disk.read(path, within=gitguard.left(path)), format, row)

    def _lay(self, snapshot: disk.Snapshot, format: str, row: Row) -> None:
        path, real = snapshot.path, self._named(snapshot)
        self.snapshots.setdefault(real, snapshot)
        if self._formats.setdefault(real, format) != format:
            shown = self._session.shown(path)
            raise PlanRefusedError(f"{shown} is {self._formats[real]} to one tool and {format} to {row.tool}")
        self._rows.setdefault(real, []).append(row)
        self.files[row.tool, row.overlay].append(real)

    def _named(self, snapshot: disk.Snapshot) -> str:
        """What memory calls it."""
        return self._names.get(str(snapshot.real), str(snapshot.real))

    def plans(self) -> dict[str, FilePlan]:
        """One plan for each real file, by path; ignore files aside.

        Raises:
            ToolsyncError: files cannot be read or edited; names them all.
        """
        self._seat_remembered(lambda overlay: overlay != gitguard.NAME)
        return self._planned(self._rows)

    def ignore_plans(self, wanted: Mapping[Path, Mapping[str, Sequence[str]]]) -> dict[str, FilePlan]:
        """One plan for each ignore file, by real path: all lines that are wanted no more are given back.

        Args:
            wanted: the lines that each tool needs, by ignore file.

        Raises:
            ToolsyncError: one cannot be read or edited; names them all.
        """
        others = set(self._rows)
        for path, tools in wanted.items():
            for tool, lines in tools.items():
                self.files.setdefault((tool, gitguard.NAME), [])
                edits = tuple(Edit((line,), value=True) for line in lines)
                self._place(path, "gitignore", Row(tool, gitguard.NAME, edits, start="", start_is_filled=False))
        self._seat_remembered(lambda overlay: overlay == gitguard.NAME)
        return self._planned({real: rows for real, rows in self._rows.items() if real not in others})

    def _planned(self, rows_by_file: Mapping[str, Sequence[Row]]) -> dict[str, FilePlan]:
        now = self._session.now()
        plans: dict[str, FilePlan] = {}
        problems: list[ToolsyncError] = []
        for real in sorted(rows_by_file, key=self._parts.__contains__):  # files first: chosen rows agree with them
            try:
                goes_whole = real in self._parts
                called = self._session.shown(real if goes_whole else self.snapshots[real].path)
                place = Place(real, self._formats[real], self._memory.key, now, self._kept, goes_whole, called)
                plans[real] = self._settled(place, self._agreed(real, rows_by_file[real], plans))
            except DocumentError as error:
                problems.append(error.at(called))
            except ToolsyncError as error:
                problems.append(error)
        if problems:
            raise _together(problems)
        return plans

    def _agreed(self, real: str, rows: Sequence[Row], plans: Mapping[str, FilePlan]) -> Sequence[Row]:
        """The rows of a file; of a part, as the file says that it stands for."""
        part = self._parts.get(real)
        own = self.files.get((part.of, part.template), ()) if part and part.of else ()
        if not own or own[0] not in plans or not self._rack.is_chosen(Address.parse(real)):
            return rows
        return [agreeing(row, self._memory.files.get(real), plans[own[0]]) for row in rows]

    def _settled(self, place: Place, rows: Sequence[Row]) -> FilePlan:
        """The plan, of a file that is not half written."""

        def planned(snapshot: disk.Snapshot) -> FilePlan:
            self.snapshots[place.path] = snapshot
            return self._plan(place, rows)

        return disk.judged(self.snapshots[place.path], planned)

    def _plan(self, place: Place, rows: Sequence[Row]) -> FilePlan:
        snapshot = self.snapshots[place.path]
        before = None if snapshot.raw is None else document.decoded(snapshot.raw)
        remembered = self._memory.files.get(place.path)
        is_new = before is not None and remembered is None
        clicked = self._rack.clicked(self._parts, self._memory, rows, before or "") if is_new else None
        plan = plan_file(place, before, rows, remembered or clicked or self._unremembered(place, rows))
        plan = replace(plan, remembered=None) if clicked else plan  # nobody has noted it yet
        self._refuse_loss(plan)
        return _with_circumstances(plan, snapshot, is_part=place.goes_whole)

    def _unremembered(self, place: Place, rows: Sequence[Row]) -> FileMemory | None:
        """What is to be known of a file that memory does not name: a row that says it is ours, a copy of what is."""
        raw = self.snapshots[place.path].raw
        if raw is None or place.goes_whole:
            return FileMemory(created=True) if raw is not None and place.path in self._made else None
        names = {row.name for row in rows}
        wanted = [real for real, there in self._rows.items() if any(row.edits and row.name in names for row in there)]
        return copy_of(self._memory, names, document.parse(raw, place.format), wanted)

    def _refuse_loss(self, plan: FilePlan) -> None:
        """Nothing of the user's may be forgotten because the keyring that holds it does not answer just now."""
        for layer in plan.remembered.layers if plan.remembered else ():
            for value in layer.values:
                error = self._unreachable.get(value.entry)
                if error is not None and value.entry in plan.forgotten:
                    what = (
                        f"{self._session.shown(plan.path)}: what stood at {printable(value.path)} lies in the keyring"
                    )
                    raise type(error)(f"{what}, and {error.message}", hint="Run this where the keyring answers.")

    def _seat_remembered(self, counts: Callable[[str], bool]) -> None:
        """A row that wants nothing for everything that is remembered of the tools in question, and wanted no more."""
        for real, file in self._memory.files.items():
            seated = {(row.tool, row.overlay) for row in self._rows.get(real, ())}
            for layer in file.layers:
                name = layer.tool, layer.overlay
                if layer.tool not in self.in_scope or name in seated or not counts(layer.overlay):
                    continue
                known = self._file_row(layer.tool, layer.overlay)
                if known is None:
                    stop_at_stranded(self._session, real, layer.tool)
                format = known.format if known else document.format_of(real)
                start = known.new if known else None
                check = check_of(known) if known else None
                row = Row(layer.tool, layer.overlay, start=start, start_is_filled=False, check=check)
                self.files.setdefault((layer.tool, layer.overlay), [])
                if known and known.part:
                    self._place_remembered_part(Address.parse(real), known, row)
                else:
                    self._place(Path(real), format, row)
                    self._place_copy(known, row)

    def _place_copy(self, known: FileRow | None, row: Row) -> None:
        """The same for the file that the tool reads now, if that is another one and a copy of what was remembered."""
        if known is None or known.each is not None or known.overlay == gitguard.NAME:
            return
        with suppress(TemplateError, FileError, DocumentError):  # where nobody can look, nothing is given back
            path = _existing(candidates(known.path, self._session.places))
            snapshot = disk.read(path, within=gitguard.left(path))
            if snapshot.raw is None or self._named(snapshot) in {*self._rows, *self._memory.files}:
                return
            there = document.parse(snapshot.raw, known.format)
            if copy_of(self._memory, [row.name], there):
                self._lay(snapshot, known.format, row)
            elif resembles(self._memory, row.name, there):
                self.doubtful.append((row.tool, str(snapshot.path)))

    def _place_remembered_part(self, address: Address, known: FileRow, row: Row) -> None:
        """A part to be given back, if it is in question."""
        snapshot = self._rack.remembered(self._known[row.tool], address)
        if snapshot is not None:
            self._lay_part(snapshot, known, row)

    def _file_row(self, tool: str, overlay: str) -> FileRow | None:
        files = self._known[tool].files if tool in self._known else ()
        return next((row for row in files if row.overlay == overlay), None)

    def _kept(self, name: str) -> str | None:
        try:
            secret = self._session.open_vault().get(name)
        except SecretError as error:
            self._unreachable[name] = error
            return None
        return None if secret is None else secret.reveal()


def _existing(paths: Sequence[Path]) -> Path:
    return next((path for path in paths if disk.exists(path)), paths[0])


def _with_circumstances(plan: FilePlan, snapshot: disk.Snapshot, *, is_part: bool) -> FilePlan:
    """The plan with what memory must know of the file itself: the mode that we narrow, the folders that we make."""
    plan = replace(plan, container=str(snapshot.path) if is_part else "")
    memory = plan.memory
    if memory is None:
        return plan
    if plan.stays_shut:
        memory = replace(memory, mode=None)
    if snapshot.raw is None and memory.created and not memory.folders and not is_part:
        missing = [str(parent) for parent in reversed(snapshot.real.parents) if not disk.exists(parent)]
        memory = replace(memory, folders=tuple(missing))
    is_readable = plan.holds_key and snapshot.mode is not None and bool(snapshot.mode & 0o077)
    if is_readable and memory.mode is None:
        memory = replace(memory, mode=snapshot.mode)
    is_readable = is_readable and plan.held_key and not is_part and sys.platform != "win32"
    return replace(plan, memory=memory, is_readable=is_readable)


def _together(problems: Sequence[ToolsyncError]) -> ToolsyncError:
    """One error for all: nothing is written unless everything can be."""
    if len(problems) == 1:
        return problems[0]
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    return PlanRefusedError("\n".join(problem.message for problem in problems), hint=" ".join(hints))
