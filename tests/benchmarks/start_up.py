"""How long commands take to start, as ratios to an interpreter that does nothing.

Run it with the interpreter that toolsync is installed in: `python -m tests.benchmarks.start_up`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

_RUNS = 15

_PROFILE = """active = "work"
[profiles.work]
base_url = "https://gateway.example"
model = "m"
key = "env:BENCHMARK_KEY"
"""


_TARGETS = {"--version": 2, "status": 13}
_DOCTOR = ["doctor", "claude-code", "codex", "cline", "settings-json", "config-toml", "cc-switch", "--offline"]
"""Six tools looked at, and nobody asked."""


def main() -> None:
    """Print a line for each command: CPU milliseconds (the least of the runs), and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "profile.toml"
        config.write_text(_PROFILE)
        environ = {**os.environ, "HOME": folder, "BENCHMARK_KEY": "sk-invented-benchmark"}
        base = _cpu_ms([sys.executable, "-I", "-c", "pass"], environ)
        print(f"{'python -I -c pass':<28}{base:8.1f} ms   1.0 x")
        for words in (["--version"], ["key", "print"], ["tools"], ["profile", "list"], ["status"], ["diff"], _DOCTOR):
            command = [sys.executable, "-I", "-m", "toolsync", "--config", str(config), *words]
            if words == ["--version"]:
                command = [sys.executable, "-I", "-m", "toolsync", "--version"]
            spent = _cpu_ms(command, environ)
            target = f"   target {_TARGETS[words[0]]} x" if words[0] in _TARGETS else ""
            print(f"{'toolsync ' + ' '.join(words):<28}{spent:8.1f} ms {spent / base:5.1f} x{target}")


def _cpu_ms(command: list[str], environ: dict[str, str]) -> float:
    """User and system time of one run: the least of several, which other load disturbs least."""
    return min(_once(command, environ) for _ in range(_RUNS))


def _once(command: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


if __name__ == "__main__":
    main()
