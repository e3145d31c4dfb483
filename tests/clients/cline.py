"""Cline's two clients as data, what is seen of them, and the files that one of them overwrites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.clients.client import Client
from tests.clients.story import Played
from tests.keys import invented

FILES = {name: f".cline/data/{name}" for name in ("globalState.json", "secrets.json")} | {
    "providers.json": ".cline/data/settings/providers.json"
}
"""Where each file lies in the home folder, with the user's own in `foreign/cline/`."""

FOREIGN = Path(__file__).parent / "foreign" / "cline"

NEWER = Client(
    name="cline",
    tool="cline",
    program="node_modules/@cline/cli-linux-x64/bin/cline",
    environ={},
    settings=FILES["providers.json"],
    foreign="cline/providers.json",
    stale={"OPENAI_API_KEY": invented("stale-key"), "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    looks_up={"data.cline.bot": "its metrics", "otel.cline.bot": "its metrics"},
    reader="cli",
)
"""The CLI since 3.0, which reads `providers.json` only."""

OLDER = replace(
    NEWER,
    name="cline-legacy",
    program="node_modules/.bin/cline",
    settings=FILES["globalState.json"],
    foreign="cline/globalState.json",
    reader="vscode",
)
"""The CLI before 3.0: its files, and the code that reads and writes them, are those of the extension for VS Code."""

ANSWER = "<attempt_completion><result>pong</result></attempt_completion>"
"""What the older one takes for the end of its task; to the newer one it is a text like any other."""


@dataclass(frozen=True)
class Seen(Played):
    """What was seen of both; `runs` by client and what was special.

    Attributes:
        files: the text of each file, by moment and name; "" where there was none.
        kept: of each variant of `providers.json`, whether Cline left another provider's key in it; None if nobody
            can tell, for it came to no end.
    """

    files: Mapping[str, Mapping[str, str]]
    kept: Mapping[str, bool | None]


def _entry(provider: str, **settings: Any) -> dict[str, Any]:
    return {"settings": {"provider": provider, **settings}, "updatedAt": "2026-01-01T00:00:00.000Z"}


OTHER = invented("another-provider")


def _stored(**change: Any) -> str:
    """A whole file; `change` is of the entry of another provider than the one that Cline will ask."""
    other = {**_entry("deepseek", apiKey=OTHER), **change}
    ours = _entry("openai-compatible", apiKey="@KEY@", model="@MODEL@", baseUrl="@ADDRESS@")
    providers = {"deepseek": {name: value for name, value in other.items() if value is not None}}
    providers["openai-compatible"] = ours
    return json.dumps({"version": 1, "lastUsedProvider": "openai-compatible", "providers": providers})


def _settings(**settings: Any) -> str:
    return _stored(settings={"provider": "deepseek", "apiKey": OTHER, **settings})


VARIANTS: Mapping[str, str] = {
    # The five that cost people their keys.
    "an address without a scheme": _settings(baseUrl="127.0.0.1:8080/v1"),
    "a time with +00:00": _stored(updatedAt="2026-01-01T00:00:00+00:00"),
    "no time": _stored(updatedAt=None),
    "a comment": "// mine\n" + _stored(),
    "a byte-order mark": "\ufeff" + _stored(),
    # Others that are no better.
    "a null": _settings(model=None),
    "a day that there is not": _stored(updatedAt="2026-02-30T00:00:00Z"),
    "no number of tokens": _settings(maxTokens=0),
    "a port that there is not": _settings(baseUrl="http://127.0.0.1:65536/v1"),
    "an address of four numbers too large": _settings(baseUrl="http://127.0.0.300/v1"),
    "another version": _stored().replace('"version": 1', '"version": 2'),
    # What looks odd and does no harm.
    "nothing odd": _stored(),
    "a field that nobody knows": _stored(tokenSource="oauth", later=True),
    "a time without seconds": _stored(updatedAt="2024-02-29T23:59Z"),
    "an address of another scheme": _settings(baseUrl="api.example.com:8080/v1"),
    "an address in blanks": _settings(baseUrl="  HTTP://[::1]:8080  "),
}
"""Files with another provider's key in them: some Cline takes, others it takes for empty, and writes anew.

`@ADDRESS@`, `@KEY@` and `@MODEL@` are the gateway's, so that Cline comes to an end.
"""
