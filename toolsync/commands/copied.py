"""What toolsync wrote, in a file that it does not remember: copied, or put in the place of a link that led to the one.

Programs that replace a link by a file of their own (Cline, CC Switch), and people who move a settings folder, leave
what we wrote in two places. The copy is given back as the first would be.
"""

from __future__ import annotations

from collections.abc import Collection

from toolsync.document import MISSING, Document
from toolsync.document.keypath import parse as parse_path
from toolsync.plan import stands
from toolsync.remembered import ANYTHING, NOTHING, FileMemory, LayerMemory, Memory


def copy_of(memory: Memory, names: Collection[tuple[str, str]], document: Document) -> FileMemory | None:
    """What is remembered of a file of which the document is a copy; None where it is none.

    Args:
        memory: all that is remembered.
        names: the rows that mean the document, by tool and overlay.
        document: what stands in a file that nothing is remembered of.
    """
    for file in memory.files.values():
        named = (layer for layer in file.layers if (layer.tool, layer.overlay) in names)
        layers = tuple(layer for layer in named if _is_in(layer, document, memory.key))
        if layers:
            return FileMemory(created=file.created, layers=layers)
    return None


def _is_in(layer: LayerMemory, document: Document, key: bytes) -> bool:
    """Whether something stands there that nobody else writes by chance: an address of ours, a key or a command."""
    for value in layer.values:
        now = document.get(parse_path(value.path))
        is_telling = value.secret or "://" in value.after
        if now in (MISSING, "") or value.after in (NOTHING, ANYTHING) or not is_telling:
            continue
        if stands(value, now, key):
            return True
    return False
