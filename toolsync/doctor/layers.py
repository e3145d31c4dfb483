"""A tool's layers as they stand on this machine: what is there, what the tool can read of it, and what wins."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from toolsync import disk, document
from toolsync.document import Document, KeyPath, Value
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import DocumentError, FileError, ToolsyncError
from toolsync.paths import Places
from toolsync.search.placing import existing, placed, spelled
from toolsync.session import Session
from toolsync.tool import FileRow, Layer, Tool
from toolsync.tool.breach import Breach, breach_of, check_of
from toolsync.trace import Answer, Tree, heeded
from toolsync.value import frozen

State = Literal["environment", "read", "missing", "shut", "broken", "refused"]
"""`shut`: it cannot be opened; `broken`: nobody can read what it says; `refused`: its tool is too strict to."""
UNREAD = frozenset({"shut", "broken", "refused"})
"""States of a file of which the tool takes nothing."""


@frozen
class Seen:
    """A layer as its tool sees it.

    Attributes:
        layer: which.
        state: what became of reading it.
        snapshot: the file; None for the environment, and for a file that cannot be opened.
        path: the file, as it is spelled on this machine; None for the environment.
        document: what it says, also where the tool is too strict to read it.
        error: why it cannot be opened or read.
        environ: the variables, for the environment.
        breach: what in it the tool does not take, so that it reads nothing of the whole; "" where it takes all.
        drop: the field for which the tool takes nothing of it; surely where the state is `refused`, else by what older
            versions do. None where there is no such field.
        is_at_home: whether its folder is the home folder, so that what would be a project's file is the user's own.
    """

    layer: Layer
    state: State
    path: Path | None = None
    snapshot: disk.Snapshot | None = None
    document: Document | None = None
    error: ToolsyncError | None = None
    environ: Mapping[str, str] | None = None
    breach: str = ""
    drop: Breach | None = None
    is_at_home: bool = False

    @property
    def file(self) -> str:
        """The file as a text; "" for the environment."""
        return "" if self.path is None else str(self.path)

    @property
    def is_wide(self) -> bool:
        """Whether the file is in another encoding than UTF-8, which its tool reads, and toolsync does not write."""
        raw = self.snapshot.raw if self.snapshot is not None else None
        return bool(raw) and self.document is not None and any(map((raw or b"").startswith, self.document.marks))

    def below(self, path: KeyPath) -> KeyPath:
        """The path inside the layer; the whole one where it lies elsewhere, so that nothing stands there."""
        mount = parse_path(self.layer.at) if self.layer.at else ()
        return path[len(mount) :] if path[: len(mount)] == mount else ("", *path)

    @property
    def tree(self) -> Tree:
        """What the trace sees: nothing, where the tool reads nothing."""
        if self.environ is not None:
            return Tree(self.layer, dict(self.environ))
        data = self.document.data if self.state == "read" and self.document is not None else {}
        return Tree(self.layer, data, self.file)

    @property
    def is_projects(self) -> bool:
        """Whether it lies in the project, so that whoever wrote the repository has a say in it."""
        return not self.is_at_home and _lies_in(self.layer, ("<project>", "<repository>"))

    def line(self, answer: Answer) -> int | None:
        """The line on which the answer stands, if it stands here."""
        position = self.document.position(answer.path) if self.document is not None else None
        return position[0] if position else None


def is_home(places: Places) -> bool:
    """Whether the project is the home folder itself, by whichever of its names."""
    return "<project>" in _homes(places)


def _homes(places: Places) -> list[str]:
    """What of the project's folders is the home folder."""
    home = os.path.realpath(places.home)
    around = {f"<{name}>": folder for name, folder in places.around.items() if folder}
    return [name for name, folder in around.items() if os.path.realpath(folder) == home]


def _lies_in(layer: Layer, folders: Sequence[str]) -> bool:
    return any(folder in path for path in layer.path for folder in folders)


def _unasked(_: str) -> str:
    """Nobody asked it for its version."""
    return ""


