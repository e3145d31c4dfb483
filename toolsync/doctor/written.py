"""What stands in a tool's files as toolsync wrote it there."""

from __future__ import annotations

from toolsync.doctor.sight import Sight
from toolsync.document.keypath import spell
from toolsync.plan import stands
from toolsync.trace import Answer


def is_written(look: Sight, answer: Answer) -> bool:
    """Whether it stands as toolsync wrote it for the tool.

    Args:
        look: the program.
        answer: one of its answers.
    """
    one, memory = look.seen(answer), look.world.memory
    if one is None or one.snapshot is None or one.document is None or not answer.path:
        return False
    file, path, now = memory.files.get(str(one.snapshot.real)), spell(answer.path), one.document.get(answer.path)
    layers = [layer for layer in file.layers if layer.tool == look.tool.name] if file is not None else []
    written = [value for layer in layers for value in layer.values if value.path == path]
    return any(stands(value, now, memory.key) for value in written)
