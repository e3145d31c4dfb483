"""What a login left with a tool is where it is meant to be, whether the tool uses it just now or not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.check.planted import SHAPED
from tests.keys import invented
from toolsync.masking import Secret

CREDENTIALS, STATE, AUTH = ".claude/.credentials.json", ".claude.json", ".codex/auth.json"
TOKEN, REFRESH, CONSOLE = (f"sk-ant-{kind}-{invented(kind)}{'Zq7' * 9}" for kind in ("oat01", "ort01", "api03"))
HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
LOGINS: Mapping[str, tuple[str, str]] = {
    "a subscription": (CREDENTIALS, json.dumps({"claudeAiOauth": {"accessToken": TOKEN, "refreshToken": REFRESH}})),
    "a console": (STATE, json.dumps({"primaryApiKey": CONSOLE})),
    "Codex' key": (AUTH, json.dumps({"OPENAI_API_KEY": HEX})),
}


@pytest.mark.usefixtures("open_folders")
@pytest.mark.parametrize("is_applied", [False, True], ids=["", "applied"])
@pytest.mark.parametrize(("file", "content"), LOGINS.values(), ids=LOGINS)
def test_a_login_is_no_leak_until_others_can_read_it(
    furnished: Machine, file: str, content: str, *, is_applied: bool
) -> None:
    path = furnished.write(file, content)
    path.chmod(0o600)
    if is_applied:
        furnished.profile()
        ran = furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code", "--tool", "codex")
        assert ran.code == 0, ran.err
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, [one["agreed"] for one in ran.json["data"]["findings"] if not one["agreed"]]) == (0, [])
    path.chmod(0o644)
    assert furnished.toolsync("check").code == 1


def test_a_copy_of_it_elsewhere_is_one(furnished: Machine) -> None:
    furnished.write(AUTH, json.dumps({"OPENAI_API_KEY": HEX})).chmod(0o600)
    furnished.write(".bashrc", f"export K={HEX}\n").chmod(0o600)
    furnished.profile()
    assert furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    found = furnished.toolsync("check", "--json").json["data"]["findings"]
    leaks = [(Path(one["file"]).name, one["secret"]["name"]) for one in found if not one["agreed"]]
    assert leaks == [(".bashrc", "the login of Codex CLI")]


HIDING = {
    "another key": {"env": {"ANTHROPIC_AUTH_TOKEN": invented("of-project")}},
    "a command": {"apiKeyHelper": "pass show gateway"},
}


@pytest.mark.parametrize("theirs", HIDING.values(), ids=HIDING)
def test_a_key_that_a_project_hides_is_found(furnished: Machine, theirs: Mapping[str, object]) -> None:
    own = {"env": {"ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_AUTH_TOKEN": HEX}}
    furnished.write(".claude/settings.json", json.dumps(own)).chmod(0o600)
    furnished.write("project/.claude/settings.local.json", json.dumps(theirs)).chmod(0o600)
    found = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert f"{furnished.home}/.claude/settings.json" in [one["file"] for one in found if not one["agreed"]]


@pytest.mark.parametrize("is_chosen", [False, True], ids=["another provider's", "the provider's"])
def test_a_profile_helps_with_what_a_tool_uses_alone(furnished: Machine, *, is_chosen: bool) -> None:
    furnished.config.unlink()
    chosen = 'model_provider = "x"\n' if is_chosen else ""
    table = f'[model_providers.x]\nname = "x"\nbase_url = "{ADDRESS}"\nexperimental_bearer_token = "{HEX}"\n'
    furnished.write(".codex/config.toml", chosen + table).chmod(0o600)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert ("toolsync init" in one["advice"]) == is_chosen


@pytest.mark.parametrize("is_ours", [False, True], ids=["of its own", "the profile's"])
def test_what_cline_uses_is_its_own_affair_but_for_our_gateways(furnished: Machine, *, is_ours: bool) -> None:
    settings = {"provider": "openai-compatible", "apiKey": HEX, "baseUrl": ADDRESS if is_ours else "https://x.example"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    stored = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    furnished.write(".cline/data/settings/providers.json", json.dumps(stored)).chmod(0o600)
    assert furnished.toolsync("check").code == is_ours


def _of_cline(secrets: dict[str, str], **providers: str) -> dict[str, str]:
    """Cline's files: the editor's keys, and those of the CLI's providers, the last of which is chosen."""
    entry = {"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    each = {
        name.replace("_", "-"): {**entry, "settings": {"provider": name.replace("_", "-"), "apiKey": key}}
        for name, key in providers.items()
    }
    stored = {"version": 1, "lastUsedProvider": [*each][-1], "providers": each}
    return {".cline/data/secrets.json": json.dumps(secrets), ".cline/data/settings/providers.json": json.dumps(stored)}


BEDROCK = {"provider": "bedrock", "aws": {"accessKey": SHAPED["aws"], "region": "eu-west-1"}}
OWN = {
    "a key that stands elsewhere than a key": {
        ".cline/data/settings/providers.json": json.dumps(
            {"version": 1, "providers": {"bedrock": {"settings": BEDROCK}}}
        )
    },
    "a key of another provider's": _of_cline({"openAiApiKey": HEX, "apiKey": CONSOLE}, deepseek=HEX[::-1]),
    "the editor's is another": _of_cline({"openAiApiKey": HEX}, openai_compatible=HEX[::-1]),
    "the editor's is the same": _of_cline({"openAiApiKey": HEX}, openai_compatible=HEX),
}


@pytest.mark.parametrize("files", OWN.values(), ids=OWN)
def test_what_cline_keeps_of_its_own(furnished: Machine, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        furnished.write(name, content).chmod(0o600)
    assert furnished.toolsync("check").code == 0
    furnished.write(".claude/settings.json", json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": HEX}})).chmod(0o600)
    found = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert [Path(one["file"]).name for one in found if not one["agreed"]] == ["settings.json"]


def test_a_profiles_key_in_a_login_is_found(furnished: Machine) -> None:
    furnished.write(AUTH, json.dumps({"OPENAI_API_KEY": KEY})).chmod(0o600)
    furnished.profile()
    assert furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    found = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert [(Path(one["file"]).name, one["agreed"]) for one in found] == [("auth.json", False)]


def test_a_copy_that_was_agreed_to_is_none_under_another_name_either(furnished: Machine) -> None:
    other = f'[profiles.other]\nbase_url = "{ADDRESS}"\nmodel = "m"\nkey = "keyring:other"\n'
    furnished.profile(other)
    assert furnished.vault is not None
    furnished.vault.set("other", Secret(KEY))
    agreed = ("--tool", "cline", "--profile", "other", "--allow-plaintext", "--yes", "--no-ping")
    assert furnished.toolsync("apply", *agreed).code == 0
    assert furnished.toolsync("check").code == 0


@pytest.mark.parametrize("key", [KEY, "a-key-without-digits"])
def test_a_profiles_key_that_a_tool_takes_from_its_file_is_not_to_be_taken_out(furnished: Machine, key: str) -> None:
    assert furnished.vault is not None
    furnished.vault.set("work", Secret(key))
    own = {"ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_AUTH_TOKEN": key}
    furnished.write(".claude/settings.json", json.dumps({"env": own})).chmod(0o600)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["fixes"], "take it out" in one["advice"]) == (["apply"], False)
