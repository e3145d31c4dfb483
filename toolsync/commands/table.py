"""Where rows of several tools meet in one real file: each file is read once, and planned once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document, gitguard
from toolsync.commands.tracing import Notice, traced
from toolsync.document import Value
from toolsync.errors import DocumentError, PlanRefusedError, SecretError, TemplateError, ToolsyncError
from toolsync.facts import Facts
from toolsync.masking import printable
from toolsync.overlay import Edit, edits, filled
from toolsync.paths import candidates
from toolsync.plan import FilePlan, Place, Row, plan_file
from toolsync.remembered import Memory, vault_name
from toolsync.session import Session
from toolsync.tool import FileRow, Tool
from toolsync.trace import may_hold_key


class Table:
    """The rows of every tool in question, by the real file they mean.

    Attributes:
        in_scope: the tools in question: what is remembered of them, and no longer wanted, is given back.
        snapshots: what the files were read as, by real path.
    """

    def __init__(self, session: Session, memory: Memory, known: Mapping[str, Tool], in_scope: set[str]) -> None:
        self.in_scope = in_scope
        self.snapshots: dict[str, disk.Snapshot] = {}
        self._session, self._memory, self._known = session, memory, known
        self._rows: dict[str, list[Row]] = {}
        self._formats: dict[str, str] = {}
        self._files: dict[tuple[str, str], list[str]] = {}
        self._unreachable: dict[str, SecretError] = {}

    def seat(self, tool: Tool, given: Facts) -> tuple[str, ...]:
        """Lay the tool's filled overlays beside the files they mean; the real paths.

        Raises:
            MissingFactError: the profile lacks something that the tool needs; nothing of it is seated.
            TemplateError, FileError: a path cannot be made, or the file cannot be read.
        """
        now = self._session.now()
        ready = [(row, _row(tool, row, given, now)) for row in tool.files if self._counts(row)]
        for file_row, row in ready:
            for path in self._paths(tool, file_row, given):
                self._place(path, file_row.format, row)
        return tuple(dict.fromkeys(file for row, _ in ready for file in self._files[tool.name, row.overlay]))

    def _counts(self, row: FileRow) -> bool:
        return row.needs is None or any(disk.exists(path) for path in candidates(row.needs, self._session.places))

    def _paths(self, tool: Tool, row: FileRow, given: Facts) -> Iterator[Path]:
        self._files.setdefault((tool.name, row.overlay), [])
        if row.each is None:
            yield _existing(candidates(row.path, self._session.places))
        elif row.each in given:
            for text in given[row.each].value:
                yield _existing(candidates(text, self._session.places))

    def _place(self, path: Path, format: str, row: Row) -> None:
        snapshot = disk.read(path, within=gitguard.left(path))
        real = str(snapshot.real)
        self.snapshots.setdefault(real, snapshot)
        if self._formats.setdefault(real, format) != format:
            shown = self._session.shown(path)
            raise TemplateError(f"{shown} is {self._formats[real]} to one tool and {format} to {row.tool}")
        self._rows.setdefault(real, []).append(row)
        self._files[row.tool, row.overlay].append(real)

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
                self._files.setdefault((tool, gitguard.NAME), [])
                edits = tuple(Edit((line,), value=True) for line in lines)
                self._place(path, "gitignore", Row(tool, gitguard.NAME, edits, start="", start_is_filled=False))
        self._seat_remembered(lambda overlay: overlay == gitguard.NAME)
        return self._planned({real: rows for real, rows in self._rows.items() if real not in others})

    def _planned(self, rows_by_file: Mapping[str, Sequence[Row]]) -> dict[str, FilePlan]:
        now = self._session.now()
        plans: dict[str, FilePlan] = {}
        problems: list[ToolsyncError] = []
        for real, rows in rows_by_file.items():
            try:
                plans[real] = self._plan(Place(real, self._formats[real], self._memory.key, now, self._kept), rows)
            except DocumentError as error:
                problems.append(error.at(self._session.shown(self.snapshots[real].path)))
            except ToolsyncError as error:
                problems.append(error)
        if problems:
            raise _together(problems)
        return plans

    def _plan(self, place: Place, rows: Sequence[Row]) -> FilePlan:
        snapshot = self.snapshots[place.path]
        before = None if snapshot.raw is None else document.decoded(snapshot.raw)
        plan = plan_file(place, before, rows, self._memory.files.get(place.path))
        self._refuse_loss(plan)
        return _with_circumstances(plan, snapshot)

    def _refuse_loss(self, plan: FilePlan) -> None:
        """Nothing of the user's may be forgotten because the keyring that holds it does not answer just now."""
        for layer in plan.remembered.layers if plan.remembered else ():
            for value in layer.values:
                name = vault_name(plan.path, layer.tool, layer.overlay, value.path)
                error = self._unreachable.get(name)
                if error is not None and name in plan.forgotten:
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
                format = known.format if known else document.format_of(real)
                start = known.new if known else None
                self._files.setdefault((layer.tool, layer.overlay), [])
                row = Row(layer.tool, layer.overlay, start=start, start_is_filled=False)
                self._place(Path(real), format, row)

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

    def traced(self, tool: Tool, plans: Mapping[str, FilePlan]) -> list[Notice]:
        """What keeps `tool` from using what is planned, for each set of files that it reads together."""
        files = {row.overlay: self._files.get((tool.name, row.overlay), []) for row in tool.files}
        notices: list[Notice] = []
        for index in range(max(map(len, files.values()), default=0)):
            together = {overlay: plans[paths[index]] for overlay, paths in files.items() if len(paths) > index}
            notices.extend(traced(self._session, tool, together))
        return list(dict.fromkeys(notices))


