"""`check --fix`: modes, git's ignore file, and a literal key that goes into the keyring; nothing without a yes."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.gitguard.conftest import Home
from tests.keys import invented
from toolsync.commands.leaks import mending
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault

SETTINGS = {"env": {"ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_BASE_URL": "https://gateway.example/api"}, "other": 1}


@pytest.fixture(autouse=True)
def bare(furnished: Machine) -> None:
    """A profile without a secret header: with one, no tool can do without a copy of that."""
    furnished.profile()


def _found(machine: Machine) -> dict[str, list[str]]:
    return {one["shown"]: one["fixes"] for one in machine.toolsync("check", "--json").json["data"]["findings"]}


def test_nothing_is_mended_without_a_yes(furnished: Machine) -> None:
    furnished.write(".bash_history", f"export K={KEY}\n").chmod(0o644)
    with furnished.untouched():
        ran = furnished.toolsync("check", "--fix")
    assert ran.said[0] == 2
    assert "nobody is there to answer" in ran.err


def test_a_file_with_a_key_is_shut_to_others(furnished: Machine) -> None:
    history = furnished.write(".bash_history", f"export K={KEY}\n")
    history.chmod(0o664)
    ran = furnished.toolsync("check", "--fix", "--yes", "--json")
    assert (ran.code, ran.json["data"]["fixed"]) == (1, [{"what": "mode", "shown": "~/.bash_history"}])
    assert history.stat().st_mode & 0o777 == 0o600
    assert [one["exposed"] for one in ran.json["data"]["findings"]] == [[]]


def test_a_file_in_which_a_key_stays_is_shut_after_it_is_written(furnished: Machine) -> None:
    """A table of the user's own, which nobody reads any more then."""
    text = f'model_provider = "gw"\n[model_providers.gw]\nname = "gw"\nexperimental_bearer_token = "{KEY}"\n'
    file = furnished.write(".codex/config.toml", f'{text}base_url = "https://gateway.example/api/v1"\n')
    file.chmod(0o664)
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json")
    assert [one["what"] for one in ran.json["data"]["fixed"]] == ["mode", "apply"]
    assert (KEY in file.read_text(encoding="utf-8"), file.stat().st_mode & 0o777) == (True, 0o600)
    (left,) = ran.json["data"]["findings"]
    assert (left["fixes"], left["advice"].startswith("Take it out as soon as nothing reads it there")) == ([], True)
    assert furnished.toolsync("undo", "--yes").code == 0
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_command_that_makes_git_forget_a_file_names_its_repository(furnished: Machine) -> None:
    home = Home(furnished.home)
    home.repository("dots")
    real = furnished.write("dots/settings.json", json.dumps(SETTINGS))
    home.git("dots", "add", ".")
    furnished.write(".claude/x", "")
    (furnished.home / ".claude/settings.json").symlink_to(real)
    (one,) = (one for one in furnished.toolsync("check", "--json").json["data"]["findings"] if not one["inside"])
    command = one["advice"].split("`")[1]
    assert command == f"git -C {real.parent} rm --cached -- {real}"
    subprocess.run(shlex.split(command), check=True, capture_output=True, cwd="/")
    assert home.git("dots", "ls-files") == ""


def test_git_is_told_to_ignore_a_file_with_a_key(furnished: Machine) -> None:
    Home(furnished.home).repository("project")
    furnished.write("project/.gitignore", "*.pyc\r\n")
    furnished.write("project/.env", f"K={KEY}\n")
    assert _found(furnished) == {"~/project/.env": ["ignore"]}
    ran = furnished.toolsync("check", "--fix", "--yes", "--json")
    assert [one["what"] for one in ran.json["data"]["fixed"]] == ["ignore"]
    assert furnished.read("project/.gitignore") == "*.pyc\r\n/.env\r\n"
    assert [one["exposed"] for one in ran.json["data"]["findings"]] == [[]]


