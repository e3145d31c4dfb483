"""Overlay x disk x memory: what a file becomes, what of it changes, and what is remembered to give it back.

The rule: everything that toolsync wrote and that is no longer wanted gets back what the user had; then the wanted
edits are laid over what is there. A file that still is exactly what toolsync wrote is first taken back to the user's
own text, byte for byte, so that the result depends on that text and the overlay alone, never on the history. Undo is
the plan that wants nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from toolsync import document as documents
from toolsync.document import MISSING, Document, Fault, Item, KeyPath, Missing, Source, Splice, Value, equal
from toolsync.document import splice as splices
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import PlanRefusedError
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.remembered import FileMemory, KeptSplice, LayerMemory, Remembered, holds, mark, vault_name

_NOTHING = ""
"""The mark of a place that must be empty; no parsed value has it."""


@dataclass(frozen=True)
class Row:
    """One overlay that meets one real file.

    Attributes:
        tool: the tool's name.
        overlay: the file row's name.
        edits: what is wanted; empty to give everything back.
        start: what a file that does not exist starts as, or None where none is to be made.
        start_is_filled: whether `start` is the filled overlay itself (else the edits are laid over it).
        check: the complaint of the file's schema about parsed data, or None.
    """

    tool: str
    overlay: str
    edits: tuple[Edit, ...] = ()
    start: str | None = None
    start_is_filled: bool = True
    check: Callable[[Value], str | None] | None = None


@dataclass(frozen=True)
class Change:
    """What stands at a path before and after; `MISSING` where nothing does."""

    tool: str
    path: KeyPath
    before: Value | Missing
    after: Value | Missing
    secret: bool = False
    harmless: bool = True


@dataclass(frozen=True)
class Left:
    """Something that toolsync wrote once, and that was not given back, with the reason."""

    tool: str
    path: KeyPath
    reason: str


@dataclass(frozen=True)
class FilePlan:
    """What one real file becomes.

    Attributes:
        path: the real path, as memory names it.
        format: the document's format.
        before: its text, or None when it does not exist.
        after: its text then, or None when it goes.
        changes: value by value, in order.
        memory: what is remembered of it then, or None for nothing.
        kept: texts that go to the keyring, by entry name.
        forgotten: keyring entries that are needed no more.
        left: what was not given back.
        edits: the wanted edits, by (tool, overlay).
        fault: what a strict reader of the result chokes on.
        holds_key: whether the result holds a key in clear.
        remembered: what was remembered of it when the plan was made.
    """

    path: str
    format: str
    before: str | None
    after: str | None
    changes: tuple[Change, ...] = ()
    memory: FileMemory | None = None
    kept: dict[str, str] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    left: tuple[Left, ...] = ()
    edits: dict[tuple[str, str], tuple[Edit, ...]] = field(default_factory=dict)
    fault: Fault | None = None
    holds_key: bool = False

    remembered: FileMemory | None = None

    @property
    def is_change(self) -> bool:
        """Whether the file's text is not what it was."""
        return self.before != self.after

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to write and nothing new to remember."""
        return not self.is_change and self.memory == self.remembered


@dataclass(frozen=True)
class Recall:
    """What planning may look up: this machine's hash key, the time, and texts that lie in the keyring."""

    key: bytes
    now: str
    kept: Callable[[str], str | None] = lambda _: None


def plan_file(
    path: str, format: str, before: str | None, rows: Sequence[Row], memory: FileMemory | None, recall: Recall
) -> FilePlan:
    """What `rows` make of the file at `path`.

    Args:
        path: the real path.
        format: the document's format.
        before: the file's text, or None when it does not exist.
        rows: everything that is wanted of it by the tools in question; a row without edits gives its tool's back.
        memory: what is remembered of the file.
        recall: what may be looked up.

    Raises:
        DocumentError: the file cannot be parsed, or an edit cannot be made faithfully.
        PlanRefusedError: the result would not meet the file's schema, or two rows disagree.
    """
    _agree(path, rows)
    stamped = _Planner(path, format, before, rows, memory, recall).plan()
    if not stamped.is_change or not any(edit.stamp for row in rows for edit in row.edits):
        return stamped
    unstamped = [_with_present_stamps(row, before, format) for row in rows]
    quiet = _Planner(path, format, before, unstamped, memory, recall).plan()
    return stamped if quiet.is_change else quiet


def _agree(path: str, rows: Sequence[Row]) -> None:
    wanted: dict[KeyPath, tuple[Row, Edit]] = {}
    for row in rows:
        for edit in row.edits:
            other, known = wanted.setdefault(edit.path, (row, edit))
            same = known.value is edit.value or (known.value is not MISSING and equal(known.value, edit.value))
            if not same and not (known.stamp and edit.stamp):
                raise PlanRefusedError(
                    f"{path}: {other.tool} and {row.tool} want different values at {spell(edit.path)}",
                    hint="Apply one of them only, or give them different files.",
                )


