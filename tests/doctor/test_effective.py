"""The request that tools will really make, over all their layers: tables for each shipped one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.home import DEMO, KEY, OTHER, TRUSTED, Home, demo
from toolsync.causes import named
from toolsync.doctor.checks import saying
from toolsync.doctor.model import Credential, Effective
from toolsync.masking import Secret
from toolsync.sentence import tell
from toolsync.tool import Tool

CLAUDE = ".claude/settings.json"
CODEX = ".codex/config.toml"
VIBE = ".vibe/config.toml"
CLI = ".cline/data/settings/providers.json"
RELAY = 'model = "m"\nmodel_provider = "relay"\n[model_providers.relay]\nbase_url = "http://h/v1"\n'


def env(**variables: str) -> str:
    return json.dumps({"env": variables})


LOGIN = {".claude/.credentials.json": json.dumps({"claudeAiOauth": {"accessToken": OTHER}})}


def cline_cli(**settings: Any) -> str:
    entry = {"settings": {"provider": "openai-compatible", **settings}, "updatedAt": "2026-01-01T00:00:00.000Z"}
    return json.dumps(
        {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    )


@dataclass
class Row:
    """A home, and what one program of a tool makes of it.

    Attributes:
        sent: header, the key's name in this file (`KEY`, `OTHER`, `None`, or the text), kind, layer, slot, line.
        more: further fields of `Effective`.
    """

    tool: str
    files: Mapping[str, str]
    url: str
    sent: list[tuple[str, str | None, str, str, str, int | None]]
    reader: str = ""
    environ: dict[str, str] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)


def sent(credential: Credential) -> tuple[str, str | None, str, str, str, int | None]:
    value = credential.value.reveal() if credential.value is not None else None
    where = credential.where
    return credential.header, value, credential.kind, where.layer, where.slot, where.line


MESSAGES = "/v1/messages?beta=true"
ROWS: dict[str, Row] = {
    "claude-code: nothing set": Row(
        "claude-code", {}, f"https://api.anthropic.com{MESSAGES}", [], more={"timeout_seconds": 600, "model": ""}
    ),
    "claude-code: its own file": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="https://gw.example/api", ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_MODEL="m")},
        f"https://gw.example/api{MESSAGES}",
        [("authorization", KEY, "literal", "user", "env.ANTHROPIC_AUTH_TOKEN", 1)],
        more={"model": "m", "dialect": "anthropic-messages", "streams": True},
    ),
    "claude-code: white space around the key is left out": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_AUTH_TOKEN=f" {KEY}\n")},
        f"https://api.anthropic.com{MESSAGES}",
        [("authorization", KEY, "literal", "user", "env.ANTHROPIC_AUTH_TOKEN", 1)],
    ),
    "claude-code: the settings come before the shell": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="http://new")},
        f"http://new{MESSAGES}",
        [("authorization", OTHER, "variable", "environment", "$ANTHROPIC_AUTH_TOKEN", 2)],
        environ={"ANTHROPIC_BASE_URL": "http://old", "ANTHROPIC_AUTH_TOKEN": OTHER},
    ),
    "claude-code: a login's token, where no key stands": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="http://h"), **LOGIN, ".claude.json": json.dumps({"primaryApiKey": KEY})},
        f"http://h{MESSAGES}",
        [("authorization", OTHER, "login", "login's token", "login.claudeAiOauth.accessToken", 1)],
    ),
    "claude-code: a variable's token before it": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="http://h"), **LOGIN},
        f"http://h{MESSAGES}",
        [("authorization", KEY, "variable", "environment", "$CLAUDE_CODE_OAUTH_TOKEN", None)],
        environ={"CLAUDE_CODE_OAUTH_TOKEN": KEY},
    ),
    "claude-code: no login's token beside a key": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="http://h", ANTHROPIC_API_KEY=KEY), **LOGIN},
        f"http://h{MESSAGES}",
        [("x-api-key", KEY, "literal", "user", "env.ANTHROPIC_API_KEY", 1)],
        environ={"CLAUDE_CODE_OAUTH_TOKEN": OTHER},
    ),
    "claude-code: with a token of the settings the login's key goes too": Row(
        "claude-code",
        {
            CLAUDE: env(ANTHROPIC_BASE_URL="http://h", ANTHROPIC_AUTH_TOKEN=KEY),
            **LOGIN,
            ".claude.json": json.dumps({"primaryApiKey": OTHER}),
        },
        f"http://h{MESSAGES}",
        [
            ("authorization", KEY, "literal", "user", "env.ANTHROPIC_AUTH_TOKEN", 1),
            ("x-api-key", OTHER, "login", "login", "login.primaryApiKey", 1),
        ],
    ),
    "claude-code: two headers from two places": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_AUTH_TOKEN=KEY), ".claude.json": json.dumps({"primaryApiKey": OTHER})},
        f"https://api.anthropic.com{MESSAGES}",
        [
            ("authorization", KEY, "literal", "user", "env.ANTHROPIC_AUTH_TOKEN", 1),
            ("x-api-key", OTHER, "login", "login", "login.primaryApiKey", 1),
        ],
    ),
    "claude-code: a command fills both headers": Row(
        "claude-code",
        {CLAUDE: json.dumps({"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_API_KEY": ""}}, indent=1)},
        f"https://api.anthropic.com{MESSAGES}",
        [
            ("authorization", KEY, "command", "user", "apiKeyHelper", 2),
            ("x-api-key", KEY, "command", "user", "apiKeyHelper", 2),
        ],
        environ={"ANTHROPIC_API_KEY": OTHER},
    ),
    "claude-code: a command of a repository's is not run": Row(
        "claude-code",
        {"project/.claude/settings.json": json.dumps({"apiKeyHelper": f"echo {KEY}"})},
        f"https://api.anthropic.com{MESSAGES}",
        [
            ("authorization", None, "command", "project", "apiKeyHelper", 1),
            ("x-api-key", None, "command", "project", "apiKeyHelper", 1),
        ],
    ),
    "claude-code: of its state the variables, over the shell's and below the settings": Row(
        "claude-code",
        {
            ".claude.json": json.dumps(
                {
                    "apiKeyHelper": f"echo {OTHER}",
                    "model": "none",
                    "env": {"ANTHROPIC_BASE_URL": "http://state", "ANTHROPIC_MODEL": "state"},
                }
            ),
            CLAUDE: env(ANTHROPIC_BASE_URL="http://user"),
        },
        f"http://user{MESSAGES}",
        [],
        environ={"ANTHROPIC_MODEL": "shell"},
        more={"model": "state"},
    ),
    "claude-code: local over project over user": Row(
        "claude-code",
        {
            CLAUDE: env(ANTHROPIC_BASE_URL="http://user", ANTHROPIC_MODEL="user"),
            "project/.claude/settings.json": env(ANTHROPIC_BASE_URL="http://project", ANTHROPIC_MODEL="project"),
            "project/.claude/settings.local.json": env(ANTHROPIC_BASE_URL="http://local"),
        },
        f"http://local{MESSAGES}",
        [],
        more={"model": "project"},
    ),
    "claude-code: managed over all": Row(
        "claude-code",
        {
            CLAUDE: env(ANTHROPIC_BASE_URL="http://user"),
            "/etc/claude-code/managed-settings.json": env(ANTHROPIC_BASE_URL="http://managed"),
        },
        f"http://managed{MESSAGES}",
        [],
    ),
    "claude-code: the last of the managed drop-ins over all, and each for what it says": Row(
        "claude-code",
        {
            CLAUDE: env(ANTHROPIC_BASE_URL="http://user", ANTHROPIC_MODEL="user"),
            "/etc/claude-code/managed-settings.json": env(ANTHROPIC_BASE_URL="http://managed"),
            "/etc/claude-code/managed-settings.d/10-gateway.json": env(ANTHROPIC_BASE_URL="http://ten"),
            "/etc/claude-code/managed-settings.d/20-key.json": '{\n "apiKeyHelper": "echo ' + OTHER + '"\n}',
            "/etc/claude-code/managed-settings.d/30-broken.json": '{"env": {"ANTHROPIC_BASE_URL": "http://x"}} // no',
        },
        f"http://ten{MESSAGES}",
        [
            ("authorization", OTHER, "command", "managed.d: 20-key.json", "apiKeyHelper", 2),
            ("x-api-key", OTHER, "command", "managed.d: 20-key.json", "apiKeyHelper", 2),
        ],
        more={"model": "user"},
    ),
    "claude-code: a comment, and nothing in the file counts": Row(
        "claude-code",
        {CLAUDE: '{"env": {"ANTHROPIC_BASE_URL": "http://new"}} // mine'},
        f"http://old{MESSAGES}",
        [],
        environ={"ANTHROPIC_BASE_URL": "http://old"},
    ),
    "claude-code: a suffix of the model's is not sent": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_MODEL="m[1m]")},
        f"https://api.anthropic.com{MESSAGES}",
        [],
        more={"model": "m"},
    ),
    "claude-code: an alias stands for another variable's model": Row(
        "claude-code",
        {CLAUDE: json.dumps({"model": "sonnet[1m]", "env": {"ANTHROPIC_DEFAULT_SONNET_MODEL": "s"}})},
        f"https://api.anthropic.com{MESSAGES}",
        [],
        more={"model": "s"},
    ),
    "claude-code: without a model it asks for the one that stands for Opus": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_DEFAULT_OPUS_MODEL="o")},
        f"https://api.anthropic.com{MESSAGES}",
        [],
        more={"model": "o"},
    ),
    "claude-code: a reference stands as it is": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_AUTH_TOKEN="${RELAY_KEY}")},
        f"https://api.anthropic.com{MESSAGES}",
        [("authorization", "${RELAY_KEY}", "literal", "user", "env.ANTHROPIC_AUTH_TOKEN", 1)],
        environ={"RELAY_KEY": KEY},
    ),
    "claude-code: headers, time limit, proxy and certificates of its settings": Row(
        "claude-code",
        {
            CLAUDE: env(
                ANTHROPIC_BASE_URL="http://h",
                ANTHROPIC_CUSTOM_HEADERS=f"X-Team: red\nX-Gateway-Key: {OTHER}",
                API_TIMEOUT_MS="90000",
                HTTP_PROXY="http://proxy:3128",
                NODE_EXTRA_CA_CERTS="/settings.pem",
            )
        },
        f"http://h{MESSAGES}",
        [],
        environ={"NODE_EXTRA_CA_CERTS": "/shell.pem"},
        more={
            "headers": {"x-team": "red", "x-gateway-key": Secret(OTHER)},
            "timeout_seconds": 90.0,
            "proxy": "http://proxy:3128",
            "ca_bundle": "/settings.pem",
        },
    ),
    "claude-code: a header of its own as the only credential": Row(
        "claude-code",
        {CLAUDE: env(ANTHROPIC_BASE_URL="http://h", ANTHROPIC_CUSTOM_HEADERS=f"Authorization: Bearer {KEY}")},
        f"http://h{MESSAGES}",
        [("authorization", KEY, "literal", "user", "env.ANTHROPIC_CUSTOM_HEADERS", 1)],
        more={"headers": {}},
    ),
    "claude-code: of a header and the key for it, the header": Row(
        "claude-code",
        {
            CLAUDE: json.dumps(
                {
                    "apiKeyHelper": f"echo {KEY}",
                    "env": {
                        "ANTHROPIC_BASE_URL": "http://h",
                        "ANTHROPIC_CUSTOM_HEADERS": f"X-Api-Key: {OTHER}\nAuthorization: Bearer {OTHER}",
                    },
                }
            )
        },
        f"http://h{MESSAGES}",
        [
            ("authorization", KEY, "command", "user", "apiKeyHelper", 1),
            ("x-api-key", OTHER, "literal", "user", "env.ANTHROPIC_CUSTOM_HEADERS", 1),
        ],
        more={"headers": {}},
    ),
    "codex: nothing set": Row(
        "codex",
        {},
        "https://api.openai.com/v1/responses",
        [],
        more={"timeout_seconds": 300.0, "dialect": "openai-responses"},
    ),
    "codex: a login of its own": Row(
        "codex",
        {".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})},
        "https://api.openai.com/v1/responses",
        [("authorization", OTHER, "login", "auth.json", "login.true.OPENAI_API_KEY", 1)],
    ),
    "codex: a provider of one's own does not get the login": Row(
        "codex",
        {CODEX: RELAY, ".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})},
        "http://h/v1/responses",
        [],
        more={"model": "m"},
    ),
    "codex: unless it asks for it": Row(
        "codex",
        {CODEX: f"{RELAY}requires_openai_auth = true\n", ".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})},
        "http://h/v1/responses",
        [("authorization", OTHER, "login", "auth.json", "login.true.OPENAI_API_KEY", 1)],
    ),
    "codex: a variable of the shell": Row(
        "codex",
        {CODEX: f'{RELAY}env_key = "RELAY_KEY"\n'},
        "http://h/v1/responses",
        [("authorization", KEY, "variable", "environment", "$RELAY_KEY", 1)],
        environ={"RELAY_KEY": KEY},
    ),
    "codex: its own .env comes before the shell": Row(
        "codex",
        {
            CODEX: f'{RELAY}env_key = "RELAY_KEY"\n',
            ".codex/.env": f"# mine\r\nRELAY_KEY={KEY}\r\nHTTP_PROXY=http://p:1\r\n",
        },
        "http://h/v1/responses",
        [("authorization", KEY, "variable", ".env", "dotenv.RELAY_KEY", 2)],
        environ={"RELAY_KEY": OTHER},
        more={"proxy": "http://p:1"},
    ),
    "codex: certificates by variables of its own, not by Node's": Row(
        "codex",
        {CODEX: RELAY, ".codex/.env": "CODEX_CA_CERTIFICATE=/no.pem\nSSL_CERT_FILE=/env.pem\n"},
        "http://h/v1/responses",
        [],
        environ={"NODE_EXTRA_CA_CERTS": "/node.pem"},
        more={"ca_bundle": "/env.pem"},
    ),
    "codex: a command": Row(
        "codex",
        {CODEX: f'{RELAY}auth = {{ command = "sh", args = ["-c", "echo {KEY}"] }}\n'},
        "http://h/v1/responses",
        [("authorization", KEY, "command", "user", "model_providers.relay.auth.command", 5)],
    ),
    "codex: parameters behind the address": Row(
        "codex",
        {CODEX: f'{RELAY}query_params = {{ api-version = "2025-04-01 x", b = "1" }}\n'},
        "http://h/v1/responses?api-version=2025-04-01%20x&b=1",
        [],
    ),
    "codex: headers from the file and from variables": Row(
        "codex",
        {CODEX: f'{RELAY}http_headers = {{ X-Team = "red" }}\nenv_http_headers = {{ X-Org = "ORG", X-No = "NO" }}\n'},
        "http://h/v1/responses",
        [],
        environ={"ORG": "blue"},
        more={"headers": {"x-team": "red", "x-org": "blue"}},
    ),
    "codex: of a header and the key for it, the key; a header for a key of its own beside it": Row(
        "codex",
        {
            CODEX: f'{RELAY}experimental_bearer_token = "{KEY}"\n[model_providers.relay.http_headers]\n'
            f'authorization = "Bearer {OTHER}"\nX-Api-Key = "{OTHER}"\n'
        },
        "http://h/v1/responses",
        [
            ("authorization", KEY, "literal", "user", "model_providers.relay.experimental_bearer_token", 5),
            ("x-api-key", OTHER, "literal", "user", "model_providers.relay.http_headers.X-Api-Key", 8),
        ],
        more={"headers": {}},
    ),
    "codex: a header from a variable as the only credential, before the literal": Row(
        "codex",
        {
            CODEX: f'{RELAY}http_headers = {{ Authorization = "Bearer {OTHER}" }}\n'
            'env_http_headers = { Authorization = "AUTH" }\n'
        },
        "http://h/v1/responses",
        [("authorization", KEY, "variable", "user", "model_providers.relay.env_http_headers.Authorization", 6)],
        environ={"AUTH": f"Bearer {KEY}"},
    ),
    "codex: headers of two layers, each from the highest that has it; none from a project": Row(
        "codex",
        {
            "/etc/codex/config.toml": f'{RELAY}http_headers = {{ X-Api-Key = "{OTHER}", X-Team = "low" }}\n',
            CODEX: f'[model_providers.relay.http_headers]\nX-Team = "high"\nX-Own = "1"\n{TRUSTED}',
            "project/.codex/config.toml": f'[model_providers.relay.http_headers]\nX-Api-Key = "{KEY}"\n',
        },
        "http://h/v1/responses",
        [("x-api-key", OTHER, "literal", "system", "model_providers.relay.http_headers.X-Api-Key", 5)],
        more={"headers": {"x-team": "high", "x-own": "1"}},
    ),
    "codex: a project chooses the model, and no provider": Row(
        "codex",
        {CODEX: RELAY + TRUSTED, "project/.codex/config.toml": 'model = "theirs"\nmodel_provider = "evil"\n'},
        "http://h/v1/responses",
        [],
        more={"model": "theirs"},
    ),
    "codex: nothing of a project that is not trusted": Row(
        "codex",
        {CODEX: RELAY + TRUSTED.replace('"trusted"', '"untrusted"'), "project/.codex/config.toml": 'model = "no"\n'},
        "http://h/v1/responses",
        [],
        more={"model": "m"},
    ),
    "codex: what the machine trusts": Row(
        "codex",
        {"/etc/codex/config.toml": TRUSTED, CODEX: RELAY, "project/.codex/config.toml": 'model = "theirs"\n'},
        "http://h/v1/responses",
        [],
        more={"model": "theirs"},
    ),
    "codex: what holds on the machine below the user's, what is managed above the project's": Row(
        "codex",
        {
            "/etc/codex/config.toml": f'{RELAY}experimental_bearer_token = "{KEY}"\n',
            CODEX: f'model = "user"\n{TRUSTED}',
            "project/.codex/config.toml": 'model = "project"\n',
            "/etc/codex/managed_config.toml": '\nmodel = "managed"\n',
        },
        "http://h/v1/responses",
        [("authorization", KEY, "literal", "system", "model_providers.relay.experimental_bearer_token", 5)],
        more={"model": "managed"},
    ),
    "codex: the provider that is required, and nothing else of that file": Row(
        "codex",
        {
            CODEX: RELAY,
            "/etc/codex/managed_config.toml": 'model_provider = "relay"\n',
            "/etc/codex/requirements.toml": (
                'model = "no"\nmodel_provider = "corp"\n[model_providers.corp]\nbase_url = "http://corp/v1"\n'
            ),
        },
        "http://corp/v1/responses",
        [],
        more={"model": "m"},
    ),
    "codex: what it has built in cannot be changed": Row(
        "codex",
        {CODEX: '[model_providers.openai]\nbase_url = "http://h/v1"\n'},
        "https://api.openai.com/v1/responses",
        [],
    ),
    "codex: a variable for the address is not read": Row(
        "codex", {}, "https://api.openai.com/v1/responses", [], environ={"OPENAI_BASE_URL": "http://h/v1"}
    ),
    "cline: nothing set": Row("cline", {}, "", [], reader="vscode", more={"timeout_seconds": None}),
    "cline: the editor's files": Row(
        "cline",
        {
            ".cline/data/globalState.json": json.dumps(
                {"actModeApiProvider": "openai", "openAiBaseUrl": "http://h/v1", "actModeOpenAiModelId": "m"}
            ),
            ".cline/data/secrets.json": json.dumps({"openAiApiKey": KEY}),
            CLI: cline_cli(baseUrl="http://other/v1", apiKey=OTHER, model="other"),
        },
        "http://h/v1/chat/completions",
        [("authorization", KEY, "literal", "secrets.json", "secrets.openAiApiKey", 1)],
        reader="vscode",
        more={"model": "m", "called": "Cline (vscode)", "dialect": "openai-chat"},
    ),
    "cline: the newer editor takes the other file's where its own are silent": Row(
        "cline",
        {
            ".cline/data/globalState.json": json.dumps({"actModeApiProvider": "openai"}),
            CLI: cline_cli(baseUrl="http://other/v1", apiKey=OTHER, model="other"),
        },
        "http://other/v1/chat/completions",
        [
            (
                "authorization",
                OTHER,
                "literal",
                "providers.json",
                "cli.providers.openai-compatible.settings.apiKey",
                1,
            )
        ],
        reader="vscode-4",
        more={"model": "", "called": "Cline (vscode-4)"},
    ),
    "cline: the older one does not": Row(
        "cline",
        {
            ".cline/data/globalState.json": json.dumps(
                {"actModeApiProvider": "openai", "openAiBaseUrl": "http://h/v1"}
            ),
            CLI: cline_cli(baseUrl="http://other/v1", apiKey=OTHER, model="other"),
        },
        "http://h/v1/chat/completions",
        [],
        reader="vscode",
    ),
    "cline: the program's file": Row(
        "cline",
        {CLI: cline_cli(baseUrl="http://h/v1", apiKey=KEY, model="m", headers={"X-Team": "red"})},
        "http://h/v1/chat/completions",
        [("authorization", KEY, "literal", "providers.json", "cli.providers.openai-compatible.settings.apiKey", 1)],
        reader="cli",
        environ={"OPENAI_API_KEY": OTHER},
        more={"model": "m", "headers": {"x-team": "red"}},
    ),
    "cline: of a header and the key for it, the header": Row(
        "cline",
        {CLI: cline_cli(baseUrl="http://h/v1", apiKey=KEY, model="m", headers={"Authorization": f"Bearer {OTHER}"})},
        "http://h/v1/chat/completions",
        [
            (
                "authorization",
                OTHER,
                "literal",
                "providers.json",
                "cli.providers.openai-compatible.settings.headers.Authorization",
                1,
            )
        ],
        reader="cli",
    ),
    "cline: a variable where the file holds no key": Row(
        "cline",
        {CLI: cline_cli(baseUrl="http://h/v1")},
        "http://h/v1/chat/completions",
        [("authorization", OTHER, "variable", "environment", "$OPENAI_API_KEY", None)],
        reader="cli",
        environ={"OPENAI_API_KEY": OTHER},
    ),
    "cline: a byte-order mark, and the file counts as empty": Row(
        "cline", {CLI: "\ufeff" + cline_cli(baseUrl="http://h/v1", apiKey=KEY)}, "", [], reader="cli"
    ),
    "mistral-vibe: a variable by its name, and a header with a key of its own": Row(
        "mistral-vibe",
        {
            VIBE: 'active_model = "a"\n[[models]]\nalias = "a"\nname = "m"\nprovider = "p"\n[[providers]]\nname = "p"\n'
            f'api_base = "http://h/v1"\napi_key_env_var = "RELAY_KEY"\nextra_headers = {{ X-Api-Key = "{OTHER}" }}\n',
        },
        "http://h/v1/chat/completions",
        [
            ("authorization", KEY, "variable", "environment", "$RELAY_KEY", 1),
            ("x-api-key", OTHER, "literal", "user", "providers[name=p].extra_headers.X-Api-Key", 10),
        ],
        environ={"RELAY_KEY": KEY},
        more={"model": "m", "timeout_seconds": 720.0},
    ),
    "mistral-vibe: the environment, the project and the user": Row(
        "mistral-vibe",
        {
            VIBE: 'active_model = "a"\n[[models]]\nalias = "a"\nname = "m"\n[[models]]\nalias = "b"\nname = "n"\n'
            '[[models]]\nalias = "c"\nname = "o"\n',
            "project/.vibe/config.toml": 'active_model = "b"\n',
        },
        "https://api.mistral.ai/v1/chat/completions",
        [],
        environ={"VIBE_ACTIVE_MODEL": "c"},
        more={"model": "o"},
    ),
    "config-toml: a variable that the service reads": Row(
        "config-toml",
        {
            "service.toml": '[api]\nbase_url = "http://h/v1"\napi_key = "${RELAY_KEY}"\ntimeout_seconds = 60\n'
            '[model]\nname = "m"\n'
        },
        "http://h/v1/chat/completions",
        [("authorization", KEY, "variable", "config.toml", "api.api_key", 3)],
        environ={"RELAY_KEY": KEY},
        more={"timeout_seconds": 60.0, "model": "m"},
    ),
    "settings-json: comments are no matter": Row(
        "settings-json",
        {
            "service.json": '{ // mine\n"baseUrl": "http://h/v1/",\n"apiKey": "x",\n'
            '"requestTimeout": 5000, "enableStreaming": false}'
        },
        "http://h/v1/chat/completions",
        [("authorization", "x", "literal", "settings.json", "apiKey", 3)],
        more={"timeout_seconds": 5.0, "streams": False},
    ),
}
PATHS = "".join(
    f'[profiles.work.tool.{tool}]\npaths = ["~/{file}"]\n'
    for tool, file in {"config-toml": "service.toml", "settings-json": "service.json"}.items()
)
RC = f"# mine\nexport ANTHROPIC_AUTH_TOKEN={OTHER}\n"


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_a_shipped_tool_will_send(tmp_path: Path, row: Row) -> None:
    home = Home(tmp_path, row.environ)
    home.profile = (home.profile or "") + PATHS
    home.write({**row.files, ".bashrc": RC, ".profile": "export RELAY_KEY=x\n"})
    look = home.look(row.tool, row.reader)
    found = look.effective
    assert found.url == row.url
    assert [sent(credential) for credential in found.credentials] == row.sent
    assert {name: _field(found, name) for name in row.more} == row.more


def _field(found: Effective, name: str) -> object:
    return getattr(found.network if name in ("proxy", "ca_bundle") else found, name)


_ALIAS = 'active_model = "a"\n[[models]]\nalias = "a"\nname = "{}"\n'


@pytest.mark.parametrize(
    ("tool", "above", "own", "expected"),
    [
        ("codex", {".codex/config.toml": 'model = "above"\n'}, {}, "above"),
        ("codex", {".codex/config.toml": 'model = "above"\n'}, {".codex/config.toml": 'model = "own"\n'}, "own"),
        ("claude-code", {".claude/settings.local.json": env(ANTHROPIC_MODEL="above")}, {}, "above"),
        ("mistral-vibe", {".vibe/config.toml": _ALIAS.format("above")}, {}, "above"),
        (
            "mistral-vibe",
            {".vibe/config.toml": _ALIAS.format("above")},
            {".vibe/config.toml": _ALIAS.format("own")},
            "own",
        ),
        ("claude-code", {".claude/settings.json": env(ANTHROPIC_MODEL="above")}, {}, ""),
    ],
    ids=["codex", "codex: both", "claude-code: local", "vibe", "vibe: both", "claude-code: shared"],
)
def test_what_stands_at_the_root_of_the_repository(
    tmp_path: Path, tool: str, above: Mapping[str, str], own: Mapping[str, str], expected: str
) -> None:
    home = Home(tmp_path, is_in_repository=True)
    home.write({CODEX: TRUSTED.replace('project"', 'repository"')})
    home.write({f"repository/{name}": text for name, text in above.items()})
    home.write({f"project/{name}": text for name, text in own.items()})
    look = home.look(tool)
    assert look.effective.model == expected
    assert all(one.is_projects for one in look.layers if "repository" in one.layer.name)


def test_every_shipped_tool_has_rows() -> None:
    assert {row.tool for row in ROWS.values()} == {
        "claude-code",
        "codex",
        "cline",
        "mistral-vibe",
        "config-toml",
        "settings-json",
    }, "those that are parts of a store ask nobody"


def test_what_stands_where(tmp_path: Path) -> None:
    home = Home(tmp_path, {"ANTHROPIC_AUTH_TOKEN": OTHER})
    home.write(
        {
            CLAUDE: '{\n "env": {\n  "ANTHROPIC_BASE_URL": "http://h"\n }\n}',
            ".zshenv": "\nexport ANTHROPIC_AUTH_TOKEN=x",
        }
    )
    wheres = home.look("claude-code").effective.wheres
    assert (wheres["base_url"].file, wheres["base_url"].line) == (str(home.path(CLAUDE)), 3)
    assert (wheres["key"].file, wheres["key"].line) == (str(home.path(".zshenv")), 2)


def test_what_the_profile_would_have(tmp_path: Path) -> None:
    wanted = {look.reader.name: look.effective.wanted for look in Home(tmp_path).looks("cline")}
    assert wanted["cli"]["base_url"] == wanted["vscode"]["base_url"] == "https://gw.example/api/v1"
    assert wanted["vscode"]["provider"] == "openai"
    assert "key" not in wanted["cli"], "a key is no text to compare"


def test_without_a_profile_nothing_is_wanted(tmp_path: Path) -> None:
    assert Home(tmp_path, profile=None).look("codex").effective.wanted == {}


def test_layers_say_who_sets_what_and_who_wins(tmp_path: Path) -> None:
    home = Home(tmp_path, {"ANTHROPIC_BASE_URL": "http://old", "ANTHROPIC_MODEL": "shell"})
    home.write({CLAUDE: env(ANTHROPIC_BASE_URL="http://new"), "project/.claude/settings.json": "{"})
    found = {one.seen.layer.name: (one.seen.state, one.sets, one.wins) for one in home.look("claude-code").standings()}
    assert found["shell"] == ("environment", ("base_url", "model"), ("model",))
    assert found["user"] == ("read", ("base_url",), ("base_url",))
    assert found["project"] == ("broken", (), ())
    assert found["local"] == ("missing", (), ())


def test_a_header_for_a_question_of_the_tools_own(tmp_path: Path) -> None:
    look = Home(tmp_path, {"OPENAI_ORG_ID": "org-1"}).look(demo())
    assert look.effective.headers == {"openai-organization": "org-1"}


def test_a_reference_that_the_tool_expands_gives_what_the_variable_holds(tmp_path: Path) -> None:
    home = Home(tmp_path, {"K": KEY})
    home.write({".demo/settings.json": '{"key": "{env:K}", "url": "http://{env:HOST}/v1"}'})
    look = home.look(demo())
    assert [sent(one)[:3] for one in look.effective.credentials] == [("authorization", KEY, "variable")]
    assert look.effective.base_url == "http:///v1"
    assert look.named("base_url") == ("HOST",)


def test_what_a_tool_appends_and_sends_is_said_by_its_template(tmp_path: Path) -> None:
    manifest = DEMO.replace("[request]", '[request]\npath = "/api/chat"\nstreams = false\ntimeout_seconds = 30')
    home = Home(tmp_path)
    home.write({".demo/settings.json": '{"url": "http://h/", "key": "k"}'})
    found = home.look(demo(manifest)).effective
    assert (found.url, found.streams, found.timeout_seconds) == ("http://h/api/chat", False, 30)


@pytest.mark.parametrize(("dialect", "header"), [("openai-chat", "authorization"), ("anthropic-messages", "x-api-key")])
def test_the_header_is_the_dialects_where_nothing_is_said(tmp_path: Path, dialect: str, header: str) -> None:
    manifest = DEMO.replace("openai-chat", dialect).replace('key = "authorization", ', "")
    home = Home(tmp_path, {"DEMO_KEY": KEY})
    assert [one.header for one in home.look(demo(manifest)).effective.credentials] == [header]


def test_no_key_is_in_what_is_said_of_a_request(tmp_path: Path) -> None:
    home = Home(tmp_path, {"ANTHROPIC_API_KEY": OTHER})
    home.write({CLAUDE: env(ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_CUSTOM_HEADERS=f"X-Key: {OTHER}")})
    said = repr(home.look("claude-code").effective)
    assert KEY not in said
    assert OTHER not in said


@pytest.mark.parametrize(
    ("tool", "variable"),
    [
        ("claude-code", "NODE_EXTRA_CA_CERTS"),
        ("codex", "CODEX_CA_CERTIFICATE"),
        ("cline", "NODE_EXTRA_CA_CERTS"),
        ("mistral-vibe", "SSL_CERT_FILE"),
        (demo(), "the variable that it reads for this"),
    ],
)
def test_who_trusts_no_certificate_is_told_the_variable_that_this_program_reads(
    tmp_path: Path, tool: Tool | str, variable: str
) -> None:
    said = {name: tell(value) for name, value in saying.values(Home(tmp_path).looks(tool)[0]).items()}
    assert f" name its file in {variable}, in the environment" in named("tls_untrusted_ca").filled(said).remedy


@pytest.mark.parametrize(("path", "expected"), [("k", [KEY]), ("~/k", []), ("../k", []), ("none", [])])
def test_settings_of_a_repository_speak_of_its_own_files(tmp_path: Path, path: str, expected: list[str]) -> None:
    layers = '[[layer]]\nname = "project"\nfile = "<project>/demo.json"\n'
    home = Home(tmp_path)
    home.write({"k": OTHER, "project/k": f"{KEY}\n", "project/demo.json": json.dumps({"key": f"{{file:{path}}}"})})
    look = home.look(demo(DEMO.replace('"{env:NAME}"', '"{file:PATH}"') + layers))
    assert [one.value.reveal() for one in look.effective.credentials if one.value is not None] == expected