@pytest.mark.parametrize("rule", [".env", "/.env", ".env*", "*"])
def test_a_file_that_git_ignores_is_left_to_it(furnished: Machine, rule: str) -> None:
    """Though nothing ignores what toolsync would write beside a file of its own."""
    Home(furnished.home).repository("project")
    furnished.write("project/.gitignore", f"{rule}\n")
    furnished.write("project/.env", f"K={KEY}\n")
    (furnished.home / "project/.env").chmod(0o600)
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["exposed"], one["fixes"]) == ("~/project/.env", [], [])


def test_a_tool_gets_the_key_another_way(furnished: Machine) -> None:
    furnished.write(".claude/settings.json", json.dumps(SETTINGS, indent=2))
    assert _found(furnished) == {"~/.claude/settings.json": ["mode", "apply"]}
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json")
    assert (ran.code, ran.json["data"]["findings"]) == (0, [])
    assert [one["what"] for one in ran.json["data"]["fixed"]] == ["apply"]
    now = json.loads(furnished.read(".claude/settings.json"))
    assert "key print work" in now["apiKeyHelper"]
    assert now["other"] == 1
    furnished.toolsync("undo", "--yes")
    assert json.loads(furnished.read(".claude/settings.json")) == SETTINGS


def test_a_literal_key_goes_into_a_keyring_that_has_none(furnished: Machine) -> None:
    literal = invented("literal")
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.remove("work")
    furnished.write(".claude/settings.json", json.dumps(SETTINGS).replace(KEY, literal))
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json")
    assert [one["what"] for one in ran.json["data"]["fixed"]] == ["key", "apply"]
    assert furnished.vault.get("work") == Secret(literal)
    assert literal not in furnished.read(".claude/settings.json")
    assert (ran.code, literal in ran.out) == (0, False)


def test_where_the_gateway_does_not_answer_nothing_is_changed(furnished: Machine) -> None:
    furnished.profile(base_url="http://127.0.0.1:9")
    furnished.write(
        ".claude/settings.json", json.dumps(SETTINGS).replace("https://gateway.example/api", "http://127.0.0.1:9")
    )
    with furnished.untouched():
        ran = furnished.toolsync("check", "--fix", "--yes")
    assert ran.code == 2
    assert KEY not in ran.out + ran.err


@pytest.mark.usefixtures("open_folders")
def test_a_copy_that_was_agreed_to_is_no_leak_until_others_can_read_it(furnished: Machine) -> None:
    furnished.write(".cline/data/secrets.json", "{}")
    applied = furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "cline", "--allow-plaintext")
    assert applied.code == 0
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, {one["agreed"] for one in ran.json["data"]["findings"]}) == (0, {True})
    (furnished.home / ".cline/data/secrets.json").chmod(0o644)
    ran = furnished.toolsync("check", "--json")
    assert (ran.code, ["group", "others"] in [one["exposed"] for one in ran.json["data"]["findings"]]) == (1, True)


@pytest.mark.usefixtures("open_folders")
def test_a_login_of_a_tools_own_is_no_leak_until_others_can_read_it(furnished: Machine) -> None:
    login = furnished.write(".codex/auth.json", json.dumps({"OPENAI_API_KEY": invented("login")}))
    login.chmod(0o600)
    assert furnished.toolsync("check").code == 0
    login.chmod(0o640)
    assert furnished.toolsync("check").code == 1


@pytest.mark.usefixtures("open_folders")
def test_a_copy_that_stays_is_shut_at_once_and_asked_about_once(furnished: Machine) -> None:
    furnished.write(".cline/data/secrets.json", "{}")
    furnished.toolsync("apply", "--yes", "--no-ping", "--tool", "cline", "--allow-plaintext")
    (furnished.home / ".cline/data/secrets.json").chmod(0o644)
    furnished.write(".claude/settings.json", json.dumps(SETTINGS, indent=2))
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping")
    assert ran.code == 0
    assert "planning again" not in ran.err
    assert "Nothing to change." not in ran.out
    assert "~/.cline/data/secrets.json: shut to all but you" in ran.out
    assert "Cline: gets the key another way" not in ran.out
    assert (furnished.home / ".cline/data/secrets.json").stat().st_mode & 0o777 == 0o600


