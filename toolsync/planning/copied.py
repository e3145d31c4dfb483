"""What toolsync wrote, in a file that it does not remember: copied, or put in the place of a link that led to the one.

Programs that replace a link by a file of their own (Cline, CC Switch), and people who move a settings folder, leave
what we wrote in two places. The copy is given back as the first would be.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from toolsync.document import MISSING, Document
from toolsync.document.keypath import parse as parse_path
from toolsync.plan import sha256, stands
from toolsync.remembered import ANYTHING, NOTHING, FileMemory, LayerMemory, Memory


def copy_of(
    memory: Memory, names: Collection[tuple[str, str]], document: Document, still_wanted: Collection[str] = ()
) -> FileMemory | None:
    """What is remembered of a file of which the document is a copy; None where it is none.

    Args:
        memory: all that is remembered.
        names: the rows that mean the document, by tool and overlay.
        document: what stands in a file that nothing is remembered of.
        still_wanted: files that go on being ours: one beside them that says the same need be no copy.
    """
    for real, file in memory.files.items():
        named = (layer for layer in file.layers if (layer.tool, layer.overlay) in names)
        layers = tuple(layer for layer in named if _is_in(layer, document, memory.key))
        if layers and real not in still_wanted:
            return FileMemory(created=file.created, begun=file.begun, layers=layers)
    return None


def put_there(part: FileMemory, own: tuple[str, str], text: str) -> FileMemory:
    """What is remembered of a tool's own file that a click made of a row of ours: the user never had these values.

    Args:
        part: what is remembered of the row.
        own: the tool, and the overlay of its file.
        text: what stands in that.
    """
    tool, overlay = own
    layers = (replace(layer, tool=tool, overlay=overlay, sha256=sha256(text), inverse=None) for layer in part.layers)
    return FileMemory(layers=tuple(layers))


def resembles(memory: Memory, name: tuple[str, str], document: Document) -> bool:
    """Whether the document may be a copy from before the key or the address changed, which nobody can tell.

    Our key or command stands in it, or another in the place of ours, and most of the rest as toolsync wrote it.
    """
    layers = (layer for file in memory.files.values() for layer in file.layers if (layer.tool, layer.overlay) == name)
    return any(_is_nearly_in(layer, document, memory.key) for layer in layers)


def _is_nearly_in(layer: LayerMemory, document: Document, key: bytes) -> bool:
    there = [(value, document.get(parse_path(value.path))) for value in layer.values if value.after != ANYTHING]
    secret = [(value, now) for value, now in there if value.secret and now is not MISSING and now != ""]
    plain = [stands(value, now, key) for value, now in there if value.after != NOTHING and not value.secret]
    is_ours = any(_is_command(now) or stands(value, now, key) for value, now in secret)
    return is_ours or bool(secret and sum(plain) * 2 > len(plain))


def _is_command(now: object) -> bool:
    """Whether it is how a tool asks `toolsync key print`, spelled as one line or as a table of arguments."""
    spelled = str(now)
    return "toolsync" in spelled and "print" in spelled


def _is_in(layer: LayerMemory, document: Document, key: bytes) -> bool:
    """Whether the document holds what the layer wrote, and nobody else: its key or command, beside its addresses.

    A layer without such a thing must be there whole: people write addresses and models by hand, too.
    """
    there = [(value, document.get(parse_path(value.path))) for value in layer.values if value.after != ANYTHING]
    secret = [(value, now) for value, now in there if value.secret and value.after != NOTHING and now != ""]
    addresses = [(value, now) for value, now in there if "://" in value.after and not value.secret]
    telling = [*secret, *addresses] if secret else there
    return bool(telling) and all(stands(value, now, key) for value, now in telling)
