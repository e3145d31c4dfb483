"""What wins over the profile's values, or is sent beside its key: the command that takes it out, where there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.doctor.home import DEMO, KEY, OTHER, TRUSTED, Home, demo
from toolsync.commands.doctor.standing import standing
from toolsync.doctor import startup
from toolsync.doctor.checks import findings
from toolsync.doctor.model import Finding, Where
from toolsync.doctor.removal import removal

ROOT = "https://gw.example/api"
CLAUDE = ".claude/settings.json"
SHARED = "project/.claude/settings.json"
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

HELPER = {"apiKeyHelper": "echo y"}
CODEX = (
    f'model = "m"\nmodel_provider = "toolsync"\n[model_providers.toolsync]\nname = "x"\nbase_url = "{ROOT}/v1"\n'
    f'experimental_bearer_token = "{KEY}"\nwire_api = "responses"\n'
)

ROWS = {
    "an old file that toolsync sets": Row(
        *("config_shadowed", APPLY.format("cline"), _cline("http://127.0.0.1:9/v1")), tool="cline", reader="vscode-4"
    ),
    "a file of one's own in the project": Row(
        *("config_shadowed", "Delete `env.ANTHROPIC_BASE_URL` at ~/project/.claude/settings.local.json:3."),
        {**OURS, LOCAL: _env(ANTHROPIC_BASE_URL="http://127.0.0.1:9")},
    ),
    "a file that the project's people share": Row(
        "config_shadowed",
        "Delete `env.ANTHROPIC_BASE_URL` at ~/project/.claude/settings.json:3. Or, where others share that file, set"
        f" `env.ANTHROPIC_BASE_URL` to `{ROOT}` in ~/project/.claude/settings.local.json, which is for you alone and"
        " counts more.",
        {**OURS, SHARED: _env(ANTHROPIC_BASE_URL="http://127.0.0.1:9")},
    ),
    "a command for the key that they share, for which nothing is to be written by hand": Row(
        *("config_shadowed", "Delete `apiKeyHelper` at ~/project/.claude/settings.json:2."),
        {CLAUDE: {**OURS[CLAUDE], "apiKeyHelper": "echo x", "env": {"ANTHROPIC_BASE_URL": ROOT}}, SHARED: HELPER},
    ),
    "a model of the project's, where nothing of one's own counts more": Row(
        *("config_shadowed", "Delete `model` at ~/project/.codex/config.toml:1."),
        {".codex/config.toml": CODEX + TRUSTED, "project/.codex/config.toml": 'model = "other"\n'},
        tool="codex",
    ),
    "another provider, of the shell's": Row(
        "base_url_not_honoured", "unset CLAUDE_CODE_USE_BEDROCK", OURS, {"CLAUDE_CODE_USE_BEDROCK": "1"}
    ),
    "another provider, of a startup file's": Row(
        "base_url_not_honoured",
        "Take CLAUDE_CODE_USE_BEDROCK out at ~/.bashrc:1, and run `unset CLAUDE_CODE_USE_BEDROCK` in this shell.",
        {**OURS, ".bashrc": "export CLAUDE_CODE_USE_BEDROCK=1\n"},
        {"CLAUDE_CODE_USE_BEDROCK": "1"},
    ),
    "another provider, of the project's": Row(
        *("base_url_not_honoured", "Delete `env.CLAUDE_CODE_USE_BEDROCK` at ~/project/.claude/settings.json:3."),
        {**OURS, SHARED: _env(CLAUDE_CODE_USE_BEDROCK="1")},
    ),
    "an organisation's file": Row(
        *("config_managed_override", None),
        {**OURS, "/etc/claude-code/managed-settings.json": _env(ANTHROPIC_BASE_URL="http://127.0.0.1:9")},
    ),
    "a second key of the shell's, which apply empties": Row(
        "auth_conflict_both_set", APPLY.format("claude-code"), OURS, {"ANTHROPIC_API_KEY": OTHER}
    ),
    "a second key in the file, which apply empties": Row(
        *("auth_conflict_both_set", APPLY.format("claude-code")),
        {CLAUDE: _env(**OURS[CLAUDE]["env"], ANTHROPIC_API_KEY=OTHER)},
    ),
    "a second key of the project's": Row(
        *("auth_conflict_both_set", "Delete `env.ANTHROPIC_API_KEY` at ~/project/.claude/settings.local.json:3."),
        {**OURS, LOCAL: _env(ANTHROPIC_API_KEY=OTHER)},
    ),
    "a second key of a login": Row("auth_conflict_both_set", None, {**OURS, ".claude.json": {"primaryApiKey": OTHER}}),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_command_that_takes_it_out(tmp_path: Path, row: Row) -> None:
    home = Home(tmp_path, dict(row.environ))
    home.write(
        {name: data if isinstance(data, str) else json.dumps(data, indent=2) for name, data in row.files.items()}
    )
    found = next(one for one in findings(home.look(row.tool, row.reader)) if one.cause == row.cause)
    assert (str(found.fix.text) if found.fix else None) == row.fix


AT_START: dict[str, tuple[str, str, str]] = {
    "only this shell": ("", "", "unset DEMO_KEY"),
    "a shell's file": (
        *(".profile", "export DEMO_KEY=x\n"),
        "Take DEMO_KEY out at ~/.profile:1, and run `unset DEMO_KEY` in this shell.",
    ),
    "direnv's": (
        *("project/.envrc", "export DEMO_KEY=x\n"),
        "Take DEMO_KEY out at ~/project/.envrc:1, and run `direnv allow` in that folder.",
    ),
    "the desktop's": (
        *(".config/environment.d/k.conf", "\nDEMO_KEY=x\n"),
        "Take DEMO_KEY out at ~/.config/environment.d/k.conf:2, then log out and in again.",
    ),
    "what fish keeps": (
        *(".config/fish/fish_variables", "SETUVAR --export DEMO_KEY:x\n"),
        "fish -c 'set --erase --universal DEMO_KEY'",
    ),
}


@pytest.mark.parametrize(("file", "line", "fix"), AT_START.values(), ids=AT_START)
def test_a_variable_is_taken_out_where_it_is_set(tmp_path: Path, file: str, line: str, fix: str) -> None:
    tool = demo(DEMO.replace('key = ["key", "$DEMO_KEY"]', 'key = ["$DEMO_KEY", "key"]'))
    home = Home(tmp_path, {"DEMO_KEY": OTHER})
    home.write({".demo/settings.json": json.dumps({"url": f"{ROOT}/v1", "key": KEY, "model": "m"})})
    home.write({file: line} if file else {})
    found = next(one for one in findings(home.look(tool)) if one.cause == "config_shadowed")
    assert found.fix is not None
    assert (str(found.fix.text), found.fix.argv) == (fix, ())


MACHINE = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
ON_WINDOWS = {
    "this terminal": (
        *("", "Take DEMO_KEY out of this terminal: `Remove-Item Env:DEMO_KEY` in PowerShell, `set DEMO_KEY=` in cmd."),
    ),
    "the user": (
        r"HKCU\Environment",
        "Run `[Environment]::SetEnvironmentVariable('DEMO_KEY', $null, 'User')` in PowerShell, and open",
    ),
    "the machine": (
        *(MACHINE, "Run `[Environment]::SetEnvironmentVariable('DEMO_KEY', $null, 'Machine')` in PowerShell as"),
    ),
}


@pytest.mark.parametrize(("place", "fix"), ON_WINDOWS.values(), ids=ON_WINDOWS)
def test_a_variable_of_windows(tmp_path: Path, place: str, fix: str) -> None:
    look = Home(tmp_path, {"DEMO_KEY": OTHER}, platform="win32").look(demo())
    look.world.startup_lines = (startup.Line("DEMO_KEY", place, 0, "desktop"),) if place else ()
    found = removal(look, look.where_variable("DEMO_KEY"))
    assert found is not None
    assert str(found.text).startswith(fix)


def test_a_default_of_the_tools_own_is_no_place_that_toolsync_writes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".cline/data/globalState.json": "{\n// mine\n}"})
    look = home.look("cline", "vscode")
    where = look.where(look.found["provider"])
    assert (where.layer, where.slot) == ("", "=openrouter")
    assert not standing(look, Finding("base_url_not_honoured", where=where)).writes


_Q = '[model_providers.q]\nenv_key = "K"\n'
CHOSEN = {
    "a provider which apply changes for its own": ("q", True),
    "another one than the chosen": ("toolsync", False),
}


@pytest.mark.parametrize(("chosen", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_what_apply_leads_away_from_is_mended_by_it(tmp_path: Path, chosen: str, *, expected: bool) -> None:
    home = Home(tmp_path)
    home.write({".codex/config.toml": f'model_provider = "{chosen}"\n{_Q}'})
    where = Where("user", "model_providers.q.env_key", str(home.path(".codex/config.toml")), 2)
    assert standing(home.look("codex"), Finding("key_invalid", where=where)).writes is expected


def test_where_toolsync_puts_the_key_in_any_way_is_a_place_that_it_writes(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({CLAUDE: '{"apiKeyHelper": "old-helper"}'})
    where = Where("user", "apiKeyHelper", str(home.path(CLAUDE)), 1)
    assert standing(home.look("claude-code"), Finding("key_invalid", where=where)).writes
