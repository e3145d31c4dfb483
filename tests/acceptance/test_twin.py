"""One key under two names: a rotation of the one says who goes on with the other, and how that is replaced too."""

from __future__ import annotations

import io

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine, Ran
from tests.keys import invented
from toolsync.masking import Secret

NEW = invented("twin-new")


@pytest.fixture
def twins(machine: Machine) -> Machine:
    """Two profiles of one gateway, each with its own name for the one key."""
    fast = f'\n[profiles.fast]\nbase_url = "{ADDRESS}"\nmodel = "fast-model"\nkey = "keyring:fast"\n'
    machine.profile(fast)
    for name in ("work", "fast"):
        machine.vault.set(name, Secret(KEY))
    return machine


def _apply(machine: Machine, tool: str, profile: str = "fast", *more: str) -> None:
    ran = machine.toolsync("apply", "--profile", profile, "--tool", tool, "--yes", "--no-ping", *more)
    assert ran.code == 0, ran.err


def _rotated(machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str = "work") -> Ran:
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    return machine.toolsync("key", "rotate", name, "--stdin", "--yes", "--no-ping", "--json")


def _problems(ran: Ran) -> list[tuple[str, str]]:
    return [(one["text"], one["hint"]) for one in ran.json["messages"] if one["level"] == "problem"]


REPLACES = "`toolsync key rotate fast` replaces it there."
GOES_ON = "keyring:fast is the old key too, and was not replaced: Codex CLI goes on with it"


def test_who_asks_for_it_by_the_other_name_is_named(twins: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _apply(twins, "claude-code", "work")
    _apply(twins, "codex")
    ran = _rotated(twins, monkeypatch)
    assert (ran.code, _problems(ran)) == (1, [(GOES_ON, REPLACES)])
    assert any("what is named above is mended" in one["text"] for one in ran.json["messages"])
    again = _rotated(twins, monkeypatch)
    assert _problems(again) == [(GOES_ON, REPLACES)], "as long as it is so"
    assert _rotated(twins, monkeypatch, "fast").code == 0
    assert _problems(_rotated(twins, monkeypatch)) == []


def test_once_both_have_the_new_one_each_rotation_says_what_is_sent(
    twins: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a copy, for none is asked for where no keyring is: what a helper prints is not known here."""
    _apply(twins, "cline", "fast", "--allow-plaintext")
    assert _rotated(twins, monkeypatch).code == 1
    ran = _rotated(twins, monkeypatch, "fast")
    assert [(one["program"], one["new_key"]) for one in ran.json["data"]["sent"]] == [
        ("Cline (vscode)", True),
        ("Cline (cli)", True),
    ]


def test_a_copy_of_the_others_is_in_nobodys_way(twins: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _apply(twins, "claude-code", "work")
    _apply(twins, "cline", "fast", "--allow-plaintext")
    ran = _rotated(twins, monkeypatch)
    said = "keyring:fast is the old key too, and was not replaced: Cline goes on with it"
    assert (ran.code, _problems(ran)) == (1, [(said, REPLACES)])
    assert KEY in twins.read(".cline/data/secrets.json")
    assert _rotated(twins, monkeypatch, "fast").code == 0
    assert KEY not in twins.read(".cline/data/secrets.json")


def test_one_that_nobody_is_set_to_is_named_all_the_same(twins: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    _apply(twins, "claude-code", "work")
    assert _problems(_rotated(twins, monkeypatch)) == [
        ("keyring:fast is the old key too, and was not replaced", REPLACES)
    ]


def test_a_variable_with_it_is_set_anew_where_it_is_set(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.environ["GW"] = KEY
    machine.profile(f'\n[profiles.ci]\nbase_url = "{ADDRESS}"\nmodel = "m"\nkey = "env:GW"\n')
    machine.vault.set("work", Secret(KEY))
    said = _problems(_rotated(machine, monkeypatch))
    assert (
        "env:GW is the old key too, and was not replaced",
        "Set $GW to the new key where it is set now.",
    ) in said


def test_a_header_with_it_is_named_by_its_place(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.profile('\n[profiles.work.request]\nheaders = { X-Team = "keyring:team" }\n')
    for name in ("work", "team"):
        machine.vault.set(name, Secret(KEY))
    assert _problems(_rotated(machine, monkeypatch)) == [
        (
            "keyring:team is the old key too, and was not replaced",
            "`toolsync key rotate keyring:team` replaces it there.",
        )
    ]


def test_another_key_is_none(twins: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    twins.vault.set("fast", Secret(invented("twin-another")))
    _apply(twins, "codex")
    ran = _rotated(twins, monkeypatch)
    assert (ran.code, _problems(ran)) == (0, [])


def test_what_is_no_secret_may_stand_under_many_names(twins: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("work", "fast"):
        twins.vault.set(name, Secret("none"))
    _apply(twins, "cline", "fast", "--allow-plaintext")
    ran = _rotated(twins, monkeypatch)
    assert (ran.code, _problems(ran)) == (0, [])
