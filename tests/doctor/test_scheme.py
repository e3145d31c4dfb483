"""`Authorization: Basic …` in a tool's own headers, as before a relay of one's own: sent as it stands, and no key."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.doctor.home import PROFILE, Home
from tests.keys import invented
from toolsync.commands.doctor.probing import request_of
from toolsync.doctor.checks import findings
from toolsync.masking import Secret, masked

URL = "https://gw.example/api"
LOGIN = base64.b64encode(f"user:{invented('basic')}".encode()).decode()
CLAUDE = {"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_MODEL": "m"}
CODEX = f'model = "m"\nmodel_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "{URL}/v1"\n'
FILES = {
    "claude-code": (".claude/settings.json", {"env": {**CLAUDE, "ANTHROPIC_CUSTOM_HEADERS": "Authorization: @"}}),
    "claude-code with a dummy": (
        ".claude/settings.json",
        {"env": {**CLAUDE, "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_CUSTOM_HEADERS": "Authorization: @"}},
    ),
    "codex": (".codex/config.toml", f'{CODEX}http_headers = {{ Authorization = "@" }}\n'),
}


@pytest.mark.parametrize("scheme", ["Basic", "Token"])
@pytest.mark.parametrize("name", FILES)
def test_it_is_sent_as_it_stands_and_judged_as_no_key(tmp_path: Path, name: str, scheme: str) -> None:
    """2.1.112 and 0.171.0 are answered with it, Claude Code without any key too."""
    file, content = FILES[name]
    text = (content if isinstance(content, str) else json.dumps(content)).replace("@", f"{scheme} {LOGIN}")
    home = Home(tmp_path, profile=PROFILE)
    home.write({file: text})
    home.path(file).chmod(0o600)
    look = home.look(name.partition(" ")[0])
    assert [one.cause for one in findings(look) if one.cause.startswith("key_")] == []
    asked = request_of(look)
    value = asked.headers["authorization"]
    assert isinstance(value, Secret)
    assert (value.reveal(), "authorization" in asked.credentials) == (f"{scheme} {LOGIN}", False)
    assert LOGIN not in masked(f"as {LOGIN} it is in other texts")


def test_a_key_behind_bearer_is_one(tmp_path: Path) -> None:
    file, content = FILES["codex"]
    home = Home(tmp_path, profile=PROFILE)
    home.write({file: str(content).replace("@", f"Bearer {invented('bearer')}")})
    asked = request_of(home.look("codex"))
    assert asked.credentials["authorization"].reveal() == invented("bearer")
