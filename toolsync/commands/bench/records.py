"""`bench list`, `bench show`: records, kept and found again, and in figures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from toolsync import own_file
from toolsync.bench.metrics import Summary, summary
from toolsync.bench.record import Record, Rung
from toolsync.bench.record_file import loaded, outlined
from toolsync.commands.bench.keeping import folder, read
from toolsync.errors import DocumentError, FileError, UsageError
from toolsync.masking import on_one_line
from toolsync.result import Message, Result
from toolsync.session import Session


def list_(session: Session) -> Result:
    """`bench list`: the records that are here."""
    here, strange = _all(session)
    rows = [
        {
            "id": one.id,
            "label": one.label,
            "started": one.started,
            "model": one.target.model,
            "dialect": one.target.dialect,
            "ladder": list(one.ladder),
            "finished": len(one.rungs),
            "token_source": one.token_source,
            "gpu_source": one.gpu.source,
        }
        for _, one in here
    ]
    return Result("bench list", {"records": rows}, tuple(strange))


def show(session: Session, name: str) -> Result:
    """`bench show`: one record in figures. Raises as `find`."""
    return Result("bench show", {"run": described(find(session, name))})


def find(session: Session, name: str) -> Record:
    """The record of a file, or of an id, the beginning of one, or a label, of which the newest counts.

    Raises:
        UsageError: there is none, or several begin so.
        DocumentError: the file is no record.
        FileError: it cannot be read.
    """
    file = Path(name)
    raw = read(file) if file.suffix == ".json" or "/" in name else None
    if raw is None:
        file = _called(session, name)
        raw = read(file) or b""
    return loaded(raw, session.shown(file))


def _called(session: Session, name: str) -> Path:
    """The file of the record of that name. Raises as `find`."""
    here, _ = _all(session)
    labelled = [file for file, one in here if one.label == name]
    if labelled:
        return labelled[-1]
    begun = [(file, one) for file, one in here if one.id.startswith(name)]
    exact = [file for file, one in begun if one.id == name] or [file for file, _ in begun]
    if len(exact) == 1 and name:
        return exact[0]
    if exact and name:
        raise UsageError(f"several records begin with '{on_one_line(name)}'", hint="Give more of the id.")
    raise UsageError(
        f"there is no record '{on_one_line(name)}'",
        hint="`toolsync bench list` names them; a file is named by its path.",
    )


def _all(session: Session) -> tuple[list[tuple[Path, Record]], list[Message]]:
    """The records that are here, the oldest first, in outline; and what is said of files that are none."""
    found, strange = [], []
    for file in sorted(folder(session).glob("*.json")):
        try:
            found.append((file, outlined(read(file) or b"", session.shown(file))))
        except (DocumentError, FileError) as error:
            strange.append(Message("warning", error.message, "Look at it, and move it away."))
    return found, strange


# In figures.


def described(record: Record) -> dict[str, Any]:
    """A record as JSON values: its rungs in figures, all that stands around them as it is."""
    whole = asdict(replace(record, rungs=()))
    output_tokens = record.parameters.output_tokens
    rungs = [_rung(rung, summary(rung, output_tokens, record.token_source)) for rung in record.rungs]
    told: dict[str, Any] = _listed({**whole, "rungs": rungs})
    return told


def _rung(rung: Rung, told: Summary) -> dict[str, Any]:
    gpus = [
        {**{name: value for name, value in asdict(one).items() if name != "samples"}, "delta_mib": one.delta_mib}
        for one in rung.gpus
    ]
    return {
        "concurrency": rung.concurrency,
        "started": rung.started,
        "ended": rung.ended,
        **asdict(told),
        "client": asdict(rung.client),
        "gpus": gpus,
        "kv_cache_peak": rung.kv_cache_peak,
    }


def _listed(value: Any) -> Any:
    """With lists for tuples, as JSON has them."""
    if isinstance(value, Mapping):
        return {name: _listed(inner) for name, inner in value.items()}
    return [_listed(inner) for inner in value] if isinstance(value, Sequence) and not isinstance(value, str) else value


# What tells this machine's records apart.


def salt(session: Session) -> bytes:
    """A secret of this machine's; where none can be kept, one for this run."""
    file = folder(session) / "salt"
    try:
        kept = own_file.read(file)
        if kept is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            kept = secrets.token_bytes(_SALT_BYTES)
            own_file.put(file, kept)
    except (OSError, FileError):
        return secrets.token_bytes(_SALT_BYTES)
    return kept


_SALT_BYTES = 16
