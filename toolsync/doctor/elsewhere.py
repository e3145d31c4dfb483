"""Commands of ours that ask another profile file: what is called the same there is another profile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolsync.doctor.sight import Sight

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command

_JOINED = "--config="


def elsewhere(look: Sight, command: Command | None) -> str:
    """The profile file that the command names, where it is ours and the file is another than the one in use; else "".

    Args:
        look: the program.
        command: what prints its key; None where nothing does.
    """
    if command is None or not command.is_own:
        return ""
    named = dict(zip(command.words, command.words[1:], strict=False)).get("--config", "")
    joined = (word.removeprefix(_JOINED) for word in command.words if word.startswith(_JOINED))
    file = os.path.expanduser(named or next(joined, ""))  # noqa: PTH111  Path's own raises where there is no home
    return file if file and os.path.realpath(file) != os.path.realpath(look.world.session.config) else ""
