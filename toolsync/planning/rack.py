"""The parts of stores that one plan is about: whose rows are in question, and what chosen ones must agree with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolsync import disk, document
from toolsync.document import MISSING, Document, KeyPath, Value, parse_path
from toolsync.errors import TemplateError
from toolsync.overlay import ABSENT, Edit
from toolsync.overlay.model import Want
from toolsync.plan import FilePlan, Row
from toolsync.planning.copied import put_there
from toolsync.planning.stores import Address, Shelf, Shelves
from toolsync.remembered import FileMemory, Memory
from toolsync.session import Session
from toolsync.tool import FileRow, Tool


class Rack:
    """The shelves of one plan."""

    def __init__(self, shelves: Shelves, profile: str | None = None, others: Collection[str] = ()) -> None:
        """Nothing is planned yet.

        Args:
            shelves: the stores.
            profile: whose rows are in question; None: everybody's.
            others: further profiles that there are; the rows of one that is gone are given back with this one's.
        """
        self._shelves, self._profile, self._others = shelves, profile, others
        self._used: dict[tuple[Path, str], Shelf] = {}
        self._apps: dict[str, frozenset[str]] = {}

    @property
    def used(self) -> tuple[Shelf, ...]:
        """Those that something is planned on."""
        return tuple(self._used.values())

    def shelf(self, tool: Tool) -> Shelf | None:
        """Where the tool's rows belong; None where there is no such container.

        Raises:
            StoreError: it cannot be read.
        """
        return None if self._profile is None else self._noted(self._shelves.of(tool, self._profile))

    def narrow(self, tool: Tool, apps: frozenset[str]) -> None:
        """Let only the rows for these apps be in question, of all that the tool keeps."""
        self._apps[tool.name] = apps

    def remembered(self, tool: Tool, address: Address) -> disk.Snapshot | None:
        """A part that is remembered, as it is now; None where it is not in question.

        A row of a profile that is gone stays while it is chosen, for then its store would not let it go.

        Raises:
            StoreError, FileError: the store cannot be read.
        """
        if address.app not in self._apps.get(tool.name, (address.app,)):
            return None
        is_gone = not address.path.exists()
        shelf = None if is_gone else self._shelves.at(tool, address.path, address.profile)
        if self._profile not in (None, address.profile):
            is_orphan = address.profile not in self._others
            if not is_orphan or (shelf and shelf.live.get(address.app, "theirs") != "theirs"):
                return None
        if shelf is None:
            return disk.Snapshot(address.path, Path(str(address)), None, None)
        self._noted(shelf)
        return shelf.snapshot(address.part)

    def is_chosen(self, address: Address) -> bool:
        """Whether it is part of a row of ours that is chosen, so that the tool's own file stands for it.

        Raises:
            StoreError, FileError: the store cannot be read.
        """
        shelf = self._used.get((address.path, address.profile))
        return shelf is not None and shelf.live.get(address.app) == "ours"

    def clicked(
        self, parts: Mapping[str, FileRow], memory: Memory, rows: Sequence[Row], text: str
    ) -> FileMemory | None:
        """What is to be known of a file into which a row of ours was put by its store's program; None for no such.

        Args:
            parts: the parts of rows that are planned, by what memory calls them.
            memory: all that is remembered.
            rows: what is wanted of the file.
            text: what stands there.
        """
        names = {row.name for row in rows if row.edits}
        for real, part in parts.items():
            remembered, own = memory.files.get(real), (part.of, part.template)
            if remembered is not None and own in names and self.is_chosen(Address.parse(real)):
                return put_there(remembered, own, text)
        return None

    def _noted(self, shelf: Shelf | None) -> Shelf | None:
        if shelf is not None:
            self._used.setdefault((shelf.path, shelf.profile), shelf)
        return shelf


def stop_at_stranded(session: Session, real: str, tool: str) -> None:
    """Let what a tool without a template wrote be given back, unless it lies in a container: nobody knows how then.

    Raises:
        TemplateError: it does.
    """
    if not disk.exists(Path(real)) and Address.parse(real).path.is_file():
        text = f"{session.shown(real)}: the template of '{tool}', which wrote it, is gone or wrong"
        raise TemplateError(text, hint="Mend it, or put it back, and run the command again.")


def agreeing(row: Row, memory: FileMemory | None, own: FilePlan) -> Row:
    """The row of a chosen part, which says what its tool's own file will say at every place that was ever ours.

    Where the profile wants nothing any more, the file gets back what the user had there; the row never knew of that.

    Args:
        row: what is wanted of the part.
        memory: what is remembered of the part.
        own: the plan of the tool's own file.
    """
    layers = memory.layers if memory else ()
    layer = next((layer for layer in layers if (layer.tool, layer.overlay) == row.name), None)
    if layer is None or own.after is None or not row.edits:
        return row
    wanted, file = {edit.path for edit in row.edits}, document.parse(own.after.encode(), own.format)
    once = [(parse_path(value.path), value.secret) for value in layer.values]
    more = (
        Edit(path, _there(file, path), secret=secret, harmless=False) for path, secret in once if path not in wanted
    )
    return replace(row, edits=(*row.edits, *more))


def _there(file: Document, path: KeyPath) -> Value | Want:
    now = file.get(path)
    return ABSENT if now is MISSING else now
