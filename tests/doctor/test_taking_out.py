"""What wins over the profile's values, or is sent beside its key: the command that takes it out, where there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.doctor.home import DEMO, KEY, OTHER, Home, demo
from toolsync.doctor.checks import findings

ROOT = "https://gw.example/api"
CLAUDE = ".claude/settings.json"
LOCAL = "project/.claude/settings.local.json"
CLINE = ".cline/data"


class Row(NamedTuple):
    cause: str
    fix: str | None
    files: dict[str, Any]
    environ: Mapping[str, str] = MappingProxyType({})
    tool: str = "claude-code"
    reader: str = ""


def _env(**variables: str) -> dict[str, Any]:
    return {"env": variables}


def _cline(base: str) -> dict[str, Any]:
    settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "m", "baseUrl": f"{ROOT}/v1"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z"}
    state = {"actModeApiProvider": "openai", "openAiBaseUrl": base, "actModeOpenAiModelId": "m"}
    return {
        f"{CLINE}/settings/providers.json": {"version": 1, "providers": {"openai-compatible": entry}},
        f"{CLINE}/globalState.json": state,
    }


OURS = {CLAUDE: _env(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_MODEL="m")}
APPLY = "toolsync apply --tool {0}"

ROWS = {
    "an old file that toolsync sets": Row(
        *("config_shadowed", APPLY.format("cline"), _cline("http://127.0.0.1:9/v1")), tool="cline", reader="vscode"
    ),
    "a project's file": Row("config_shadowed", None, {**OURS, LOCAL: _env(ANTHROPIC_BASE_URL="http://127.0.0.1:9")}),
    "a second key of the shell's, which apply empties": Row(
        "auth_conflict_both_set", APPLY.format("claude-code"), OURS, {"ANTHROPIC_API_KEY": OTHER}
    ),
    "a second key in the file, which apply empties": Row(
        *("auth_conflict_both_set", APPLY.format("claude-code")),
        {CLAUDE: _env(**OURS[CLAUDE]["env"], ANTHROPIC_API_KEY=OTHER)},
    ),
    "a second key of the project's": Row(
        "auth_conflict_both_set", None, {**OURS, LOCAL: _env(ANTHROPIC_API_KEY=OTHER)}
    ),
    "a second key of a login": Row("auth_conflict_both_set", None, {**OURS, ".claude.json": {"primaryApiKey": OTHER}}),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_command_that_takes_it_out(tmp_path: Path, row: Row) -> None:
    home = Home(tmp_path, dict(row.environ))
    home.write({name: json.dumps(data, indent=2) for name, data in row.files.items()})
    found = next(one for one in findings(home.look(row.tool, row.reader)) if one.cause == row.cause)
    assert (found.fix.text if found.fix else None) == row.fix


@pytest.mark.parametrize(
    ("startup", "fix"), [({}, "unset DEMO_KEY"), ({".profile": "export DEMO_KEY=x\n"}, None)], ids=["shell", "startup"]
)
def test_a_variable_that_only_this_shell_has_is_unset(tmp_path: Path, startup: dict[str, str], fix: str | None) -> None:
    tool = demo(DEMO.replace('key = ["key", "$DEMO_KEY"]', 'key = ["$DEMO_KEY", "key"]'))
    home = Home(tmp_path, {"DEMO_KEY": OTHER})
    home.write({".demo/settings.json": json.dumps({"url": f"{ROOT}/v1", "key": KEY, "model": "m"}), **startup})
    found = next(one for one in findings(home.look(tool)) if one.cause == "config_shadowed")
    assert (found.fix.text if found.fix else None) == fix
