"""A server of known timing on one processor, and `toolsync bench` against it on another."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


class TruthServer:
    """`truth_server.c`, compiled into `folder`, and a profile that leads to it."""

    def __init__(self, folder: Path, cpu: int) -> None:
        self._folder, self._cpu = folder, cpu
        self._program = folder / "truth"
        source = Path(__file__).parent / "truth_server.c"
        subprocess.run(["gcc", "-O2", "-o", str(self._program), str(source)], check=True)

    @property
    def environ(self) -> dict[str, str]:
        """The environment in which the profile's key is found."""
        return {**os.environ, "HOME": str(self._folder), "BENCHMARK_KEY": "sk-invented-benchmark-0123456789"}

    @contextmanager
    def serving(self, timing: Sequence[int], log: Path | None = None) -> Iterator[Path]:
        """The profile's file, while the server listens where it says; `timing` are the server's numbers, in order."""
        port, config = _free_port(), self._folder / "profile.toml"
        config.write_text(
            f'active = "truth"\n[profiles.truth]\nbase_url = "http://127.0.0.1:{port}"\nmodel = "m"\n'
            'key = "env:BENCHMARK_KEY"\n[profiles.truth.observability]\nlog_memory = false\n'
        )
        command = [*_urgent(), *pinned(self._cpu), str(self._program), str(port), *map(str, timing)]
        server = subprocess.Popen([*command, os.devnull if log is None else str(log)])
        try:
            _wait_for(port)
            yield config
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(10)


def pinned(cpu: int) -> list[str]:
    """What begins a command line that keeps to one processor, where there are more."""
    is_many = (os.cpu_count() or 1) > 1 and shutil.which("taskset")
    return ["taskset", "-c", str(cpu)] if is_many else []


def _urgent() -> list[str]:
    """Real-time priority, where this user may have it."""
    chrt = ["chrt", "-f", "20"]
    if not shutil.which("chrt") or subprocess.run([*chrt, "true"], capture_output=True, check=False).returncode:
        return []
    return chrt


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    sys.exit("the server does not listen")
