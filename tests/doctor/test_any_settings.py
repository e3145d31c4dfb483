"""Whatever stands in settings: the checks never fail over it, and never say a key."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from tests.doctor.home import DEMO, KEY, OTHER, SHIPPED, Home, demo
from toolsync.doctor.checks import findings
from toolsync.doctor.helper import Command, Printed
from toolsync.doctor.look import looks
from toolsync.doctor.world import World
from toolsync.masking import Secret, masked

KEYS = (
    *("env", "model", "apiKeyHelper", "primaryApiKey", "customApiKeyResponses", "rejected", "approved", "key", "url"),
    *("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "API_TIMEOUT_MS"),
    *("ANTHROPIC_CUSTOM_HEADERS", "HTTP_PROXY", "NO_PROXY", "CLAUDE_CODE_USE_BEDROCK", "OPENAI_API_KEY", "RELAY_KEY"),
    *(
        "model_provider",
        "model_providers",
        "relay",
        "openai",
        "base_url",
        "env_key",
        "experimental_bearer_token",
        "auth",
    ),
    *("command", "args", "http_headers", "env_http_headers", "stream_idle_timeout_ms", "requires_openai_auth"),
    *("mode", "actModeApiProvider", "openAiBaseUrl", "openAiApiKey", "actModeOpenAiModelId", "openAiHeaders"),
    *("version", "lastUsedProvider", "providers", "openai-compatible", "settings", "apiKey", "baseUrl", "headers"),
    *("timeout", "DEMO_KEY", "OPENAI_ORG_ID", "X-Team", "Authorization"),
)
TEXTS = (
    *(
        "",
        " ",
        KEY,
        OTHER,
        f" {KEY}\r",
        f"Bearer {KEY}",
        "${RELAY_KEY}",
        "{env:RELAY_KEY}",
        "%X%",
        "not-needed",
        "true",
        "false",
    ),
    *(
        "https://gw.example/api",
        "https://gw.example/api/v1/",
        "http://[::1",
        "http://h:99999",
        f"https://u:{OTHER}@h/v1",
    ),
    *(
        f"https://h/v1?key={OTHER}",
        "relay",
        "openai",
        "sonnet",
        "m[1m]",
        "120",
        "120000",
        "1e9",
        "-5",
        "X-A: b\nX-B",
        f"X-K: {OTHER}",
    ),
    *("RELAY_KEY", "{", '{"a": 1}', "\x00", "\u200b", "\ud7ff", "schlüssel", "a" * 5000),
)
LEAVES = st.one_of(
    st.sampled_from(TEXTS),
    st.none(),
    st.booleans(),
    st.integers(-5, 10**15),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
SETTINGS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.dictionaries(st.sampled_from(KEYS), inner, max_size=6), st.lists(inner, max_size=3)),
    max_leaves=25,
)
TABLES = st.dictionaries(st.sampled_from(KEYS), SETTINGS, max_size=8)
FILES = {
    "claude-code": (".claude/settings.json", ".claude.json", "project/.claude/settings.json"),
    "cline": (".cline/data/globalState.json", ".cline/data/secrets.json", ".cline/data/settings/providers.json"),
    "codex": (".codex/auth.json",),
    "demo": (".demo/settings.json",),
}
TOOLS = {"demo": demo(DEMO)}


class Quiet(World):
    """A look at a machine that runs nothing of what stands in settings."""

    def printed(self, command: Command, environ: Mapping[str, str]) -> Printed:  # noqa: ARG002  as the real one
        return Printed(Secret(KEY))


def judged(home: Home, tool: str) -> str:
    """Everything that the checks say of the tool; what it would run for its key prints one."""
    real = home.world()
    world = Quiet(real.session, real.profile, real.profiles)
    said = ""
    for look in looks(world, TOOLS.get(tool) or SHIPPED[tool]):
        told = look.effective
        standings = [(one.seen.layer.name, one.sets, one.wins) for one in look.standings()]
        said += repr((told.credentials, told.headers, told.wheres, standings, findings(look)))
        said += masked(told.base_url)
    return said


def forms(key: str) -> list[str]:
    return [key, quote(key, safe=""), base64.b64encode(key.encode()).decode()]


@pytest.mark.parametrize("tool", FILES)
@given(data=st.data())
def test_the_checks_say_what_they_find_and_no_key(tool: str, data: st.DataObject) -> None:
    texts: dict[str, str | bytes] = {name: json.dumps(data.draw(TABLES)) for name in FILES[tool]}
    environ = data.draw(
        st.dictionaries(st.sampled_from(KEYS), st.sampled_from([t for t in TEXTS if "\x00" not in t]), max_size=4)
    )
    if tool == "codex":
        texts[".codex/config.toml"] = tomlkit.dumps(_without_none(data.draw(TABLES)))
    with tempfile.TemporaryDirectory() as place:
        home = Home(Path(place), environ)
        home.write(texts)
        said = judged(home, tool)
    assert [form for key in (KEY, OTHER) for form in forms(key) if form in said] == []


def _without_none(value: Any) -> Any:
    """The value as TOML can spell it."""
    if isinstance(value, dict):
        return {key: _without_none(child) for key, child in value.items() if child is not None}
    if isinstance(value, list):
        return [_without_none(child) for child in value if child is not None]
    return value if not isinstance(value, int) or abs(value) < 2**62 else 0


@pytest.mark.parametrize("tool", FILES)
@given(raw=st.one_of(st.binary(max_size=200), st.text('{}[]":,=\n\ufeff#/ ab', max_size=60).map(str.encode)))
def test_files_of_any_bytes_are_no_error(tool: str, raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Home(Path(place))
        home.write(dict.fromkeys((*FILES[tool], ".codex/config.toml", ".codex/.env", ".bashrc"), raw))
        assert judged(home, tool)
