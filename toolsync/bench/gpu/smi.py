"""`nvidia-smi`, here or over ssh: one child that prints a line per GPU and tick for as long as the run lasts."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from toolsync import on_path
from toolsync.bench.gpu.reading import Reading, Recording, Sample, known_mib
from toolsync.bench.record import GpuSource
from toolsync.masking import on_one_line
from toolsync.value import frozen

_FIELDS = ("timestamp", "index", "uuid", "name", "memory.used", "memory.total")
_PATIENCE_SECONDS = 2
_MOST_LINES = 2_000_000  # a day of eight GPUs
_MOST_STRANGE = 1000
"""So many lines in a row that are of no GPU end it: what floods us would hold up the stamps of the run."""
_LONGEST_LINE = 10_000


def argv(interval_ms: int, host: str = "") -> list[str]:
    """What is run: a list, for no shell of ours; ssh hands it to one on the other side, which finds nothing special.

    Args:
        interval_ms: between two ticks.
        host: where, as ssh takes it; "" is here.
    """
    fields = ",".join(_FIELDS)
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "-lms", str(interval_ms)]
    if not host:
        return query
    # Without BatchMode ssh would ask for a password in the midst of a run.
    return ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, *query]


@frozen
class Line:
    """One line, and when it came (`time.perf_counter_ns`)."""

    at_ns: int
    text: str


def samples(lines: Iterable[Line]) -> tuple[Sample, ...]:
    """The ticks that the lines tell of; what is no line of a GPU is left out."""
    ticks = list(_ticks(lines))
    offset_ns = _offset_ns(ticks)
    return tuple(
        Sample(
            tick[0].at_ns if offset_ns is None else tick[0].printed_ns + offset_ns, tuple(row.reading for row in tick)
        )
        for tick in ticks
    )


@frozen
class _Row:
    at_ns: int
    printed_ns: int
    reading: Reading


def _ticks(lines: Iterable[Line]) -> Iterator[list[_Row]]:
    """The rows tick by tick: a tick names each GPU once."""
    tick: list[_Row] = []
    for row in filter(None, map(_row, lines)):
        if any(row.reading.gpu == other.reading.gpu for other in tick):
            yield tick
            tick = []
        tick.append(row)
    if tick:
        yield tick


_MOST_DELAY_NS = 60_000_000_000


def _offset_ns(ticks: Sequence[Sequence[_Row]]) -> int | None:
    """What is added to the stamps that are printed, so that they are on our clock; None where they cannot be trusted.

    Lines may wait in a pipe or a network and come in heaps; the line that waited least tells how the clocks differ.
    """
    offsets = [tick[0].at_ns - tick[0].printed_ns for tick in ticks if tick[0].printed_ns]
    if len(offsets) != len(ticks) or not offsets or max(offsets) - min(offsets) > _MOST_DELAY_NS:
        return None  # no stamps, or a clock that was set meanwhile
    return min(offsets)


def _row(line: Line) -> _Row | None:
    cells = [cell.strip() for cell in line.text.split(",")]
    if len(cells) != len(_FIELDS) or not re.fullmatch(r"\d+", cells[1]):
        return None
    printed, index, uuid, name, used, total = cells
    is_known = _number(used) is not None
    gpu = uuid if _looks_uuid(uuid) else index
    why = "" if is_known else f"nvidia-smi says {on_one_line(used, limit=60)}{_UNIFIED if used in _UNSUPPORTED else ''}"
    reading = Reading(gpu, _number(used), _number(total), None, on_one_line(name, limit=100), index, why)
    return _Row(line.at_ns, _printed_ns(printed), reading)


_UNSUPPORTED = ("[N/A]", "N/A", "[Not Supported]")
_UNIFIED = ", as of a GPU that shares the system's memory (unified), or is cut in parts (MIG)"


def _looks_uuid(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z]+-[0-9A-Fa-f/-]+", text))


def _number(text: str) -> float | None:
    """The MiB; None for `[N/A]`, `[Not Supported]`, `[GPU is lost]` and whatever else is no number."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?: MiB)?", text)
    return known_mib(float(match[1])) if match else None


