"""The profile file on disk: opened for a change, and replaced whole."""

from __future__ import annotations

from pathlib import Path

from toolsync import disk, resources
from toolsync.errors import ProfileError
from toolsync.profile.page import SCHEMA_FILE
from toolsync.profile.reader import parsed
from toolsync.session import Session
from toolsync.store import token_now
from toolsync.transaction import Write, commit, recover
from toolsync.value import frozen

_PRIVATE = 0o600
_SHARED = 0o644


@frozen
class ProfileFile:
    """The file as it stood when it was opened.

    Attributes:
        snapshot: where it is, and its bytes.
        shown: what messages call it.
        state: toolsync's own folder, for the journal of a change.
    """

    snapshot: disk.Snapshot
    shown: str
    state: Path

    @property
    def text(self) -> str:
        """Its content; "" where there is no file.

        Raises:
            ProfileError: it is no TOML.
        """
        return "" if self.snapshot.raw is None else parsed(self.snapshot.raw, self.shown).text


@frozen
class Edited:
    """What became of the file: its text before and after (equal: it was not touched)."""

    file: ProfileFile
    before: str
    after: str


def opened(session: Session) -> ProfileFile:
    """The session's profile file, which may not be there yet.

    Raises:
        FileError: it cannot be read.
    """
    return ProfileFile(disk.read(session.config), session.shown(session.config), session.state)


def existing(session: Session) -> ProfileFile:
    """The session's profile file.

    Raises:
        ProfileError: there is none.
        FileError: it cannot be read.
    """
    file = opened(session)
    if file.snapshot.raw is None:
        raise ProfileError(f"there is no profile yet: {file.shown}", hint="Run `toolsync init`.")
    return file


def saved(file: ProfileFile, after: str) -> Edited:
    """The file with a new text, if it still is what was opened; links and mode stay, a new one is private.

    Raises:
        ChangedError: another program changed it meanwhile.
        FileError: it cannot be written; nothing was changed.
    """
    snapshot = file.snapshot
    mode = _PRIVATE if snapshot.mode is None else None
    _put(file, Write(snapshot.real, snapshot.sha256, after.encode(), mode=mode))
    before = b"" if snapshot.raw is None else snapshot.raw
    return Edited(file, before.decode(errors="replace"), after)  # what was there may have been broken


def schema_laid_beside(file: ProfileFile) -> Path:
    """The copy of the schema that the file's first line names, made or brought up to date.

    Raises:
        FileError: it cannot be written.
    """
    beside = file.snapshot.real.with_name(SCHEMA_FILE)
    snapshot = disk.read(beside)
    current = (resources.folder("schemas") / SCHEMA_FILE).read_bytes()
    mode = _SHARED if snapshot.mode is None else None
    _put(file, Write(snapshot.real, snapshot.sha256, current, mode=mode))
    return snapshot.real


def _put(file: ProfileFile, write: Write) -> None:
    """Write, what an interrupted run left ended first."""
    recover(file.state, token_now=token_now)
    commit([write], state_dir=file.state)
