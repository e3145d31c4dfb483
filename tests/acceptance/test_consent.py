"""Consent to a copy of the key in a tool's own file: the consent of one profile is none of another's."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.keys import invented
from toolsync.masking import Secret

SECRETS = ".cline/data/secrets.json"
APPLY = ("apply", "--yes", "--no-ping", "--tool", "cline")
OTHER = invented("home")


@pytest.fixture
def two(machine: Machine) -> Machine:
    """Two profiles: `work` asks, `home` allows."""
    machine.vault.set("home", Secret(OTHER))
    machine.profile(
        '\n[profiles.home]\nbase_url = "https://home.example/api"\nmodel = "m"\nkey = "keyring:home"\n'
        'plaintext = "allow"\n'
    )
    machine.write(SECRETS, "{}")
    return machine


def _key(machine: Machine) -> str:
    return str(json.loads(machine.read(SECRETS)).get("openAiApiKey"))


def test_what_one_profile_allows_another_still_asks(two: Machine) -> None:
    assert two.toolsync(*APPLY, "--profile", "home").said == (0, "")

    refused = two.toolsync(*APPLY)

    assert (refused.said, _key(two)) == ((2, ""), OTHER)
    assert "that needs your consent" in refused.out


def test_consent_once_given_lasts_for_the_profile_that_it_was_given_for(two: Machine) -> None:
    assert two.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    two.config.write_text(two.config.read_text().replace('"some-model"', '"other-model"'))

    assert (two.toolsync(*APPLY).said, _key(two)) == ((0, ""), KEY)


def test_consent_goes_with_undo(two: Machine) -> None:
    assert two.toolsync(*APPLY, "--allow-plaintext").code == 0
    assert two.toolsync("undo", "--yes").code == 0

    assert (two.toolsync(*APPLY).code, json.loads((two.state / "memory.json").read_text())["applied"]) == (2, {})


def test_where_nobody_remembers_whose_key_a_copy_is_it_is_asked_once_more(two: Machine) -> None:
    assert two.toolsync(*APPLY, "--allow-plaintext").code == 0
    file = two.state / "memory.json"
    memory = json.loads(file.read_text()) | {"version": 2}
    del memory["applied"]
    file.write_text(json.dumps(memory))

    assert [two.toolsync(*APPLY, *more).code for more in ((), ("--allow-plaintext",), ())] == [2, 0, 0]
    assert ADDRESS.removeprefix("https://") in two.read(".cline/data/globalState.json")


def test_a_tool_with_a_copy_needs_nothing_after_its_profile_is_renamed(machine: Machine) -> None:
    machine.write(".codex/config.toml", "")
    assert machine.toolsync(*APPLY, "--allow-plaintext").code == 0
    assert machine.toolsync("profile", "rename", "work", "job").out == "'work' is now 'job'.\n"
    assert machine.toolsync("apply", "--tool", "codex", "--yes", "--no-ping").code == 0
    assert "warning: Codex CLI asks toolsync for" in machine.toolsync("profile", "rename", "job", "work").out


def test_a_tool_that_waits_for_consent_is_still_held_against_the_profile(two: Machine) -> None:
    """Its files are another profile's, though nothing is written there without consent."""
    assert two.toolsync(*APPLY, "--profile", "home").code == 0
    (cline,) = two.toolsync("status", "--json").json["data"]["tools"]
    assert {file["wanted"] for file in cline["files"]} == {"same"}

    ran = two.toolsync("status", "--profile", "work", "--json")
    (cline,), data = ran.json["data"]["tools"], ran.json["data"]
    assert (ran.code, cline["profile"], cline["against"], data["waiting"]) == (1, "home", "work", 0)
    assert {file["wanted"] for file in cline["files"]} == {"differs"}

    two.vault.remove("work")
    (cline,) = two.toolsync("status", "--profile", "work", "--json").json["data"]["tools"]
    assert {file["wanted"] for file in cline["files"]} == {"unknown"}
