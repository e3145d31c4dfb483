"""How long tools wait for the key, as ratios to an interpreter that does nothing: CPU time, the least of the runs.

    python -m tests.benchmarks.key_print                             # --version, and the key from a variable
    tests/secret_service.sh python -m tests.benchmarks.key_print     # from the Secret Service too

Ends with 1 where a ratio is above its limit.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_RUNS = 15
_MANY = 32
_LIMITS = {"--version": 2.0, "key print, env:": 4.5, "key print, keyring:": 10.0}
_KEY = "sk-invented-benchmark-0123456789"
_PROFILE = """active = "variable"
[profiles.variable]
base_url = "https://gateway.example"
model = "m"
key = "env:BENCHMARK_KEY"
[profiles.keyring]
base_url = "https://gateway.example"
model = "m"
key = "keyring:benchmark"
"""


def main() -> int:
    """Print a line for each command: milliseconds, ratio, limit; whether all are within their limits."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "profile.toml"
        config.write_text(_PROFILE)
        environ = {"HOME": folder, "PATH": os.environ["PATH"], "BENCHMARK_KEY": _KEY}
        base = _cpu_ms([sys.executable, "-I", "-c", "pass"], environ)
        print(f"{'python -I -c pass':<24}{base:8.1f} ms")
        own = [sys.executable, "-I", "-m", "toolsync"]
        asking = [*own, "--config", str(config), "key", "print"]
        commands = {"--version": [*own, "--version"], "key print, env:": asking}
        if os.environ.get("TOOLSYNC_SECRET_SERVICE") == "private":
            _store(environ, own, config)
            commands["key print, keyring:"] = [*asking, "keyring"]
        ratios = {name: _told(name, _cpu_ms(command, environ), base) for name, command in commands.items()}
        for name, command in commands.items():
            if name != "--version":
                print(f"{_MANY} at once, {name:<20}{_many_ms(command, environ):8.1f} ms until the last has it")
    return int(any(ratio > _LIMITS[name] for name, ratio in ratios.items()))


def _told(name: str, spent: float, base: float) -> float:
    print(f"{name:<24}{spent:8.1f} ms {spent / base:5.1f} x   (limit {_LIMITS[name]:g})")
    return spent / base


def _store(environ: Mapping[str, str], own: Sequence[str], config: Path) -> None:
    argv = [*own, "--config", str(config), "key", "set", "benchmark", "--stdin"]
    subprocess.run(argv, input=_KEY.encode(), env=environ, stdout=subprocess.DEVNULL, check=True)


def _cpu_ms(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """User and system time of one run: the least of several, which other load disturbs least."""
    return min(_once(command, environ) for _ in range(_RUNS))


def _once(command: Sequence[str], environ: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def _many_ms(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """Wall-clock time until many that are started together have all printed the key."""
    start = time.monotonic()
    running = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(_MANY)]
    printed = [process.communicate()[0] for process in running]
    assert printed == [f"{_KEY}\n"] * _MANY
    return (time.monotonic() - start) * 1000


if __name__ == "__main__":
    sys.exit(main())