def _with_present_stamps(row: Row, before: str | None, format: str) -> Row:
    if before is None:
        return row
    present = documents.parse(before.encode(), format)
    kept = (
        edit if not edit.stamp or present.get(edit.path) is MISSING else replace(edit, value=present.get(edit.path))
        for edit in row.edits
    )
    return replace(row, edits=tuple(kept))


class _Planner:
    """One planning of one file; a class only because eight things travel together."""

    def __init__(
        self, path: str, format: str, before: str | None, rows: Sequence[Row], memory: FileMemory | None, recall: Recall
    ) -> None:
        self.path, self.format, self.before, self.recall = path, format, before, recall
        self.memory = memory or FileMemory()
        self.layers = list(self.memory.layers)
        self.rows = _in_order(rows, self.layers)
        self.created = self.memory.created and bool(self.layers)
        self.kept: dict[str, str] = {}
        self.left: list[Left] = []

    def plan(self) -> FilePlan:
        current = None if self.before is None else self._parsed(self.before)
        laid = self._unwound(current)
        for row in self.rows:
            laid = self._laid(laid, row)
        after = laid.text if laid is not None and not self._is_ours_alone(laid) else None
        if after is None:
            laid = None
        self._check(laid)
        memory = self._memory(laid)
        return FilePlan(
            path=self.path,
            format=self.format,
            before=self.before,
            after=after,
            changes=tuple(self._changes(current, laid)),
            memory=memory,
            kept={} if memory is None else self.kept,
            forgotten=frozenset(_entries(self.path, self.memory) - _entries(self.path, memory or FileMemory())),
            left=tuple(self.left),
            edits={(row.tool, row.overlay): row.edits for row in self.rows if row.edits},
            fault=laid.fault if laid is not None else None,
            holds_key=any(edit.secret and not edit.harmless for row in self.rows for edit in row.edits),
            remembered=self.memory if self.memory.layers else None,
        )

    def _parsed(self, text: str) -> Document:
        return documents.parse(text.encode(), self.format)

    # Down: to the user's own text, as far as the file still is what we wrote.

    def _unwound(self, document: Document | None) -> Document | None:
        in_question = {(row.tool, row.overlay) for row in self.rows}
        while document is not None and self.layers:
            top = self.layers[-1]
            if (top.tool, top.overlay) not in in_question or top.sha256 != _sha256(document.text):
                break
            if len(self.layers) == 1 and self.created and top.inverse is None:
                self.layers.pop()
                return None
            back = self._inverse(top)
            if back is None:
                break
            self.layers.pop()
            document = self._parsed(splices.apply(document.text, back))
        if document is None:
            self.layers.clear()
        return document

    def _inverse(self, layer: LayerMemory) -> list[Splice] | None:
        if layer.inverse is None:
            return None
        back: list[Splice] = []
        for index, splice in enumerate(layer.inverse):
            if isinstance(splice, Splice):
                back.append(splice)
                continue
            text = self.recall.kept(vault_name(self.path, layer.tool, layer.overlay, f"inverse[{index}]"))
            if text is None:
                return None
            back.append(Splice(splice.start, splice.length, text))
        return back

    # Up: the rows, one after the other.

    def _laid(self, document: Document | None, row: Row) -> Document | None:
        known = self._layer(row)
        if document is None:
            return self._created(row)
        if known is None:
            return self._fresh(document, row)
        return self._in_place(document, row, known)

    def _layer(self, row: Row) -> LayerMemory | None:
        return next((layer for layer in self.layers if (layer.tool, layer.overlay) == (row.tool, row.overlay)), None)

    def _created(self, row: Row) -> Document | None:
        if not row.edits or row.start is None:
            return None
        self.created = True
        document = self._parsed(row.start)
        if not row.start_is_filled:
            document = _edited(document, row.edits)
        values = tuple(self._remembered(None, edit) for edit in row.edits if edit.value is not TABLE)
        parents = dict.fromkeys(parent for edit in row.edits for parent in _parents(edit))
        containers = tuple(spell(parent) for parent in parents if document.get(parent) is not MISSING)
        self.layers.append(
            LayerMemory(
                row.tool, row.overlay, _sha256(document.text), None, values, containers, applied_at=self.recall.now
            )
        )
        return document

    def _fresh(self, document: Document, row: Row) -> Document:
        if not row.edits:
            return document
        values: list[Remembered] = []
        containers: list[str] = []
        inverse: list[Splice | KeptSplice] = []
        edited = document
        for edit in row.edits:
            values.extend(self._origin(edited, row, edit))
            containers.extend(path for path in _missing_parents(edited, edit) if path not in containers)
            before, edited = edited, _edited(edited, [edit])
            back = splices.inverse(before.text, edited.log[len(before.log) :])
            inverse = [*(self._guarded(splice, edit) for splice in back), *inverse]
        layer = LayerMemory(
            row.tool, row.overlay, _sha256(edited.text), None, tuple(values), tuple(containers), self.recall.now
        )
        self.layers.append(replace(layer, inverse=self._kept_inverse(layer, inverse)))
        return edited

    def _guarded(self, splice: Splice, edit: Edit) -> Splice | KeptSplice:
        return _SecretSplice(splice.start, splice.length, splice.text) if edit.secret and splice.text.strip() else splice

    def _kept_inverse(
        self, layer: LayerMemory, inverse: Sequence[Splice | KeptSplice]
    ) -> tuple[Splice | KeptSplice, ...]:
        result: list[Splice | KeptSplice] = []
        for index, splice in enumerate(inverse):
            if isinstance(splice, _SecretSplice):
                self.kept[vault_name(self.path, layer.tool, layer.overlay, f"inverse[{index}]")] = splice.text
                result.append(KeptSplice(splice.start, splice.length))
            else:
                result.append(splice)
        return tuple(result)

    def _in_place(self, document: Document, row: Row, known: LayerMemory) -> Document:
        wanted = {spell(edit.path) for edit in row.edits}
        edited = self._given_back(document, known, wanted)
        earlier = {value.path: value for value in known.values}
        values: list[Remembered] = []
        containers = [path for path in known.containers if edited.get(parse_path(path)) is not MISSING]
        for edit in row.edits:
            values.extend(self._origin(edited, row, edit, earlier.get(spell(edit.path))))
            containers.extend(path for path in _missing_parents(edited, edit) if path not in containers)
            edited = _edited(edited, [edit])
        self._replace(known, edited, tuple(values), tuple(containers), is_changed=edited.text != document.text)
        return edited

    def _replace(
        self,
        known: LayerMemory,
        edited: Document,
        values: tuple[Remembered, ...],
        containers: tuple[str, ...],
        *,
        is_changed: bool,
    ) -> None:
        index = self.layers.index(known)
        if not values:
            del self.layers[index]
            return
        layer = replace(known, values=values, containers=containers)
        if is_changed:
            layer = replace(layer, sha256=_sha256(edited.text), inverse=None, applied_at=self.recall.now)
        self.layers[index] = layer

    def _origin(self, document: Document, row: Row, edit: Edit, earlier: Remembered | None = None) -> list[Remembered]:
        if edit.value is TABLE:
            return []
        now = document.get(edit.path)
        if earlier is not None and self._holds(earlier, now):
            fresh = self._remembered(None, edit)
            return [replace(fresh, origin=earlier.origin, origin_kept=earlier.origin_kept)]
        source = document.source(edit.path)
        if source is None:
            return [self._remembered(None, edit)]
        if edit.secret:
            self.kept[vault_name(self.path, row.tool, row.overlay, spell(edit.path))] = source.text
            return [replace(self._remembered(None, edit), origin_kept="keyring")]
        return [self._remembered(source, edit)]

    def _remembered(self, source: Source | None, edit: Edit) -> Remembered:
        after = _NOTHING if edit.value is ABSENT else mark(edit.value, self.recall.key if edit.secret else None)
        return Remembered(spell(edit.path), None if source is None else source.text, "memory", after, edit.secret)

    def _holds(self, remembered: Remembered, now: Value | Missing) -> bool:
        if now is MISSING or remembered.after == _NOTHING:
            return now is MISSING and remembered.after == _NOTHING
        return holds(remembered, now, self.recall.key)

    # Back: what is wanted no more.

    def _given_back(self, document: Document, known: LayerMemory, wanted: set[str]) -> Document:
        for value in reversed(known.values):
            if value.path not in wanted:
                document = self._given_back_value(document, known, value)
        kept = {path for text in wanted for path in _prefixes(parse_path(text))}
        for text in reversed(known.containers):
            path = parse_path(text)
            if path not in kept and _is_empty(document.get(path), path):
                document = document.remove(path)
        return document

    def _given_back_value(self, document: Document, known: LayerMemory, value: Remembered) -> Document:
        path = parse_path(value.path)
        now = document.get(path)
        if not self._holds(value, now):
            if now is not MISSING:
                self.left.append(Left(known.tool, path, "it was changed after toolsync wrote it"))
            return document
        source = self._source(known, value)
        if source is None:
            if value.origin_kept != "memory":
                reason = "what stood there before could not be kept, so ours was only taken out"
                self.left.append(Left(known.tool, path, reason))
            return document.remove(path)
        return document.set(path, Source(source))

    def _source(self, known: LayerMemory, value: Remembered) -> str | None:
        if value.origin_kept == "keyring":
            return self.recall.kept(vault_name(self.path, known.tool, known.overlay, value.path))
        return value.origin

    # The result.

    def _is_ours_alone(self, document: Document) -> bool:
        """Whether nothing is left in a file that we made, or only what it started as."""
        if not self.created or self.layers:
            return False
        starts = [self._parsed(row.start).data for row in self.rows if row.start and not row.start_is_filled]
        return document.data in ({}, None) or any(equal(document.data, start) for start in starts)

    def _check(self, document: Document | None) -> None:
        if document is None:
            return
        for row in self.rows:
            complaint = row.check(document.data) if row.check is not None else None
            if complaint:
                raise PlanRefusedError(f"{self.path}: {row.tool} would not accept it: {complaint}")

    def _memory(self, document: Document | None) -> FileMemory | None:
        if document is None or not self.layers:
            return None
        memory = replace(self.memory, created=self.created, layers=tuple(self.layers))
        return self.memory if _untimed(memory) == _untimed(self.memory) else memory

    def _changes(self, before: Document | None, after: Document | None) -> Iterable[Change]:
        wanted = {edit.path: (row.tool, edit) for row in self.rows for edit in row.edits}
        paths: dict[KeyPath, tuple[str, bool, bool]] = {
            path: (tool, edit.secret, edit.harmless) for path, (tool, edit) in wanted.items()
        }
        for layer in self.memory.layers:
            for value in layer.values:
                paths.setdefault(parse_path(value.path), (layer.tool, value.secret, False))
        for path, (tool, secret, harmless) in paths.items():
            old = MISSING if before is None else before.get(path)
            new = MISSING if after is None else after.get(path)
            if old is not new and not equal(old, new):
                yield Change(tool, path, old, new, secret, harmless)


