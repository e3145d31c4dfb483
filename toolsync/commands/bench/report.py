"""`bench report`: a run, or one before and one after, as a page that needs nothing but a browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolsync import disk
from toolsync.bench.record import Record
from toolsync.commands.bench.compare import held
from toolsync.commands.bench.keeping import put
from toolsync.commands.bench.records import find
from toolsync.errors import FileError, UsageError
from toolsync.result import Message, Result
from toolsync.session import Session
from toolsync.value import frozen

MARK = b'<meta name="generator" content="toolsync bench report">'
"""What tells a page of ours: another file is not overwritten."""
_HEAD_BYTES = 2000


@frozen
class Wish:
    """What page is wanted.

    Attributes:
        run: an id, the beginning of one, a label or a file.
        against: the run from before, likewise; None: there is none.
        anyway: compare although the two are not comparable.
        out: the file; None: one in this folder, named by the run.
    """

    run: str
    against: str | None = None
    anyway: bool = False
    out: Path | None = None


@frozen
class Report:
    """What a page shows.

    Attributes:
        record: the run.
        baseline: the one from before; None: there is none.
        comparison: of the two, as `bench compare` has it; None without a baseline.
        messages: that `bench compare` has beside it.
    """

    record: Record
    baseline: Record | None = None
    comparison: Mapping[str, Any] | None = None
    messages: tuple[Message, ...] = ()


def report(session: Session, wish: Wish, page: Callable[[Report], str]) -> Result:
    """Write the page; it ends as the comparison ends.

    Args:
        session: the machine.
        wish: which page.
        page: makes the HTML.

    Raises:
        UsageError: there is no such record, the file is none of ours, or what draws is not installed.
        DocumentError: a record is none.
        FileError: a record cannot be read, or the page not be written.
    """
    shown, exit_code = gathered(session, wish)
    file = (wish.out or Path(f"toolsync-bench-{shown.record.id}.html")).absolute()
    _stop_at_foreign(session, file)
    raw = page(shown).encode()
    try:
        put(file, raw)
    except OSError as error:
        raise disk.file_error(file, error) from error
    data = {
        "file": session.shown(file),
        "bytes": len(raw),
        "run": _named(shown.record),
        "against": _named(shown.baseline) if shown.baseline else None,
        "is_comparable": shown.comparison["is_comparable"] if shown.comparison else None,
        "verdicts": verdicts(shown.comparison) if shown.comparison else None,
    }
    return Result("bench report", data, shown.messages, exit_code)


def gathered(session: Session, wish: Wish) -> tuple[Report, int]:
    """What the page shows, and how the comparison ends. Raises as `find`."""
    record = find(session, wish.run)
    if wish.against is None:
        if wish.anyway:
            raise UsageError("--anyway: there is nothing to compare with", hint="Add `--against BASELINE`.")
        return Report(record), 0
    baseline = find(session, wish.against)
    result = held(baseline, record, [], anyway=wish.anyway)
    return Report(record, baseline, result.data, result.messages), result.exit_code


def verdicts(comparison: Mapping[str, Any]) -> dict[str, int]:
    """How many rows have which verdict."""
    counted = Counter(row["verdict"] for row in comparison["rows"])
    return {verdict: counted[verdict] for verdict in ("better", "worse", "no difference shown", "no verdict")}


def _named(record: Record) -> dict[str, str]:
    return {"id": record.id, "label": record.label}


def _stop_at_foreign(session: Session, file: Path) -> None:
    """Before anything is drawn.

    Raises:
        UsageError: what stands there is no page of ours.
        FileError: its folder is not there, or it cannot be read.
    """
    if not file.parent.is_dir():
        raise FileError(f"{session.shown(file.parent)} is no folder", hint="Make it, or name another --out.")
    raw = disk.read(file).raw
    if raw and MARK not in raw[:_HEAD_BYTES]:
        raise UsageError(f"{session.shown(file)} is no report, and is not overwritten", hint="Name another --out.")
