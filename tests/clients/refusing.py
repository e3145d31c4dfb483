"""Fields for which a real client takes nothing of its settings, or does not start; and those that it passes over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.clients.client import Client
from tests.clients.layering import CLAUDE, CODEX


@dataclass(frozen=True)
class Refused:
    """Settings of a client.

    Attributes:
        client: whose.
        name: what is special about them.
        text: the file; @ROOT@ is the gateway.
        told: what doctor names: the field, or where it stands; "" where the client works with them.
    """

    client: Client
    name: str
    text: str
    told: str = ""


def _claude(told: str, /, **fields: Any) -> Refused:
    env = {"ANTHROPIC_BASE_URL": "@ROOT@", "ANTHROPIC_AUTH_TOKEN": "unused", "ANTHROPIC_MODEL": "m"}
    text = json.dumps({"env": {**env, **fields.pop("env", {})}, **fields}, indent=1)
    return Refused(CLAUDE, f"{told or 'what it takes'} {json.dumps(fields)[:50]}", text, told)


def _hooks(told: str, *matchers: Any) -> Refused:
    return _claude(told, hooks={"PreToolUse": [*matchers]})


def _codex(told: str, before: str = "", behind: str = "") -> Refused:
    provider = '[model_providers.relay]\nname = "relay"\nbase_url = "@ROOT@/v1"\nwire_api = "responses"\n'
    retries = 'request_max_retries = 0\nstream_max_retries = 0\nexperimental_bearer_token = "unused"\n'
    text = f'model = "m"\nmodel_provider = "relay"\n{before}{provider}{retries}{behind}'
    return Refused(CODEX, f"{told or 'what it takes'} {before}{behind}".replace("\n", " "), text, told)


_HOOK = {"type": "command", "command": "true"}
_TAKEN: Mapping[str, Any] = {
    "env": {"NUMBER": 1, "NOTHING": None, "TABLE": {}},
    "unknown": 5,
    "model": "m",
    "cleanupPeriodDays": 30,
    "effortLevel": "utmost",
    "includeCoAuthoredBy": False,
    "companyAnnouncements": ["hello"],
    "permissions": {"allow": ["Bash(", 5], "additionalDirectories": ["../x"], "defaultMode": "plan", "unknown": 1},
    "hooks": {
        "Unknown": 5,
        "Stop": [],
        "PreToolUse": [{"matcher": "Never", "hooks": [{**_HOOK, "timeout": 60, "unknown": 1}]}],
        "PostToolUse": [
            {"matcher": "Never", "hooks": [{"type": "prompt", "prompt": "x"}, {"type": "agent", "prompt": "x"}]},
            {"matcher": "Never", "hooks": [{"type": "http", "url": "http://127.0.0.1:9/"}]},
        ],
    },
    "statusLine": {"type": "command", "command": "true", "padding": 0},
    "attribution": {"commit": "", "pr": ""},
    "enabledPlugins": {"a@b": True, "c@d": ["x"]},
    "sandbox": {"enabled": False, "excludedCommands": ["git"], "network": {"allowedDomains": ["example.com"]}},
    "fileSuggestion": {"type": "command", "command": "true"},
    "modelOverrides": {"a": "b"},
    "forceLoginOrgUUID": ["x"],
    "mcpServers": {"x": {"command": 5}},
}

TABLE = (
    _claude("", **_TAKEN),
    _claude("model", model=5),
    _claude("model", model=None),
    _claude("includeCoAuthoredBy", includeCoAuthoredBy="false"),
    _claude("companyAnnouncements[0]", companyAnnouncements=[5]),
    _claude("cleanupPeriodDays", cleanupPeriodDays=0),
    _claude("permissions.defaultMode", permissions={"defaultMode": "nonsense"}),
    _claude("permissions.additionalDirectories", permissions={"additionalDirectories": "x"}),
    _hooks("hooks.PreToolUse[0].hooks", {"matcher": "Bash", "command": "x"}),
    _hooks("hooks.PreToolUse[0].matcher", {"matcher": {"tools": ["Bash"]}, "hooks": [_HOOK]}),
    _hooks("hooks.PreToolUse[0].hooks[0].type", {"hooks": [{"command": "x"}]}),
    _hooks("hooks.PreToolUse[0].hooks[0].command", {"hooks": [{"type": "command"}]}),
    _claude("statusLine", statusLine="x"),
    _claude("statusLine.type", statusLine={"command": "x"}),
    _claude("attribution", attribution="x"),
    _claude("enabledPlugins", enabledPlugins=["a@b"]),
    _claude('enabledPlugins."a@b"', enabledPlugins={"a@b": "true"}),
    _claude("sandbox.enabled", sandbox={"enabled": "true"}),
    _claude("modelOverrides.a", modelOverrides={"a": 5}),
    _codex("", 'unknown = 5\nmodel_reasoning_effort = "utmost"\n', "frobnicate = 4\n"),
    _codex("config.toml:3:19", 'approval_policy = "auto"\n'),
    _codex("config.toml:3:10", 'notify = "x"\n'),
    _codex("config.toml:10:23", behind='supports_websockets = "no"\n'),
    _codex("config.toml:10:1", behind='[mcp_servers.x]\nargs = ["a"]\n'),
)
