"""A file that the lines of `env` went into: who can have the key from there."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from toolsync import disk, gitguard
from toolsync.errors import FileError
from toolsync.gitguard import Verdict
from toolsync.masking import printable
from toolsync.result import Message
from toolsync.secret import filled
from toolsync.session import Session


def lying_open(session: Session, descriptor: int) -> Iterator[Message]:
    """Who else can have the key, where it was written into a file; that is remembered, for `check` and rotations.

    Args:
        session: the machine.
        descriptor: the stream that the lines went into; a pipe and a terminal keep nothing.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return
    file = _path(descriptor, status)
    shown = session.shown(file) if file else "the file that these lines go into"
    if status.st_mode & 0o077 and sys.platform != "win32":
        command = f"chmod 600 {printable(shlex.quote(str(file))) if file else 'FILE'}"
        hint = f"Shut it: `{command}`{'' if file else '; and keep it out of git'}."
        yield Message("warning", f"{shown} holds the key now, and others may read it", hint)
    if file:
        with suppress(OSError, FileError):  # the lines are what counts
            filled.record(session.state, file)
        yield from _in_git(session, file)


_GET_PATH, _MOST_BYTES = 50, 1024
"""macOS' F_GETPATH, and MAXPATHLEN."""


def _path(descriptor: int, status: os.stat_result) -> Path | None:
    """The file behind a descriptor, where the system says so."""
    with suppress(OSError, ValueError, ImportError):
        if sys.platform == "darwin":
            raw = import_module("fcntl").fcntl(descriptor, _GET_PATH, bytes(_MOST_BYTES)).rstrip(b"\0")
            file = disk.resolve(Path(os.fsdecode(raw)))
        else:
            file = Path(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115  no path of its own
        if os.path.samestat(file.stat(), status):
            return file
    return None


def _in_git(session: Session, file: Path) -> Iterator[Message]:
    places = session.places
    try:
        (verdict,) = gitguard.look((file,), home=places.home, environ=places.environ)
    except FileError:  # of chezmoi's folder: it says nothing of this file
        return
    what, hint = _said(session, verdict)
    if what:
        yield Message("warning", f"{session.shown(file)} holds the key now, and {what}", hint)


def _said(session: Session, verdict: Verdict) -> tuple[str, str]:
    """What git does with the file, and what to do; nothing where it leaves it alone."""
    quoted = printable(shlex.quote(str(verdict.file)))
    ignore_file, line = gitguard.ignore_file(verdict.file), next(iter(gitguard.lines(verdict.file)), "")
    if verdict.state == "tracked":
        return "git tracks it", f"`git rm --cached {quoted}` makes git forget the file, which stays."
    if verdict.state == "copied":
        return "chezmoi keeps a copy of it", f"`chezmoi forget {quoted}` removes the copy."
    if verdict.state == "unknown":
        return f"git cannot tell what it does with it: {verdict.reason}", "See `git status` there."
    if verdict.is_taken_up and ignore_file is not None:
        return "git does not ignore it", f"Add to {session.shown(ignore_file)}: `{printable(line)}`"
    return "", ""
