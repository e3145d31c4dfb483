"""A program run to its end within a time limit, and nothing that it started left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_GRACE_SECONDS = 10.0
"""From being asked to end until being ended."""


@dataclass(frozen=True)
class Ended:
    """How a program ended; `code` is None where the time limit ended it."""

    code: int | None
    out: str
    err: str
    seconds: float


def run(
    argv: Sequence[str | Path],
    *,
    environ: Mapping[str, str],
    folder: Path,
    timeout_seconds: float,
    stdin: str = "",
) -> Ended:
    """Run `argv` with exactly `environ`, in a process group of its own that ends with it."""
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        env=dict(environ),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    )
    with _group(process):
        try:
            out, err = process.communicate(stdin, timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            _send(process, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_GRACE_SECONDS)
            _send(process, signal.SIGKILL)
            out, err = process.communicate()
            return Ended(None, out, err, time.monotonic() - started)
    return Ended(process.returncode, out, err, time.monotonic() - started)


@contextmanager
def _group(process: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever happens, the group is gone at the end: its leader's number is ours for as long as it has members."""
    try:
        yield
    finally:
        _send(process, signal.SIGKILL)
        process.wait()


def _send(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
