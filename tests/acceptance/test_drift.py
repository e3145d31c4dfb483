"""Drift: what a tool rewrote is none, what somebody changed is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.machine import ADDRESS, Machine, Ran
from tests.keys import invented

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Claude Code and Codex, applied over settings of the user's."""
    machine.write(CLAUDE, '{\n    "permissions": { "allow": [] },\n    "env": { "EDITOR": "vim" }\n}\n')
    machine.write(CODEX, '# mine\nmodel = "gpt-5"\n')
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    return machine


def _rewritten(machine: Machine, **env: str) -> None:
    """As Claude Code does: parsed, changed, and written in an order and form of its own."""
    data = json.loads(machine.read(CLAUDE))
    data["env"] |= env
    machine.write(CLAUDE, json.dumps(dict(reversed(data.items())), indent=2))


def test_nothing_drifts_right_after_apply(applied: Machine) -> None:
    with applied.untouched():
        status, diff = applied.toolsync("status"), applied.toolsync("diff")
    assert (status.code, diff.code) == (0, 0)
    assert diff.out == "Nothing to change.\n"
    assert status.out.splitlines() == [
        "Profile 'work' is applied.",
        "Tool         File                     Last applied vs now  Now vs profile",
        "claude-code  ~/.claude/settings.json  as applied           as the profile wants",
        "codex        ~/.codex/config.toml     as applied           as the profile wants",
    ]


def test_an_apply_that_changes_nothing_asks_for_nothing(applied: Machine) -> None:
    with applied.untouched():
        ran = applied.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert ran.out.splitlines()[1:] == [
        "Applied profile 'work': everything was right already.",
        "Tool         Key",
        "Claude Code  asks `toolsync key print work` at run time",
        "Codex CLI    asks `toolsync key print work` at run time",
    ]


def test_only_tools_whose_files_changed_are_to_be_restarted(applied: Machine) -> None:
    _rewritten(applied, ANTHROPIC_MODEL="another")
    ran = applied.toolsync("apply", "--yes", "--no-ping")
    assert ran.out.endswith(
        "Tool         Key                                         Now\n"
        "Claude Code  asks `toolsync key print work` at run time  "
        "Values apply to the next turn; a removed variable applies at the next launch.\n"
        "Codex CLI    asks `toolsync key print work` at run time\n"
    )


def test_undo_where_nothing_is_applied_says_so(machine: Machine) -> None:
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, ran.out, ran.err) == (0, "Nothing is applied.\n", "")


def test_a_file_that_its_tool_rewrote_has_not_drifted(applied: Machine) -> None:
    _rewritten(applied, NEW="1")
    with applied.untouched():
        assert [applied.toolsync(word).code for word in ("status", "diff")] == [0, 0]
        assert applied.toolsync("apply", "--yes", "--no-ping").code == 0


def test_undo_of_a_rewritten_file_keeps_what_came_later(applied: Machine) -> None:
    _rewritten(applied, NEW="1")
    assert applied.toolsync("undo", "--yes").said == (0, "")
    assert json.loads(applied.read(CLAUDE)) == {"permissions": {"allow": []}, "env": {"EDITOR": "vim", "NEW": "1"}}
    assert applied.read(CODEX) == '# mine\nmodel = "gpt-5"\n'


def test_a_changed_value_is_drift_and_apply_mends_it(applied: Machine) -> None:
    _rewritten(applied, ANTHROPIC_MODEL="another")
    with applied.untouched():
        status, diff = applied.toolsync("status"), applied.toolsync("diff")
    assert (status.code, diff.code) == (1, 1)
    assert "  ~/.claude/settings.json: env.ANTHROPIC_MODEL: changed since; differs from the profile\n" in status.out
    assert '-    "ANTHROPIC_MODEL": "another"' in "\n".join(line.rstrip(",") for line in diff.out.splitlines())
    assert applied.toolsync("apply", "--yes", "--no-ping").code == 0
    assert applied.toolsync("status").code == 0
    assert applied.toolsync("undo", "--yes").code == 0
    assert json.loads(applied.read(CLAUDE))["env"]["ANTHROPIC_MODEL"] == "another"  # the user's last value


