"""What an edit of a large file costs, as ratios to parsing (and writing) it with the standard library.

Run it with the interpreter that toolsync is installed in: `python -m tests.benchmarks.documents`. Ratios are of medians
of CPU time, measured in turns in one process, so that other load and the machine's speed matter little.
"""

from __future__ import annotations

import json
import random
import statistics
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolsync.document import KeyPath, parse

_ROUNDS = 9
_JSON_SIZE = 5_600_000
_TOML_SIZE = 200_000
_SEED = 1
_TARGETS = {"json": 2, "jsonc": 7, "toml": 15}


@dataclass(frozen=True)
class Case:
    """An edit, what it is measured against, and the ratio that it must not exceed."""

    name: str
    base: Callable[[], object]
    edit: Callable[[], object]
    target: float


def main() -> None:
    """Print a line for each case: both times in milliseconds, the ratio, and its target."""
    print(f"{'':<52}{'base':>9}{'edit':>10}{'ratio':>8}   target")
    for case in _cases():
        base, edit = _medians_ms(case)
        ratio = edit / base
        note = "" if ratio <= case.target else "  OVER"
        print(f"{case.name:<52}{base:6.1f} ms{edit:7.1f} ms{ratio:7.2f}x  {case.target:4.0f}x{note}")


def _medians_ms(case: Case) -> tuple[float, float]:
    times = [(_cpu_ms(case.base), _cpu_ms(case.edit)) for _ in range(_ROUNDS)]
    base, edit = (statistics.median(column) for column in zip(*times, strict=True))
    return base, edit


def _cpu_ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def _cases() -> list[Case]:
    plain = json.dumps(_settings(), indent=2)
    texts = {"json": plain, "jsonc": _commented(plain), "toml": _codex()}
    project = next(iter(json.loads(plain)["projects"]))
    url, new = ("env", "ANTHROPIC_BASE_URL"), ("env", "NEW")
    edits: list[tuple[str, str, KeyPath, Any]] = [
        ("json", "set", url, "https://gateway.example"),
        ("json", "add", new, "value"),
        ("json", "remove", url, None),
        ("json", "set", ("projects", project, "hasTrustDialogAccepted"), False),
        ("jsonc", "set", url, "https://gateway.example"),
        ("jsonc", "add", new, "value"),
        ("jsonc", "remove", url, None),
        ("toml", "set", ("model",), "model-name"),
        ("toml", "add a table", ("model_providers", "new"), {"name": "n", "base_url": "u"}),
        ("toml", "remove", ("mcp_servers", "server-10"), None),
    ]
    return [_case(texts, *edit) for edit in edits]


def _case(texts: dict[str, str], format: str, verb: str, path: KeyPath, value: Any) -> Case:
    raw = texts[format].encode()
    size = f"{len(raw) / 1e6:.1f} MB" if len(raw) > 1_000_000 else f"{len(raw) // 1000} KB"

    def edit() -> bytes:
        document = parse(raw, format)
        return (document.remove(path) if verb == "remove" else document.set(path, value)).text.encode()

    def loaded_and_dumped() -> str:
        return json.dumps(json.loads(texts["json"]))

    def loaded() -> object:
        return tomllib.loads(texts["toml"])

    base = loaded if format == "toml" else loaded_and_dumped
    return Case(f"{verb} in {format}, {size}, {len(path)} level(s) deep", base, edit, _TARGETS[format])


def _settings() -> dict[str, Any]:
    """A file as Claude Code keeps it in a home: some settings, and a long history of each project."""
    chance = random.Random(_SEED)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)]
    env = {"ANTHROPIC_BASE_URL": "https://api.example", "OTHER": "1"}
    data: dict[str, Any] = {"numStartups": 12, "theme": "dark", "env": env, "projects": {}, "last": {"x": 1}}
    size = 0
    while size < _JSON_SIZE:
        project = _project(chance, words)
        data["projects"][f"/home/me/{chance.choice(words)}-{len(data['projects'])}"] = project
        size += len(json.dumps(project, indent=2).replace("\n", "\n    "))
    return data


def _project(chance: random.Random, words: list[str]) -> dict[str, Any]:
    return {
        "allowedTools": ["Bash(ls:*)", "Read(//etc/**)"],
        "history": [
            {"display": " ".join(chance.choices(words, k=chance.randint(3, 30))), "pastedContents": {}}
            for _ in range(100)
        ],
        "mcpServers": {},
        "lastCost": chance.random(),
        "lastDuration": chance.randint(0, 10**6),
        "hasTrustDialogAccepted": True,
        "tipsHistory": {word: chance.randint(0, 50) for word in chance.sample(words, 20)},
    }


def _commented(plain: str) -> str:
    """The same with a comment above and beside every project's history, and trailing commas."""
    text = plain.replace('"history": [', '// what was asked\n      "history": [ /* newest first */')
    return text.replace('"pastedContents": {}\n', '"pastedContents": {},\n')


def _codex() -> str:
    """A `config.toml` of somebody who trusts many projects and has many servers."""
    lines = ['model = "m"  # mine', 'approval_policy = "on-request"', "", "[features]", "web_search = true", ""]
    number = 0
    while sum(len(line) + 1 for line in lines) < _TOML_SIZE:
        number += 1
        lines += [f'[projects."/home/me/code/project-{number}"]', 'trust_level = "trusted"', ""]
        if number % 10 == 0:
            lines += [f"[mcp_servers.server-{number}]", 'command = "npx"', f'args = ["-y", "@scope/server-{number}"]']
            lines += [
                f'env = {{ MODE = "x", NUMBER = "{number}" }}',
                "startup_timeout_ms = 20_000",
                "# more to come",
                "",
            ]
        if number % 25 == 0:
            lines += [f"[model_providers.p{number}]", 'name = "P"', 'base_url = "https://p.example/v1"', ""]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
