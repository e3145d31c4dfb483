"""The checks that ask nobody: for each, homes that it must find something in, and homes that it must not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.home import DEMO, KEY, OTHER, PROFILE, TRUSTED, Home, Shut, demo
from toolsync.doctor.checks import CHECKS
from toolsync.doctor.diagnosis import is_blocked
from toolsync.doctor.model import Finding
from toolsync.errors import KeyringLockedError, NoKeyringError
from toolsync.tool import Tool

CLAUDE = ".claude/settings.json"
CODEX = ".codex/config.toml"
OWN = ".demo/settings.json"
GATEWAY = "https://gw.example/api/v1"
ROOT = "https://gw.example/api"


@dataclass
class Row:
    """A home, a tool, and the (cause, certainty) of what the check finds.

    Attributes:
        says: what stands in the evidence, all lines together.
        says_not: what does not.
    """

    expected: list[tuple[str, str]]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    tool: Tool | str = field(default_factory=demo)
    says: str = ""
    says_not: str = "\0"
    reader: str = ""
    home: Mapping[str, Any] = field(default_factory=dict)


def found(place: Path, check: str, row: Row) -> tuple[Finding, ...]:
    home = Home(place, row.environ, **row.home)
    home.write(row.files)
    return tuple(CHECKS[check](home.look(row.tool, row.reader)))


def settings(**values: Any) -> dict[str, str | bytes]:
    return {OWN: json.dumps({"url": GATEWAY, "model": "m", **values}, ensure_ascii=False)}


def claude(**variables: str) -> dict[str, str | bytes]:
    return {CLAUDE: json.dumps({"env": variables})}


def helper(command: str) -> dict[str, str | bytes]:
    """Claude Code's file as toolsync writes it, with that command for the key."""
    return {CLAUDE: json.dumps({"env": {"ANTHROPIC_BASE_URL": ROOT, "ANTHROPIC_MODEL": "m"}, "apiKeyHelper": command})}


NONE: list[tuple[str, str]] = []


def cline(**settings: Any) -> dict[str, str | bytes]:
    """The file of Cline's program."""
    entry = {"settings": {"provider": "openai-compatible", **settings}, "updatedAt": "2026-01-01T00:00:00.000Z"}
    data = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    return {".cline/data/settings/providers.json": json.dumps(data)}


def editor(**settings: str) -> dict[str, str | bytes]:
    """The files of Cline in an editor, where its provider is the one that is meant."""
    state = {"actModeApiProvider": "openai", "openAiBaseUrl": settings.pop("baseUrl", GATEWAY)}
    return {
        ".cline/data/globalState.json": json.dumps(state),
        ".cline/data/secrets.json": json.dumps({"openAiApiKey": settings.pop("apiKey", KEY)}),
    }


def codex(base: str, rest: str = "", *, name: str = "r", top: str = "") -> dict[str, str | bytes]:
    """Codex's file with a provider of one's own."""
    table = f'[model_providers.{name}]\nbase_url = "{base}"\n{rest}'
    return {CODEX: f'{top}model_provider = "{name}"\n{table}'}


OTHER_ROOT = "https://other.example"


def cc_switch(address: str) -> bytes:
    """CC Switch's database with one row for Claude Code, which is chosen."""
    table = "id TEXT, app_type TEXT, name TEXT, settings_config TEXT, meta TEXT DEFAULT '{}', is_current BOOLEAN"
    table += ", website_url TEXT, notes TEXT, created_at INTEGER, sort_index INTEGER, PRIMARY KEY (id, app_type)"
    row = ("theirs", "claude", "Their row", json.dumps({"env": {"ANTHROPIC_BASE_URL": address}}))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA user_version = 17")
        database.execute(f"CREATE TABLE providers ({table})")
        database.execute(
            "INSERT INTO providers (id, app_type, name, settings_config, is_current) VALUES (?, ?, ?, ?, 1)", row
        )
        database.commit()
        return database.serialize()


STRICT = demo(DEMO.replace('"jsonc"', '"json-no-bom"'))
READER = demo(DEMO.replace('"{env:NAME}"', '"{env:NAME}", "{file:PATH}"'))
VENDOR = demo(DEMO.replace('"url", ', '"url", "$DEMO_URL", '))