def test_lines_for_git_are_added_once_and_asked_about_once(furnished: Machine) -> None:
    Home(furnished.home).repository("project")
    furnished.profile(
        '[profiles.work.tool.settings-json]\npaths = ["~/project/settings.json"]\nkey_way = "plaintext"\n'
    )
    plain = ("--tool", "settings-json", "--allow-plaintext", "--no-ping", "--yes")
    furnished.write("project/.gitignore", "/settings.json\n/.toolsync-*.tmp\n")
    assert furnished.toolsync("apply", *plain).code == 0
    furnished.write("project/.gitignore", "")
    furnished.write("project/.env", f"K={KEY}\n")
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping")
    assert "planning again" not in ran.err
    assert "can be mended" not in ran.out
    assert {"/settings.json", "/.env"} <= set(furnished.read("project/.gitignore").splitlines())


def test_without_a_profile_the_way_to_one_is_said(furnished: Machine) -> None:
    (furnished.home / ".config/toolsync/profile.toml").unlink()
    furnished.write(".claude/settings.json", json.dumps(SETTINGS))
    assert "`toolsync init`" in furnished.toolsync("check").out


def test_a_key_does_not_go_into_the_keyring_where_its_tool_cannot_be_applied(furnished: Machine) -> None:
    furnished.profile(base_url="http://127.0.0.1:9")
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.remove("work")
    settings = (
        json.dumps(SETTINGS)
        .replace(KEY, invented("literal"))
        .replace("https://gateway.example/api", "http://127.0.0.1:9")
    )
    furnished.write(".claude/settings.json", settings)
    assert furnished.toolsync("check", "--fix", "--yes").code == 2
    assert (furnished.vault.get("work"), furnished.read(".claude/settings.json")) == (None, settings)


def test_what_cannot_be_mended_is_said(furnished: Machine) -> None:
    history = furnished.write(".bash_history", KEY)
    history.chmod(0o600)
    ran = furnished.toolsync("check", "--fix", "--yes")
    assert (ran.code, "nothing of this can be mended from here" in ran.out) == (1, True)


