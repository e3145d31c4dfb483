"""Set-ups with which all is well: the checks that ask nobody are silent over each."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.home import DEMO, KEY, OTHER, PROFILE, Home, demo
from toolsync.doctor.checks import findings
from toolsync.process import Process
from toolsync.tool import Tool

ROOT = "https://gw.example/api"
OPENAI = f"{ROOT}/v1"
CLAUDE = ".claude/settings.json"
CODEX = ".codex/config.toml"
OWN = ".demo/settings.json"
GLOBAL, SECRETS = ".cline/data/globalState.json", ".cline/data/secrets.json"
CLI = ".cline/data/settings/providers.json"


@dataclass
class Row:
    tool: Tool | str
    files: Mapping[str, str | bytes]
    environ: dict[str, str] = field(default_factory=dict)
    home: Mapping[str, Any] = field(default_factory=dict)


def claude(top: Mapping[str, Any] | None = None, **variables: str) -> str:
    stated = {"ANTHROPIC_BASE_URL": ROOT, "ANTHROPIC_MODEL": "m", **variables}
    return json.dumps({**(top or {}), "env": stated})


def codex(rest: str, top: str = "") -> str:
    head = f'model = "m"\nmodel_provider = "toolsync"\n{top}'
    return f'{head}[model_providers.toolsync]\nname = "Gateway"\nbase_url = "{OPENAI}"\nwire_api = "responses"\n{rest}'


def cline(**more: Any) -> str:
    settings = {"provider": "openai-compatible", "baseUrl": OPENAI, "model": "m", **more}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    return json.dumps(
        {"version": 1, "lastUsedProvider": "openai-compatible", "modes": {}, "providers": {"openai-compatible": entry}}
    )


def editor(**more: Any) -> dict[str, str | bytes]:
    stated = {"planModeApiProvider": "openai", "actModeApiProvider": "openai", "openAiBaseUrl": OPENAI}
    models = {"planModeOpenAiModelId": "m", "actModeOpenAiModelId": "m"}
    return {
        GLOBAL: json.dumps({**stated, **models, "welcomeViewCompleted": True, **more}),
        SECRETS: json.dumps({"openAiApiKey": KEY}),
        CLI: cline(apiKey=KEY),
    }


def own(**more: Any) -> dict[str, str | bytes]:
    return {OWN: json.dumps({"url": OPENAI, "model": "m", "key": KEY, **more})}


TOOL = demo()
HELPER = {"apiKeyHelper": f"{sys.executable} -I -c \"print('{KEY}')\""}
AUTH = f'auth = {{ command = "{sys.executable}", args = ["-I", "-c", "print(\'{KEY}\')"] }}\n'
SERVICE = f'{PROFILE}[profiles.work.tool.config-toml]\npaths = ["~/service.toml"]\n'

ROWS: dict[str, Row] = {
    "Claude Code by its helper": Row(
        "claude-code", {CLAUDE: claude(HELPER, ANTHROPIC_AUTH_TOKEN="", ANTHROPIC_API_KEY="")}
    ),
    "Claude Code by its helper, a stale key of the shell's emptied": Row(
        "claude-code",
        {CLAUDE: claude(HELPER, ANTHROPIC_AUTH_TOKEN="", ANTHROPIC_API_KEY="")},
        {"ANTHROPIC_API_KEY": OTHER, "ANTHROPIC_BASE_URL": "http://old"},
    ),
    "Claude Code with a token": Row("claude-code", {CLAUDE: claude(ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_API_KEY="")}),
    "Claude Code with an API key": Row("claude-code", {CLAUDE: claude(ANTHROPIC_API_KEY=KEY)}),
    "Claude Code from the shell": Row(
        "claude-code",
        {CLAUDE: '{"theme": "dark"}'},
        {"ANTHROPIC_BASE_URL": ROOT, "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_MODEL": "m"},
    ),
    "Claude Code with a byte-order mark and Windows' line ends": Row(
        "claude-code", {CLAUDE: "\ufeff" + claude(ANTHROPIC_AUTH_TOKEN=KEY).replace(", ", ",\r\n")}
    ),
    "Claude Code with its model in the settings": Row(
        "claude-code",
        {CLAUDE: json.dumps({"model": "m", "env": {"ANTHROPIC_BASE_URL": ROOT, "ANTHROPIC_AUTH_TOKEN": KEY}})},
    ),
    "Claude Code with a long time limit and a header": Row(
        "claude-code",
        {CLAUDE: claude(ANTHROPIC_AUTH_TOKEN=KEY, API_TIMEOUT_MS="600000", ANTHROPIC_CUSTOM_HEADERS="X-Team: red")},
    ),
    "Claude Code with a project that sets other things": Row(
        "claude-code",
        {
            CLAUDE: claude(ANTHROPIC_AUTH_TOKEN=KEY),
            "project/.claude/settings.json": '{"permissions": {"allow": ["Bash(ls)"]}}',
            "project/.claude/settings.local.json": '{"env": {"DEBUG": "1"}}',
        },
    ),
    "Claude Code under managed settings that leave this alone": Row(
        "claude-code",
        {CLAUDE: claude(ANTHROPIC_AUTH_TOKEN=KEY), "/etc/claude-code/managed-settings.json": '{"permissions": {}}'},
    ),
    "Claude Code with a login of the vendor's and nothing of ours": Row(
        "claude-code",
        {CLAUDE: '{"theme": "dark"}', ".claude.json": '{"oauthAccount": {"emailAddress": "a@b.example"}}'},
    ),
    "Claude Code, just installed": Row("claude-code", {".claude.json": "{}"}),
    "Claude Code running since it was set": Row(
        "claude-code",
        {CLAUDE: claude(ANTHROPIC_AUTH_TOKEN=KEY)},
        home={"processes": [Process(5, frozenset({"claude"}), started=4e9, environ=dict)]},
    ),
    "Codex by a command": Row("codex", {CODEX: codex(AUTH)}),
    "Codex by a variable": Row("codex", {CODEX: codex('env_key = "RELAY_KEY"\n')}, {"RELAY_KEY": KEY}),
    "Codex by a variable of its own file": Row(
        "codex", {CODEX: codex('env_key = "RELAY_KEY"\n'), ".codex/.env": f"RELAY_KEY={KEY}\r\n"}
    ),
    "Codex with a token": Row("codex", {CODEX: codex(f'experimental_bearer_token = "{KEY}"\n')}),
    "Codex with comments and settings of one's own": Row(
        "codex",
        {
            CODEX: codex(
                f'# mine\nexperimental_bearer_token = "{KEY}"\n[mcp_servers.x]\ncommand = "y"\n',
                'approval_policy = "never"\n',
            )
        },
    ),
    "Codex with a login beside our provider": Row(
        "codex",
        {CODEX: codex('env_key = "RELAY_KEY"\n'), ".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})},
        {"RELAY_KEY": KEY},
    ),
    "Codex with a login and nothing of ours": Row(
        "codex", {CODEX: 'model = "gpt-5"\n', ".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})}
    ),
    "Codex in a project that chooses the same model": Row(
        "codex",
        {CODEX: codex('env_key = "RELAY_KEY"\n'), "project/.codex/config.toml": 'model = "m"\n'},
        {"RELAY_KEY": KEY},
    ),
    "Cline, all its files": Row("cline", editor()),
    "Cline with a mode for each": Row("cline", editor(mode="plan", planActSeparateModelsSetting=True)),
    "Cline with a variable for its program": Row("cline", {**editor(), CLI: cline()}, {"OPENAI_API_KEY": KEY}),
    "Cline, just installed": Row("cline", {GLOBAL: '{"welcomeViewCompleted": false}'}),
    "a tool of one's own": Row(TOOL, own()),
    "a tool of one's own by a variable": Row(TOOL, own(key="{env:RELAY_KEY}"), {"RELAY_KEY": KEY}),
    "a tool of one's own with comments and a trailing comma": Row(
        TOOL, {OWN: f'{{ // mine\n"url": "{OPENAI}/",\n"model": "m", "key": "{KEY}",\n}}'}
    ),
    "a local server": Row(
        TOOL, own(url="http://127.0.0.1:8000/v1"), home={"profile": PROFILE.replace(ROOT, "http://127.0.0.1:8000")}
    ),
    "a tool without a key": Row(
        demo(
            DEMO.replace('key = ["key", "$DEMO_KEY"]\n', "")
            .replace('key = "authorization", ', "")
            .replace('[key]\nplaintext = "<key>"\n', "")
        ),
        {OWN: json.dumps({"url": OPENAI, "model": "m"})},
    ),
    "a service by a variable": Row(
        "config-toml",
        {
            "service.toml": f'[api]\nbase_url = "{OPENAI}"\napi_key = "${{RELAY_KEY}}"\ntimeout_seconds = 120\n'
            '[model]\nname = "m"\n'
        },
        {"RELAY_KEY": KEY},
        home={"profile": SERVICE},
    ),
    "behind a proxy": Row(TOOL, own(), {"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "localhost"}),
    "without a profile": Row(TOOL, own(), home={"profile": None}),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_nothing_is_found_where_all_is_well(tmp_path: Path, row: Row) -> None:
    home = Home(tmp_path, row.environ, **row.home)
    home.write({".bashrc": "export EDITOR=vi\nexport PATH=$PATH:/opt/bin\n", **row.files})
    looks = home.looks(row.tool)
    assert looks
    assert [(look.called, finding.cause, finding.evidence) for look in looks for finding in findings(look)] == []


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 30
