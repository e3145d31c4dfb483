"""Parts planned as files are: applied, applied again, edited by CC Switch in between, and given back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.store.cc_switch import Home
from tests.store.cc_switch import home as made
from toolsync.document import Value, parse_path
from toolsync.overlay import ABSENT, Edit
from toolsync.overlay.model import Want
from toolsync.plan import FilePlan, Place, Row, plan_file
from toolsync.remembered import FileMemory

_WANTED: Mapping[str, Mapping[str, Value | Want]] = {
    "claude": {"name": 'Ours "x"', "notes": "kept by toolsync — \u2028", "meta.commonConfigEnabled": False},
    "claude/settings_config": {"env.ANTHROPIC_BASE_URL": "https://gateway.example", "apiKeyHelper": "key print"},
    "codex": {"name": "Ours", "website_url": "https://gateway.example", "meta.commonConfigEnabled": False},
    "codex/settings_config": {"auth.OPENAI_API_KEY": ABSENT},
    "codex/settings_config/config": {"model": "m", "model_providers.toolsync.base_url": "https://gateway.example/v1"},
    "opencode": {"name": "Ours", "notes": "ours"},
    "opencode/settings_config": {"npm": "@ai-sdk/openai-compatible", "options.baseURL": "https://gateway.example/v1"},
}
_CLAUDE = '{\n\t"hooks": {},\n\t"env": {"MINE": "1"}\n}\n'
_CODEX = '# mine\nmodel = "old"  # why\n\n[mcp_servers.x]\ncommand = "x"\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = made(tmp_path)
    home.put(".claude/settings.json", _CLAUDE)
    home.put(".codex/config.toml", _CODEX)
    return home


def _plans(home: Home, memory: Mapping[str, FileMemory | None], *, undo: bool = False) -> dict[str, FilePlan]:
    texts = home.store.read(home.database)[0]
    plans = {}
    for part, wanted in _WANTED.items():
        start = home.store.start(home.database, part)
        edits = () if undo else tuple(Edit(parse_path(path), value) for path, value in wanted.items())
        row = Row("cc-switch", part, edits, "{}" if start is None else start, start_is_filled=False)
        place = Place(
            f"{home.database}#{part}", "toml" if part.endswith("/config") else "json", b"key", "now", goes_whole=True
        )
        plans[part] = plan_file(place, texts.get(part), [row], memory.get(part))
    return plans


def _applied(home: Home, plans: Mapping[str, FilePlan]) -> dict[str, FileMemory | None]:
    """Written; what is remembered."""
    home.write({part: plan.after for part, plan in plans.items()})
    return {part: plan.memory for part, plan in plans.items()}


def test_a_new_row_is_the_live_file_with_our_values(home: Home) -> None:
    _applied(home, _plans(home, {}))
    texts = home.store.read(home.database)[0]
    assert texts["claude/settings_config"].startswith('{\n\t"hooks": {},\n\t"env": {"MINE": "1"')
    assert texts["codex/settings_config/config"].startswith('# mine\nmodel = "m"  # why\n')
    assert "[mcp_servers.x]" in texts["codex/settings_config/config"]


def test_what_was_planned_is_read_byte_for_byte(home: Home) -> None:
    plans = _plans(home, {})
    _applied(home, plans)
    texts = home.store.read(home.database)[0]
    assert texts == {part: plan.after for part, plan in plans.items()}


def test_the_second_plan_is_nothing(home: Home) -> None:
    memory = _applied(home, _plans(home, {}))
    assert [part for part, plan in _plans(home, memory).items() if not plan.is_nothing] == []


def test_undo_takes_the_rows_away(home: Home) -> None:
    before = home.everything()
    memory = _applied(home, _plans(home, {}))
    home.write({part: plan.after for part, plan in _plans(home, memory, undo=True).items() if part.count("/") == 0})
    assert home.everything() == before


def test_a_row_that_cc_switch_wrote_anew_is_still_ours(home: Home) -> None:
    """It writes compact JSON in the order of the alphabet, and adds members of its own."""
    memory = _applied(home, _plans(home, {}))
    for app in ("claude", "codex", "opencode"):
        row = home.row(app) or {}
        settings = json.dumps(json.loads(row["settings_config"]), sort_keys=True, separators=(",", ":"))
        meta = json.dumps(json.loads(row["meta"]) | {"endpointAutoSelect": True}, separators=(",", ":"))
        home.run(
            "UPDATE providers SET settings_config = ?, meta = ? WHERE app_type = ? AND id = ?",
            settings,
            meta,
            app,
            row["id"],
        )
    assert [part for part, plan in _plans(home, memory).items() if plan.is_change] == []


def test_a_key_that_a_switch_left_in_the_row_goes(home: Home) -> None:
    """Leaving the row fills Codex's auth.json into it; chosen again, its key would go out as our provider's token.

    So codex_config.rs `prepare_codex_provider_live_config`, where the official login is kept on a switch.
    """
    memory = _applied(home, _plans(home, {}))
    row = home.row("codex") or {}
    filled = json.loads(row["settings_config"]) | {"auth": {"OPENAI_API_KEY": "sk-invented", "last_refresh": "x"}}
    home.run(
        "UPDATE providers SET settings_config = ? WHERE id = ? AND app_type = 'codex'", json.dumps(filled), row["id"]
    )
    plans = _plans(home, memory)
    assert [part for part, plan in plans.items() if plan.is_change] == ["codex/settings_config"]
    _applied(home, plans)
    assert json.loads((home.row("codex") or {})["settings_config"])["auth"] == {"last_refresh": "x"}