def test_a_file_that_was_exchanged_is_not_shut(furnished: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    history = furnished.write(".bash_history", KEY)
    history.chmod(0o644)
    other = furnished.write("other", "somebody's")
    other.chmod(0o644)
    original = mending.plan

    def planned(*args: Any, **kwargs: Any) -> mending.Plan:
        plan = original(*args, **kwargs)
        history.unlink()
        history.symlink_to(other)
        return plan

    monkeypatch.setattr(mending, "plan", planned)
    assert furnished.toolsync("check", "--fix", "--yes").code == 2
    assert other.stat().st_mode & 0o777 == 0o644


def test_a_key_that_a_repository_brings_never_goes_into_the_keyring(furnished: Machine) -> None:
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.remove("work")
    furnished.write("project/.claude/settings.local.json", json.dumps(SETTINGS).replace(KEY, invented("theirs")))
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json")
    assert (ran.code, furnished.vault.get("work")) == (1, None)
    assert {fix for one in ran.json["data"]["findings"] for fix in one["fixes"]} <= {"mode"}


def test_a_tool_that_is_set_to_another_gateway_is_not_led_to_ours(furnished: Machine) -> None:
    elsewhere = {"env": {"ANTHROPIC_BASE_URL": "https://another.example", "MCP_KEY": KEY}}
    furnished.write(".claude/settings.json", json.dumps(elsewhere))
    assert _found(furnished) == {"~/.claude/settings.json": ["mode"]}
    furnished.toolsync("check", "--fix", "--yes", "--no-ping")
    assert json.loads(furnished.read(".claude/settings.json")) == elsewhere


# Several profiles

WORK, TWO = "https://gateway.example/api", "https://two.example/api"
TABLE = """
[model_providers.gw]
name = "gw"
wire_api = "responses"
"""


def _profiles(machine: Machine, two: str = TWO, more: str = "") -> None:
    machine.profile(f'\n[profiles.two]\nbase_url = "{two}"\nmodel = "m2"\nkey = "keyring:two"\n{more}', base_url=WORK)


def _codex(machine: Machine, base_url: str, key: str) -> None:
    lines = f'base_url = "{base_url}/v1"\nexperimental_bearer_token = "{key}"\n'
    machine.write(".codex/config.toml", f'model_provider = "gw"\n{TABLE}{lines}')


def _address(machine: Machine) -> str:
    settings = tomllib.loads(machine.read(".codex/config.toml"))
    return str(settings["model_providers"][settings["model_provider"]]["base_url"])


def test_a_literal_key_goes_to_the_profile_whose_gateway_its_tool_uses(furnished: Machine) -> None:
    """Not to the active one: that would send it to a gateway that is not its own."""
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.remove("work")
    _profiles(furnished)
    _codex(furnished, TWO, invented("of-two"))
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json")
    assert [one["what"] for one in ran.json["data"]["fixed"]] == ["key", "mode", "apply"]
    assert (furnished.vault.get("work"), furnished.vault.get("two")) == (None, Secret(invented("of-two")))
    assert (_address(furnished), "print two" in furnished.read(".codex/config.toml").replace('", "', " ")) == (
        f"{TWO}/v1",
        True,
    )


def test_of_profiles_at_one_gateway_it_is_the_one_with_that_key(furnished: Machine) -> None:
    _profiles(furnished, two=WORK)
    furnished.vault.set("two", Secret(invented("of-two")))
    _codex(furnished, WORK, invented("of-two"))
    assert furnished.toolsync("check", "--fix", "--yes", "--no-ping").code == 1  # the user's own table holds it still
    assert "print two" in furnished.read(".codex/config.toml").replace('", "', " ")


def test_a_tool_of_another_profile_is_not_led_to_the_active_one(furnished: Machine) -> None:
    way = 'tool.codex.key_way = "plaintext"\n'
    _profiles(furnished, more=f'plaintext = "allow"\n{way}')
    furnished.vault.set("two", Secret(invented("of-two")))
    assert furnished.toolsync("apply", "--yes", "--no-ping", "-p", "two", "--tool", "codex").code == 0
    _profiles(furnished, more='plaintext = "ask"\n')
    (furnished.home / ".codex/config.toml").chmod(0o666)
    text = furnished.config.read_text(encoding="utf-8").replace('"ask"', '"never"')
    furnished.config.write_text(text, encoding="utf-8")
    ran = furnished.toolsync("check", "--fix", "--yes", "--no-ping")
    assert (ran.code, _address(furnished)) == (0, f"{TWO}/v1"), ran.out
    assert "print two" in furnished.read(".codex/config.toml").replace('", "', " ")


def test_profiles_are_seen_to_one_after_the_other(furnished: Machine) -> None:
    _profiles(furnished)
    furnished.vault.set("two", Secret(invented("of-two")))
    _codex(furnished, TWO, invented("of-two"))
    furnished.write(".claude/settings.json", json.dumps(SETTINGS))
    applied = [
        [one["shown"] for one in ran.json["data"]["fixed"] if one["what"] == "apply"]
        for ran in [furnished.toolsync("check", "--fix", "--yes", "--no-ping", "--json") for _ in range(3)]
    ]
    assert applied == [["Claude Code"], ["Codex CLI"], []]
    assert _address(furnished) == f"{TWO}/v1"


def test_a_key_from_before_survives_a_move_that_came_to_nothing(furnished: Machine) -> None:
    assert isinstance(furnished.vault, MemoryVault)
    furnished.vault.remove("work")
    furnished.vault.set("work@former-1", Secret(KEY))
    furnished.profile(base_url="http://127.0.0.1:9")
    settings = json.dumps(SETTINGS).replace("https://gateway.example/api", "http://127.0.0.1:9")
    furnished.write(".claude/settings.json", settings.replace(KEY, invented("literal")))
    assert furnished.toolsync("check", "--fix", "--yes").code == 2
    assert {name for name in furnished.kept if name.startswith("work")} == {"work@former-1"}
