"""`key uses` of rows: each once, and only where it has that very key, or asks for it."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import Machine
from tests.acceptance.switch import APPLY, DATABASE, furnished
from tests.keys import invented
from toolsync.masking import Secret

HEADED = """
[profiles.work.request]
headers = { X-Token = "keyring:team", X-Team = "blue" }
"""


@pytest.mark.parametrize("way", ["command", "plaintext"])
def test_a_row_is_named_once_and_only_where_it_has_the_very_key(machine: Machine, way: str) -> None:
    furnished(machine)
    machine.vault.set("team", Secret(invented("team")))
    ways = (f'[profiles.work.tool.{tool}]\nkey_way = "{way}"\n' for tool in ("claude-code", "codex"))
    machine.profile(HEADED + "".join(ways))
    assert machine.toolsync(*APPLY, "--allow-plaintext", "--tool", "cc-switch").said == (0, "")
    claude, codex = (f"~/.cc-switch/cc-switch.db#work/{app}" for app in ("claude", "codex"))
    assert _uses(machine, "keyring:team") == [
        ("row", claude, "env.ANTHROPIC_CUSTOM_HEADERS"),
        ("row", codex, "model_providers.toolsync.http_headers"),
    ]
    own = [("helper", row, "toolsync key print work") for row in (claude, codex)]
    copied = [
        ("row", claude, "env.ANTHROPIC_AUTH_TOKEN"),
        ("row", codex, "model_providers.toolsync.experimental_bearer_token"),
    ]
    assert _uses(machine, "keyring:work") == (own if way == "command" else copied)
    machine.vault.set("team", Secret(invented("later")))
    assert [kind for kind, *_ in _uses(machine, "keyring:team")] == ["other key", "other key"]
    machine.write(DATABASE, "no database")
    assert _uses(machine, "keyring:team") == [("row", claude, ""), ("row", codex, "")]


def _uses(machine: Machine, name: str) -> list[tuple[str, str, str]]:
    uses = machine.toolsync("key", "uses", name, "--json").json["data"]["uses"]
    return sorted((one["kind"], one["where"], one["path"]) for one in uses)
