"""Programs of any name that really run: a `sleep` under that name."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.conftest import needs

_PATIENCE_SECONDS = 10


@contextmanager
def started(file: Path, environ: Mapping[str, str] | None = None) -> Iterator[int]:
    """The program at that path, which is made, running with these variables (None: with ours); its number."""
    sleep = shutil.which("sleep")
    needs(os.name == "posix" and sleep, "needs a program to run under another name")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(str(sleep), file)
    with subprocess.Popen([file, "600"], env=environ) as child:
        try:
            _waits_for_its_words(child.pid)
            yield child.pid
        finally:
            child.kill()


def _waits_for_its_words(pid: int) -> None:
    """The system calls a program started a moment before it shows its words and variables."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while not psutil.Process(pid).cmdline():
        assert time.monotonic() < until, "the program does not start"
        time.sleep(0.005)
