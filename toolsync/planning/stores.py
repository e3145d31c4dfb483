"""Stores at the table: containers on this machine as profiles see them, their parts planned as files are."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from toolsync import disk, gitguard
from toolsync.errors import FileError, StoreError
from toolsync.masking import printable
from toolsync.paths import candidates
from toolsync.plan import FilePlan
from toolsync.remembered import Memory
from toolsync.session import Session
from toolsync.store import Live, Moment, Store, store
from toolsync.tool import FileRow, Tool
from toolsync.value import frozen

_SIGN = "#"


@frozen
class Address:
    """What plans and memory call a part, where they have a real path for a file.

    Attributes:
        path: the container, links followed.
        profile: whose row.
        part: which part of it.
    """

    path: Path
    profile: str
    part: str

    def __str__(self) -> str:
        return f"{self.path}{_SIGN}{self.profile}/{self.part}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that is spelled so; a container that was moved, with a link left behind, is where it is.

        Raises:
            FileError: links lead in a circle.
        """
        path, _, rest = text.rpartition(_SIGN)
        profile, _, part = rest.partition("/")
        return cls(disk.resolve(Path(path)), profile, part)

    @property
    def app(self) -> str:
        """Whose row it is."""
        return self.part.partition("/")[0]

    @property
    def row(self) -> Address:
        """Its outermost part: the row as a whole."""
        return replace(self, part=self.app)


def has_copy(memory: Memory, tool: Tool, profile: str) -> bool:
    """Whether a copy of the profile's key was agreed to for the tool: of a store, in a row of that profile's own."""
    if not tool.store:
        return memory.copies.get(tool.name) == profile
    rows = ((real, layer) for real, file in memory.files.items() for layer in file.layers if layer.holds_key)
    return any(layer.tool == tool.name and Address.parse(real).profile == profile for real, layer in rows)


@frozen
class Shelf:
    """A container, read for one profile.

    Attributes:
        store: how it is read and written.
        path: the container, links followed.
        profile: whose rows these are.
        parts: their texts, by name.
        seen: the container at that moment.
        status: of the container's file.
    """

    store: Store
    path: Path
    profile: str
    parts: Mapping[str, str]
    seen: Moment
    status: os.stat_result

    @cached_property
    def live(self) -> Mapping[str, Live]:
        """Whose values each tool's own file holds, by app.

        Raises:
            StoreError, FileError: it cannot be read.
        """
        return self.store.live(self.path)

    @cached_property
    def made(self) -> Collection[str]:
        """The apps whose rows an earlier apply made, be it remembered or not."""
        return self.store.made(self.parts)

    def snapshot(self, part: str) -> disk.Snapshot:
        """A part as files are read; mode and owner are those of the container."""
        text = self.parts.get(part)
        address = Path(str(Address(self.path, self.profile, part)))
        return disk.Snapshot(self.path, address, None if text is None else text.encode(), self.status)

    def warnings(self, live: Collection[str], rows: Collection[str]) -> tuple[str, ...]:
        """See `Store.warnings`."""
        return self.store.warnings(self.path, live, rows)

    def parting(self, rows: Collection[str], addresses: Collection[bytes]) -> tuple[str, ...]:
        """See `Store.parting`."""
        return self.store.parting(self.path, rows, addresses)


class Shelves:
    """The containers on this machine, each read once for each profile: what they say holds for a whole command."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session
        self._read: dict[tuple[str, Path, str], Shelf | StoreError] = {}

    def of(self, tool: Tool, profile: str) -> Shelf | None:
        """Where the tool's rows are kept; None where there is no such container.

        Raises:
            StoreError, FileError: it cannot be read.
        """
        path = container(self._session, tool.files[0]) if tool.store else None
        return None if path is None else self.at(tool, path, profile)

    def at(self, tool: Tool, path: Path, profile: str) -> Shelf:
        """The container at `path`, links followed.

        Raises:
            StoreError: it cannot be read; said again without another look, for it may have taken a long wait.
        """
        key = tool.store, path, profile
        if key not in self._read:
            try:
                self._read[key] = self._opened(*key)
            except StoreError as error:
                self._read[key] = error
        found = self._read[key]
        if isinstance(found, StoreError):
            raise found
        return found

    def text(self, tool: Tool, address: Address) -> str | None:
        """What stands in a part; None where nothing does, or there is no container.

        Raises:
            StoreError: it cannot be read.
        """
        return self.at(tool, address.path, address.profile).parts.get(address.part) if address.path.exists() else None

    def _opened(self, name: str, path: Path, profile: str) -> Shelf:
        def now_ms() -> int:
            return int(self._session.clock().timestamp() * 1000)

        kind = store(name, profile, self._session.places, now_ms)
        parts, seen = kind.read(path)
        return Shelf(kind, path, profile, parts, seen, path.stat())


def container(session: Session, row: FileRow) -> Path | None:
    """Where the container of a part is on this machine, links followed; None where there is none.

    Raises:
        FileError: a link leads out of the repository that it lies in.
    """
    path = next((path for path in candidates(row.path, session.places) if disk.exists(path)), None)
    return None if path is None else disk.resolved_within(path, gitguard.left(path))


def has_its_store(session: Session, tool: Tool) -> bool:
    """Whether the database is there that keeps the tool's settings, if one does."""
    return not tool.store or any(disk.exists(path) for path in candidates(tool.files[0].path, session.places))


def lost_rows(files: Iterable[FilePlan]) -> dict[Path, list[str]]:
    """The rows of ours that were in each container which is not there any more."""
    found: dict[Path, dict[str, None]] = {}
    for place in (Address.parse(file.path) for file in files if file.container):
        if not disk.exists(place.path):
            found.setdefault(place.path, {})[printable(f"toolsync-{place.profile}")] = None
    return {path: list(rows) for path, rows in found.items()}


def names(memory: Memory) -> dict[str, str]:
    """What memory calls files that lie elsewhere now: moved, as into a dotfiles repository, and a link left behind."""
    found: dict[str, str] = {}
    for path in memory.files:
        with suppress(FileError):  # links in a circle lead nowhere
            found[str(disk.resolve(Path(path)))] = path
            found[str(Address.parse(path))] = path
    return found
