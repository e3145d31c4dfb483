"""A settings file that another program put in a link's place, or that its user copied: what we wrote there goes too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.acceptance.test_cline import PROVIDERS, SECRETS, STATE, data, entry, keys
from tests.keys import invented
from toolsync.masking import Secret

CLAUDE = ".claude/settings.json"
OLD = invented("users-old")
APPLY = ("apply", "--yes", "--no-ping", "--allow-plaintext")
OWN = {
    SECRETS: {"openAiApiKey": OLD, "mine": "1"},
    PROVIDERS: {"version": 1, "modes": {}, "providers": {"deepseek": entry("deepseek", apiKey="d")}},
}


@pytest.fixture
def linked(machine: Machine) -> Machine:
    """Cline's files are links into a folder of dotfiles, and hold our key."""
    for name, own in OWN.items():
        machine.write(f"dots/{name}", json.dumps(own))
        (machine.home / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / name).symlink_to(machine.home / "dots" / name)
    machine.write(STATE, "{}\n")
    assert machine.toolsync(*APPLY, "--tool", "cline").said == (0, "")
    return machine


def _cut(machine: Machine) -> None:
    """As Cline and CC Switch replace a file: what stood behind the link stays there, and a file takes its place."""
    for name in OWN:
        there = json.loads(machine.read(name))
        (machine.home / name).unlink()
        machine.write(name, json.dumps(there, indent=2) + "\n")


def _with_key(machine: Machine) -> list[str]:
    return [name for name, text in machine.contents().items() if KEY in text]


def test_undo_takes_the_key_out_of_both(linked: Machine) -> None:
    _cut(linked)
    assert len(_with_key(linked)) == 4
    assert linked.toolsync("undo", "--yes").said == (0, "")
    assert _with_key(linked) == []
    for name, own in OWN.items():
        assert [data(linked, name), data(linked, f"dots/{name}")] == [own, own]
    assert (linked.memory["files"], linked.kept) == ({}, {"work"})


def test_apply_goes_on_with_the_copy_and_gives_the_first_back(linked: Machine) -> None:
    _cut(linked)
    ran = linked.toolsync(*APPLY, "--tool", "cline")
    assert (ran.code, ran.err, "problem: " in ran.out) == (0, "", False), ran.out
    assert (keys(linked), len(_with_key(linked))) == ((KEY, KEY), 2)
    assert linked.toolsync("status").code == 0
    with linked.untouched():
        assert linked.toolsync(*APPLY, "--tool", "cline").code == 0
    assert linked.toolsync("undo", "--yes").said == (0, "")
    assert _with_key(linked) == []
    for name, own in OWN.items():
        assert [data(linked, name), data(linked, f"dots/{name}")] == [own, own]
    assert (linked.memory["files"], linked.kept) == ({}, {"work"})


def _copied(machine: Machine) -> None:
    shutil.copytree(machine.home / ".claude", machine.home / "moved")


def _moved(machine: Machine) -> None:
    shutil.move(machine.home / ".claude", machine.home / "moved")


@pytest.mark.parametrize("move", [_copied, _moved])
@pytest.mark.parametrize("again", [True, False], ids=["applied again", "not applied again"])
def test_a_folder_that_its_user_moved_is_given_back_where_it_is(
    machine: Machine, move: Callable[[Machine], None], again: bool
) -> None:
    own = {"env": {"ANTHROPIC_AUTH_TOKEN": OLD, "ANTHROPIC_MODEL": "mine"}}
    machine.write(CLAUDE, json.dumps(own))
    machine.profile('\n[profiles.work.tool.claude-code]\nkey_way = "plaintext"\n')
    assert machine.toolsync(*APPLY, "--tool", "claude-code").code == 0
    move(machine)
    machine.environ["CLAUDE_CONFIG_DIR"] = str(machine.home / "moved")
    if again:
        assert machine.toolsync(*APPLY, "--tool", "claude-code").said == (0, "")
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, data(machine, "moved/settings.json"), _with_key(machine)) == (0, own, [])
    assert machine.kept == {"work"}


def _another_key(machine: Machine) -> None:
    machine.vault.set("work", Secret(invented("newer")))


def _another_address(machine: Machine) -> None:
    machine.config.write_text(machine.config.read_text().replace(ADDRESS, "https://newer.example"))


def _another_profile(machine: Machine) -> None:
    machine.profile()
    machine.config.write_text(machine.config.read_text().replace("work", "job").replace("keyring:job", "keyring:work"))


@pytest.mark.parametrize(
    ("change", "way"),
    [
        (_another_key, "plaintext"),
        (_another_address, "plaintext"),
        (_another_address, "command"),
        (_another_profile, "command"),
    ],
)
def test_a_copy_from_before_a_change_is_named_by_undo(
    machine: Machine, change: Callable[[Machine], None], way: str
) -> None:
    machine.write(CLAUDE, "{}\n")
    machine.profile(f'\n[profiles.work.tool.claude-code]\nkey_way = "{way}"\n')
    assert machine.toolsync(*APPLY, "--tool", "claude-code").code == 0
    _copied(machine)
    change(machine)
    assert machine.toolsync(*APPLY, "--tool", "claude-code").code == 0
    machine.environ["CLAUDE_CONFIG_DIR"] = str(machine.home / "moved")
    copy = machine.read("moved/settings.json")
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, machine.read(CLAUDE), machine.read("moved/settings.json")) == (0, "{}\n", copy)
    said = "~/moved/settings.json stays as it is: it is not the file that toolsync wrote, and says nearly the same"
    assert ran.out.count(f"warning: {said}\n") == 1


@pytest.mark.parametrize("again", [True, False], ids=["applied again", "not applied again"])
def test_a_folder_that_says_the_same_by_hand_is_its_users(machine: Machine, again: bool) -> None:
    machine.write(CLAUDE, '{"env": {"ANTHROPIC_BASE_URL": "https://older.example"}}\n')
    command = ("apply", "--yes", "--no-ping", "--tool", "claude-code")
    assert machine.toolsync(*command).code == 0
    other = {"env": {"ANTHROPIC_AUTH_TOKEN": "", "ANTHROPIC_MODEL": "some-model", "ANTHROPIC_BASE_URL": ADDRESS}}
    machine.write("other/settings.json", json.dumps(other))
    machine.environ["CLAUDE_CONFIG_DIR"] = str(machine.home / "other")
    if again:
        assert machine.toolsync(*command).code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert data(machine, "other/settings.json") == other


def test_a_second_file_that_says_the_same_is_no_copy_of_the_first(machine: Machine) -> None:
    own = {"baseUrl": f"{ADDRESS}/v1", "apiKey": "${TOOLSYNC_API_KEY}"}
    machine.write("one.json", '{"baseUrl": "https://older.example", "apiKey": "x"}')
    machine.write("two.json", json.dumps(own))
    for paths in ('"~/one.json"', '"~/one.json", "~/two.json"'):
        machine.profile(f"\n[profiles.work.tool.settings-json]\npaths = [{paths}]\n")
        assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    assert machine.toolsync("undo", "--yes").code == 0
    assert data(machine, "two.json") == own