@dataclass(frozen=True)
class _SecretSplice(KeptSplice):
    """A kept splice that still knows its text."""

    text: str


def _in_order(rows: Sequence[Row], layers: Sequence[LayerMemory]) -> list[Row]:
    """The rows in the order in which they were laid before, new ones last: unwinding and laying must mirror."""
    order = {(layer.tool, layer.overlay): index for index, layer in enumerate(layers)}
    return sorted(rows, key=lambda row: order.get((row.tool, row.overlay), len(order)))


def _edited(document: Document, edits: Iterable[Edit]) -> Document:
    for edit in edits:
        if edit.value is ABSENT:
            document = document.remove(edit.path)
        elif edit.value is TABLE:
            document = document if isinstance(document.get(edit.path), dict) else document.set(edit.path, {})
        else:
            document = document.set(edit.path, edit.value)
    return document


def _missing_parents(document: Document, edit: Edit) -> list[str]:
    """The containers that setting `edit` will make, outermost first."""
    if edit.value is ABSENT or document.get(edit.path) is not MISSING:
        return []
    return [spell(parent) for parent in _parents(edit) if document.get(parent) is MISSING]


def _parents(edit: Edit) -> list[KeyPath]:
    """The containers that `edit` needs, outermost first; a table that must merely exist is one itself."""
    last = len(edit.path) + (edit.value is TABLE)
    return [edit.path[:length] for length in range(1, last)]


def _untimed(memory: FileMemory) -> FileMemory:
    return replace(memory, layers=tuple(replace(layer, applied_at="") for layer in memory.layers))


def _prefixes(path: KeyPath) -> set[KeyPath]:
    return {path[:length] for length in range(1, len(path) + 1)}


def _is_empty(value: Value | Missing, path: KeyPath) -> bool:
    last = path[-1]
    if isinstance(last, Item):
        return isinstance(value, dict) and value == {last.key: last.value}
    return isinstance(value, dict | list) and not value


def _entries(path: str, memory: FileMemory) -> set[str]:
    """The keyring entries that a file's memory needs."""
    names: set[str] = set()
    for layer in memory.layers:
        at = (path, layer.tool, layer.overlay)
        names |= {vault_name(*at, value.path) for value in layer.values if value.origin_kept == "keyring"}
        names |= {
            vault_name(*at, f"inverse[{index}]")
            for index, splice in enumerate(layer.inverse or ())
            if isinstance(splice, KeptSplice)
        }
    return names


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


