"""What CC Switch says of the tools' own files: whose they are, where they lie, and what a new row begins as."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.cc_switch import CLAUDE, CODEX, NOW_MS, OPENCODE, ROW, Home
from tests.store.cc_switch import home as made
from toolsync.errors import DocumentError, StoreError, TemplateError
from toolsync.paths import Places, Platform
from toolsync.store import store, variables
from toolsync.store.cc_switch import CcSwitch

_LOGIN = '{"tokens": {"refresh_token": "rt-invented"}}'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = made(tmp_path)
    home.write(CLAUDE | CODEX | OPENCODE)
    return home


def _live(home: Home) -> dict[str, str]:
    return dict(home.store.live(home.database))


def test_the_users_own_row_is_theirs(home: Home) -> None:
    assert _live(home) == {"claude": "theirs", "codex": "theirs", "gemini": "theirs"}


def test_an_app_without_a_chosen_row_is_left_out(home: Home) -> None:
    home.run("UPDATE providers SET is_current = 0 WHERE app_type = 'claude'")
    assert _live(home) == {"codex": "theirs", "gemini": "theirs"}


@pytest.mark.parametrize(
    ("flagged", "told", "whose"),
    [
        (ROW, None, "ours"),
        ("own", ROW, "ours"),
        (ROW, "own", "theirs"),
        (ROW, "gone", "ours"),
        ("own", "gone", "theirs"),
        (ROW, "", "ours"),
        (ROW, 1, "ours"),
    ],
)
def test_settings_outweigh_the_flag_if_the_row_exists(home: Home, flagged: str, told: object, whose: str) -> None:
    home.choose("claude", flagged, where="database")
    home.told({"currentProviderClaude": told})
    assert _live(home)["claude"] == whose


@pytest.mark.parametrize("text", ["{", "[]", '\ufeff{"currentProviderClaude": "own"}', "\xff"])
def test_settings_that_cc_switch_cannot_read_count_as_none(home: Home, text: str) -> None:
    home.choose("claude", ROW, where="database")
    home.put(".cc-switch/settings.json", text)
    assert _live(home)["claude"] == "ours"


@pytest.mark.parametrize(
    ("app", "file", "text"),
    [
        ("claude", ".claude/settings.json", '{"env": {"ANTHROPIC_AUTH_TOKEN": "PROXY_MANAGED"}}'),
        ("claude", ".claude/claude.json", '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:15721"}}'),
        ("codex", ".codex/auth.json", '{"OPENAI_API_KEY": "PROXY_MANAGED"}'),
        ("codex", ".codex/config.toml", 'model_provider = "cc-switch-official"'),
        ("gemini", ".gemini/.env", "GEMINI_API_KEY=PROXY_MANAGED"),
        ("gemini", "moved/.env", "GEMINI_API_KEY=PROXY_MANAGED"),
    ],
)
def test_a_file_that_the_proxy_took_over_is_known(home: Home, app: str, file: str, text: str) -> None:
    home.put(file, text)
    if file.startswith("moved"):
        home.told({"geminiConfigDir": "~/moved"})
    assert [found for found, whose in _live(home).items() if whose == "taken over"] == [app]


def test_the_proxys_own_note_of_a_takeover_is_enough(home: Home) -> None:
    home.choose("codex", ROW)
    home.run("INSERT INTO proxy_live_backup VALUES ('codex', '{}', '2026-01-01')")
    assert _live(home)["codex"] == "taken over"


def test_a_database_without_a_proxy_is_read_too(home: Home) -> None:
    home.run("DROP TABLE proxy_live_backup")
    assert _live(home)["codex"] == "theirs"


def _start(home: Home, part: str) -> str | None:
    return home.store.start(home.database, part)


@pytest.mark.parametrize(
    ("part", "start"),
    [
        ("claude", {"meta": {}}),
        ("opencode", {"meta": {"liveConfigManaged": False}}),
        ("claude/settings_config", None),
        ("codex/settings_config", {"auth": {}, "config": ""}),
        ("codex/settings_config/config", None),
        ("gemini/settings_config", None),
        ("opencode/settings_config", None),
    ],
)
def test_without_a_live_file_a_row_begins_as_little_as_it_may(home: Home, part: str, start: object) -> None:
    text = _start(home, part)
    assert (text and json.loads(text)) == start


@pytest.mark.parametrize(
    ("live", "start"),
    [
        ('{ "model":"opus",\n\t"hooks": {} }\n', '{ "model":"opus",\n\t"hooks": {} }\n'),
        ('{"a": 1, // mine\n}', '{\n  "a": 1\n}'),
        ('\ufeff{"a": "ü"}', '{\n  "a": "ü"\n}'),
        ("", "{}"),
    ],
    ids=["as it is", "comments", "byte-order mark", "empty"],
)
def test_a_row_for_claude_begins_as_the_users_settings(home: Home, live: str, start: str) -> None:
    home.put(".claude/settings.json", live)
    assert _start(home, "claude/settings_config") == start


def test_a_row_does_not_begin_without_a_file_that_cannot_be_read(home: Home) -> None:
    home.put(".claude/settings.json", '{"permissions": ')
    with pytest.raises(DocumentError, match=r"settings\.json:1:"):
        _start(home, "claude/settings_config")


@pytest.mark.parametrize("app", ["claude", "codex"])
def test_a_row_does_not_begin_without_a_file_that_is_no_text(home: Home, app: str) -> None:
    for file in (".claude/settings.json", ".codex/config.toml"):
        home.put(file, "").write_bytes(b"\xff\xfe")
    with pytest.raises(DocumentError, match=r"(settings\.json|config\.toml):1:1: the file is UTF-16"):
        _start(home, f"{app}/settings_config")


def test_a_row_for_codex_begins_as_its_config_and_without_its_login(home: Home) -> None:
    home.put(".codex/auth.json", _LOGIN)
    home.put(".codex/config.toml", '# mine\r\nmodel = "o"\r\n')
    assert _start(home, "codex/settings_config/config") == '# mine\r\nmodel = "o"\r\n'
    assert json.loads(_start(home, "codex/settings_config") or "") == {"auth": {}, "config": ""}


def test_a_row_for_gemini_begins_with_the_users_variables(home: Home) -> None:
    home.put(".gemini/.env", "# mine\nGEMINI_MODEL = gemini-x\n\nno assignment\nBAD-NAME=1\nURL=a=b\n")
    assert json.loads(_start(home, "gemini/settings_config") or "") == {
        "env": {"GEMINI_MODEL": "gemini-x", "URL": "a=b"}
    }


def test_while_the_proxy_has_the_files_a_row_begins_as_its_copies(home: Home) -> None:
    home.put(".claude/settings.json", '{"env": {"ANTHROPIC_AUTH_TOKEN": "PROXY_MANAGED"}}')
    assert _start(home, "claude/settings_config") is None
    home.run("INSERT INTO proxy_live_backup VALUES ('claude', '{\"model\":\"mine\"}', '')")
    kept = json.dumps({"auth": json.loads(_LOGIN), "config": "model = 1"})
    home.run("INSERT INTO proxy_live_backup VALUES ('codex', ?, '')", kept)
    assert _start(home, "claude/settings_config") == '{"model":"mine"}'
    assert _start(home, "codex/settings_config") == '{"auth": {}, "config": ""}'  # the copy's own spelling
    assert _start(home, "codex/settings_config/config") == "model = 1"


def test_a_copy_of_the_proxys_own_values_is_no_beginning(home: Home) -> None:
    home.run("INSERT INTO proxy_live_backup VALUES ('claude', '{\"env\":{\"X\":\"PROXY_MANAGED\"}}', '')")
    assert _start(home, "claude/settings_config") is None


@pytest.mark.parametrize(
    ("auth", "chosen", "told", "said"),
    [
        (_LOGIN, "own", {}, "the row that is chosen now brings it back"),
        (_LOGIN, None, {}, "no row is chosen that would bring it back"),
        (_LOGIN, ROW, {}, None),
        (_LOGIN, "own", {"preserveCodexOfficialAuthOnSwitch": True}, None),
        ('{"OPENAI_API_KEY": "invented"}', "own", {}, None),
        (None, "own", {}, None),
    ],
)
def test_a_login_that_a_click_takes_away_is_named(
    home: Home, auth: str | None, chosen: str | None, told: dict[str, object], said: str | None
) -> None:
    if auth is not None:
        home.put(".codex/auth.json", auth)
    home.choose("codex", chosen or "", where="database")
    home.told(told)
    assert home.store.warnings(home.database, (), ("claude",)) == ()
    warnings = home.store.warnings(home.database, (), ("codex",))
    assert [said in text for text in warnings if said] == ([True] if said else [])
    assert bool(warnings) == (said is not None)


_TAKEN_IN = "takes our values for claude into 'Own', which is chosen now"
_SPREAD = "the command that gives the key into every provider"


@pytest.mark.parametrize(
    ("chosen", "meta", "live", "said"),
    [
        ("own", "{}", ["claude"], [_TAKEN_IN]),
        ("own", '{ "commonConfigEnabled": true }', ["claude"], [_TAKEN_IN, _SPREAD]),
        ("own", '{"commonConfigEnabled":false}', ["claude"], [_TAKEN_IN]),
        ("own", "{}", ["codex"], ["takes our values for codex into 'Own'"]),
        ("own", '{"commonConfigEnabled":true}', [], []),
        (ROW, '{"commonConfigEnabled":true}', ["claude"], []),
        ("", '{"commonConfigEnabled":true}', ["claude", "cline"], []),
    ],
)
def test_values_that_another_row_takes_in_are_named(
    home: Home, chosen: str, meta: str, live: list[str], said: list[str]
) -> None:
    home.choose("claude", chosen, where="database")
    home.run("UPDATE providers SET meta = ? WHERE id = 'own'", meta)
    text = " ".join(home.store.warnings(home.database, live, ()))
    assert [piece in text for piece in said] == [True] * len(said)
    assert (_SPREAD in text, bool(text)) == (_SPREAD in said, bool(said))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({}, {}),
        ({"claudeConfigDir": "/x/claude"}, {"CC_SWITCH_CLAUDE_DIR": "/x/claude"}),
        ({"codexConfigDir": "~/c"}, {"CC_SWITCH_CODEX_DIR": "HOME/c"}),
        ({"geminiConfigDir": "~\\a\\b"}, {"CC_SWITCH_GEMINI_DIR": "HOME/a/b"}),
        ({"opencodeConfigDir": " ~ "}, {"CC_SWITCH_OPENCODE_DIR": "HOME"}),
        ({"grokConfigDir": "", "piConfigDir": "  "}, {}),
        ({"claudeConfigDir": "relative", "codexConfigDir": "~other/x"}, {}),
        ({"claudeConfigDir": None, "codexConfigDir": 1}, {}),
    ],
)
def test_folders_that_were_moved_are_variables(home: Home, told: dict[str, object], found: dict[str, str]) -> None:
    home.told(told)
    assert variables(home.places) == {name: text.replace("HOME", str(home.path)) for name, text in found.items()}


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, ".local/share"),
        ("linux", {"XDG_DATA_HOME": "relative"}, ".local/share"),
        ("linux", {"XDG_DATA_HOME": "HOME/data"}, "data"),
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Roaming"),
        ("win32", {"APPDATA": "HOME/app"}, "app"),
    ],
)
def test_a_database_that_was_moved_is_found(
    home: Home, platform: Platform, environ: dict[str, str], folder: str
) -> None:
    told = {name: text.replace("HOME", str(home.path)) for name, text in environ.items()}
    places = replace(home.places, platform=platform, environ=told)
    home.put(f"{folder}/com.ccswitch.desktop/app_paths.json", '{"app_config_dir_override": "~/sync"}')
    assert variables(places) == {}  # a folder that is not there does not count
    (home.path / "sync").mkdir()
    assert variables(places) == {"CC_SWITCH_DIR": str(home.path / "sync")}


def test_an_old_windows_release_kept_its_database_under_another_home(tmp_path: Path) -> None:
    old = made(tmp_path / "old")
    places = Places(tmp_path / "new", {"HOME": str(old.path)}, tmp_path, Path("/"), "win32")
    assert variables(places) == {"CC_SWITCH_DIR": str(old.database.parent)}
    assert variables(replace(places, platform="linux")) == {}


def test_a_store_is_opened_by_its_name(home: Home) -> None:
    assert isinstance(store("cc_switch", "work", home.places, lambda: NOW_MS), CcSwitch)
    with pytest.raises(TemplateError, match="unknown store 'other'"):
        store("other", "work", home.places, lambda: NOW_MS)


@pytest.mark.parametrize("part", ["hermes", "claude/config", "codex/settings_config/auth", ""])
def test_a_part_that_no_row_has_is_refused(home: Home, part: str) -> None:
    with pytest.raises(StoreError, match="have no part"):
        home.write({part: "{}"})


def test_variables_need_no_database() -> None:
    code = (
        "import sys; from pathlib import Path; from toolsync.paths import Places; from toolsync.store import variables;"
        "variables(Places(Path('/none'), {}, Path('/none'), Path('/'), 'linux')); sys.exit('sqlite3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
