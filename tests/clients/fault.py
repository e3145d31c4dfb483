"""What goes wrong with a client's own settings, as a table: tool x fault, with the cause and the command that mends it.

In files, @ROOT@ is the gateway's address, @KEY@ its key, @MODEL@ its model, @HOME@ the home folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.clients.client import CLIENTS, Client
from tests.clients.cline import FILES, NEWER, OLDER
from tests.keys import invented

FAULTS = (
    *("a broken /v1", "a literal ${VAR}", "a wrong key", "another key in the keyring", "a wrong model", "a shadow"),
    *("a variable beside it", "a header of its own"),
)

WRONG = invented("mending-wrong")
"""A key that no gateway knows, and doctor neither: nothing but the files tells of it."""

LITERAL = "${RELAY_API_KEY}"


@dataclass(frozen=True)
class Fault:
    """One cell of the table.

    Attributes:
        client: whose settings.
        name: of `FAULTS`.
        cause: the primary one that doctor must name.
        fix: what it must print: the command, or the line that only a person takes out.
        files: by their place in the home folder; the project lies there too.
        is_applied: whether they lie beside what toolsync wrote for the fault before; else there are no others, and
            toolsync remembers nothing.
        keyring: whether the key in the keyring is a wrong one meanwhile.
        is_copied: whether the tool has a copy of it, so that it was applied.
        environ: what the user's shell exports.
        line: what stands in that line: toolsync writes no file of a project.
        is_in_project: whether it is a fault in the project's folder only, so that the client must be asked there.
        reader: which program of the tool is meant.
        is_asked_before: whether doctor asks the client itself before it is mended, too: for each client at least once.
    """

    client: Client
    name: str
    cause: str
    fix: str
    files: Mapping[str, str] = field(default_factory=dict)
    is_applied: bool = False
    keyring: bool = False
    is_copied: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)
    line: str = ""
    is_in_project: bool = False
    is_asked_before: bool = False

    @property
    def reader(self) -> str:
        """The program of the trace that is meant."""
        return self.client.reader


CLAUDE, CODEX = (next(one for one in CLIENTS if one.name == name) for name in ("claude", "codex"))


def _claude(base: str = "@ROOT@", key: str = "@KEY@", model: str = "@MODEL@", **more: str) -> Mapping[str, str]:
    env = {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_AUTH_TOKEN": key, "ANTHROPIC_MODEL": model, **more}
    return {".claude/settings.json": json.dumps({"env": env, "includeCoAuthoredBy": False}, indent=2)}


def _codex(base: str = "@ROOT@/v1", key: str = "@KEY@", model: str = "@MODEL@", more: str = "") -> Mapping[str, str]:
    text = f"""model = "{model}"  # mine
model_provider = "relay"

