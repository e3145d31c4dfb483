"""What a program does by itself, of which the gateway says nothing: its maker's model, no request without a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doctor.cases import diagnosed, realised
from tests.doctor.test_well import KEY, MESSAGES, case, message, ok

MODELS = {
    "none": (None, "nothing says which model: Claude Code asks for one of its maker's choice"),
    "a name that its maker fills": ("sonnet", "says 'sonnet', and Claude Code asks for the model that its maker calls"),
    "the same for a long context": ("opus[1m]", "says 'opus', and Claude Code asks for the model"),
    "one by its name": ("m", ""),
}


@pytest.mark.parametrize(("model", "expected"), MODELS.values(), ids=MODELS)
def test_what_was_not_tried_is_said(tmp_path: Path, model: str | None, expected: str) -> None:
    row = case(ok(message()), MESSAGES)
    own = {"ANTHROPIC_BASE_URL": "http://{main}", "ANTHROPIC_AUTH_TOKEN": KEY}
    settings = {"env": own} | ({"model": model} if model else {})
    row["environment"]["files"] = [{"path": "{HOME}/.claude/settings.json", "text": json.dumps(settings)}]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    (told,) = json.loads(said.out)["data"]["tools"]
    assert told["state"] == "healthy"
    lines = [line for finding in told["findings"] for line in finding["evidence"]]
    assert expected in "".join(lines)
    assert any("--client` has Claude Code ask for it" in line for line in lines) == bool(expected)


def test_claude_code_asks_nobody_without_a_key(tmp_path: Path) -> None:
    """2.1.112 says "Not logged in", though the server wants no key."""
    row = case(ok(message()), MESSAGES, key=None, asks=False)
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://{main}", "ANTHROPIC_MODEL": "m"}}
    row["environment"]["files"] = [{"path": "{HOME}/.claude/settings.json", "text": json.dumps(settings)}]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    (told,) = json.loads(said.out)["data"]["tools"]
    assert (told["state"], said.causes) == ("problem", ["key_missing"])
