"""Programs by their names, where nobody but the user and the system put any."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import PurePath


def found(name: str, environ: Mapping[str, str]) -> str | None:
    """The program's absolute path by the `PATH` of `environ`; None where it is not there.

    A relative or an empty entry does not count: it is the current folder, which may be a repository of anybody's.
    """
    for place in environ.get("PATH", os.defpath).split(os.pathsep):
        program = shutil.which(name, path=place) if PurePath(place).is_absolute() else None
        if program and PurePath(program).is_absolute():  # on Windows, `which` looks into the current folder first
            return program
    return None


def needed(name: str, environ: Mapping[str, str]) -> str:
    """The same.

    Raises:
        FileNotFoundError: it is not there.
    """
    program = found(name, environ)
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return program
