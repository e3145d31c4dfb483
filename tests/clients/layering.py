"""What stands in the layers of a real client, as a table: who must be asked, for which model, with which key.

In files, @ROOT@ and @OTHER@ are two gateways, @A@ and @B@ two keys, @HOME@ the home folder; a path that begins with
`/etc` is the machine's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.clients.client import CLIENTS, Client
from tests.clients.cline import FILES, NEWER
from tests.keys import invented

KEYS = {name: invented(f"layers-{name}") for name in ("A", "B")}

MODELS = ("user", "project", "drop-in", "state", "shell", "managed", "system")

CLAUDE, CODEX = (next(one for one in CLIENTS if one.name == name) for name in ("claude", "codex"))


@dataclass(frozen=True)
class Arranged:
    """One arrangement.

    Attributes:
        client: who is asked.
        name: what is special about it.
        files: by their place in the home folder, or below `/etc`; the project lies in the home folder.
        asks: which gateway it asks, for which model, and the key in each header.
        environ: what the user's shell exports.
        encoding: the files'.
    """

    client: Client
    name: str
    files: Mapping[str, str]
    asks: tuple[str, str, Mapping[str, str]]
    environ: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"


def _env(**variables: str) -> str:
    return json.dumps({"env": variables})


def _claude(helper: str = "", **variables: str) -> Mapping[str, str]:
    env = {"ANTHROPIC_BASE_URL": "@ROOT@", "ANTHROPIC_MODEL": "user", **variables}
    return {".claude/settings.json": json.dumps({**({"apiKeyHelper": helper} if helper else {}), "env": env})}


_LOGIN = json.dumps(
    {
        "claudeAiOauth": {
            "accessToken": "@B@",
            "refreshToken": "none",
            "expiresAt": 4_000_000_000_000,
            "scopes": ["user:inference"],
            "subscriptionType": "max",
        }
    }
)


def _provider(name: str = "relay", at: str = "@ROOT@", key: str = "@A@", more: str = "") -> str:
    token = f'experimental_bearer_token = "{key}"\n' if key else ""
    return (
        f'model_provider = "{name}"\n[model_providers.{name}]\nname = "{name}"\nbase_url = "{at}/v1"\n'
        f'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n{token}{more}'
    )


_TRUST = '[projects."@HOME@/project"]\ntrust_level = "trusted"\n'


def _cline(provider: str = "openai-compatible", **settings: Any) -> Mapping[str, str]:
    entry = {
        "settings": {"provider": provider, "baseUrl": "@ROOT@/v1", "model": "user", **settings},
        "updatedAt": "2026-01-01T00:00:00.000Z",
    }
    data = {"version": 1, "lastUsedProvider": provider, "providers": {provider: entry}}
    return {FILES["providers.json"]: json.dumps(data)}


_BOTH = "Authorization: Bearer @B@\nX-Api-Key: @B@"

TABLE = (
    Arranged(
        CLAUDE,
        "the drop-ins of managed settings",
        {
            **_claude(ANTHROPIC_AUTH_TOKEN="@A@"),
            "/etc/claude-code/managed-settings.json": _env(ANTHROPIC_MODEL="managed", ANTHROPIC_BASE_URL="@ROOT@"),
            "/etc/claude-code/managed-settings.d/10-gateway.json": _env(ANTHROPIC_BASE_URL="@OTHER@"),
            "/etc/claude-code/managed-settings.d/9-model.json": _env(ANTHROPIC_MODEL="drop-in"),
            "/etc/claude-code/managed-settings.d/.hidden.json": _env(ANTHROPIC_MODEL="system"),
        },
        ("@OTHER@", "drop-in", {"authorization": "A"}),
    ),
    Arranged(
        CLAUDE,
        "the variables of its state",
        {
            ".claude/settings.json": _env(ANTHROPIC_BASE_URL="@ROOT@", ANTHROPIC_AUTH_TOKEN="@A@"),
            ".claude.json": json.dumps(
                {"apiKeyHelper": "echo @B@", "env": {"ANTHROPIC_MODEL": "state", "ANTHROPIC_BASE_URL": "@OTHER@"}}
            ),
        },
        ("@ROOT@", "state", {"authorization": "A"}),
        {"ANTHROPIC_MODEL": "shell"},
    ),
    Arranged(
        CLAUDE,
        "headers beside a command",
        _claude("echo @A@", ANTHROPIC_CUSTOM_HEADERS=_BOTH),
        ("@ROOT@", "user", {"authorization": "A", "x-api-key": "B"}),
    ),
    Arranged(
        CLAUDE,
        "a login and no key",
        {**_claude(), ".claude/.credentials.json": _LOGIN},
        ("@ROOT@", "user", {"authorization": "B"}),
    ),
    Arranged(
        CLAUDE,
        "a login beside a key",
        {**_claude(ANTHROPIC_API_KEY="@A@"), ".claude/.credentials.json": _LOGIN},
        ("@ROOT@", "user", {"x-api-key": "A"}),
    ),
    Arranged(
        CLAUDE,
        "UTF-16 with its mark",
        {
            ".claude/settings.json": "\ufeff" + _env(ANTHROPIC_BASE_URL="@ROOT@", ANTHROPIC_AUTH_TOKEN="@A@"),
            "project/.claude/settings.json": "\ufeff" + _env(ANTHROPIC_MODEL="project"),
            "/etc/claude-code/managed-settings.json": "\ufeff" + _env(ANTHROPIC_MODEL="managed"),
            "/etc/claude-code/managed-settings.d/1.json": "\ufeff" + _env(ANTHROPIC_BASE_URL="@OTHER@"),
        },
        ("@OTHER@", "managed", {"authorization": "A"}),
        encoding="utf-16-le",
    ),
    Arranged(
        CODEX,
        "a provider that is required",
        {
            ".codex/config.toml": f'model = "user"\n{_provider()}',
            "/etc/codex/requirements.toml": _provider("corp", "@OTHER@", ""),
        },
        ("@OTHER@", "user", {}),
    ),
    Arranged(
        CODEX,
        "the machine's below the user's, a project's above, what is managed above all",
        {
            "/etc/codex/config.toml": f'model = "system"\n{_provider()}',
            ".codex/config.toml": f'model = "user"\n{_TRUST}',
            "project/.codex/config.toml": f'model = "project"\n{_provider("corp", "@OTHER@")}',
            "/etc/codex/managed_config.toml": 'model = "managed"\n',
        },
        ("@ROOT@", "managed", {"authorization": "A"}),
    ),
    Arranged(
        CODEX,
        "a project that is trusted",
        {
            ".codex/config.toml": f'model = "user"\n{_provider()}{_TRUST}',
            "project/.codex/config.toml": 'model = "project"\n',
        },
        ("@ROOT@", "project", {"authorization": "A"}),
    ),
    Arranged(
        CODEX,
        "a project that is not",
        {".codex/config.toml": f'model = "user"\n{_provider()}', "project/.codex/config.toml": 'model = "project"\n'},
        ("@ROOT@", "user", {"authorization": "A"}),
    ),
    Arranged(
        CODEX,
        "headers beside a key",
        {
            ".codex/config.toml": 'model = "user"\n'
            + _provider(
                more='http_headers = { authorization = "Bearer @B@" }\nenv_http_headers = { X-Api-Key = "K" }\n'
            )
        },
        ("@ROOT@", "user", {"authorization": "A", "x-api-key": "B"}),
        {"K": "@B@"},
    ),
    Arranged(
        CODEX,
        "headers of two layers",
        {
            "/etc/codex/config.toml": 'model = "user"\n'
            + _provider(more='http_headers = { X-Api-Key = "@B@", X-Team = "low" }\n'),
            ".codex/config.toml": '[model_providers.relay.http_headers]\nX-Team = "high"\n',
        },
        ("@ROOT@", "user", {"authorization": "A", "x-api-key": "B"}),
    ),
    Arranged(
        NEWER,
        "a header beside a key",
        _cline(apiKey="@A@", headers={"Authorization": "Bearer @B@"}),
        ("@ROOT@", "user", {"authorization": "B"}),
    ),
    Arranged(
        NEWER,
        "LM Studio, where OpenAI's key is set",
        _cline("lmstudio"),
        ("@ROOT@", "user", {}),
        {"OPENAI_API_KEY": "@B@"},
    ),
    Arranged(
        NEWER,
        "LiteLLM by its own variable",
        _cline("litellm"),
        ("@ROOT@", "user", {"authorization": "A"}),
        {"OPENAI_API_KEY": "@B@", "LITELLM_API_KEY": "@A@"},
    ),
)
