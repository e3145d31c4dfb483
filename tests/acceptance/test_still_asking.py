"""What asks toolsync for a key when all is given back, for nobody remembers whose it was before: it is named."""

from __future__ import annotations

import shutil

import pytest

from tests.acceptance.machine import Machine

FILES = {".claude/settings.json": "{}\n", ".codex/config.toml": ""}


def _applied(machine: Machine) -> None:
    ran = machine.toolsync("apply", "--tool", "claude-code", "--tool", "codex", "--yes", "--no-ping")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("is_applied_again", [False, True], ids=["", "applied again"])
def test_uninstall_names_what_still_asks(machine: Machine, *, is_applied_again: bool) -> None:
    for name, text in FILES.items():
        machine.write(name, text)
    machine.profile()
    _applied(machine)
    shutil.rmtree(machine.state)
    if is_applied_again:
        _applied(machine)
    ran = machine.toolsync("uninstall", "--yes", "--json")
    stays = [one["name"] for one in ran.json["data"]["left"] if "toolsync there" in one["reason"]]
    assert sorted(stays) == [f"~/{name}" for name in FILES]
    assert all("toolsync" in machine.read(name) for name in FILES)


def test_nothing_is_named_where_all_is_given_back(machine: Machine) -> None:
    for name, text in FILES.items():
        machine.write(name, text)
    machine.profile()
    _applied(machine)
    ran = machine.toolsync("uninstall", "--yes", "--json")
    assert [one for one in ran.json["data"]["left"] if "toolsync there" in one["reason"]] == []
    assert {name: machine.read(name) for name in FILES} == FILES


def _named(said: str) -> list[str]:
    return [line.split(": ")[1] for line in said.splitlines() if "toolsync there" in line]


@pytest.mark.parametrize("is_applied_again", [False, True], ids=["", "applied again"])
def test_undo_names_what_still_asks(machine: Machine, *, is_applied_again: bool) -> None:
    for name, text in FILES.items():
        machine.write(name, text)
    machine.profile()
    _applied(machine)
    shutil.rmtree(machine.state)
    if is_applied_again:
        _applied(machine)
    ran = machine.toolsync("undo", "--yes")
    assert ran.code == 0, ran.err
    assert _named(ran.out + ran.err) == [f"~/{name}" for name in FILES]


def test_undo_of_one_tool_names_its_files_alone(machine: Machine) -> None:
    for name, text in FILES.items():
        machine.write(name, text)
    machine.profile()
    _applied(machine)
    shutil.rmtree(machine.state)
    _applied(machine)
    assert _named(machine.toolsync("undo", "codex", "--yes").out) == ["~/.codex/config.toml"]


def test_undo_that_gives_all_back_names_nothing(machine: Machine) -> None:
    for name, text in FILES.items():
        machine.write(name, text)
    machine.profile()
    _applied(machine)
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, _named(ran.out + ran.err)) == (0, [])