def seen(
    session: Session, tool: Tool, files: Mapping[str, Path | None], version: Callable[[str], str] = _unasked
) -> tuple[Seen, ...]:
    """The tool's layers, lowest first.

    Args:
        session: where they are read.
        tool: whose.
        files: the file of each of its own rows, by overlay; None for one that does not count here.
        version: what a program says when it is asked for its version; "" where it says nothing.
    """
    formats = {row.overlay: row.format for row in tool.files}
    checks = {row.overlay: check_of(row) for row in tool.files}
    read = [
        _seen(session, layer, path or files.get(layer.overlay), layer.format or formats.get(layer.overlay, ""))
        for layer, path in placed(tool.layers, session.places)
    ]
    judged = [_dropped(_judged(one, checks.get(one.layer.overlay)), tool, version) for one in read]
    trees = heeded([one.tree for one in judged], session.places.around)
    found = [replace(one, layer=tree.layer) for one, tree in zip(judged, trees, strict=True)]
    own = {one.snapshot.real for one in found if one.snapshot is not None and not one.is_projects}
    is_same = [one.is_projects and one.snapshot is not None and one.snapshot.real in own for one in found]
    homes = _homes(session.places)
    return tuple(
        replace(one, is_at_home=True) if _lies_in(one.layer, homes) else one
        for one, same in zip(found, is_same, strict=True)
        if not same  # in the home folder itself
    )


def _judged(one: Seen, check: Callable[[Value], str | None] | None) -> Seen:
    """The layer, refused where its tool does not take what it says; an empty one holds nothing that could be.

    With what `wants` asks for missing, a tool does not start at all: that is said by itself, and what it reads too.
    """
    if one.state != "read" or one.document is None or check is None or one.layer.wants or not one.document.data:
        return one
    breach = check(one.document.data)
    return replace(one, state="refused", breach=breach) if breach else one


def _dropped(one: Seen, tool: Tool, version: Callable[[str], str]) -> Seen:
    """The layer, refused where the installed tool is known to drop it for one of its fields."""
    strict, name = tool.strict, one.layer.name.partition(": ")[0]  # a drop-in is called after its folder, and itself
    if strict is None or name not in strict.layers or one.state != "read" or one.document is None:
        return one
    data = one.document.data
    if not isinstance(data, Mapping) or (breach := breach_of(strict, data)) is None:
        return one
    if re.search(strict.version, version(tool.commands[0]) if tool.commands else ""):
        return replace(one, state="refused", drop=breach)
    return replace(one, drop=breach_of(strict, data, is_of_kind=True))


def unread(session: Session, tool: Tool) -> tuple[Seen, ...]:
    """The files that people take for the tool's settings, and that it does not read; those that are there."""
    found = (_seen(session, layer, path, layer.format) for layer, path in placed(tool.unread, session.places))
    return tuple(one for one in found if one.state not in ("missing", "environment"))


def own_files(session: Session, tool: Tool, paths: Sequence[str]) -> list[dict[str, Path | None]]:
    """The files of the tool's own rows, by overlay: one set for each that it has at a time.

    Args:
        session: where they are.
        tool: whose.
        paths: what the profile says instead of a path, for the rows that ask for it.
    """
    if not any(row.each for row in tool.files):
        return [{row.overlay: _own_file(session, row) for row in tool.files}]
    texts = [path for path in paths if existing(path, session.places)]
    return [
        {row.overlay: existing(text, session.places) if row.each else _own_file(session, row) for row in tool.files}
        for text in texts
    ]


def _own_file(session: Session, row: FileRow) -> Path | None:
    if row.needs is not None and not any(map(disk.exists, spelled(row.needs, session.places))):
        return None
    return existing(row.path, session.places)


def _seen(session: Session, layer: Layer, path: Path | None, format: str) -> Seen:
    if layer.kind == "environment":
        return Seen(layer, "environment", environ=session.places.environ)
    if path is None:
        return Seen(layer, "missing")
    try:
        snapshot = disk.read(path)
    except FileError as error:
        return Seen(layer, "shut", path, error=error)
    if snapshot.raw is None:
        return Seen(layer, "missing", path, snapshot)
    try:
        parsed = document.parse(snapshot.raw, format)
    except DocumentError as error:
        return Seen(layer, "broken", path, snapshot, error=error)
    return Seen(layer, "read" if parsed.fault is None else "refused", path, snapshot, parsed)


@frozen
class Standing:
    """One layer in `doctor TOOL`.

    Attributes:
        seen: the layer.
        sets: the questions that it answers, by itself.
        wins: those of them that the tool has from it.
    """

    seen: Seen
    sets: tuple[str, ...]
    wins: tuple[str, ...]


def standings(
    layers: Sequence[Seen], alone: Mapping[str, Sequence[str]], wins: Mapping[str, str]
) -> Iterator[Standing]:
    """Who sets what, and who wins, lowest layer first.

    Args:
        layers: as `seen` gives them.
        alone: what each layer would answer if it were the only one, by its name.
        wins: the layer that each question's answer comes from.
    """
    for one in layers:
        name = one.layer.name
        sets = tuple(alone.get(name, ()))
        yield Standing(one, sets, tuple(question for question in sets if wins.get(question) == name))
