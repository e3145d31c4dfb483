"""Stores at the table: containers on this machine as one profile sees them, their parts planned as files are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolsync import disk
from toolsync.errors import StoreError
from toolsync.paths import candidates
from toolsync.session import Session
from toolsync.store import Live, Store, Token, store
from toolsync.tool import FileRow, Tool

_SIGN = "#"


@dataclass(frozen=True)
class Shelf:
    """A container, read for one profile.

    Attributes:
        store: how it is read and written.
        path: the container, links followed.
        profile: whose rows these are.
        parts: their texts, by name.
        token: what they were then.
    """

    store: Store
    path: Path
    profile: str
    parts: Mapping[str, str]
    token: Token

    def address(self, part: str) -> str:
        """What plans and memory call a part, where they have a real path for a file."""
        return f"{self.path}{_SIGN}{self.profile}/{part}"


@dataclass(frozen=True)
class Address:
    """A part's address, taken apart."""

    path: Path
    profile: str
    part: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that `Shelf.address` made."""
        path, _, rest = text.rpartition(_SIGN)
        profile, _, part = rest.partition("/")
        return cls(Path(path), profile, part)


def shelf(session: Session, name: str, path: Path, profile: str) -> Shelf:
    """The container at `path`.

    Raises:
        StoreError: it cannot be read.
        TemplateError: there is no such store.
    """
    kind = store(name, profile, session.places)
    parts, token = kind.read(path)
    return Shelf(kind, path, profile, parts, token)


def container(session: Session, row: FileRow) -> Path | None:
    """Where the container of a part is on this machine, links followed; None where there is none."""
    path = next((path for path in candidates(row.path, session.places) if disk.exists(path)), None)
    return None if path is None else disk.resolve(path)


@dataclass(frozen=True)
class Claim:
    """What a store says of the file of a tool that it holds rows for.

    Attributes:
        store_tool: the store's own tool.
        tool: the tool whose file it is.
        live: whose values the file holds.
    """

    store_tool: str
    tool: str
    live: Live


def claims(session: Session, known: Mapping[str, Tool], profile: str) -> Iterator[Claim]:
    """What the stores on this machine say of other tools' files; one that cannot be read says nothing here."""
    for tool in known.values():
        path = container(session, tool.files[0]) if tool.store else None
        if path is None:
            continue
        try:
            live = store(tool.store, profile, session.places).live(path)
        except StoreError:
            continue  # whoever wants its rows is told
        owners = {row.part.partition("/")[0]: row.of for row in tool.files if row.of}
        for app, owner in owners.items():
            if app in live:
                yield Claim(tool.name, owner, live[app])


def warnings(session: Session, tool: Tool, profile: str, planned: set[str]) -> tuple[str, ...]:
    """What a person should know before the store's rows, and the files that they stand for, are written.

    Args:
        session: where the container is.
        tool: the store's tool.
        profile: whose rows.
        planned: the tools whose own files are planned.

    Raises:
        StoreError: it cannot be read.
    """
    path = container(session, tool.files[0])
    if path is None:
        return ()
    apps = {row.part.partition("/")[0] for row in tool.files if row.of in planned}
    return store(tool.store, profile, session.places).warnings(path, apps)


def text_at(session: Session, tool: Tool, address: str) -> str | None:
    """What stands in a part now; None where nothing does, or the container cannot be read."""
    place = Address.parse(address)
    try:
        return shelf(session, tool.store, place.path, place.profile).parts.get(place.part)
    except StoreError:
        return None