ROWS: dict[str, dict[str, Row]] = {
    "syntax": {
        "all is well": Row(NONE, settings()),
        "no file at all": Row(NONE),
        "comments where they are allowed": Row(NONE, {OWN: '{ // mine\n "key": "k", }'}),
        "a byte-order mark where it is taken": Row(NONE, {CLAUDE: "\ufeff{}"}, tool="claude-code"),
        "an empty file": Row(NONE, {CLAUDE: ""}, tool="claude-code"),
        "a list for a table": Row(
            [("config_parse_error", "sure")],
            {CLAUDE: "[]"},
            tool="claude-code",
            says="settings.json:1: the file holds no",
        ),
        "a project's file that cannot be read, and its user does not trust": Row(
            NONE, {"project/.codex/config.toml": "model = ["}, tool="codex"
        ),
        "one that its user trusts": Row(
            [("config_parse_error", "sure")],
            {".codex/config.toml": TRUSTED, "project/.codex/config.toml": "model = ["},
            tool="codex",
        ),
        "a byte-order mark": Row(
            [("config_bom", "sure")], {OWN: "\ufeff{}"}, tool=STRICT, says="settings.json:1:1: a byte-order"
        ),
        "a comment": Row(
            [("config_json_not_strict", "sure")],
            {CLAUDE: '{\n "a": 1 // mine\n}'},
            tool="claude-code",
            says="settings.json:2:9",
        ),
        "a trailing comma": Row(
            [("config_json_not_strict", "sure")], {OWN: '{"a": 1,}'}, tool=STRICT, says=":1:8: a trailing comma"
        ),
        "JSON that ends early": Row(
            [("config_parse_error", "sure")], {OWN: '{\n "a": '}, says="~/.demo/settings.json:1:1: unclosed"
        ),
        "TOML with a backslash": Row(
            [("config_parse_error", "sure")], {CODEX: 'a = 1\np = "C:\\Users"\n'}, tool="codex", says="config.toml:2"
        ),
        "TOML with a key twice": Row(
            [("config_duplicate_key", "sure")],
            {CODEX: 'model = "m"\n\nmodel = "n"\n'},
            tool="codex",
            says="config.toml:3",
        ),
        "a table twice": Row(
            [("config_duplicate_key", "sure")], {CODEX: "[a]\n[b]\n[a]\n"}, tool="codex", says="config.toml:3"
        ),
        "UTF-16": Row([("config_parse_error", "sure")], {OWN: "{}".encode("utf-16")}, says="UTF-16"),
        "UTF-16 that Claude Code reads": Row(NONE, {CLAUDE: "\ufeff{}".encode("utf-16-le")}, tool="claude-code"),
        "a project's": Row(
            NONE, {"project/.claude/settings.local.json": "\ufeff{}".encode("utf-16-le")}, tool="claude-code"
        ),
        "UTF-16 that it reads, with a comment": Row(
            [("config_json_not_strict", "sure")],
            {CLAUDE: "\ufeff{\n} // mine".encode("utf-16-le")},
            tool="claude-code",
            says="settings.json:2:3: a comment",
        ),
        "UTF-16 in the other order, which it does not read": Row(
            [("config_parse_error", "sure")],
            {CLAUDE: "\ufeff{}".encode("utf-16-be")},
            tool="claude-code",
            says="UTF-16",
        ),
        "UTF-16 without its mark": Row(
            [("config_parse_error", "sure")], {CLAUDE: "{}".encode("utf-16-le")}, tool="claude-code", says=":1:2: stray"
        ),
        "UTF-16 that Codex does not read": Row(
            [("config_parse_error", "sure")], {CODEX: "\ufeff".encode("utf-16-le")}, tool="codex", says="UTF-16"
        ),
        "a managed file that cannot be parsed": Row(
            [("config_parse_error", "sure")], {"/etc/claude-code/managed-settings.json": "{"}, tool="claude-code"
        ),
        "a project's file with a comment": Row(
            [("config_json_not_strict", "sure")], {"project/.claude/settings.json": "{} // x"}, tool="claude-code"
        ),
    },
    "duplicates": {
        "the same value twice": Row(NONE, {OWN: '{"url": "http://h", "url": "http://h"}'}),
        "where nobody looks": Row(NONE, {OWN: '{"x": 1, "x": 2}'}),
        "in two tables": Row(NONE, {OWN: '{"url": "a", "t": {"url": "b"}}'}),
        "a table that a second one covers": Row(
            [("config_duplicate_key", "sure")],
            {CLAUDE: f'{{\n"env": {{"ANTHROPIC_BASE_URL": "{ROOT}"}},\n"env": {{}}\n}}'},
            tool="claude-code",
            says="settings.json:3: a second table of that name",
        ),
        "a table of no matter that a second one covers": Row(
            NONE, {CLAUDE: '{"hooks": {"a": 1}, "hooks": {}}'}, tool="claude-code"
        ),
        "the address, with two values": Row(
            [("config_duplicate_key", "likely")],
            {OWN: '{\n"url": "http://a",\n"url": "http://b"\n}'},
            says="settings.json:3",
        ),
    },
    "refused": {
        "all is well": Row(
            NONE,
            {
                CODEX: '[profiles.x]\n[model_providers.a]\nname = "A"\nwire_api = "responses"\n'
                '[model_providers.amazon-bedrock]\nbase_url = "http://h/v1"\n'
            },
            tool="codex",
        ),
        "no table of providers": Row(NONE, {CODEX: 'model_providers = "x"\n'}, tool="codex"),
        "a setting that the tool has given up": Row(
            [("config_parse_error", "sure")],
            {CODEX: 'model = "m"\nprofile = "x"\n'},
            tool="codex",
            says="Codex CLI does not start with `profile` at ~/.codex/config.toml:2",
        ),
        "a value that it has given up, of a provider that is not chosen": Row(
            [("config_parse_error", "sure")],
            {CODEX: '[model_providers.a]\nname = "A"\n[model_providers.b]\nname = "B"\nwire_api = "chat"\n'},
            tool="codex",
            says="`model_providers.b.wire_api` at ~/.codex/config.toml:5",
        ),
        "a provider without a name, that is not chosen": Row(
            [("config_parse_error", "sure")],
            {CODEX: 'model = "m"\n[model_providers.a]\nbase_url = "http://h/v1"\n'},
            tool="codex",
            says="Codex CLI does not start without `model_providers.a.name`, in the table at ~/.codex/config.toml:2",
        ),
        "a provider that the machine's file names": Row(
            NONE,
            {
                CODEX: '[model_providers.a]\nbase_url = "http://h/v1"\n',
                "/etc/codex/config.toml": '[model_providers.a]\nname = "A"\n',
            },
            tool="codex",
        ),
        "a name of blanks": Row(
            [("config_parse_error", "sure")], {CODEX: '[model_providers.a]\nname = " "\n'}, tool="codex"
        ),
        "a provider that it has built in": Row(
            [("config_parse_error", "sure")],
            {CODEX: '[model_providers.openai]\nbase_url = "http://h/v1"\n'},
            tool="codex",
            says="Codex CLI does not start with `model_providers.openai` at ~/.codex/config.toml:1",
        ),
    },
    "presence": {
        "a key": Row(NONE, settings(key=KEY)),
        "a variable": Row(NONE, settings(), {"DEMO_KEY": KEY}),
        "nobody told it of a gateway": Row(NONE, {OWN: "{}"}),
        "a command": Row(
            NONE,
            {CLAUDE: json.dumps({"apiKeyHelper": "false", "env": {"ANTHROPIC_BASE_URL": ROOT}})},
            tool="claude-code",
        ),
        "no key": Row([("key_missing", "likely")], settings(), says="carries no credential"),
        "an empty key": Row([("key_missing", "likely")], settings(key="")),
        "a variable that is empty": Row(
            [("key_env_empty", "sure")], settings(), {"DEMO_KEY": ""}, says="DEMO_KEY is empty"
        ),
        "a reference to nothing": Row(
            [("key_env_empty", "sure")], settings(key="{env:NO_SUCH}"), says="NO_SUCH is not set"
        ),
        "a reference to something empty": Row(
            [("key_env_empty", "sure")], settings(key="{env:E}"), {"E": ""}, says="E is empty"
        ),
        "env_key of a variable that is not set": Row(
            [("key_env_empty", "sure")],
            {
                CODEX: f'model_provider = "r"\n[model_providers.r]\nbase_url = "{GATEWAY}"\nenv_key = "RK"\n',
                ".bashrc": "\nexport RK=x\n",
            },
            tool="codex",
            says="~/.bashrc:2 sets it",
        ),
        "a provider without env_key": Row(
            [("key_not_sent", "likely")],
            {CODEX: f'model_provider = "r"\n[model_providers.r]\nbase_url = "{GATEWAY}"\n'},
            {"OPENAI_API_KEY": KEY},
            tool="codex",
            says="nothing beside it says which key",
        ),
        "the key in a variable that it does not look at": Row(
            [("key_not_sent", "likely")], settings(), {"WORK_KEY": KEY}, says="$WORK_KEY holds the key"
        ),
        "a keyring that is not there": Row(
            [("keyring_unavailable", "likely")], settings(), home={"vault": Shut(NoKeyringError("no keyring answers"))}
        ),
        "a keyring that is locked": Row(
            [("keyring_locked", "likely")], settings(), home={"vault": Shut(KeyringLockedError("it is locked"))}
        ),
        "a locked keyring that nobody needs": Row(
            NONE, settings(key=KEY), home={"vault": Shut(KeyringLockedError("it is locked"))}
        ),
        "the variable that is toolsync's own is no such": Row(
            [("key_missing", "likely")],
            settings(),
            {"WORK_KEY": KEY},
            home={"profile": PROFILE.replace("keyring:work", "env:WORK_KEY")},
        ),
        "settings without a place for a key": Row(
            [("key_not_sent", "likely")],
            settings(),
            tool=demo(DEMO.replace('key = ["key", "$DEMO_KEY"]\n', "").replace('key = "authorization", ', "")),
        ),
        "a tool that takes none": Row(
            NONE,
            settings(),
            tool=demo(
                DEMO.replace('key = ["key", "$DEMO_KEY"]\n', "")
                .replace('key = "authorization", ', "")
                .replace('[key]\nplaintext = "<key>"\n', "")
            ),
        ),
    },
    "shape": {
        "a key": Row(NONE, settings(key=KEY)),
        "a key of another form": Row(NONE, settings(key="b7f3c1d2-8e4a-4f6b-9c0d-1e2f3a4b5c6d")),
        "a JSON Web Token": Row(NONE, settings(key="eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123")),
        "a key with an exclamation mark": Row(NONE, settings(key="!aB3dE5fG7hI9")),
        "a key that holds a dollar": Row(NONE, settings(key="ab$cd1234567")),
        "a key of Zhipu's": Row(NONE, settings(key="1a2b3c4d5e6f7a8b9c0d.AbCdEfGhIjKlMnOp")),
        "the vendor's own key": Row(NONE, settings(key="sk-proj-abcdef", url="https://api.openai.com/v1")),
        "a shell's reference": Row(
            [("key_literal_placeholder", "sure")], settings(key="${RELAY}"), {"RELAY": KEY}, says="RELAY is set"
        ),
        "a bare variable": Row([("key_literal_placeholder", "sure")], settings(key="$RELAY_KEY")),
        "one of Windows": Row([("key_literal_placeholder", "sure")], settings(key="%RELAY_KEY%")),
        "one of Continue's": Row([("key_literal_placeholder", "sure")], settings(key="${{ secrets.RELAY_KEY }}")),
        "one of VS Code's": Row(
            [("key_literal_placeholder", "sure")], claude(ANTHROPIC_AUTH_TOKEN="${env:RELAY_KEY}"), tool="claude-code"
        ),
        "one of PowerShell's": Row([("key_literal_placeholder", "sure")], settings(key="$env:RELAY_KEY")),
        "one with a default": Row([("key_literal_placeholder", "sure")], settings(key="${RELAY_KEY:-none}")),
        "a shell's command": Row([("key_literal_placeholder", "sure")], settings(key="$(pass show relay)")),
        "a template's": Row([("key_literal_placeholder", "sure")], settings(key="{{ .relay_key }}")),
        "opencode's file": Row([("key_literal_placeholder", "sure")], settings(key="{file:~/.relay}")),
        "a file that the tool reads": Row(NONE, {**settings(key="{file:~/k}"), "k": f"{KEY}\n"}, tool=READER),
        "a file beside the settings": Row(NONE, {**settings(key="{file:k}"), ".demo/k": KEY}, tool=READER),
        "what stands in such a file": Row(
            [("key_not_a_key", "sure")], {**settings(key="{file:k}"), ".demo/k": f"Bearer {KEY}"}, tool=READER
        ),
        "a gap of an example": Row(
            [("key_placeholder_value", "likely")], settings(key="<your api key>"), says="a gap in an example"
        ),
        "invented syntax": Row([("key_literal_placeholder", "sure")], settings(key="localEnv:RELAY_KEY")),
        "Bearer before a reference": Row([("key_literal_placeholder", "sure")], settings(key="Bearer ${RELAY_KEY}")),
        "its own syntax is expanded": Row(NONE, settings(key="{env:RELAY_KEY}"), {"RELAY_KEY": KEY}),
        "another tool's, in Claude Code": Row(
            [("key_literal_placeholder", "sure")], claude(ANTHROPIC_AUTH_TOKEN="{env:RELAY_KEY}"), tool="claude-code"
        ),
        "a reference in a header": Row(
            [("key_literal_placeholder", "sure")], settings(key=KEY, headers={"X-Api-Token": "${T}"})
        ),
        "a carriage return": Row(
            [("key_whitespace", "sure")], settings(key=f"{KEY}\r"), says="carriage return (U+000D)"
        ),
        "a line break": Row([("key_whitespace", "sure")], settings(key=f"{KEY}\n"), says="U+000A"),
        "a line break inside": Row(
            [("key_whitespace", "sure")], settings(key=f"{KEY[:20]}\n{KEY[20:]}"), says="inside it"
        ),
        "a space before": Row([("key_whitespace", "sure")], settings(key=f" {KEY}"), says="at its beginning"),
        "a no-break space": Row([("key_whitespace", "sure")], settings(key=f"{KEY}\xa0"), says="U+00A0"),
        "only white space": Row([("key_whitespace", "sure")], settings(key="  ")),
        "white space that the tool leaves out": Row(NONE, claude(ANTHROPIC_AUTH_TOKEN=f" {KEY} "), tool="claude-code"),
        "white space that one program leaves out": Row(NONE, cline(apiKey=f"\n{KEY}\xa0"), tool="cline", reader="cli"),
        "and another sends": Row(
            [("key_whitespace", "sure")],
            editor(apiKey=f"\n{KEY}"),
            tool="cline",
            reader="vscode",
            says="at its beginning",
        ),
        "white space that gets lost on the way": Row(NONE, editor(apiKey=f"{KEY}\r\n"), tool="cline", reader="vscode"),
        "a space that does": Row(NONE, codex(GATEWAY, f'experimental_bearer_token = "{KEY} "\n'), tool="codex"),
        "a line break that does not": Row(
            [("key_whitespace", "sure")], codex(GATEWAY, f'experimental_bearer_token = "{KEY}\\n"\n'), tool="codex"
        ),
        "nothing but white space that would": Row(
            [("key_whitespace", "sure")], editor(apiKey=" \n"), tool="cline", reader="vscode"
        ),
        "Bearer before it": Row([("key_not_a_key", "sure")], settings(key=f"Bearer {KEY}"), says="Bearer"),
        "an address": Row([("key_not_a_key", "sure")], settings(key="https://gw.example/api")),
        "a header": Row([("key_not_a_key", "sure")], settings(key=f"x-api-key: {KEY}")),
        "a sentence": Row([("key_not_a_key", "sure")], settings(key="You are a helpful assistant")),
        "stars": Row([("key_not_a_key", "sure")], settings(key="sk-abcd****wxyz"), says="masked"),
        "an ellipsis": Row([("key_not_a_key", "sure")], settings(key="sk-abcd…wxyz"), says="masked"),
        "three dots": Row([("key_not_a_key", "sure")], settings(key="sk-abcd...wxyz"), says="masked"),
        "quotation marks": Row([("key_not_a_key", "sure")], settings(key=f'"{KEY}"')),
        "a full-width letter": Row(
            [("key_not_a_key", "sure")], settings(key="sk-\uff21bc123"), says="fullwidth latin capital letter a"
        ),
        "a zero-width space": Row([("key_not_a_key", "sure")], settings(key=f"{KEY}\u200b"), says="zero width space"),
        "not-needed": Row([("key_placeholder_value", "likely")], settings(key="not-needed")),
        "sk-xxxx": Row([("key_placeholder_value", "likely")], settings(key="sk-xxxxxxxx")),
        "your-api-key": Row([("key_placeholder_value", "likely")], settings(key="your-api-key")),
        "YOUR_API_KEY_HERE": Row([("key_placeholder_value", "likely")], settings(key="YOUR_API_KEY_HERE")),
        "noop": Row([("key_placeholder_value", "likely")], settings(key="noop")),
        "EMPTY": Row([("key_placeholder_value", "likely")], settings(key="EMPTY")),
        "sk-no-key-required": Row([("key_placeholder_value", "likely")], settings(key="sk-no-key-required")),
        "CC Switch's own": Row([("key_placeholder_value", "likely")], settings(key="PROXY_MANAGED")),
        "changeme": Row([("key_placeholder_value", "likely")], settings(key="changeme")),
        "a suffix": Row([("key_malformed", "open")], settings(key=f"sk-{'aB3' * 16}-12")),
        "another provider's key": Row(
            [("key_wrong_provider", "likely")],
            settings(key="sk-ant-api03-abcdef123", url="https://api.openai.com/v1"),
            says="Anthropic",
        ),
        "a known prefix at a relay": Row([("key_wrong_provider", "open")], settings(key="sk-or-v1-abcdef123")),
    },
    "held_back": {
        "nothing declined": Row(NONE, claude(ANTHROPIC_API_KEY=KEY), tool="claude-code"),
        "another key declined": Row(
            NONE,
            {
                **claude(ANTHROPIC_API_KEY=KEY),
                ".claude.json": json.dumps({"customApiKeyResponses": {"rejected": [OTHER[-20:] + "x"]}}),
            },
            tool="claude-code",
        ),
        "this key declined": Row(
            [("key_not_approved", "sure")],
            {
                **claude(ANTHROPIC_API_KEY=KEY),
                ".claude.json": json.dumps({"customApiKeyResponses": {"rejected": [KEY[-20:]]}}),
            },
            tool="claude-code",
        ),
        "this key declined, and another is sent": Row(
            [("key_not_approved", "likely")],
            {
                **claude(ANTHROPIC_API_KEY=KEY, ANTHROPIC_AUTH_TOKEN=KEY),
                ".claude.json": json.dumps({"customApiKeyResponses": {"rejected": [KEY[-20:]]}}),
            },
            tool="claude-code",
        ),
    },
    "helper": {
        "it prints the key": Row(NONE, {CLAUDE: json.dumps({"apiKeyHelper": f"echo {KEY}"})}, tool="claude-code"),
        "no command": Row(NONE, claude(ANTHROPIC_AUTH_TOKEN=KEY), tool="claude-code"),
        "a variable takes its place": Row(
            NONE,
            {
                CLAUDE: json.dumps(
                    {"apiKeyHelper": "false", "env": {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_API_KEY": KEY}}
                )
            },
            tool="claude-code",
        ),
        "it fails": Row(
            [("key_helper_failed", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "echo no >&2; exit 3"})},
            tool="claude-code",
            says="exit code 3: no",
        ),
        "it is gone": Row(
            [("key_helper_failed", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "/opt/moved/bin/print-key work"})},
            tool="claude-code",
            says="there is no program /opt/moved/bin/print-key",
        ),
        "it prints nothing": Row(
            [("key_helper_failed", "sure")], {CLAUDE: json.dumps({"apiKeyHelper": "true"})}, tool="claude-code"
        ),
        "it prints more than the key": Row(
            [("key_helper_failed", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "echo a; echo b"})},
            tool="claude-code",
            says="2 lines",
        ),
        "Codex's, which is not there": Row(
            [("key_helper_failed", "sure")],
            codex("http://h", 'auth = { command = "no-such-program", args = [] }\n'),
            tool="codex",
        ),
        "ours, and it fails": Row(
            [("key_helper_failed", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "false toolsync key print work"})},
            tool="claude-code",
        ),
        "ours, and the keyring is locked": Row(
            [("keyring_locked", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "false toolsync key print work"})},
            tool="claude-code",
            home={"vault": Shut(KeyringLockedError("it is locked"))},
        ),
        "ours, and it was locked a moment ago": Row(
            [("keyring_locked", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "echo 'the keyring is locked' >&2; false toolsync key print work"})},
            tool="claude-code",
        ),
        "ours, and there is no keyring": Row(
            [("keyring_unavailable", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "false toolsync key print work"})},
            tool="claude-code",
            home={"vault": Shut(NoKeyringError("no keyring answers"))},
        ),
        "ours, and the keyring holds nothing": Row(
            [("key_missing", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "false toolsync key print work"})},
            tool="claude-code",
            home={"profile": PROFILE.replace("keyring:work", "keyring:none")},
        ),
        "ours, and it was moved": Row(
            [("key_helper_failed", "sure")],
            {CLAUDE: json.dumps({"apiKeyHelper": "/old/bin/python -I -m toolsync key print work"})},
            tool="claude-code",
            home={"vault": Shut(KeyringLockedError("it is locked"))},
            says="there is no program /old/bin/python",
        ),
        "a repository's is not run": Row(
            NONE, {"project/.claude/settings.json": json.dumps({"apiKeyHelper": "false"})}, tool="claude-code"
        ),
    },
    "two": {
        "one": Row(NONE, claude(ANTHROPIC_AUTH_TOKEN=KEY), tool="claude-code"),
        "the same twice": Row(NONE, claude(ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_API_KEY=KEY), tool="claude-code"),
        "one command for both headers": Row(
            NONE, {CLAUDE: json.dumps({"apiKeyHelper": f"echo {KEY}"})}, tool="claude-code"
        ),
        "a stale one emptied": Row(
            NONE,
            claude(ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_API_KEY=""),
            {"ANTHROPIC_API_KEY": OTHER},
            tool="claude-code",
        ),
        "two of one file": Row(
            [("auth_conflict_both_set", "sure")],
            claude(ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_API_KEY=OTHER),
            tool="claude-code",
        ),
        "one of the shell's": Row(
            [("auth_conflict_both_set", "sure")],
            {**claude(ANTHROPIC_AUTH_TOKEN=KEY), ".zshrc": "export ANTHROPIC_API_KEY=x\n"},
            {"ANTHROPIC_API_KEY": OTHER},
            tool="claude-code",
            says="~/.zshrc:1",
        ),
        "one of a login": Row(
            [("auth_conflict_both_set", "sure")],
            {**claude(ANTHROPIC_AUTH_TOKEN=KEY), ".claude.json": json.dumps({"primaryApiKey": OTHER})},
            tool="claude-code",
            says="primaryApiKey",
        ),
        "a header that wins over one half of a helper's": Row(
            [("auth_conflict_both_set", "sure")],
            {
                CLAUDE: json.dumps({"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_BASE_URL": ROOT}}),
                ".zshrc": "export ANTHROPIC_CUSTOM_HEADERS=x\n",
            },
            {"ANTHROPIC_CUSTOM_HEADERS": f"x-api-key: {OTHER}"},
            tool="claude-code",
            says="x-api-key: $ANTHROPIC_CUSTOM_HEADERS of the environment (set at ~/.zshrc:1)",
        ),
        "a header of the profile's own beside the key": Row(
            NONE,
            settings(key=KEY, headers={"X-Api-Key": OTHER}),
            home={"profile": f'{PROFILE}request = {{ headers = {{ X-Api-Key = "keyring:second" }} }}\n'},
        ),
        "a header beside the key": Row(
            [("auth_conflict_both_set", "sure")], settings(key=KEY, headers={"X-Api-Key": OTHER})
        ),
    },
    "foreign": {
        "ours": Row(NONE, settings(key=KEY)),
        "another one in its own file": Row(NONE, settings(key=OTHER)),
        "ours from the shell": Row(NONE, settings(), {"DEMO_KEY": KEY}),
        "at another address": Row(NONE, settings(url="https://elsewhere.example/v1"), {"DEMO_KEY": OTHER}),
        "the keyring is silent": Row(
            NONE, settings(), {"DEMO_KEY": OTHER}, home={"profile": PROFILE.replace(":work", ":none")}
        ),
        "a stale one of the shell's": Row(
            [("foreign_credential", "likely")], settings(), {"DEMO_KEY": OTHER}, says="$DEMO_KEY"
        ),
        "one of a project's": Row(
            [("foreign_credential", "likely")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                "project/.claude/settings.local.json": json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": OTHER}}),
            },
            tool="claude-code",
            says="settings.local.json:1",
        ),
        "a header in place of ours, in its own file": Row(
            [("foreign_credential", "likely")],
            {**claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_API_KEY=KEY, ANTHROPIC_CUSTOM_HEADERS=f"X-Api-Key: {OTHER}")},
            tool="claude-code",
            says="ANTHROPIC_CUSTOM_HEADERS",
        ),
        "a header with our key": Row(
            NONE,
            {**claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_CUSTOM_HEADERS=f"X-Api-Key: {KEY}")},
            tool="claude-code",
        ),
        "the token of a login": Row(
            [("foreign_credential", "likely")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                ".claude/.credentials.json": json.dumps({"claudeAiOauth": {"accessToken": OTHER}}),
            },
            tool="claude-code",
            says="~/.claude/.credentials.json:1",
        ),
        "a header that the profile does not have": Row(
            [("foreign_credential", "likely")], settings(key=KEY, headers={"X-Team-Token": OTHER}), says="x-team-token"
        ),
        "a header that is no secret": Row(NONE, settings(key=KEY, headers={"X-Team": "red"})),
    },
    "organisation": {
        "none": Row(NONE, settings(key=KEY)),
        "a stale one": Row(
            [("org_mismatch", "open")], settings(key=KEY), {"OPENAI_ORG_ID": "org-1"}, says="openai-organization"
        ),
        "one in the headers": Row([("org_mismatch", "open")], settings(headers={"OpenAI-Project": "p"})),
    },
    "login": {
        "a login alone": Row(NONE, {".codex/auth.json": json.dumps({"OPENAI_API_KEY": OTHER})}, tool="codex"),
        "a key of the shell's before it": Row(
            [("env_shadows_login", "sure")],
            {".claude.json": json.dumps({"primaryApiKey": OTHER})},
            {"ANTHROPIC_API_KEY": KEY},
            tool="claude-code",
        ),
        "a key of the shell's before an account": Row(
            [("env_shadows_login", "sure")],
            {".claude.json": json.dumps({"oauthAccount": {"emailAddress": "a@b.example"}})},
            {"ANTHROPIC_API_KEY": KEY},
            tool="claude-code",
            says="passed over: ~/.claude.json:1 (oauthAccount.emailAddress)",
        ),
        "the same at our gateway": Row(
            [("env_shadows_login", "likely")],
            {".claude.json": json.dumps({"oauthAccount": {"emailAddress": "a@b.example"}})},
            {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": ROOT},
            tool="claude-code",
        ),
        "a key of the settings before it": Row(
            NONE,
            {**claude(ANTHROPIC_API_KEY=KEY), ".claude.json": json.dumps({"primaryApiKey": OTHER})},
            tool="claude-code",
        ),
        "the same key": Row(
            NONE, {".claude.json": json.dumps({"primaryApiKey": KEY})}, {"ANTHROPIC_API_KEY": KEY}, tool="claude-code"
        ),
    },
    "wanted": {
        "as wanted": Row(NONE, settings(key=KEY)),
        "spelled otherwise": Row(NONE, settings(url="https://GW.example:443/api/v1/")),
        "not set to the profile": Row(NONE, settings(url="https://elsewhere.example/v1")),
        "no profile": Row(NONE, settings(url="https://elsewhere.example/v1"), home={"profile": None}),
        "another model, wanted nowhere": Row(NONE, settings(model="other")),
        "the shell's variable below the settings": Row(
            [("config_shadowed", "sure")],
            {**claude(ANTHROPIC_BASE_URL="http://old"), ".bashrc": f"\nexport ANTHROPIC_BASE_URL={ROOT}\n"},
            {"ANTHROPIC_BASE_URL": ROOT},
            tool="claude-code",
            says="used: http://old, from ~/.claude/settings.json:1",
        ),
        "the user's below the project's": Row(
            [("config_shadowed", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_AUTH_TOKEN=KEY),
                "project/.claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://evil"}}),
            },
            tool="claude-code",
            says="the key would go to where the project's file says",
        ),
        "our helper below the project's": Row(
            [("config_shadowed", "sure"), ("config_shadowed", "sure")],
            {
                **helper(f"echo {KEY}"),
                "project/.claude/settings.json": json.dumps({"apiKeyHelper": "echo theirs"}),
            },
            tool="claude-code",
            says="Claude Code runs that command of the project's for its key",
        ),
        "our helper below a local file's": Row(
            [("config_shadowed", "sure"), ("config_shadowed", "sure")],
            {**helper(f"echo {KEY}"), "project/.claude/settings.local.json": json.dumps({"apiKeyHelper": "echo x"})},
            tool="claude-code",
            says="used: the key from ~/project/.claude/settings.local.json:1 (apiKeyHelper)",
        ),
        "the same helper in the project": Row(
            NONE,
            {
                **helper(f"echo {KEY}"),
                "project/.claude/settings.json": json.dumps({"apiKeyHelper": f"echo {KEY}"}),
            },
            tool="claude-code",
        ),
        "a project's helper, and none of ours": Row(
            NONE,
            {"project/.claude/settings.json": json.dumps({"apiKeyHelper": "echo theirs"})},
            tool="claude-code",
        ),
        "the model of Claude Code in a project": Row(
            [("config_shadowed", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_MODEL="m", ANTHROPIC_AUTH_TOKEN=KEY),
                "project/.claude/settings.json": json.dumps({"env": {"ANTHROPIC_MODEL": "theirs"}}),
            },
            tool="claude-code",
            says_not="the key would go to",
        ),
        "below two others": Row(
            [("config_shadowed", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                "project/.claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://a"}}),
                "project/.claude/settings.local.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://b"}}),
            },
            tool="claude-code",
            says="used: http://b",
        ),
        "a variable before the file": Row(
            [("config_shadowed", "sure")],
            settings(),
            {"DEMO_URL": "http://old/v1"},
            tool=demo(DEMO.replace('base_url = ["url", ', 'base_url = ["$DEMO_URL", "url", ')),
            says="used: http://old/v1, from $DEMO_URL",
        ),
        "the model of a project": Row(
            [("config_shadowed", "sure")],
            {
                **codex(GATEWAY, TRUSTED, name="toolsync", top='model = "m"\n'),
                "project/.codex/config.toml": 'model = "theirs"\n',
            },
            tool="codex",
            says="used: theirs",
        ),
        "the model of a project that is not trusted": Row(
            NONE,
            {
                **codex(GATEWAY, name="toolsync", top='model = "m"\n'),
                "project/.codex/config.toml": 'model = "theirs"\n',
            },
            tool="codex",
        ),
        "our model in a project that is not trusted": Row(
            [("project_config_ignored", "sure")],
            {
                **codex(GATEWAY, name="toolsync", top='model = "old"\n'),
                "project/.codex/config.toml": 'model = "m"\n',
            },
            tool="codex",
            says="used: old",
        ),
        "managed settings": Row(
            [("config_managed_override", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                "/etc/claude-code/managed-settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://corp"}}),
            },
            tool="claude-code",
        ),
        "a drop-in of managed settings": Row(
            [("config_managed_override", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                "/etc/claude-code/managed-settings.json": "{}",
                "/etc/claude-code/managed-settings.d/10-gateway.json": (
                    '{"env": {\n"ANTHROPIC_BASE_URL": "http://corp"}}'
                ),
            },
            tool="claude-code",
            says="/etc/claude-code/managed-settings.d/10-gateway.json:2 (env.ANTHROPIC_BASE_URL)",
        ),
        "a project's provider": Row(
            [("project_config_ignored", "sure")],
            {
                CODEX: 'model = "m"\n',
                "project/.codex/config.toml": f'model_provider = "r"\n[model_providers.r]\nbase_url = "{GATEWAY}"\n',
            },
            tool="codex",
            says="project/.codex/config.toml:3",
        ),
        "a built-in provider changed": Row(
            [("base_url_not_honoured", "sure")],
            {CODEX: f'[model_providers.openai]\nbase_url = "{GATEWAY}"\n'},
            tool="codex",
        ),
        "a provider that is defined, and not chosen": Row(
            [("base_url_not_honoured", "sure")],
            {CODEX: f'[model_providers.r]\nbase_url = "{GATEWAY}"\nmodel_provider = "r"\n'},
            tool="codex",
            says="config.toml:2 (model_providers.r.base_url)",
        ),
        "a variable in the right file, at the wrong place": Row(
            [("base_url_not_honoured", "sure")],
            {CLAUDE: json.dumps({"ANTHROPIC_BASE_URL": ROOT})},
            tool="claude-code",
            says="settings.json:1 (ANTHROPIC_BASE_URL)",
        ),
        "a provider that is spelled otherwise": Row(
            NONE,
            {CODEX: f'model_provider = "R"\n[model_providers.r]\nbase_url = "{GATEWAY}"\n'},
            tool="codex",
        ),
        "a provider beside the chosen one": Row(
            NONE,
            {
                CODEX: f'model_provider = "q"\n[model_providers.q]\nbase_url = "https://q"\n'
                f'[model_providers.r]\nbase_url = "{GATEWAY}"\n'
            },
            tool="codex",
        ),
        "a variable that it does not read": Row(
            [("base_url_not_honoured", "sure")], {}, {"OPENAI_BASE_URL": GATEWAY}, tool="codex", says="$OPENAI_BASE_URL"
        ),
        "a variable that it reads is no such": Row(NONE, {}, {"DEMO_URL": GATEWAY}, tool=VENDOR),
        "a proxy is no such": Row(NONE, {}, {"HTTPS_PROXY": GATEWAY}, tool="codex"),
        "a local file of the user's instead of the settings": Row(
            [("config_wrong_file", "sure")],
            {".claude/settings.local.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": ROOT}}, indent=1)},
            tool="claude-code",
            says="~/.claude/settings.local.json:3",
        ),
        "the state file is read too": Row(
            NONE, {".claude.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": ROOT}})}, tool="claude-code"
        ),
        "a file of another name beside its own": Row(
            [("config_wrong_file", "likely")],
            {**settings(url="http://old/v1"), ".demo/config.json": f'{{\n"url": "{GATEWAY}/",\n}}'},
            says="~/.demo/config.json:2 holds it",
        ),
        "a folder without its dot": Row(
            [("config_wrong_file", "likely")],
            {"demo/settings.json": json.dumps({"url": GATEWAY})},
            says="~/demo/settings.json:1",
        ),
        "a file beside its own that the profile names for another tool": Row(
            NONE,
            {**settings(url="http://old/v1"), ".demo/config.json": json.dumps({"baseUrl": GATEWAY})},
            home={"profile": PROFILE + '\n[profiles.work.tool.settings-json]\npaths = ["~/.demo/config.json"]\n'},
        ),
        "a longer address beside its own": Row(
            NONE, {**settings(url="http://old/v1"), ".demo/config.json": f'{{"url": "{GATEWAY}/models"}}'}
        ),
        "our key below a stale one of the shell's": Row(
            [("config_shadowed", "sure")],
            {**settings(key=KEY), ".profile": "export DEMO_KEY=x\n"},
            {"DEMO_KEY": OTHER},
            tool=demo(DEMO.replace('key = ["key", "$DEMO_KEY"]', 'key = ["$DEMO_KEY", "key"]')),
            says="used: the key from $DEMO_KEY of the environment (set at ~/.profile:1)",
        ),
        "our key below a login of Cline's": Row(
            [("config_shadowed", "sure")],
            cline(apiKey=KEY, baseUrl=GATEWAY, model="m", auth={"accessToken": OTHER}),
            tool="cline",
            reader="cli",
            says="auth.accessToken",
        ),
        "our key above a stale one": Row(NONE, settings(key=KEY), {"DEMO_KEY": OTHER}),
        "two strange keys": Row(
            NONE,
            settings(key=OTHER),
            {"DEMO_KEY": f"{OTHER}-2"},
            tool=demo(DEMO.replace('key = ["key", "$DEMO_KEY"]', 'key = ["$DEMO_KEY", "key"]')),
        ),
        "settings of VS Code for Cline": Row(
            [("config_wrong_file", "sure")],
            {".config/Code/User/settings.json": f'{{\n// mine\n"cline.openAiBaseUrl": "{GATEWAY}",\n}}'},
            tool="cline",
            reader="cli",
            says="settings.json:3",
        ),
    },
    "provider": {
        "the one that is meant": Row(
            NONE,
            {".cline/data/globalState.json": json.dumps({"actModeApiProvider": "openai", "openAiBaseUrl": GATEWAY})},
            tool="cline",
            reader="vscode",
        ),
        "another one": Row(
            [("base_url_not_honoured", "sure")],
            {
                ".cline/data/globalState.json": json.dumps(
                    {"actModeApiProvider": "openai-native", "openAiBaseUrl": GATEWAY}
                )
            },
            tool="cline",
            reader="vscode",
            says="openai-native",
        ),
        "the file that names it is not read": Row(
            NONE,
            {**cline(apiKey=KEY, baseUrl=GATEWAY, model="m"), ".cline/data/globalState.json": "{\n// mine\n}"},
            tool="cline",
            reader="vscode",
        ),
        "a provider of another name, whose own address it is": Row(NONE, codex(GATEWAY), tool="codex"),
        "a cloud's switch that is off": Row(
            NONE, claude(ANTHROPIC_BASE_URL=ROOT), {"CLAUDE_CODE_USE_BEDROCK": "0"}, tool="claude-code"
        ),
        "a cloud's switch left behind": Row(
            [("base_url_not_honoured", "sure")],
            claude(ANTHROPIC_BASE_URL=ROOT),
            {"CLAUDE_CODE_USE_BEDROCK": "1"},
            tool="claude-code",
            says="$CLAUDE_CODE_USE_BEDROCK",
        ),
    },
    "managed": {
        "the user's own": Row(NONE, claude(ANTHROPIC_AUTH_TOKEN=KEY), tool="claude-code"),
        "a provider that an organisation requires": Row(
            [("config_managed_override", "sure")],
            {
                **codex(GATEWAY, name="toolsync", top='model = "m"\n'),
                "/etc/codex/requirements.toml": (
                    'model_provider = "corp"\n[model_providers.corp]\nbase_url = "http://corp/v1"\n'
                ),
            },
            tool="codex",
            says="/etc/codex/requirements.toml",
        ),
        "a cloud that an organisation chooses": Row(
            [("config_managed_override", "sure")],
            {
                **claude(ANTHROPIC_BASE_URL=ROOT),
                "/etc/claude-code/managed-settings.d/1.json": '{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}',
            },
            tool="claude-code",
        ),
        "a key for everybody": Row(
            [("config_managed_override", "likely")],
            {"/etc/claude-code/managed-settings.json": json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": OTHER}})},
            tool="claude-code",
        ),
    },
    "incomplete": {
        "address and model": Row(NONE, settings()),
        "neither": Row(NONE, {OWN: "{}"}),
        "no model": Row([("config_incomplete", "open")], {OWN: json.dumps({"url": GATEWAY})}, says="which model"),
        "a model that an alias stands for": Row(
            NONE,
            claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_MODEL="sonnet", ANTHROPIC_DEFAULT_SONNET_MODEL="m"),
            tool="claude-code",
        ),
        "an alias that stands for nothing here": Row(
            [("config_incomplete", "open")],
            claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_MODEL="sonnet"),
            tool="claude-code",
        ),
        "a model's slot that the profile fills": Row(
            [("config_incomplete", "likely")],
            claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_MODEL="m"),
            tool="claude-code",
            says="model_haiku",
            home={"profile": f'{PROFILE}[profiles.work.models]\nhaiku = "h"\n'},
        ),
        "the same at another address": Row(
            NONE,
            claude(ANTHROPIC_BASE_URL="http://elsewhere", ANTHROPIC_MODEL="m"),
            tool="claude-code",
            home={"profile": f'{PROFILE}[profiles.work.models]\nhaiku = "h"\n'},
        ),
        "a provider that is described": Row(
            NONE,
            {CODEX: f'model = "m"\nmodel_provider = "r"\n[model_providers.r]\nbase_url = "{GATEWAY}"\n'},
            tool="codex",
        ),
        "a provider that is not": Row(
            [("config_incomplete", "sure")],
            {CODEX: 'model = "m"\nmodel_provider = "r"\n'},
            tool="codex",
            says="model_providers.r",
        ),
        "a provider that is built in": Row(NONE, {CODEX: 'model = "m"\nmodel_provider = "ollama"\n'}, tool="codex"),
        "the default one": Row(NONE, {CODEX: 'model = "m"\nmodel_provider = "openai"\n'}, tool="codex"),
        "a provider of Cline's without an entry": Row(
            [("config_incomplete", "sure")],
            {
                ".cline/data/settings/providers.json": json.dumps(
                    {"version": 1, "lastUsedProvider": "anthropic", "providers": {}}
                )
            },
            tool="cline",
            reader="cli",
        ),
    },
    "address": {
        "a usual one": Row(NONE, settings()),
        "none": Row(NONE, {}, tool="cline", reader="cli"),
        "a port, a path, IPv6": Row(NONE, settings(url="http://[::1]:8000/a/v1")),
        "a name in another script": Row(NONE, settings(url="https://例え.example/v1")),
        "no scheme": Row([("url_malformed", "sure")], settings(url="gw.example/v1"), says="does not start with"),
        "a space": Row([("url_malformed", "sure")], settings(url="https://gw .example/v1")),
        "a bad port": Row([("url_malformed", "sure")], settings(url="https://gw.example:99999/v1")),
        "a query": Row([("url_malformed", "sure")], settings(url="https://gw.example/v1?key=x"), says="query"),
        "credentials": Row(
            [("url_malformed", "sure")], settings(url=f"https://user:{OTHER}@gw.example/v1"), says="user name"
        ),
        "white space at its end": Row([("url_malformed", "sure")], settings(url=f"{GATEWAY} "), says="white space"),
        "white space that the tool leaves out": Row(NONE, claude(ANTHROPIC_BASE_URL=f"{ROOT} "), tool="claude-code"),
        "white space that one program leaves out": Row(NONE, cline(baseUrl=f"{GATEWAY}/ "), tool="cline", reader="cli"),
        "and another asks for": Row(
            [("url_malformed", "sure")], editor(baseUrl=f"{GATEWAY} "), tool="cline", reader="vscode"
        ),
        "a line break that gets lost on the way": Row(NONE, codex(f"{GATEWAY}\\n"), tool="codex"),
        "a line break behind a slash": Row([("url_malformed", "sure")], codex(f"{GATEWAY}/\\n"), tool="codex"),
        "a number sign at its end": Row([("url_malformed", "sure")], settings(url=f"{GATEWAY}#"), says="ends with #"),
        "a reference": Row([("url_malformed", "sure")], settings(url="${GATEWAY}/v1"), says="reference"),
        "a whole endpoint": Row(
            [("path_full_endpoint", "likely")],
            settings(url=f"{GATEWAY}/chat/completions"),
            says="/chat/completions/chat/completions",
        ),
        "the version twice": Row([("path_duplicate_v1", "likely")], settings(url=f"{GATEWAY}/v1"), says="/v1/v1/chat"),
        "the version twice, once by the tool": Row(
            [("path_duplicate_v1", "likely")],
            claude(ANTHROPIC_BASE_URL=GATEWAY),
            tool="claude-code",
            says="/v1/v1/messages",
        ),
        "two versions": Row([("path_extra_segment", "open")], settings(url="https://gw.example/v4/v1")),
    },
    "model": {
        "a name": Row(NONE, settings()),
        "a reference": Row([("config_incomplete", "sure")], settings(model="${MODEL}"), says="reference"),
    },
    "timeout": {
        "nothing said": Row(NONE, settings()),
        "two minutes": Row(NONE, settings(timeout=120)),
        "ten minutes in milliseconds": Row(NONE, claude(API_TIMEOUT_MS="600000"), tool="claude-code"),
        "no limit": Row(NONE, settings(timeout=0)),
        "no number": Row(NONE, settings(timeout="soon")),
        "no number, and the tool has a limit of its own": Row(NONE, claude(API_TIMEOUT_MS="soon"), tool="claude-code"),
        "the tool's own is nobody's fault": Row(NONE, settings(), tool=demo(f"{DEMO}timeout_seconds = 30\n")),
        "half a minute": Row([("tool_timeout_too_short", "likely")], settings(timeout=30), says="lets it wait 30 s"),
        "seconds for milliseconds": Row(
            [("tool_timeout_too_short", "sure")],
            claude(API_TIMEOUT_MS="120"),
            tool="claude-code",
            says="it waits 0.12 s",
        ),
        "milliseconds for seconds": Row([("timeout_unit", "sure")], settings(timeout=120000), says="33 hours"),
    },
    "managers": {
        "nobody": Row(NONE, claude(ANTHROPIC_BASE_URL=ROOT), tool="claude-code"),
        "CC Switch's local proxy": Row(
            [("foreign_manager", "sure")],
            claude(ANTHROPIC_BASE_URL="http://127.0.0.1:15721", ANTHROPIC_AUTH_TOKEN="PROXY_MANAGED"),
            tool="claude-code",
            says="CC Switch",
        ),
        "what that proxy left behind": Row(
            NONE, claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_AUTH_TOKEN="PROXY_MANAGED"), tool="claude-code"
        ),
        "CC Switch's chosen row": Row(
            [("foreign_manager", "sure")],
            {**claude(ANTHROPIC_BASE_URL=OTHER_ROOT), ".cc-switch/cc-switch.db": cc_switch(OTHER_ROOT)},
            tool="claude-code",
            says="'Their row'",
        ),
        "a row of CC Switch's that does not count here": Row(
            NONE,
            {**claude(ANTHROPIC_BASE_URL=OTHER_ROOT), ".cc-switch/cc-switch.db": cc_switch("https://third.example")},
            tool="claude-code",
        ),
        "what the profile wants, and another row": Row(
            NONE, {**claude(ANTHROPIC_BASE_URL=ROOT), ".cc-switch/cc-switch.db": cc_switch(ROOT)}, tool="claude-code"
        ),
        "a database that is none": Row(
            NONE, {**claude(ANTHROPIC_BASE_URL=OTHER_ROOT), ".cc-switch/cc-switch.db": "no"}, tool="claude-code"
        ),
        "LiteLLM": Row(
            [("foreign_manager", "likely")],
            {**claude(ANTHROPIC_BASE_URL="http://127.0.0.1:4000"), ".litellm/claude_profile.json": "{}"},
            tool="claude-code",
        ),
        "LiteLLM long ago": Row(
            NONE, {**claude(ANTHROPIC_BASE_URL=ROOT), ".litellm/claude_profile.json": "{}"}, tool="claude-code"
        ),
    },
    "not_refreshed": {
        "it is set": Row(NONE, {**settings(), ".bashrc": "export DEMO_KEY=x\n"}, {"DEMO_KEY": KEY}),
        "nowhere": Row(NONE, settings()),
        "a key in the file": Row(NONE, {**settings(key=KEY), ".bashrc": "export DEMO_KEY=x\n"}),
        "set to nothing": Row(NONE, {**settings(), ".bashrc": "export DEMO_KEY=\n"}),
        "set in a startup file since": Row(
            [("env_not_refreshed", "sure")], {**settings(), ".zshenv": "\nexport DEMO_KEY=x\n"}, says="~/.zshenv:2"
        ),
        "an address and a key of a tool that is set by variables alone": Row(
            [("env_not_refreshed", "sure")],
            {".bashrc": f"export ANTHROPIC_AUTH_TOKEN={KEY}\nexport ANTHROPIC_BASE_URL={ROOT}\n"},
            tool="claude-code",
            says="~/.bashrc:2 sets ANTHROPIC_BASE_URL, and this environment, which is older, does not have it",
        ),
        "a key of a tool that is set by variables alone": Row(
            [("env_not_refreshed", "sure")],
            {".config/fish/config.fish": f"set -gx ANTHROPIC_API_KEY {KEY}\n"},
            tool="claude-code",
            says="~/.config/fish/config.fish:1 sets ANTHROPIC_API_KEY",
        ),
        "variables that are there": Row(
            NONE,
            {".bashrc": f"export ANTHROPIC_AUTH_TOKEN={KEY}\nexport ANTHROPIC_BASE_URL={ROOT}\n"},
            {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_BASE_URL": ROOT},
            tool="claude-code",
        ),
        "variables of a function, which is called when it is wanted": Row(
            NONE, {".bashrc": f"via() {{\n  export ANTHROPIC_BASE_URL={ROOT}\n}}\n"}, tool="claude-code"
        ),
        "variables that the tool's own file outdoes": Row(
            NONE,
            {
                **claude(ANTHROPIC_BASE_URL=ROOT, ANTHROPIC_AUTH_TOKEN=KEY),
                ".bashrc": "export ANTHROPIC_BASE_URL=http://x\nexport ANTHROPIC_API_KEY=y\n",
            },
            tool="claude-code",
        ),
    },
}
CASES = {f"{check}: {name}": (check, row) for check, rows in ROWS.items() for name, row in rows.items()}


