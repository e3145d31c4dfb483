"""`key print` as tools run it: a process of its own, in an environment that says little."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_REPOSITORY = str(Path(__file__).parents[1])


class _KeyPrint:
    """`key_print(config, "work")` runs it to its end; `start` does not wait; `argv` only says how."""

    def __call__(
        self, config: Path, *words: str, environ: Mapping[str, str], is_isolated: bool = True
    ) -> subprocess.CompletedProcess[str]:
        with self.start(config, *words, environ=environ, is_isolated=is_isolated) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def start(
        self, config: Path, *words: str, environ: Mapping[str, str], is_isolated: bool = True
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(config, *words, is_isolated=is_isolated),
            env={**_needed(), **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def argv(self, config: Path, *words: str, is_isolated: bool = True) -> list[str]:
        return [*program(is_isolated=is_isolated), "--config", str(config), "key", "print", *words]


key_print = _KeyPrint()


def profile_file(folder: Path, key: str, *, active: str = "work") -> Path:
    """A profile file whose profile `work` has the key reference `key`."""
    path = folder / "profile.toml"
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    path.write_text(f'active = "{active}"\n\n[profiles.work]\nkey = "{escaped}"\n', encoding="utf-8")
    return path


def program(*, is_isolated: bool = True) -> list[str]:
    """toolsync as tools start it; where it is not installed (a mere checkout), by way of this file's repository."""
    flags = ["-I"] if is_isolated else []
    if _is_installed():
        return [sys.executable, *flags, "-m", "toolsync"]
    start = f"import sys; sys.path.insert(0, {_REPOSITORY!r}); from toolsync.__main__ import main; sys.exit(main())"
    return [sys.executable, *flags, "-c", start]


@contextmanager
def interrupts(*, ignored: bool = False) -> Iterator[None]:
    """What is started meanwhile heeds interrupts, also where these tests run in the background and do not."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@cache
def _is_installed() -> bool:
    asked = subprocess.run([sys.executable, "-I", "-c", "import toolsync"], capture_output=True, check=False)
    return asked.returncode == 0


def _needed() -> dict[str, str]:
    """What Windows cannot start a process without."""
    return {name: value for name, value in os.environ.items() if name.upper() in {"SYSTEMROOT", "SYSTEMDRIVE"}}
