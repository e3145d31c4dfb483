"""A profile whose shared file says something else now, or is not there: what happened, and what mends it."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import KEY, Machine

CODEX, CLINE, TEAM = ".codex/config.toml", ".cline/data/secrets.json", "team/toolsync.toml"
SHARED = '[profiles.work]\nbase_url = "https://gw.example"\nmodel = "m"\nkey = "env:WORK_KEY"\n'
OWN = '[profiles.team]\nfrom = "~/team/toolsync.toml#work"\n'
TRUST = "toolsync profile trust team"


@pytest.fixture
def team(machine: Machine) -> Machine:
    """Codex is set to `team`, the active profile, and Cline is there."""
    machine.write(CODEX, "")
    machine.write(CLINE, "{}")
    machine.write(TEAM, SHARED)
    machine.environ["WORK_KEY"] = KEY
    machine.config.write_text(f'active = "team"\n{OWN}')
    assert machine.toolsync("profile", "trust", "team", "--yes").code == 0
    assert machine.toolsync("apply", "--yes", "--no-ping", "--tool", "codex").code == 0
    return machine


def test_what_was_changed_is_agreed_to_and_applied(team: Machine) -> None:
    team.write(TEAM, SHARED.replace("gw.example", "gw2.example"))
    (tool,) = team.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    first = tool["findings"][0]
    assert "says otherwise than you agreed to: base_url" in first["evidence"][0]
    assert (first["fix"], first["command"]) == (
        f"{TRUST} && toolsync apply --tool codex",
        ["profile", "trust", "team"],
    )
    for words in (first["command"], [*first["then"][0], "--no-ping"]):
        assert team.toolsync(*words, "--yes").code == 0
    assert "gw2.example" in team.read(CODEX)
    assert team.toolsync("doctor", "--offline", "codex").code == 0


def test_fix_agrees_to_nothing_where_nobody_is_there(team: Machine) -> None:
    team.write(TEAM, SHARED.replace("gw.example", "gw2.example"))
    before = team.config.read_bytes()
    ran = team.toolsync("doctor", "--offline", "--fix", "--yes", "codex")
    assert (ran.code, team.config.read_bytes() == before) == (1, True)
    assert f"`{TRUST}` mends this, and asks for something" in ran.out


def test_a_tool_that_is_set_to_nothing_says_why_nobody_can_tell(team: Machine) -> None:
    team.write(TEAM, SHARED.replace("gw.example", "gw2.example"))
    found = team.toolsync("doctor", "--json", "cline").json["data"]["tools"]
    assert {one["state"] for one in found} == {"inconclusive"}
    for one in found:
        assert one["unknown"] == [
            f"{one['called']} has no gateway yet, and the profile that would name one cannot be read"
        ]
        assert one["fix"] == TRUST


def test_a_file_that_is_gone_is_fetched_or_named_anew(team: Machine) -> None:
    (team.home / TEAM).rename(team.home / "moved.toml")
    (tool,) = team.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    told, _, edit = tool["findings"][0]["fix"].partition("`")
    assert told == "Fetch the repository that it belongs to, or say where it is now: "
    assert edit == "toolsync profile edit team --set from=FILE#work`."
    words = edit.strip("`.").replace("FILE", "~/moved.toml").split()[1:]
    assert team.toolsync(*words).said == (0, "")
    assert team.toolsync("doctor", "--offline", "codex").code == 0


def test_it_is_said_in_chinese(team: Machine) -> None:
    team.write(TEAM, SHARED.replace("gw.example", "gw2.example"))
    said = team.toolsync("doctor", "--offline", "codex", "--lang", "zh").out
    assert "的内容与您同意过的不同" in said


def test_what_is_not_the_active_one_is_named_where_it_is_applied(team: Machine) -> None:
    own = '[profiles.own]\nbase_url = "https://own.example"\nmodel = "m"\nkey = "env:WORK_KEY"\n'
    team.config.write_text(team.config.read_text().replace('"team"', '"own"', 1) + own)
    team.write(TEAM, SHARED.replace("gw.example", "gw2.example"))
    (tool,) = team.toolsync("doctor", "--offline", "--json", "codex").json["data"]["tools"]
    assert tool["findings"][0]["fix"] == f"{TRUST} && toolsync apply --tool codex --profile team"