def _printed_ns(text: str) -> int:
    try:
        printed = datetime.strptime(text, "%Y/%m/%d %H:%M:%S.%f")  # noqa: DTZ007  only differences count
    except ValueError:
        return 0
    return int((printed - datetime(2000, 1, 1)).total_seconds() * 1000) * 1_000_000  # noqa: DTZ001  likewise


def last_words(lines: Sequence[Line]) -> str:
    """What the child said that was no line of a GPU, the last first: that is where it says why it ended."""
    said = [line.text.strip() for line in lines[-200:] if line.text.strip() and _row(line) is None]
    return on_one_line("; ".join(reversed(said[-2:])), limit=300)


class Smi:
    """The child, and the thread that stamps its lines."""

    def __init__(self, interval_ms: int, host: str = "") -> None:
        self._source: GpuSource = "ssh" if host else "nvidia-smi"
        self._argv, self._host = argv(interval_ms, host), host
        self._lines: list[Line] = []
        self._first, self._silenced = threading.Event(), threading.Event()
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._reason = ""

    def start(self) -> None:
        """Begin."""
        if self._host.startswith("-"):
            self._reason = "the host's name begins with a dash"
            self._first.set()
            return
        try:
            self._child = subprocess.Popen(
                [on_path.needed(self._argv[0], os.environ), *self._argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # the person's Ctrl-C ends the run, and the run ends this
            )
        except OSError as error:
            self._reason = f"{self._argv[0]} cannot be run: {error.strerror}"
            self._first.set()
            return
        self._thread = threading.Thread(target=self._listen, args=(self._child,), name="nvidia-smi", daemon=True)
        self._thread.start()

    def _listen(self, child: subprocess.Popen[str]) -> None:
        strange = 0
        with suppress(ValueError, OSError):  # closed at the end
            while child.stdout is not None and (text := child.stdout.readline(_LONGEST_LINE)):
                line = Line(time.perf_counter_ns(), text[:1000])
                if len(self._lines) < _MOST_LINES:
                    self._lines.append(line)
                if _row(line) is not None:
                    strange = 0
                    self._first.set()
                elif (strange := strange + 1) == _MOST_STRANGE:
                    self._reason = f"{self._argv[0]} said too much that is of no GPU"
                    child.kill()
                    break
        self._silenced.set()
        self._first.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the first line of a GPU, or for the end."""
        return self._first.wait(seconds)

    def seen(self) -> tuple[Sample, ...]:
        """What was seen so far."""
        return samples(list(self._lines))

    def stop(self) -> Recording:
        """End the child, by its number, and say what it said."""
        status = self._ended()
        lines = list(self._lines)
        seen = samples(lines)
        said = last_words(lines)
        reason = self._reason or self._why(status, seen)
        if self._host:  # ssh's words name the host, the person and their files
            return Recording(self._source, seen, reason=reason, words=said if reason else "")
        return Recording(self._source, seen, reason=f"{reason}{': ' * bool(said and reason)}{said * bool(reason)}")

    def _ended(self) -> int | None:
        """Its exit status, if it ended by itself."""
        if self._child is None:
            return None
        status = self._status(self._child)
        if status is None:
            self._child.terminate()
            try:
                self._child.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)
        if self._child.stdout is not None and not (self._thread and self._thread.is_alive()):
            self._child.stdout.close()
        return status

    def _status(self, child: subprocess.Popen[str]) -> int | None:
        if self._silenced.is_set():  # its pipe is closed an instant before its status can be read
            with suppress(subprocess.TimeoutExpired):
                return child.wait(_PATIENCE_SECONDS)
        return child.poll()

    def _why(self, status: int | None, seen: Sequence[Sample]) -> str:
        if status is None:
            return "" if seen else "nvidia-smi said nothing of a GPU"
        when = "ended midway" if seen else "ended at once"
        return f"{self._argv[0]} {when} (exit status {status})"
