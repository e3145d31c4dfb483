"""What toolsync remembers of earlier applies: enough to give back what the user had, and never a secret."""

from __future__ import annotations

import datetime as dt
import hmac
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

from toolsync.document.data import Value
from toolsync.document.splice import Splice
from toolsync.masking import holds_key_shape, holds_secret_setting, is_reference
from toolsync.value import frozen

Kept = Literal["memory", "keyring", "lost"]
"""Where the user's own text lies: here, in the keyring because it may be a secret, or nowhere."""

NOTHING = ""
"""The mark of a place that must be empty; `mark` gives it to no value."""

ANYTHING = "*"
"""The mark of a time stamp: whatever stands there counts as what toolsync wrote; `mark` gives it to no value."""


@frozen
class Remembered:
    """One value that toolsync set.

    Attributes:
        path: where, as `keypath.spell` writes it.
        origin: the user's own source text; None when nothing stood there, or when it is not kept here.
        origin_kept: where `origin` lies.
        after: what toolsync wrote, by `mark`; `NOTHING` or `ANYTHING`.
        secret: whether what stands there may be a key; then `after` is a keyed hash, and `origin` lies here only if it
            is a mere reference to one.
        entry: the keyring entry that holds `origin`; "" where none does.
    """

    path: str
    origin: str | None
    origin_kept: Kept
    after: str
    secret: bool = False
    entry: str = ""

    def __post_init__(self) -> None:
        if bool(self.entry) != (self.origin_kept == "keyring"):
            raise ValueError(f"{self.path}: nobody knows which keyring entry holds what stood there")
        if self.origin is None:
            return
        if self.origin_kept != "memory" or _is_key(self.origin, secret=self.secret):
            raise ValueError(f"{self.path}: this text must not be remembered here")


def may_lie_in_memory(text: str, *, secret: bool) -> bool:
    """Whether memory may hold the user's own source text, which `secret` says may be a key."""
    return not _is_key(text, secret=secret) and not holds_secret_setting(text)


def _is_key(text: str, *, secret: bool) -> bool:
    """What no memory holds, whichever toolsync wrote it; of what else is a secret, a later one may know more."""
    return holds_key_shape(text) or (secret and not is_reference(text.strip().strip("\"'")))


@frozen
class KeptSplice:
    """A splice whose text may hold a secret: it lies in the keyring, under `entry`."""

    start: int
    length: int
    entry: str


@frozen
class LayerMemory:
    """What one tool's overlay did to a file.

    Attributes:
        tool: the tool's name.
        overlay: the file row's name.
        sha256: of the file after this layer, in hexadecimal; a file that still has it gets `inverse`.
        inverse: leads back to the text below this layer, byte for byte; None when that way is closed.
        values: what was set, in the overlay's order.
        containers: the tables and lists that were made for them, as `keypath.spell` writes them, outermost first.
        applied_at: ISO 8601, UTC.
        holds_key: whether a key stands among the values; none of the secret ones is shown then.
    """

    tool: str
    overlay: str
    sha256: str
    inverse: tuple[Splice | KeptSplice, ...] | None = None
    values: tuple[Remembered, ...] = ()
    containers: tuple[str, ...] = ()
    applied_at: str = ""
    holds_key: bool = False


@frozen
class FileMemory:
    """What toolsync did to one real file.

    Attributes:
        created: whether toolsync made the file.
        mode: the permission bits that it had before, or None.
        folders: the folders that were made for it, outermost first; they go with the file when they are empty.
        layers: in the order in which they were laid, lowest first.
        begun: whether the file was there and empty, and toolsync began it as a new one.
    """

    created: bool = False
    mode: int | None = None
    folders: tuple[str, ...] = ()
    layers: tuple[LayerMemory, ...] = ()
    begun: bool = False


