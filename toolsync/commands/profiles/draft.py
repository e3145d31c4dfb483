"""`profile edit` in the user's own editor: on a copy, which is kept until it is valid."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toolsync import directory, disk, on_path
from toolsync.commands.profiles.file import Edited, ProfileFile, existing, saved
from toolsync.errors import ChangedError, DeclinedError, FileError, ProfileError, ToolsyncError, UsageError
from toolsync.masking import printable
from toolsync.profile.reader import read
from toolsync.session import Session
from toolsync.value import frozen

_PREFIX = ".toolsync-profile-"
_USUAL = ("sensible-editor", "nano", "vim", "vi") if sys.platform != "win32" else ("notepad",)


@frozen
class Draft:
    """A copy of the profile file that the user works on.

    Attributes:
        file: what it is a copy of, as it stood then.
        path: where the copy is: beside the file, readable by its owner only.
    """

    file: ProfileFile
    path: Path


def draft(session: Session) -> Draft:
    """A copy of the profile file, whatever is in it: a broken one can be mended so.

    Raises:
        ProfileError: there is no file.
        FileError: it cannot be read, or no copy can be made beside it.
    """
    file = existing(session)
    real = file.snapshot.real
    try:
        descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".toml", dir=real.parent)
        with os.fdopen(descriptor, "wb") as copy:
            copy.write(file.snapshot.raw or b"")
    except OSError as error:
        raise disk.file_error(real.parent, error) from error
    return Draft(file, Path(name))


def editor(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The user's editor as a command line: `$VISUAL`, `$EDITOR`, else one that this system usually has.

    Raises:
        UsageError: there is none.
    """
    for variable in ("VISUAL", "EDITOR"):
        if environ.get(variable, "").strip():
            return _words(variable, environ[variable].strip(), environ)
    for name in _USUAL:
        found = on_path.found(name, environ)
        if found:
            return (found,)
    raise UsageError("no editor is known", hint="Set EDITOR, or use `toolsync profile edit --set FIELD=VALUE`.")


def _words(variable: str, line: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    if shutil.which(line, path=environ.get("PATH")):  # a path with spaces in it
        return (line,)
    try:
        words = shlex.split(line, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"${variable} is no command line ({error})", hint=f"Mend {variable}.") from error
    return tuple(word.strip('"') for word in words)


def worked_on(copy: Draft, command: tuple[str, ...]) -> None:
    """Run the editor on the copy, on the terminal, until the user closes it.

    Raises:
        UsageError: it cannot be started or ended with an error; the copy stays if the user worked on it.
    """
    try:
        code = subprocess.run([*command, str(copy.path)], check=False).returncode
    except OSError as error:
        name, hint = printable(command[0]), f"Set EDITOR to a program. {abandoned(copy)}".strip()
        raise UsageError(f"{name}: cannot be run ({error.strerror})", hint=hint) from error
    if code:
        hint = abandoned(copy)
        raise UsageError(f"{printable(command[0])} ended with code {code}; nothing was changed", hint=hint)


def adopted(copy: Draft) -> Edited:
    """The profile file with what the user made of the copy, which goes then.

    Raises:
        ProfileError: it is not valid; the copy stays, to be worked on again.
        ChangedError: the file itself changed meanwhile; the copy stays.
        FileError: the file cannot be written; the copy stays.
    """
    try:
        edited = saved(copy.file, _text(copy))
    except (ProfileError, ChangedError, FileError) as error:
        raise _keeping(error, copy) from error
    discarded(copy)
    return edited


def _text(copy: Draft) -> str:
    raw = disk.read(copy.path).raw
    if raw is None:
        raise FileError(f"{disk.shown(copy.path)} is gone", hint="Nothing was changed.")
    return read(raw, copy.file.shown).document.text


def discarded(copy: Draft) -> None:
    """The copy goes; only when the user has said so, or nothing was changed in it."""
    directory.unlink(copy.path)


def is_untouched(copy: Draft) -> bool:
    """Whether the copy still is what it was made as."""
    return disk.read(copy.path).raw == copy.file.snapshot.raw


def _keeping(error: ToolsyncError, copy: Draft) -> ToolsyncError:
    return type(error)(error.message, hint=f"{error.hint} {_kept(copy)}".strip())


def _kept(copy: Draft) -> str:
    return f"Your text is kept in {disk.shown(copy.path)}."


def abandoned(copy: Draft) -> str:
    """Where the user's text is kept; the copy goes, and it is "", if there is none of theirs in it."""
    if is_untouched(copy):
        discarded(copy)
    return _kept(copy) if disk.is_there(copy.path) else ""


def left_behind(folder: Path) -> list[Path]:
    """Copies that were not adopted, in the folder of the profile file."""
    return sorted(folder.glob(f"{_PREFIX}*.toml"))


def declined(copy: Draft) -> DeclinedError:
    """That the user gave up; the copy stays."""
    return DeclinedError(f"{copy.file.shown} stays as it was", hint=_kept(copy))
