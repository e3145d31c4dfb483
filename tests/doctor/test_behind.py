"""A profile that was edited, and not applied since: what has changed is said, and the command that mends it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from toolsync.loopback import LoopbackGateway

CODEX, CLAUDE = ".codex/config.toml", ".claude/settings.json"


@pytest.fixture
def edited(machine: Machine, gateway: LoopbackGateway) -> Machine:
    """Codex is set, and takes the key from a variable, so that no command is run for it."""
    machine.environ["WORK_KEY"] = KEY
    machine.write(CODEX, "")
    machine.profile('[profiles.work.tool.codex]\nkey_way = "env"\n', base_url=gateway.base_url, key="env:WORK_KEY")
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    return machine


def _doctor(machine: Machine, *words: str) -> tuple[int, dict[str, Any]]:
    ran = machine.toolsync("doctor", "--json", *words)
    return ran.code, ran.json["data"]["tools"][0]


@pytest.mark.parametrize("named", [(), ("codex",)])
def test_an_address_that_was_edited(edited: Machine, gateway: LoopbackGateway, named: tuple[str, ...]) -> None:
    other = gateway.base_url.replace("127.0.0.1", "localhost")
    assert edited.toolsync("profile", "edit", "--set", f"base_url={other}").code == 0
    gateway.forget()
    code, said = _doctor(edited, *named)
    assert (code, said["state"], said["command"]) == (3, "inconclusive", ["apply", "--tool", "codex"])
    assert f"was changed since Codex CLI was set: it says {other}" in said["unknown"][0]
    assert said["remarks"] == []
    assert gateway.received != ()
    assert all(KEY not in " ".join(one.headers.values()) for one in gateway.received)
    assert edited.toolsync("doctor", "--fix", "--yes", *named).code == 0
    assert f'base_url = "{other}/v1"' in edited.read(CODEX)


@pytest.mark.parametrize(("named", "remarks"), [((), []), (("claude-code",), ["tool_timeout_too_short"])])
def test_a_short_time_limit_is_no_matter_before_the_edited_address(
    edited: Machine, gateway: LoopbackGateway, named: tuple[str, ...], remarks: list[str]
) -> None:
    edited.write(CLAUDE, "{}")
    (edited.home / CODEX).unlink()
    edited.environ["API_TIMEOUT_MS"] = "20000"
    assert edited.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    other = gateway.base_url.replace("127.0.0.1", "localhost")
    assert edited.toolsync("profile", "edit", "--set", f"base_url={other}").code == 0
    told = edited.toolsync("doctor", "--json", *named).json["data"]["tools"]
    said = next(one for one in told if one["tool"] == "claude-code")
    assert (said["state"], said["findings"], said["command"]) == (
        "inconclusive",
        [],
        ["apply", "--tool", "claude-code"],
    )
    assert [one["cause"] for one in said["remarks"]] == remarks


@pytest.mark.parametrize(("named", "count"), [((), 0), (("codex",), 1)])
def test_a_model_that_was_edited_is_a_remark_for_who_asks(edited: Machine, named: tuple[str, ...], count: int) -> None:
    assert _doctor(edited, *named)[1]["remarks"] == []
    assert edited.toolsync("profile", "edit", "--set", "model=other-model").code == 0
    code, said = _doctor(edited, *named)
    assert (code, said["state"], len(said["remarks"])) == (0, "healthy", count)
    for remark in said["remarks"]:
        assert "it says other-model now" in remark["evidence"][0]
        assert remark["command"] == ["apply", "--tool", "codex"]


def test_a_model_that_was_edited_is_noted_for_all(edited: Machine) -> None:
    assert edited.toolsync("doctor", "--json").json["messages"] == []
    assert edited.toolsync("profile", "edit", "--set", "model=other-model").code == 0
    ran = edited.toolsync("doctor", "--json")
    (note,) = ran.json["messages"]
    assert (ran.code, note["level"], note["hint"]) == (0, "note", "`toolsync apply --tool codex` applies them.")
    assert note["text"].startswith("profile 'work' has changes that are not applied to Codex CLI yet")
    assert edited.toolsync("doctor", "--json", "codex").json["messages"] == []
    assert edited.toolsync("apply", "--tool", "codex", "--yes", "--no-ping").code == 0
    assert edited.toolsync("doctor", "--json").json["messages"] == []


def test_one_that_is_set_to_another_profile_is_noted_for_that(edited: Machine) -> None:
    own = '[profiles.other]\nbase_url = "https://other.example"\nmodel = "m"\nkey = "env:WORK_KEY"\n'
    edited.config.write_text(edited.config.read_text().replace('active = "work"', 'active = "other"') + own)
    assert edited.toolsync("profile", "edit", "work", "--set", "model=other-model").code == 0
    notes = edited.toolsync("doctor", "--json").json["messages"]
    assert [one["hint"] for one in notes if "not applied" in one["text"]] == [
        "`toolsync apply --tool codex --profile work` applies them."
    ]


def test_what_somebody_else_changed_is_no_change_of_the_profiles(edited: Machine) -> None:
    edited.write(CODEX, edited.read(CODEX).replace("some-model", "mine"))
    assert _doctor(edited, "codex")[1]["remarks"] == []


# The whole file of profiles is gone.


def test_a_profile_whose_file_is_gone_is_made_anew_by_its_name(edited: Machine, gateway: LoopbackGateway) -> None:
    edited.write(CLAUDE, "{}")
    assert edited.toolsync("apply", "--yes", "--no-ping").code == 0
    edited.config.unlink()
    told = {one["tool"]: one for one in edited.toolsync("doctor", "--json").json["data"]["tools"]}
    by_copy, (asking, *_) = told["codex"], told["claude-code"]["findings"]
    for line in (by_copy["unknown"][0], asking["evidence"][-1]):
        assert "was set to profile 'work', and " in line
        assert " is gone: bring it back" in line
    assert asking["command"] == ["init", "work", "--base-url", gateway.base_url, "--model", "some-model"]
    assert by_copy["command"][:2] == ["init", "work"]
    assert edited.toolsync(*asking["command"], "--key-from", "env:WORK_KEY").code == 0
    assert edited.toolsync("doctor").code == 0


def test_one_that_asks_for_a_profile_that_is_gone_is_set_to_another_one_too(edited: Machine) -> None:
    edited.write(CLAUDE, "{}")
    edited.profile(key="keyring:work")
    assert edited.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    edited.config.unlink()
    assert edited.toolsync("init", "other", "--base-url", "https://gw.example", "--model", "m").code == 0
    (tool,) = edited.toolsync("doctor", "--json", "--offline", "claude-code").json["data"]["tools"]
    found = tool["findings"][0]
    assert (found["cause"], found["fix"]) == (
        "key_missing",
        "toolsync key set other && toolsync apply --tool claude-code",
    )