@frozen
class Memory:
    """All that is remembered on this machine.

    Attributes:
        key: 32 random bytes of this machine, for keyed hashes and fingerprints.
        profile: the profile applied last, or None.
        files: by real path, links followed.
        applied: the profile that a tool was set to, by tool; what an earlier toolsync set is not in it.
        entries: other programs' entries in the keyring, by name, as documents of one value.
    """

    key: bytes
    profile: str | None = None
    files: Mapping[str, FileMemory] = field(default_factory=dict)
    applied: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, FileMemory] = field(default_factory=dict)

    @property
    def everything(self) -> Mapping[str, FileMemory]:
        """Files and entries, by path or name."""
        return {**self.files, **self.entries}

    def profile_of(self, tool: str) -> str:
        """The profile that a tool was set to; "" where an earlier toolsync set it, and may have set it to any."""
        is_only_one = {*self.applied.values()} <= {self.profile}
        return self.applied.get(tool) or (self.profile if is_only_one and self.profile else "")

    @property
    def copies(self) -> Mapping[str, str]:
        """Whose key it is that stands in a tool's own file, or in its entry: the profile, by tool."""
        layers = (layer for file in self.everything.values() for layer in file.layers if layer.holds_key)
        holding = {layer.tool for layer in layers}
        return {tool: profile for tool, profile in self.applied.items() if tool in holding}

    @property
    def vault_names(self) -> frozenset[str]:
        """The entries of ours in the keyring that hold what is given back."""
        return frozenset().union(*map(vault_names, self.everything.values()))

    @property
    def holders(self) -> set[str]:
        """The tools in whose own files a copy of a key stands."""
        return {layer.tool for file in self.files.values() for layer in file.layers if layer.holds_key}


def mark(value: Value, key: bytes | None = None) -> str:
    """A text that is equal exactly when two parsed values are: JSON, or its keyed hash when `key` is given (a secret).

    `true`, `1` and `1.0` differ, the order of keys does not; TOML's dates stand as tagged text.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_tagged)
    return text if key is None else hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def holds(remembered: Remembered, value: Value, key: bytes) -> bool:
    """Whether `value` still is what toolsync wrote there."""
    return remembered.after == ANYTHING or hmac.compare_digest(
        remembered.after.encode("utf-8", "surrogatepass"),
        mark(value, key if remembered.secret else None).encode("utf-8", "surrogatepass"),
    )


def vault_name(key: bytes, file: str, row: tuple[str, str], text: str) -> str:
    """The keyring entry for a text that must not lie in memory.

    No two texts share one, so that what an earlier memory speaks of is never written over by what a later one will:
    until that is committed, the earlier one is the one that counts.

    Args:
        key: this machine's hash key.
        file: the real path.
        row: the layer's tool and file row.
        text: what is kept.
    """
    return vault_entry(hmac.digest(key, "\0".join((file, *row, text)).encode("utf-8", "surrogatepass"), "sha256"))


def vault_names(memory: FileMemory) -> frozenset[str]:
    """The keyring entries that the memory of a file speaks of."""
    return frozenset(name for layer in memory.layers for name in in_vault(layer))


def in_vault(layer: LayerMemory) -> Iterator[str]:
    """The keyring entries with what a layer gives back."""
    yield from (value.entry for value in layer.values if value.entry)
    yield from (splice.entry for splice in layer.inverse or () if isinstance(splice, KeptSplice))


def vault_entry(digest: bytes) -> str:
    """The name of the entry that such a digest stands for."""
    return f"origin-{digest.hex()[:32]}"


def _tagged(value: object) -> dict[str, str]:
    if not isinstance(value, dt.date | dt.time):  # a `Secret` would come out as the same stars as any other
        raise TypeError(f"a {type(value).__name__} has no mark")
    return {f"\0{type(value).__name__}": str(value)}


def without_vault(memory: FileMemory, names: Collection[str]) -> FileMemory:
    """The memory when the texts called `names` cannot be kept: what they held is lost, and no inverse leads back.

    Args:
        memory: of the file.
        names: the keyring entries that cannot be written.
    """
    return replace(memory, layers=tuple(_without(layer, names) for layer in memory.layers))


def _without(layer: LayerMemory, names: Collection[str]) -> LayerMemory:
    values = tuple(
        replace(value, origin_kept="lost", entry="") if value.entry in names else value for value in layer.values
    )
    closed = any(isinstance(splice, KeptSplice) and splice.entry in names for splice in layer.inverse or ())
    return replace(layer, values=values, inverse=None if closed else layer.inverse)
