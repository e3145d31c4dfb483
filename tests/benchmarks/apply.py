"""What `apply` and `doctor --offline` cost, as ratios to an interpreter that does nothing, and how `apply` grows.

Run it with the interpreter that toolsync is installed in: `python -m tests.benchmarks.apply`. Ratios are of medians of
CPU time (user and system), measured in turns; the growth is fitted with a straight line.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_ROUNDS = 11
_ROUNDS_OF_GROWTH = 3
_COUNTS = (1, 25, 50, 100, 200)
_KEY = "sk-invented-benchmark-0123456789"
_PROFILE = """active = "work"
[profiles.work]
base_url = "https://gateway.example/api"
model = "m"
key = "env:BENCHMARK_KEY"
plaintext = "allow"
"""
_PATHS = """[profiles.work.tool.config-toml]
paths = ["~/service/a.toml", "~/service/b.toml"]
[profiles.work.tool.settings-json]
paths = ["~/service/a.json", "~/service/b.json", "~/service/c.json"]
"""
_SETTINGS = {
    ".claude/settings.json": '{\n  "permissions": { "allow": ["Read"] },\n  "env": { "EDITOR": "vim" }\n}\n',
    ".config/Code/User/settings.json": '// by hand\n{\n\t"editor.fontSize": 13, // small\n}\n',
    ".codex/config.toml": '# mine\nmodel = "old"\n\n[mcp_servers.docs]\ncommand = "npx"\n',
    ".cline/data/globalState.json": '{"mode": "act"}\n',
    ".cline/data/secrets.json": "{}\n",
    ".cline/data/settings/providers.json": '{\n  "version": 1,\n  "providers": {}\n}\n',
    "service/a.toml": "# a service\n[server]\nport = 8080\n",
    "service/b.toml": "",
    "service/a.json": '{ "ui": { "theme": "dark" } }\n',
    "service/b.json": "{}\n",
    "service/c.json": '{\n  "model": "old" // for now\n}\n',
}
_MANIFEST = """title  = "{name}"
speaks = ["openai-chat"]
reload = "Restart it."
detect = {{ paths = ["~/.{name}"] }}

[key]
env = "${{<key_variable>}}"

[[file]]
overlay = "settings.json"
path    = "~/.{name}/settings.json"
"""
_OVERLAY = '{ "server": { "url": "<openai_url>", "key": "<key_ref>" }, "model": "<model>" }\n'


def main() -> None:
    """Print a line for each case, and the line that fits the growth."""
    with tempfile.TemporaryDirectory() as folder:
        _print_ratios(Path(folder))
        _print_growth(Path(folder))


def _print_ratios(folder: Path) -> None:
    fresh, applied = _home(folder / "fresh", tools=1, others=_SETTINGS), folder / "applied"
    shutil.copytree(fresh, applied)
    _apply(applied)
    written = [file for file in (*_SETTINGS, ".tool-0/settings.json") if _differs(file, fresh, applied)]
    spoiled = _spoiled(Path(shutil.copytree(fresh, folder / "spoiled")))
    times = [
        (
            _interpreter_ms(fresh),
            _apply_ms(applied),
            _apply_ms(Path(shutil.copytree(fresh, folder / f"run-{number}"))),
            _cpu_ms(_DOCTOR, applied),
            _cpu_ms(_DOCTOR, spoiled, ends_with=(1,)),
        )
        for number in range(_ROUNDS)
    ]
    base, unchanged, changed, offline, told = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{'python -I -c pass':<40}{base:8.1f} ms   1.0 x")
    print(f"{'apply, six tools, nothing to change':<40}{unchanged:8.1f} ms {unchanged / base:5.1f} x   target 20 x")
    name = f"apply, six tools, {len(written)} files written"
    print(f"{name:<40}{changed:8.1f} ms {changed / base:5.1f} x   target 30 x")
    print(f"{'doctor --offline, the same tools':<40}{offline:8.1f} ms {offline / base:5.1f} x   target 25 x")
    print(f"{'doctor --offline, one to be mended':<40}{told:8.1f} ms {told / base:5.1f} x   target 25 x")


def _spoiled(home: Path) -> Path:
    """Applied, and then one of its tools set to ask somebody else: `doctor` plans the `apply` that mends it."""
    _apply(home)
    file = home / ".codex" / "config.toml"
    file.write_text(file.read_text().replace("gateway.example", "elsewhere.example"))
    return home


def _differs(file: str, *homes: Path) -> bool:
    return len({(home / file).read_bytes() if (home / file).exists() else None for home in homes}) > 1


def _print_growth(folder: Path) -> None:
    homes = {count: _home(folder / f"tools-{count}", tools=count, others={}) for count in _COUNTS}
    for home in homes.values():
        _apply(home)
    rounds = [{count: _apply_ms(home) for count, home in homes.items()} for _ in range(_ROUNDS_OF_GROWTH)]
    spent = [statistics.median(times[count] for times in rounds) for count in _COUNTS]
    slope, start = statistics.linear_regression(_COUNTS, spent)
    print(f"\napply, nothing to change: {start:.0f} ms + {slope:.2f} ms a tool, r = {_correlation(spent):.4f}")
    for count, ms in zip(_COUNTS, spent, strict=True):
        print(f"{count:>5} tools{ms:9.1f} ms, the line says{start + slope * count:9.1f} ms")


def _correlation(spent: list[float]) -> float:
    return statistics.correlation([float(count) for count in _COUNTS], spent)


def _home(home: Path, tools: int, others: dict[str, str]) -> Path:
    """A home with that many tools of the user's own, and the settings of others."""
    config = home / ".config" / "toolsync"
    files = {".config/toolsync/profile.toml": _PROFILE + (_PATHS if others else ""), **others}
    for number in range(tools):
        name = f"tool-{number}"
        files[f".{name}/settings.json"] = '{\n\t"theme": "dark"\n}\n'
        files[f".config/toolsync/tools/{name}/tool.toml"] = _MANIFEST.format(name=name)
        files[f".config/toolsync/tools/{name}/settings.json"] = _OVERLAY
    for file, text in files.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(text)
    config.chmod(0o700)
    return home


def _interpreter_ms(home: Path) -> float:
    return _cpu_ms([sys.executable, "-I", "-c", "pass"], home)


def _apply_ms(home: Path) -> float:
    return _cpu_ms(_APPLY, home)


_APPLY = [sys.executable, "-I", "-m", "toolsync", "apply", "--yes", "--no-ping"]
_DOCTOR = [sys.executable, "-I", "-m", "toolsync", "doctor", "--offline"]


def _apply(home: Path) -> None:
    subprocess.run(_APPLY, env=_environ(home), check=True, capture_output=True)


def _cpu_ms(command: list[str], home: Path, ends_with: tuple[int, ...] = (0,)) -> float:
    """User and system time of one run, what it starts included, which must end with one of these codes."""
    child = subprocess.Popen(command, env=_environ(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in ends_with:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}:\n{said.decode(errors='replace')}")
    return (used.ru_utime + used.ru_stime) * 1000


def _environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.defpath, "BENCHMARK_KEY": _KEY, "LANG": "C.UTF-8"}


if __name__ == "__main__":
    main()
