"""A key that stands with a provider which its tool does not use just now: in clear all the same."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.acceptance.machine import ADDRESS, Machine

HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
"""As some gateways give them: no shape that anybody would know it by."""
CODEX = f"""model_provider = "x"
model = "m"

[model_providers.x]
name = "x"
base_url = "{ADDRESS}/v1"
experimental_bearer_token = "{HEX}"
"""


def _found(machine: Machine, *options: str) -> list[tuple[str, tuple[str, ...]]]:
    data = machine.toolsync("check", *options, "--json").json["data"]
    return [
        (one["file"].removeprefix(f"{machine.home}/"), tuple(one["fixes"]))
        for one in data["findings"]
        if not one["agreed"]
    ]


def _applied(machine: Machine) -> None:
    ran = machine.toolsync("apply", "--tool", "codex", "--yes", "--no-ping")
    assert ran.code == 0, ran.err


def _fixed(machine: Machine) -> None:
    ran = machine.toolsync("check", "--fix", "--yes", "--no-ping")
    assert ran.code == 1, ran.out  # the key still stands there


@pytest.mark.parametrize("change", [_applied, _fixed], ids=["apply", "check --fix"])
def test_it_is_found_after_another_provider_is_chosen(furnished: Machine, change: Callable[[Machine], None]) -> None:
    furnished.profile()
    furnished.write(".codex/config.toml", CODEX).chmod(0o600)
    furnished.write(".bashrc", f"export GATEWAY_KEY={HEX}\n").chmod(0o600)
    places = [".bashrc", ".codex/config.toml"]
    assert sorted(file for file, _ in _found(furnished)) == places
    change(furnished)
    assert 'model_provider = "toolsync"' in furnished.read(".codex/config.toml")
    assert sorted(_found(furnished)) == [(place, ()) for place in places]


def test_the_keys_of_other_providers_of_cline(furnished: Machine) -> None:
    entry = {"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {
        "deepseek": {**entry, "settings": {"provider": "deepseek", "apiKey": HEX}},
        "openai-compatible": {**entry, "settings": {"provider": "openai-compatible", "baseUrl": "https://x.example"}},
        "ollama": {**entry, "settings": {"provider": "ollama", "apiKey": "${OLLAMA_KEY}"}},
    }
    stored = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": providers}
    furnished.write(".cline/data/settings/providers.json", json.dumps(stored)).chmod(0o600)
    assert _found(furnished) == []  # it can keep them nowhere else, and nobody else can read them
    furnished.write(".bashrc", f"export DEEPSEEK_API_KEY={HEX}\n").chmod(0o600)
    assert _found(furnished) == [(".bashrc", ())]


def test_a_key_in_a_header_of_the_tools_own(furnished: Machine) -> None:
    table = f'http_headers = {{ api-key = "{HEX}", x-team = "blue" }}'
    furnished.write(".codex/config.toml", CODEX.replace(f'experimental_bearer_token = "{HEX}"', table)).chmod(0o600)
    headers = {"ANTHROPIC_CUSTOM_HEADERS": f"x-api-key: {HEX[::-1]}\nX-Team: blue\nX-Token: ${{TOKEN}}"}
    furnished.write(".claude/settings.json", json.dumps({"env": headers})).chmod(0o600)
    assert sorted(_found(furnished)) == [(".claude/settings.json", ()), (".codex/config.toml", ())]
    furnished.profile()
    _applied(furnished)
    assert sorted(_found(furnished)) == [(".claude/settings.json", ()), (".codex/config.toml", ())]
