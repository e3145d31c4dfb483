"""A tool that was set to another profile than the active one: it is held against its own, and commands name that."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.doctor.command import text_for, words_for

CODEX = ".codex/config.toml"
SECOND = """
[profiles.second]
base_url = "https://second.example/v1"
model = "their-model"
key = "env:SECOND_KEY"
"""


@pytest.fixture
def aside(machine: Machine) -> Machine:
    """Claude Code is set to `work`, the active profile, and Codex to `second`."""
    machine.write(CODEX, "")
    machine.write(".claude/settings.json", "{}")
    machine.environ |= {"SECOND_KEY": invented("second"), "WORK_KEY": KEY}
    machine.profile(SECOND, key="env:WORK_KEY")
    for words in (("--tool", "claude-code"), ("--tool", "codex", "--profile", "second")):
        ran = machine.toolsync("apply", "--yes", "--no-ping", *words)
        assert (ran.code, ran.err) == (0, "")
    return machine


def test_it_is_held_against_the_profile_that_it_was_set_to(aside: Machine) -> None:
    ran = aside.toolsync("doctor", "--offline", "--json", "claude-code", "codex")
    wanted = {one["tool"]: one["request"]["wanted"]["model"] for one in ran.json["data"]["tools"]}
    assert (ran.code, wanted) == (0, {"claude-code": "some-model", "codex": "their-model"})
    assert [one["text"] for one in ran.json["messages"]] == [
        "Codex CLI is held against profile 'second', which it was set to; the active one is 'work'"
    ]


def test_what_mends_it_is_told_for_that_profile(aside: Machine) -> None:
    aside.write(CODEX, aside.read(CODEX).replace("their-model", "mine"))
    (tool,) = aside.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    assert (tool["findings"][0]["cause"], tool["findings"][0]["command"]) == (
        "config_drift",
        ["apply", "--tool", "codex", "--profile", "second"],
    )
    assert tool["findings"][0]["fix"] == "toolsync apply --tool codex --profile second"
    assert aside.toolsync(*tool["findings"][0]["command"], "--yes", "--no-ping").code == 0
    assert 'model = "their-model"' in aside.read(CODEX)


def test_one_that_cannot_be_had_is_named_and_no_other_one_is_offered_in_its_place(aside: Machine) -> None:
    aside.profile('[profiles.second]\nfrom = "~/team/profile.toml"\nkey = "env:SECOND_KEY"\n', key="env:WORK_KEY")
    aside.write(CODEX, aside.read(CODEX).replace("second.example", "192.0.2.1:1"))
    ran = aside.toolsync("doctor", "--offline", "codex")
    assert (ran.code, "~/team/profile.toml is not there" in ran.out, "toolsync apply" in ran.out) == (1, True, False)
    assert "→ Fetch the repository that it belongs to, or say where it is now" in ran.out
    assert aside.toolsync("doctor", "--offline", "claude-code").said == (0, "")


def test_what_an_earlier_toolsync_set_is_known_by_what_its_file_asks_for(machine: Machine) -> None:
    machine.write(CODEX, "")
    machine.profile(SECOND.replace("env:SECOND_KEY", "keyring:work"))
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex", "--profile", "second").code == 0
    path = machine.state / "memory.json"
    before = json.loads(path.read_text()) | {"version": 5, "copies": {}}
    del before["applied"]
    path.write_text(json.dumps(before))
    ran = machine.toolsync("doctor", "--offline", "--json", "codex")
    assert [one["request"]["wanted"]["model"] for one in ran.json["data"]["tools"]] == ["their-model"]


def test_a_memory_that_cannot_be_read_is_said_for_nobody_knows_then_which_tool_is_set_to_what(aside: Machine) -> None:
    (aside.state / "memory.json").write_text("{")
    ran = aside.toolsync("doctor", "--offline", "--json", "claude-code", "codex")
    assert ran.code == 0
    assert ["memory.json: damaged" in one["text"] for one in ran.json["messages"]] == [True]
    assert "`toolsync apply --new-memory`" in ran.json["messages"][0]["hint"]
    said = aside.toolsync("doctor", "--offline", "--lang", "zh", "codex").out
    assert "已损坏" in said
    assert "会把它放到一边" in said


def test_a_profile_that_was_chosen_and_not_applied_leaves_tools_where_they_are(aside: Machine) -> None:
    assert aside.toolsync("use", "second").code == 0
    ran = aside.toolsync("doctor", "--offline", "--json", "claude-code", "codex")
    assert (ran.code, [one["hint"] for one in ran.json["messages"]]) == (
        0,
        ["`toolsync apply --tool claude-code` sets it to that."],
    )


def test_what_sets_it_to_the_active_one_asks_for_the_consent_that_it_needs(machine: Machine) -> None:
    machine.write(".cline/data/secrets.json", "{}")
    machine.profile('\n[profiles.second]\nbase_url = "https://second.example"\nmodel = "m"\nkey = "keyring:work"\n')
    allowed = ("apply", "--yes", "--no-ping", "--tool", "cline", "--allow-plaintext", "--profile", "second")
    assert machine.toolsync(*allowed).code == 0
    (note,) = machine.toolsync("doctor", "--offline", "--json", "cline").json["messages"]
    assert note["hint"] == "`toolsync apply --tool cline --allow-plaintext` sets it to that."


def test_a_tool_that_the_profile_leaves_alone_is_looked_at_by_its_name_only(machine: Machine) -> None:
    machine.write(".cline/data/secrets.json", "{}")
    machine.write(CODEX, "")
    machine.profile("[profiles.work.tool.cline]\nenabled = false\n")
    seen = [
        machine.toolsync("doctor", "--offline", "--json", *names).json["data"]["tools"] for names in ((), ("cline",))
    ]
    assert [{one["tool"] for one in tools} for tools in seen] == [{"codex"}, {"cline"}]


def test_one_that_its_profile_leaves_alone_since_is_switched_on_before_it_is_set(aside: Machine) -> None:
    for name in ("second", "work"):
        assert aside.toolsync("profile", "edit", name, "--set", "tool.codex.enabled=false").code == 0
    (note,) = aside.toolsync("doctor", "--offline", "--json", "codex").json["messages"]
    assert ("which it was set to" in note["text"], note["hint"]) == (True, "")  # the other one leaves it alone too
    aside.write(CODEX, aside.read(CODEX).replace("their-model", "mine"))
    (tool,) = aside.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    first = tool["findings"][0]
    switch = "toolsync profile edit second --unset tool.codex.enabled"
    assert first["fix"] == f"{switch} && toolsync apply --tool codex --profile second"
    assert "profile 'second' sets `enabled = false` for Codex CLI" in first["evidence"][-1]
    for line in first["fix"].split(" && "):
        given = ("--yes", "--no-ping") if " apply " in line else ()
        assert aside.toolsync(*line.split()[1:], *given).code == 0
    assert 'model = "their-model"' in aside.read(CODEX)


def test_one_that_is_ill_is_not_offered_another_profile_beside_what_mends_it(aside: Machine) -> None:
    aside.write(CODEX, aside.read(CODEX).replace("https://second.example/v1", "no address"))
    ran = aside.toolsync("doctor", "--offline", "--json", "codex")
    (tool,), (note,) = ran.json["data"]["tools"], ran.json["messages"]
    assert (tool["state"], "which it was set to" in note["text"], note["hint"]) == ("problem", True, "")


TOLD = [
    ("toolsync apply", "toolsync apply --tool codex --profile two"),
    ("toolsync apply --tool codex --allow-plaintext", "toolsync apply --tool codex --allow-plaintext --profile two"),
    (
        "toolsync key rotate two && toolsync apply --tool a --tool b",
        "toolsync key rotate two && toolsync apply --tool a --tool b --profile two",
    ),
    ("run `toolsync apply`, then wait.", "run `toolsync apply --tool codex --profile two`, then wait."),
    ("toolsync apply --tool codex --profile two", "toolsync apply --tool codex --profile two"),
    (
        "`toolsync exec -- codex`, `toolsync env`",
        "`toolsync exec --profile two -- codex`, `toolsync env --profile two`",
    ),
    ("`toolsync profile edit --set model=M`", "`toolsync profile edit two --set model=M`"),
    ("`toolsync profile edit two --set model=M`", "`toolsync profile edit two --set model=M`"),
    ("`toolsync profile show` and `toolsync key rotate`", "`toolsync profile show two` and `toolsync key rotate two`"),
    ("then run `toolsync ping`.", "then run `toolsync ping --profile two`."),
    ("toolsync undo codex", "toolsync undo codex"),
]


@pytest.mark.parametrize(("told", "named"), TOLD)
def test_a_command_line_names_the_profile(told: str, named: str) -> None:
    assert text_for("two", "codex", told) == named
    assert text_for("two", "codex", named) == named
    if "`" not in told and "&" not in told:
        words = tuple(told.split()[1:])
        assert words_for("two", "codex", words) == tuple(named.split()[1:])