def test_a_value_taken_out_is_drift(applied: Machine) -> None:
    data = json.loads(applied.read(CLAUDE))
    del data["apiKeyHelper"]
    applied.write(CLAUDE, json.dumps(data))
    status = applied.toolsync("status")
    assert status.code == 1
    assert "  ~/.claude/settings.json: apiKeyHelper: taken out since; differs from the profile\n" in status.out


def test_what_a_program_wrote_back_is_drift_with_the_reason(applied: Machine) -> None:
    """As VS Code does with a window that was open; in a form of its own."""
    applied.write(CODEX, 'model="gpt-5" # mine')
    status = applied.toolsync("status")
    assert status.code == 1
    assert "  ~/.codex/config.toml: model: as before apply; differs from the profile\n" in status.out
    reason = "says again what it said before apply, as when a program that had it open writes its old values back"
    assert f"~/.codex/config.toml {reason}\n    Restart the running session.\n" in status.out
    assert applied.toolsync("status", "--json").json["data"]["tools"][1]["files"][0]["values"][0] == {
        "path": "model",
        "applied": "reverted",
        "wanted": "differs",
    }
    applied.write(CODEX, 'model="gpt-5"\nmodel_provider = "toolsync"\n')
    assert reason not in applied.toolsync("status").out  # not all of it: somebody's own doing


def test_a_journal_that_nobody_can_follow_is_said(applied: Machine) -> None:
    (applied.state / "journal.json").write_text("{")
    status = applied.toolsync("status")
    assert status.code == 1
    text = "problem: ~/.local/state/toolsync/journal.json: the journal of an interrupted run cannot be read\n"
    assert text in status.out
    assert "ends it" not in status.out


def test_a_file_that_is_gone_is_drift(applied: Machine) -> None:
    (applied.home / CODEX).unlink()
    status = applied.toolsync("status")
    assert status.code == 1
    assert "codex        ~/.codex/config.toml     taken out since      differs from the profile\n" in status.out
    assert status.out.endswith("1 file waits for `toolsync apply`.\n")


UNREADABLE = {
    "broken": (lambda path: path.write_text("model = \n"), "~/.codex/config.toml:1:9: this is no value"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "~/.codex/config.toml is a folder"),
}