[model_providers.relay]
name = "Relay"
base_url = "{base}"
wire_api = "responses"
experimental_bearer_token = "{key}"
request_max_retries = 0
stream_max_retries = 0
{more}
[projects."@HOME@/project"]
trust_level = "trusted"
"""
    return {".codex/config.toml": text}


def _cline(base: str = "@ROOT@/v1", key: str = "@KEY@", model: str = "@MODEL@", **more: Any) -> Mapping[str, str]:
    settings = {"provider": "openai-compatible", "baseUrl": base, "apiKey": key, "model": model, **more}
    entry: dict[str, Any] = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z"}
    data = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    return {FILES["providers.json"]: json.dumps(data, indent=2)}


def _editor(base: str) -> Mapping[str, str]:
    """What an editor that was open wrote back over its file."""
    state = {
        "planModeApiProvider": "openai",
        "actModeApiProvider": "openai",
        "openAiBaseUrl": base,
        "planModeOpenAiModelId": "@MODEL@",
        "actModeOpenAiModelId": "@MODEL@",
        "welcomeViewCompleted": True,
    }
    files = {"globalState.json": state, "secrets.json": {"openAiApiKey": "@KEY@"}}
    return {**_cline(), **{FILES[name]: json.dumps(data, indent=2) for name, data in files.items()}}


_APPLY = "toolsync apply --tool {0}"
_KEY = "toolsync key rotate {0}"
_CLAUDE, _CODEX, _CLINE = (_APPLY.format(name) for name in ("claude-code", "codex", "cline --allow-plaintext"))
_OLD = "http://127.0.0.1:9"

TABLE = (
    Fault(CLAUDE, "a broken /v1", "path_duplicate_v1", _CLAUDE, _claude(base="@ROOT@/v1"), is_asked_before=True),
    Fault(CLAUDE, "a literal ${VAR}", "key_literal_placeholder", _CLAUDE, _claude(key=LITERAL)),
    Fault(CLAUDE, "a wrong key", "key_invalid", _CLAUDE, _claude(key=WRONG), is_asked_before=True),
    Fault(
        *(CLAUDE, "a variable beside it", "auth_conflict_both_set", _CLAUDE, _claude()),
        environ={"ANTHROPIC_API_KEY": WRONG},
    ),
    Fault(
        *(CLAUDE, "a header of its own", "auth_conflict_both_set", _CLAUDE),
        _claude(ANTHROPIC_CUSTOM_HEADERS=f"X-Team: red\nX-Api-Key: {WRONG}"),
    ),
    Fault(CLAUDE, "a wrong model", "model_not_found", _CLAUDE, _claude(model="profile-modle-1")),
    Fault(
        CLAUDE, "another key in the keyring", "key_invalid", _KEY.format("claude-code"), is_applied=True, keyring=True
    ),
    Fault(
        *(CLAUDE, "a shadow", "config_shadowed"),
        "Delete `env.ANTHROPIC_BASE_URL` at ~/project/.claude/settings.local.json:5.",
        {
            "project/.claude/settings.local.json": json.dumps(
                {"env": {"EDITOR": "ed", "ANTHROPIC_BASE_URL": _OLD}}, indent=2
            ).replace('"ed",', '"ed"\n   ,')  # so that a line can be taken out
        },
        is_applied=True,
        line=_OLD,
        is_in_project=True,
    ),
    Fault(CODEX, "a broken /v1", "path_missing_v1", _CODEX, _codex(base="@ROOT@"), is_asked_before=True),
    Fault(CODEX, "a literal ${VAR}", "key_literal_placeholder", _CODEX, _codex(key=LITERAL), is_asked_before=True),
    Fault(CODEX, "a wrong key", "key_invalid", _CODEX, _codex(key=WRONG), is_asked_before=True),
    Fault(
        *(CODEX, "a header of its own", "auth_conflict_both_set", _CODEX),
        _codex(more=f'http_headers = {{ Authorization = "Bearer {WRONG}", X-Api-Key = "{WRONG}" }}\n'),
    ),
    Fault(CODEX, "a wrong model", "model_not_found", _CODEX, _codex(model="profile-modle-1"), is_asked_before=True),
    Fault(
        *(CODEX, "another key in the keyring", "key_invalid", _KEY.format("codex")),
        is_applied=True,
        keyring=True,
    ),
    Fault(
        *(CODEX, "a shadow", "config_shadowed", "Delete `model` at ~/project/.codex/config.toml:2."),
        {"project/.codex/config.toml": 'model_verbosity = "low"\nmodel = "old-model"\n'},
        is_applied=True,
        line="old-model",
        is_in_project=True,
    ),
    Fault(NEWER, "a broken /v1", "path_missing_v1", _CLINE, _cline(base="@ROOT@")),
    Fault(NEWER, "a literal ${VAR}", "key_literal_placeholder", _CLINE, _cline(key=LITERAL)),
    Fault(NEWER, "a wrong key", "key_invalid", _CLINE, _cline(key=WRONG), is_asked_before=True),
    Fault(
        *(NEWER, "a header of its own", "foreign_credential", _CLINE),
        _cline(headers={"Authorization": f"Bearer {WRONG}"}),
        is_asked_before=True,
    ),
    Fault(NEWER, "a wrong model", "model_not_found", _CLINE, _cline(model="profile-modle-1")),
    Fault(
        *(NEWER, "another key in the keyring", "key_invalid", _KEY.format("cline")),
        is_applied=True,
        keyring=True,
        is_copied=True,
    ),
    Fault(OLDER, "a shadow", "config_shadowed", _CLINE, _editor(f"{_OLD}/v1")),
)

IMPOSSIBLE = {
    (
        "codex",
        "a variable beside it",
    ): "a provider of one's own has its key from one place; the others are not looked at",
    ("cline", "a variable beside it"): "OPENAI_API_KEY counts only where the file holds no key",
    ("cline", "a shadow"): "since 3.0 it reads one file, and neither the project nor a variable comes before that",
    **dict.fromkeys(
        (("cline-legacy", fault) for fault in FAULTS if fault != "a shadow"),
        "its two files are read as the newer one's is; what it adds is that they come before that",
    ),
}
"""Why the other cells are empty, by client and fault."""
