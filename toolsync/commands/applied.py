"""What was applied last, against the files as they stand now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from toolsync import disk, document, registry
from toolsync.document import MISSING, Document, Source, Value, equal
from toolsync.document.keypath import parse as parse_path
from toolsync.errors import DocumentError, ToolsyncError
from toolsync.plan import stands
from toolsync.planning import entries
from toolsync.planning.stores import Address, Shelves
from toolsync.remembered import NOTHING, LayerMemory, Memory, Remembered
from toolsync.result import Message
from toolsync.session import Session

Applied = Literal["same", "unknown", "changed", "reverted", "gone", "never"]
"""`reverted`: what the user had there before stands there again."""


class Standing:
    """The files as they stand now, each read once; what cannot be read is unknown, and said."""

    def __init__(self, session: Session, shelves: Shelves) -> None:
        self._session, self._shelves = session, shelves
        self._known = registry.tools(session.config.parent)
        self._documents: dict[tuple[str, str], Document | None] = {}
        self._errors: dict[str, ToolsyncError] = {}

    def applied(self, real: str, layer: LayerMemory, memory: Memory, value: Remembered) -> Applied:
        """What was applied at one place of a file, against now."""
        now = self._now(real, layer)
        return "unknown" if real in self._errors else _applied(now, memory, value)

    def news(self, problem: Message | None) -> Iterator[Message]:
        """Why files are unknown, once for each; without what the plan's own problem says of them already."""
        said = problem.text.splitlines() if problem else []
        for real, error in self._errors.items():
            if not any(line.endswith(error.message) for line in said):
                named = error.at(self._session.shown(real)) if isinstance(error, DocumentError) else error
                yield Message("problem", named.message, error.hint)

    def lost(self, memory: Memory) -> Iterator[Message]:
        """Containers that are not there any more, and what to do about the rows that were kept in them."""
        found: dict[Path, dict[str, None]] = {}
        for real, layer in ((real, layer) for real, file in memory.files.items() for layer in file.layers):
            if layer.tool in self._known and self._known[layer.tool].store:
                found.setdefault(Address.parse(real).path, {})[layer.tool] = None
        for path, tools in found.items():
            if not disk.exists(path):
                text = f"{self._session.shown(path)} is not there, with the rows that we kept in it"
                yield Message("problem", text, f"`toolsync undo {' '.join(tools)}` forgets them.")

    def reverted(self, memory: Memory, now: Mapping[tuple[str, str, str], Applied]) -> Iterator[Message]:
        """Why whole files say again what they said before: programs write back what they had read before.

        Args:
            memory: what was applied.
            now: how it stands, by tool, real path, and path in the file.
        """
        for real, layer in ((real, layer) for real, file in memory.files.items() for layer in file.layers):
            written = (value for value in layer.values if value.after != NOTHING)
            states = {now.get((layer.tool, real, value.path)) for value in written}
            if "reverted" in states and states <= {"reverted", "gone"}:
                text = f"{self._session.shown(real)} says again what it said before apply, as when a program"
                hint = self._known[layer.tool].reload if layer.tool in self._known else ""
                yield Message("warning", f"{text} that had it open writes its old values back", hint)

    def _now(self, real: str, layer: LayerMemory) -> Document | None:
        key = real, layer.tool
        if key not in self._documents:
            try:
                self._documents[key] = self._read(real, layer)
            except ToolsyncError as error:
                self._documents[key] = None
                self._errors[real] = error
        return self._documents[key]

    def _read(self, real: str, layer: LayerMemory) -> Document | None:
        if layer.overlay == entries.OVERLAY:
            text = entries.text_of(self._session, real)
            return _parsed(None if text is None else text.encode(), "json")
        tool = self._known.get(layer.tool)
        row = next((row for row in tool.files if row.overlay == layer.overlay), None) if tool else None
        if tool and row and row.part:
            text = self._shelves.text(tool, Address.parse(real))
            raw = None if text is None else text.encode()
            return _parsed(raw, row.format)
        format = row.format if row else document.format_of(real)
        return disk.judged(disk.read(Path(real)), lambda snapshot: _parsed(snapshot.raw, format))


def _parsed(raw: bytes | None, format: str) -> Document | None:
    return None if raw is None else document.parse(raw, format)


def _applied(now: Document | None, memory: Memory, value: Remembered) -> Applied:
    if now is None:
        return "gone"
    found = now.get(parse_path(value.path))
    if stands(value, found, memory.key):
        return "same"
    if found is MISSING:
        return "gone"
    return "reverted" if _is_origin(now, value, found) else "changed"


def _is_origin(now: Document, value: Remembered, found: Value) -> bool:
    """Whether it is what the user had there; of what lies in the keyring, nobody is asked for that."""
    if value.origin is None:
        return False
    path = parse_path(value.path)
    try:
        return equal(now.set(path, Source(value.origin)).get(path), found)
    except DocumentError:
        return False
