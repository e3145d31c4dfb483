"""What toolsync wrote, in a file that it does not remember: copied, or put in the place of a link that led to the one.

Programs that replace a link by a file of their own (Cline, CC Switch), and people who move a settings folder, leave
what we wrote in two places. The copy is given back as the first would be.
"""

from __future__ import annotations

from collections.abc import Collection

from toolsync.document import Document
from toolsync.document.keypath import parse as parse_path
from toolsync.plan import stands
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
            return FileMemory(created=file.created, layers=layers)
    return None


def _is_in(layer: LayerMemory, document: Document, key: bytes) -> bool:
    """Whether the document holds what the layer wrote, and nobody else: its key or command, beside its addresses.

    A layer without such a thing must be there whole: people write addresses and models by hand, too.
    """
    there = [(value, document.get(parse_path(value.path))) for value in layer.values if value.after != ANYTHING]
    secret = [(value, now) for value, now in there if value.secret and value.after != NOTHING and now != ""]
    addresses = [(value, now) for value, now in there if "://" in value.after and not value.secret]
    telling = [*secret, *addresses] if secret else there
    return bool(telling) and all(stands(value, now, key) for value, now in telling)
