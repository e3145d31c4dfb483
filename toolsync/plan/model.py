"""What goes into a file's plan, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from toolsync.document import Fault, KeyPath, Missing, Value
from toolsync.overlay import ABSENT, Edit
from toolsync.remembered import FileMemory
from toolsync.value import frozen


@frozen
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

    @property
    def name(self) -> tuple[str, str]:
        """What layers and edits of this row are filed under."""
        return self.tool, self.overlay

    @property
    def holds_key(self) -> bool:
        """Whether a key is among what it wants to stand there."""
        return any(edit.secret and not edit.harmless and edit.value not in (ABSENT, "") for edit in self.edits)


@frozen
class Place:
    """The file that is planned, and what planning may look up.

    Attributes:
        path: the real path, as memory names it.
        format: the document's format.
        key: this machine's key for hashes of secret values.
        now: the present moment, as memory notes it.
        kept: looks up a text that lies in the keyring, by entry name; None when it cannot be had.
        goes_whole: whether all of it goes once nothing of ours is wanted there any more (a row of a store is ours by
            its name, whatever its owner has written into it since).
        called: what people call it, if it is not the path.
    """

    path: str
    format: str
    key: bytes
    now: str
    kept: Callable[[str], str | None] = lambda _: None
    goes_whole: bool = False
    called: str = ""

    def __str__(self) -> str:
        return self.called or self.path


@frozen
class Change:
    """What stands at a path before and after; `MISSING` where nothing does."""

    tool: str
    path: KeyPath
    before: Value | Missing
    after: Value | Missing
    secret: bool = False
    harmless: bool = True


@frozen
class Left:
    """Something that toolsync wrote once, and that was not given back, with the reason.

    Attributes:
        tool: whose.
        path: where.
        reason: why, as the end of a sentence.
        may_be_key: whether what stands there is the user's own, and may be a key.
    """

    tool: str
    path: KeyPath
    reason: str
    may_be_key: bool = False


@frozen
class FilePlan:
    """What one real file becomes.

    Attributes:
        path: the real path, as memory names it.
        format: the document's format.
        before: its text, or None when it does not exist.
        after: its text then, or None when it goes.
        changes: value by value, in order.
        remembered: what was remembered of it when the plan was made, or None for nothing.
        memory: what is remembered of it then.
        kept: texts that go to the keyring, by entry name.
        forgotten: keyring entries that are needed no more.
        left: what was not given back.
        edits: the wanted edits, by (tool, overlay).
        fault: what a strict reader of the result chokes on.
        holds_key: whether the result holds a key in clear that is ours.
        container: the file that the text is a part of, or "" for a file.
        open: what stands there of ours at secret places and gives no key away, by path: it may be shown.
        is_readable: whether others than its owner may read it, though it has held the key since an earlier apply.
    """

    path: str
    format: str
    before: str | None
    after: str | None
    changes: tuple[Change, ...] = ()
    remembered: FileMemory | None = None
    memory: FileMemory | None = None
    kept: Mapping[str, str] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    left: tuple[Left, ...] = ()
    edits: Mapping[tuple[str, str], tuple[Edit, ...]] = field(default_factory=dict)
    fault: Fault | None = None
    holds_key: bool = False
    container: str = ""
    open: Mapping[KeyPath, Value] = field(default_factory=dict)
    is_readable: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the file's text is not what it was."""
        return self.before != self.after

    @property
    def held_key(self) -> bool:
        """Whether an earlier apply left the key there."""
        return self.remembered is not None and any(layer.holds_key for layer in self.remembered.layers)

    @property
    def stays_shut(self) -> bool:
        """Whether the file was shut for a key of ours, and may hold one that its user put in since."""
        mode = self.remembered.mode if self.remembered and self.after is not None else None
        return bool(mode and mode & 0o077) and not self.holds_key and any(left.may_be_key for left in self.left)

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to write, nothing new to remember, and nothing to shut."""
        return not self.is_change and self.memory == self.remembered and not self.is_readable
