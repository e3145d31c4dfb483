"""A machine with CC Switch on it: its rows and the live files that they stand for."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.acceptance.machine import Machine
from tests.store.cc_switch import ROW, Home
from tests.store.cc_switch import home as with_cc_switch

CLAUDE, CODEX, DATABASE = ".claude/settings.json", ".codex/config.toml", ".cc-switch/cc-switch.db"
LIVE = {
    CLAUDE: '{\n  "permissions": { "allow": ["Bash(git diff:*)"] },\n  "env": { "EDITOR": "vim" }\n}\n',
    CODEX: '# my Codex\nmodel = "gpt-5"   # good\n\n[mcp_servers.docs]\ncommand = "npx"\n',
}
APPLY = ("apply", "--yes", "--no-ping")
MODEL = '\n[profiles.work.tool.claude-code]\nmodel = "new-model"\n\n[profiles.work.tool.codex]\nmodel = "new-model"\n'


def furnished(machine: Machine, schema: str = "version 17") -> Home:
    """CC Switch in the machine's home, with a row of the user's own for each app, and the two tools that it serves."""
    for name, text in LIVE.items():
        machine.write(name, text)
    return with_cc_switch(machine.home, schema)


def settings(switch: Home, app: str, id: str = ROW) -> Any:
    """A row's `settings_config`; None where there is no row."""
    row = switch.row(app, id)
    return None if row is None else json.loads(row["settings_config"])


def config(switch: Home, id: str = ROW) -> Any:
    """What lies in the row for Codex."""
    return tomllib.loads(settings(switch, "codex", id)["config"])


def models(switch: Home, id: str = ROW) -> tuple[str, str]:
    """Of the rows for Claude Code and Codex."""
    return settings(switch, "claude", id)["env"]["ANTHROPIC_MODEL"], config(switch, id)["model"]


def contents(machine: Machine) -> dict[str, bytes]:
    """Every file of the home but the database, which is told by its rows, and what SQLite lays beside it."""
    entries = machine.entries().items()
    files = {name: entry.content for name, entry in entries if entry.kind == "file"}
    return {name: content for name, content in files.items() if not name.startswith(DATABASE)}


@contextmanager
def untouched(machine: Machine, switch: Home) -> Iterator[None]:
    """Nothing is written, the database least of all."""
    before = switch.everything()
    with machine.untouched():
        yield
    assert switch.everything() == before