@pytest.mark.parametrize(("spoil", "said"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_stands_in_a_file_that_cannot_be_read_is_unknown(
    applied: Machine, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(applied.home / CODEX)
    status, data = applied.toolsync("status"), applied.toolsync("status", "--json").json["data"]
    assert status.code == 1
    first, *rest = [
        line for line in status.out.splitlines() if not line.startswith(("Profile ", "Tool ", "claude-code "))
    ]
    assert first == "codex        ~/.codex/config.toml     unknown              unknown"
    assert [line for line in rest if line.startswith("problem: ")] == [rest[0]]
    assert said in rest[0]
    assert "taken out since" not in status.out
    codex = data["tools"][1]["files"][0]
    assert {codex["applied"], codex["wanted"], *(value["applied"] for value in codex["values"])} == {"unknown"}
    assert (data["drift"], data["waiting"]) == (0, 0)


def test_a_broken_file_blinds_status_for_no_other_tool(applied: Machine) -> None:
    applied.write(CODEX, "broken = = 1")
    first = next(line for line in applied.toolsync("status").out.splitlines() if line.startswith("claude-code "))
    assert first == "claude-code  ~/.claude/settings.json  as applied           as the profile wants"
    applied.write(CLAUDE, applied.read(CLAUDE).replace("some-model", "another"))
    assert "env.ANTHROPIC_MODEL: changed since; differs from the profile" in applied.toolsync("status").out


def test_a_broken_file_is_named_once_behind_its_link_too(machine: Machine) -> None:
    real = machine.write("dots/codex.toml", "")
    (machine.home / CODEX).parent.mkdir()
    (machine.home / CODEX).symlink_to(real)
    assert machine.toolsync("apply", "--yes", "--no-ping").code == 0
    real.write_text("model = \n")
    assert machine.toolsync("status").out.count("problem: ") == 1


def test_of_tools_that_were_never_applied_each_file_is_one_line(machine: Machine) -> None:
    machine.write(CODEX, "")
    machine.write(CLAUDE, "{}\n")
    status = machine.toolsync("status")
    assert status.code == 1
    assert status.out.splitlines() == [
        "Tool         File                     Last applied vs now  Now vs profile",
        "claude-code  ~/.claude/settings.json  not applied yet      differs from the profile",
        "codex        ~/.codex/config.toml     not applied yet      differs from the profile",
        "2 files wait for `toolsync apply`.",
    ]
    assert machine.toolsync("status", "--json").json["data"]["drift"] == 0


def test_a_changed_profile_waits(applied: Machine) -> None:
    assert applied.toolsync("profile", "edit", "--set", "model=another").code == 0
    status, diff = applied.toolsync("status"), applied.toolsync("diff")
    assert (status.code, diff.code) == (1, 1)
    assert "  ~/.codex/config.toml: model: as applied; differs from the profile\n" in status.out


def test_undo_says_what_it_leaves(applied: Machine) -> None:
    _rewritten(applied, ANTHROPIC_MODEL="another")
    ran = applied.toolsync("undo", "--yes")
    assert ran.code == 0
    left = "~/.claude/settings.json: env.ANTHROPIC_MODEL: stays as it is, for it was changed after toolsync wrote it"
    assert ran.out.count(left) == 1
    status = applied.toolsync("status")
    assert status.said == (1, "")  # nothing is applied, and the profile wants it
    assert "is applied" not in status.out


def test_undo_of_one_tool_leaves_the_others(applied: Machine) -> None:
    codex = applied.read(CODEX)
    assert applied.toolsync("undo", "claude-code", "--yes").said == (0, "")
    assert applied.read(CLAUDE) == '{\n    "permissions": { "allow": [] },\n    "env": { "EDITOR": "vim" }\n}\n'
    assert applied.read(CODEX) == codex


@pytest.fixture
def two(machine: Machine) -> Machine:
    """Claude Code set to `work`, which is active, and Codex to `home`."""
    machine.write(CLAUDE, "{}\n")
    machine.write(CODEX, "")
    machine.profile(
        f'\n[profiles.home]\nbase_url = "https://home.example/api"\nmodel = "m"\nkey = "keyring:work"\n'
        f'[profiles.third]\nbase_url = "{ADDRESS}"\nmodel = "n"\nkey = "keyring:work"\n'
    )
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "claude-code").code == 0
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex", "--profile", "home").code == 0
    return machine


def test_a_tool_is_held_against_the_profile_that_it_was_set_to(two: Machine) -> None:
    status = two.toolsync("status")
    assert status.said == (0, "")
    assert status.out.splitlines() == [
        "Profiles 'work' (claude-code), 'home' (codex) are applied.",
        "Tool         File                     Last applied vs now  Now vs profile",
        "claude-code  ~/.claude/settings.json  as applied           as the profile wants",
        "codex        ~/.codex/config.toml     as applied           as the profile wants",
    ]
    assert [two.toolsync("status", "--tool", name).code for name in ("codex", "claude-code")] == [0, 0]
    data = two.toolsync("status", "--json").json["data"]
    assert [(one["profile"], one["against"]) for one in data["tools"]] == [("work", "work"), ("home", "home")]
    assert (data["profile"], data["waiting"], data["applies"]) == ("work", 0, [])


WAITING = {
    "its own": ("home", "1 file waits for `toolsync apply --profile home --tool codex`."),
    "the active one": ("work", "1 file waits for `toolsync apply --tool claude-code`."),
}


@pytest.mark.parametrize(("changed", "said"), WAITING.values(), ids=WAITING)
def test_what_waits_is_written_for_the_profile_of_its_tool(two: Machine, changed: str, said: str) -> None:
    two.toolsync("profile", "edit", changed, "--set", "model=another")
    status = two.toolsync("status")
    assert (status.code, status.out.splitlines()[-1]) == (1, said)
    assert two.toolsync("status", *said.split("`")[1].split()[-2:]).out.endswith(f"{said}\n")
    assert two.toolsync(*said.split("`")[1].split()[1:], "--yes", "--no-ping").code == 0
    assert two.toolsync("status").said == (0, "")


OFF = {
    "the active profile's": ("work", "claude-code", "1 file waits for `toolsync undo claude-code`."),
    "another's": ("home", "codex", "    `toolsync undo codex` gives back what it had before."),
}


@pytest.mark.parametrize(("profile", "tool", "said"), OFF.values(), ids=OFF)
def test_a_tool_that_is_switched_off_is_given_back_by_what_status_says(
    two: Machine, profile: str, tool: str, said: str
) -> None:
    two.toolsync("profile", "edit", profile, "--set", f"tool.{tool}.enabled=false")
    files = {"claude-code": CLAUDE, "codex": CODEX}
    before = two.read(files[tool])
    status = two.toolsync("status")
    assert said in status.out.splitlines(), status.out
    assert f"apply --tool {tool}" not in status.out  # which leaves it out, for it is switched off
    assert f"`toolsync undo {tool}` gives back" in two.toolsync("apply", "--profile", profile, "--tool", tool).out
    assert two.toolsync(*said.split("`")[1].split()[1:], "--yes").code == 0
    assert ("model" in before.lower(), "model" in two.read(files[tool]).lower()) == (True, False)


def test_all_tools_are_held_against_the_profile_that_is_asked_for(two: Machine) -> None:
    status = two.toolsync("status", "--profile", "work")
    assert status.code == 1
    assert "are applied; held against 'work'.\n" in status.out
    assert "codex        ~/.codex/config.toml     as applied           differs from the profile\n" in status.out
    assert status.out.endswith("1 file waits for `toolsync apply`.\n")


def test_an_active_profile_that_no_tool_is_set_to_is_said(two: Machine) -> None:
    two.toolsync("use", "third")
    status = two.toolsync("status")
    assert status.code == 1
    assert "problem: profile 'third' is active, and no tool is set to it\n" in status.out
    assert "differs" not in status.out
    two.toolsync("use", "home")
    assert two.toolsync("status").said == (0, "")


def test_where_no_profile_is_active_none_is_said_to_be(two: Machine) -> None:
    text = two.config.read_text(encoding="utf-8")
    two.config.write_text(text.replace(text.splitlines()[0], ""), encoding="utf-8")
    status = two.toolsync("status")
    told = [line for line in status.out.splitlines() if line.startswith("problem: ")]
    assert (status.code, len(told), told[0].endswith("no profile is active")) == (1, 1, True), status.out


# Tools that ask for a key, and lead elsewhere than the profile


MOVED = (
    "Claude Code asks for the key of 'work', and sends it to https://gateway.example/api, where the profile does not "
    "lead any more\n    `toolsync apply -p work --tool claude-code` sets it anew.\n"
)


def test_a_key_that_would_go_to_the_gateway_from_before_is_said(two: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOVED not in _key_set(two, monkeypatch, invented("first")).out
    edited = two.toolsync("profile", "edit", "work", "--set", "base_url=https://new.example/api")
    assert f"warning: {MOVED}" in edited.out
    assert f"warning: {MOVED}" in _key_set(two, monkeypatch, invented("second")).out
    two.environ["NEXT"] = invented("third")
    ran = two.toolsync("key", "rotate", "work", "--from", "env:NEXT", "--yes", "--no-ping")
    assert (ran.code, f"problem: {MOVED}" in ran.out, "once what is named above is mended" in ran.out) == (
        1,
        True,
        True,
    )
    del two.environ["NEXT"]
    assert two.toolsync("apply", "-p", "work", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    two.environ["NEXT"] = invented("fourth")
    ran = two.toolsync("key", "rotate", "work", "--from", "env:NEXT", "--yes", "--no-ping")
    assert (ran.code, "sends it to" in ran.out) == (0, False), ran.out


def test_a_profile_made_anew_by_a_name_that_tools_still_ask_by_is_told_of_them(two: Machine) -> None:
    two.toolsync("profile", "remove", "work", "--yes")
    init = ("init", "work", "--model", "m", "--key-from", "keyring:other", "--base-url")
    assert f"warning: {MOVED}" in two.toolsync(*init, "https://new.example/api").out
    two.toolsync("profile", "remove", "work", "--yes")
    assert MOVED not in two.toolsync(*init, ADDRESS).out


def test_a_tool_that_asks_is_told_of_though_nobody_remembers_it(two: Machine) -> None:
    (two.state / "memory.json").unlink()
    edited = two.toolsync("profile", "edit", "work", "--set", "base_url=https://new.example/api")
    assert f"warning: {MOVED}" in edited.out
    assert two.toolsync("profile", "rename", "work", "aside").code == 0
    ran = two.toolsync("profile", "rename", "home", "work")
    assert "`toolsync apply -p home --tool claude-code` first, then this again." in ran.err


def test_a_tool_that_asks_another_profile_file_counts_where_the_key_is_the_same(
    two: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its profile by the name is another one, which leads where it should; a key that both have goes there."""
    text = two.config.read_text(encoding="utf-8").replace("https://gateway.example/api", "https://new.example/api")
    other = two.config.with_name("other.toml")
    other.write_text(text.replace('"keyring:work"', '"keyring:mine"'), encoding="utf-8")
    assert "sends it to" not in two.toolsync("--config", str(other), "profile", "edit", "work", "--set", "model=m2").out
    other.write_text(text, encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO(invented("first")))
    assert f"warning: {MOVED}" in two.toolsync("--config", str(other), "key", "set", "work", "--stdin").out


def test_what_apply_cannot_mend_is_shown_by_doctor(two: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    two.write("project/.claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://project.example"}}')
    said = (
        "warning: Claude Code asks for the key of 'work', and sends it to https://project.example, where the profile "
        "does not lead\n    `toolsync doctor claude-code` says what leads it there.\n"
    )
    assert said in _key_set(two, monkeypatch, invented("first")).out


def _key_set(machine: Machine, monkeypatch: pytest.MonkeyPatch, key: str) -> Ran:
    monkeypatch.setattr("sys.stdin", io.StringIO(key))
    return machine.toolsync("key", "set", "work", "--stdin")


def test_no_profile_gets_a_name_by_which_another_gateways_tool_asks(two: Machine) -> None:
    """Its key would go there; renamed there and back, nothing is in the way."""
    assert two.toolsync("profile", "rename", "work", "aside").code == 0
    before = two.config.read_bytes()
    ran = two.toolsync("profile", "rename", "home", "work")
    assert (ran.code, two.config.read_bytes() == before) == (2, True), ran.out
    assert "Claude Code asks for the key of 'work', and sends it to https://gateway.example/api" in ran.err
    assert "`toolsync apply -p aside --tool claude-code` first, then this again." in ran.err
    assert two.toolsync("profile", "rename", "aside", "work").code == 0
    assert two.toolsync("status").said == (0, "")
    two.toolsync("profile", "rename", "work", "aside")
    assert two.toolsync("apply", "-p", "aside", "--tool", "claude-code", "--yes", "--no-ping").code == 0
    assert two.toolsync("profile", "rename", "home", "work").code == 0