@pytest.mark.parametrize(("check", "row"), CASES.values(), ids=CASES)
def test_what_a_check_finds(tmp_path: Path, check: str, row: Row) -> None:
    findings = found(tmp_path, check, row)
    said = "\n".join(str(line) for finding in findings for line in finding.evidence)
    assert [(finding.cause, finding.certainty) for finding in findings] == row.expected, said
    assert row.says in said
    assert row.says_not not in said
    for secret in (KEY, OTHER):
        assert secret not in repr(findings)


@pytest.mark.parametrize("text", ['{"env": {', "[]", "{// mine\n}", "\ufeff{"])
@pytest.mark.parametrize(("own", "is_said"), [('{"env": {"ANTHROPIC_BASE_URL": "http://h"}}', True), ("{}", False)])
def test_a_project_breaks_nothing_that_stands_elsewhere(tmp_path: Path, text: str, own: str, *, is_said: bool) -> None:
    """Claude Code 2.1.112 leaves such a file out, and asks as the others say."""
    files = {CLAUDE: own, "project/.claude/settings.json": text}
    findings = found(tmp_path, "syntax", Row(NONE, files, tool="claude-code"))
    assert [one.severity for one in findings] == ["warning" if is_said else "error"]
    assert is_blocked(findings) != is_said


def test_nobody_is_asked_for_a_program_that_does_not_start(tmp_path: Path) -> None:
    assert is_blocked(found(tmp_path, "incomplete", ROWS["incomplete"]["a provider that is not"]))


ELSEWHERE = {"anothers", "drift", "dropped", "processes", "desktop", "modes", "repositories"}
"""Checks whose worlds need more than files: they have tests of their own."""


def test_every_check_has_rows_that_find_something_and_rows_that_do_not() -> None:
    both = {check for check, rows in ROWS.items() if {bool(row.expected) for row in rows.values()} == {True, False}}
    assert both == CHECKS.keys() - ELSEWHERE
