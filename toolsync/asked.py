"""Whose key a tool's file asks for by our command: the file's own word on the profile that it was set to."""

from __future__ import annotations

import re
from pathlib import Path

from toolsync import disk
from toolsync.errors import FileError


def asked_for(real: str) -> str:
    """The one profile whose key a file asks for by our command; "" where it names none, or several."""
    path = Path(real)
    if not path.is_absolute():
        return ""
    try:
        raw = disk.read(path).raw or b""
    except FileError:  # other commands say so
        return ""
    return asked_in(raw)


def asked_in(raw: bytes) -> str:
    """The same of a text, or of a command line."""
    names = {found.decode() for found in re.findall(_ASKING, raw)}
    return names.pop() if len(names) == 1 else ""


_ASKING = rb"""toolsync\b[^\r\n]*\bkey['",\s]+print['",\s]+([A-Za-z0-9][A-Za-z0-9._-]*)"""
"""In one line for a shell, or as a list of words; as `helper_command` has it."""