def _row(tool: Tool, row: FileRow, given: Facts, now: str) -> Row:
    start = row.new if row.new is not None else filled(row.document, given, now=now).text
    return Row(
        tool=tool.name,
        overlay=row.overlay,
        edits=tuple(_guarded(tool, row, edit) for edit in edits(row.document.data, given, now=now)),
        start=start,
        start_is_filled=row.new is None,
        check=None if row.schema is None else _checker(row.schema),
    )


def _guarded(tool: Tool, row: FileRow, edit: Edit) -> Edit:
    """The edit, secret too where it only empties a place at which the user's own key may stand."""
    return replace(edit, secret=edit.secret or may_hold_key(tool, row.overlay, edit.path))


def _checker(schema: Mapping[str, Value]) -> Callable[[Value], str | None]:
    def check(data: Value) -> str | None:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        try:
            error = best_match(Draft202012Validator(schema).iter_errors(data))
        except Unresolvable as fault:
            raise TemplateError(f"its schema names '{printable(fault.ref)}', which is not in it") from fault
        if error is None:
            return None
        path = ".".join(map(str, error.absolute_path))
        return f"{path}: breaks the rule '{error.validator}'"  # never the value: it may be a key

    return check


def _existing(paths: Sequence[Path]) -> Path:
    return next((path for path in paths if disk.exists(path)), paths[0])


def _with_circumstances(plan: FilePlan, snapshot: disk.Snapshot) -> FilePlan:
    """The plan with what memory must know of the file itself: the mode that we narrow, the folders that we make."""
    memory = plan.memory
    if memory is None:
        return plan
    if snapshot.raw is None and memory.created and not memory.folders:
        missing = [str(parent) for parent in reversed(snapshot.real.parents) if not disk.exists(parent)]
        memory = replace(memory, folders=tuple(missing))
    if plan.holds_key and memory.mode is None and snapshot.mode is not None and snapshot.mode & 0o077:
        memory = replace(memory, mode=snapshot.mode)
    return replace(plan, memory=memory)


def _together(problems: Sequence[ToolsyncError]) -> ToolsyncError:
    """One error for all: nothing is written unless everything can be."""
    if len(problems) == 1:
        return problems[0]
    hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
    return PlanRefusedError("\n".join(problem.message for problem in problems), hint=" ".join(hints))
