"""Where records and pages are kept: whether there is room is known before a long run; nothing measured is lost."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toolsync import directory, disk, own_file
from toolsync.bench.record import Record
from toolsync.bench.record_file import dumped, loaded
from toolsync.errors import DocumentError, FileError, UsageError
from toolsync.result import Level, Message
from toolsync.session import Session

_ROOM_BYTES = 2**20
"""A record of the usual ladder is half as large."""


_LARGEST = 2**30
"""Bytes of a record: four million requests. A quick server answers as many in some hours."""


def read(file: Path) -> bytes | None:
    """A record's file; None where nothing stands.

    Raises:
        FileError: it cannot be read.
    """
    return disk.read(file, limit=_LARGEST).raw


def folder(session: Session) -> Path:
    """Where records lie."""
    return session.state / "bench"


def stop_at_unwritable(session: Session, out: Path | None) -> None:
    """Before a run of minutes, not after it.

    Args:
        session: the machine.
        out: a file for the record, besides its usual place; None: there alone.

    Raises:
        UsageError: what stands there is no record.
        FileError: the record could not be written there.
    """
    if out is None:
        _stop_without_room(folder(session) / "record", "Or give `--out FILE`: the record is kept there, then.")
        return
    if not out.absolute().parent.is_dir():
        raise FileError(f"{session.shown(out.absolute().parent)} is no folder", hint="Make it, or name another --out.")
    there, named = disk.read(out, limit=_LARGEST), session.shown(out)
    if there.raw is not None:
        try:
            loaded(there.raw, named)
        except DocumentError as error:
            raise UsageError(f"{named} is no record, and is not overwritten", hint="Name another.") from error
        if not os.access(there.real, os.W_OK):
            raise FileError(f"{named} may not be written", hint="Make it writable, or name another --out.")
    _stop_without_room(there.real, "Or name another --out.")


def _stop_without_room(file: Path, hint: str) -> None:
    """Put as much as a record beside where it will be, for no permission tells of a full disk.

    Raises:
        FileError: it cannot be.
    """
    place = next(one for one in file.absolute().parents if os.path.lexists(one))
    try:
        with tempfile.TemporaryFile(dir=place) as trial:
            trial.write(bytes(_ROOM_BYTES))
    except OSError as error:
        fault = disk.file_error(place, error)
        raise FileError(
            f"no record could be kept there: {fault.message}", hint=f"{fault.hint} {hint}".strip()
        ) from error


def keep(session: Session, record: Record, out: Path | None) -> tuple[list[Path], list[Message]]:
    """The files that hold it now, and what kept it from others; where all do, a temporary one holds it.

    That it is not among the others here is no more than a warning where it is in the file that was named.
    """
    raw = dumped(record)
    usual = folder(session) / f"{record.id}.json"
    kept: list[Path] = []
    unkept: list[Message] = []
    for file in (*([out.absolute()] if out is not None else []), usual):
        try:
            _write(file, raw, is_ours=file is usual)
        except (OSError, FileError) as error:
            why = disk.file_error(file, error) if isinstance(error, OSError) else error
            level: Level = "warning" if file is usual and kept else "problem"
            unkept.append(Message(level, f"the record is not kept there: {why.message}", why.hint))
        else:
            kept.insert(0, file)
    if not kept:
        spare = _spared(record, raw)
        kept += spare
        unkept.append(_SPARED if spare else _LOST)
    return kept, unkept


_SPARED = Message("problem", "it is kept in a temporary file instead", "Move that to where it is safe.")
_LOST = Message("problem", "it is kept nowhere", "Its figures are shown here; measure again once that is mended.")


def _write(file: Path, raw: bytes, *, is_ours: bool) -> None:
    if not is_ours:
        put(file, raw)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    own_file.put(file, raw)


def _spared(record: Record, raw: bytes) -> list[Path]:
    """The first file that takes it; none does where the machine has no room at all."""
    for place in _places():
        with suppress(OSError):
            descriptor, name = tempfile.mkstemp(prefix=f"toolsync-bench-{record.id}-", suffix=".json", dir=place)
            try:
                own_file.write_all(descriptor, raw)
            except OSError:
                Path(name).unlink()
                raise
            finally:
                os.close(descriptor)
            return [Path(name)]
    return []


def _places() -> Iterator[Path]:
    for found in (tempfile.gettempdir, Path.cwd, Path.home):
        with suppress(OSError, RuntimeError):
            yield Path(found())


def put(file: Path, raw: bytes) -> None:
    """A file of the person's, made to be passed on: whole or as it was, of the mode that it has, or that new ones get.

    Raises:
        OSError: it cannot be written.
        FileError: links lead nowhere.
    """
    real = disk.resolve(file)
    draft = real.with_name(disk.TEMP_NAMES.replace("*", secrets.token_hex(8)))
    try:
        with draft.open("xb") as opened:
            if os.path.lexists(real):
                draft.chmod(real.stat().st_mode & 0o777)
            opened.write(raw)
            opened.flush()
            os.fsync(opened.fileno())
        directory.replace(draft, real)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
