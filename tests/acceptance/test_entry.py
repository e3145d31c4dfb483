"""A tool that reads the keyring itself: its entry is written, remembered, rotated and given back as files are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import tracer
from tests.acceptance.both import Both
from tests.acceptance.killed import OnDisk, again
from tests.acceptance.machine import KEY, Machine
from tests.conftest import needs, takes, thorough
from tests.keys import invented
from toolsync.commands.schema import schema
from toolsync.errors import NoKeyringError
from toolsync.masking import Secret
from toolsync.secret.vault import Entry, MemoryVault

NEW, OWN, LATER = invented("new"), invented("own"), invented("later")
ENTRY = Entry.of("ai.mistral.vibe", "TOOLSYNC_API_KEY")
APPLY = ("apply", "--yes", "--no-ping", "--tool=mistral-vibe")
CONFIG = ".vibe/config.toml"
OTHER_WAY = '\n[profiles.work.tool.mistral-vibe]\nkey_way = "env"\n'


@pytest.fixture
def both() -> Iterator[Both]:
    with Both(KEY, NEW) as gateway:
        yield gateway


@pytest.fixture
def vibe(machine: Machine, both: Both) -> Machine:
    """A machine with the tool, and a value of its user's in the keyring."""
    machine.profile(base_url=both.base_url)
    machine.write(CONFIG, '# mine\nactive_model = "local"\n')
    machine.vault.set(ENTRY, Secret(OWN))
    return machine


@pytest.fixture
def applied(vibe: Machine) -> Machine:
    ran = vibe.toolsync(*APPLY)
    assert ran.code == 0, ran.err
    return vibe


def found(machine: Machine) -> str | None:
    """What the tool finds."""
    value = machine.vault.get(ENTRY)
    return None if value is None else value.reveal()


def state(machine: Machine) -> Any:
    """What status says of the entry."""
    files = [file for tool in machine.toolsync("status", "--json").json["data"]["tools"] for file in tool["files"]]
    return next(file["applied"] for file in files if file["path"] == ENTRY)


def test_the_entry_holds_the_key_and_no_file_does(applied: Machine) -> None:
    assert found(applied) == KEY
    assert 'api_key_env_var = "TOOLSYNC_API_KEY"' in applied.read(CONFIG)
    assert not any(secret in content for content in applied.contents().values() for secret in (KEY, OWN))
    again = applied.toolsync(*APPLY, "--json").json["data"]
    assert (again["written"], state(applied), applied.toolsync("status").code) == (0, "same", 0)


def test_undo_gives_the_users_own_value_back(applied: Machine) -> None:
    assert applied.toolsync("undo", "--yes").code == 0
    assert (found(applied), applied.kept) == (OWN, {"work", ENTRY})
    assert applied.read(CONFIG) == '# mine\nactive_model = "local"\n'


def test_an_entry_that_was_deleted_is_not_made_again_by_a_rotation(applied: Machine) -> None:
    applied.vault.remove(ENTRY)
    applied.environ["NEW"] = NEW
    ran = applied.toolsync("key", "rotate", "--yes", "--no-ping", "--from", "env:NEW")
    told = f"warning: {ENTRY} was deleted since it was applied, and is not made again\n"
    assert (ran.out.count(told), found(applied)) == (1, None), ran.out
    assert (applied.toolsync(*APPLY).code, found(applied)) == (0, NEW)


def test_undo_takes_away_what_was_not_there(vibe: Machine) -> None:
    vibe.vault.remove(ENTRY)
    assert (vibe.toolsync(*APPLY).code, found(vibe)) == (0, KEY)
    assert vibe.toolsync("undo", "--yes").code == 0
    assert (found(vibe), vibe.kept) == (None, {"work"})


def test_what_the_user_put_there_since_stays(applied: Machine) -> None:
    applied.vault.set(ENTRY, Secret(LATER))
    assert (state(applied), applied.toolsync("status").code) == ("changed", 1)
    uses = applied.toolsync("key", "uses", "--json").json["data"]["uses"]
    assert [one["kind"] for one in uses] == ["other key"]
    ran = applied.toolsync("undo", "--yes")
    assert (found(applied), f"{ENTRY}: key: " in ran.out, LATER in ran.out) == (LATER, True, False)


def test_applied_again_the_users_latest_value_is_the_one_that_comes_back(applied: Machine) -> None:
    applied.vault.set(ENTRY, Secret(LATER))
    assert (applied.toolsync(*APPLY).code, found(applied)) == (0, KEY)
    assert (applied.toolsync("undo", "--yes").code, found(applied)) == (0, LATER)


def test_one_that_is_gone_is_drift_and_comes_again(applied: Machine) -> None:
    applied.vault.remove(ENTRY)
    assert (state(applied), applied.toolsync("status").code) == ("gone", 1)
    assert (applied.toolsync(*APPLY).code, found(applied), state(applied)) == (0, KEY, "same")


@pytest.mark.parametrize("rest", [OTHER_WAY, "\n[profiles.work.tool.mistral-vibe]\nenabled = false\n"])
def test_wanted_no_more_it_is_given_back(applied: Machine, both: Both, rest: str) -> None:
    applied.profile(rest, base_url=both.base_url)
    assert (applied.toolsync("apply", "--yes", "--no-ping").code, found(applied)) == (0, OWN)


def test_the_diff_and_the_data_show_no_value(vibe: Machine) -> None:
    ran = vibe.toolsync("diff", "--tool=mistral-vibe", "--json")
    (entry,) = (file for file in ran.json["data"]["files"] if file["path"] == ENTRY)
    assert (entry["shown"], entry["action"], entry["tools"]) == (ENTRY, "change", ["mistral-vibe"])
    assert not any(secret in ran.out for secret in (KEY, OWN))
    Draft202012Validator(schema("diff").data["content"]).validate(ran.json)


# Rotation


def test_rotation_goes_to_the_entry_and_back(applied: Machine) -> None:
    ran = applied.toolsync("key", "uses", "--json")
    used = [(one["kind"], one["who"], one["where"]) for one in ran.json["data"]["uses"]]
    assert used == [("entry", "Mistral Vibe", ENTRY)]
    Draft202012Validator(schema("key uses").data["content"]).validate(ran.json)
    applied.environ["NEXT_KEY"] = NEW
    ran = applied.toolsync("key", "rotate", "--yes", "--from", "env:NEXT_KEY", "--json")
    del applied.environ["NEXT_KEY"]
    assert found(applied) == NEW, ran.err
    assert [(one["new_key"], one["status"]) for one in ran.json["data"]["sent"]] == [(True, 200)]
    assert (applied.toolsync("key", "rotate", "--back", "--yes").code, found(applied)) == (0, KEY)
    assert (applied.toolsync("undo", "--yes").code, found(applied)) == (0, OWN)


def test_an_entry_that_nobody_remembers_is_named_while_it_holds_the_old_key(applied: Machine) -> None:
    """The tool would be left on it without a word."""
    (applied.state / "memory.json").unlink()
    assert f"found there       {ENTRY}\n" in applied.toolsync("key", "uses").out
    applied.environ["NEXT_KEY"] = NEW
    ran = applied.toolsync("key", "rotate", "--yes", "--no-ping", "--from", "env:NEXT_KEY")
    del applied.environ["NEXT_KEY"]
    assert (ran.code, f"problem: the old key still stands in {ENTRY}\n" in ran.out) == (1, True), ran.out
    assert "`toolsync apply` writes it again" in ran.out
    assert (applied.toolsync(*APPLY).code, found(applied)) == (0, NEW)
    assert applied.toolsync("key", "uses").out.count(ENTRY) == 1


def test_uninstall_gives_it_back(applied: Machine) -> None:
    assert applied.toolsync("uninstall", "--yes", "--remove-keys").code == 0
    assert (found(applied), applied.kept, applied.state.exists()) == (OWN, {ENTRY}, False)


def test_doctor_asks_with_what_the_tool_finds(applied: Machine, both: Both) -> None:
    assert applied.toolsync("doctor", "mistral-vibe").code == 0
    applied.vault.set(ENTRY, Secret(LATER))
    both.came()
    assert applied.toolsync("doctor", "mistral-vibe").code == 1
    assert {key for _, key in both.came()} == {LATER}


def test_doctor_knows_what_the_tool_finds_though_nobody_remembers_who_put_it_there(applied: Machine) -> None:
    (applied.state / "memory.json").unlink()
    assert applied.toolsync("doctor", "mistral-vibe").code == 0
    applied.vault.remove(ENTRY)
    said = applied.toolsync("doctor", "--json", "mistral-vibe").json["data"]["tools"][0]
    assert [one["cause"] for one in said["findings"]] == ["key_env_empty"]


def test_what_mends_another_key_in_the_tools_variable_gives_it_the_profiles(vibe: Machine, both: Both) -> None:
    vibe.profile(OTHER_WAY, base_url=both.base_url)
    assert vibe.toolsync(*APPLY).code == 0
    vibe.vault.remove(ENTRY)
    vibe.environ["TOOLSYNC_API_KEY"] = LATER
    said = vibe.toolsync("doctor", "--json", "mistral-vibe").json["data"]["tools"][0]["findings"][0]
    assert (said["cause"], said["fix"].partition(",")[0]) == (
        "foreign_credential",
        "Start it as `toolsync exec -- vibe`",
    )


# Where there is no keyring


class Absent(MemoryVault):
    """No keyring answers."""

    @property
    def backend(self) -> str:  # type: ignore[override]
        raise NoKeyringError("no keyring answers here")

    def get(self, name: str) -> Secret | None:
        raise NoKeyringError(f"no keyring answers here for {name}")


def test_without_a_keyring_the_variable_is_named(vibe: Machine, both: Both) -> None:
    vibe.profile(base_url=both.base_url, key="env:TOOLSYNC_API_KEY")
    vibe.environ["TOOLSYNC_API_KEY"] = KEY
    vibe.vault = Absent()
    ran = vibe.toolsync(*APPLY, "--json")
    assert (ran.code, [tool["key_way"] for tool in ran.json["data"]["tools"]]) == (0, ["env"]), ran.err


def test_without_a_keyring_nothing_that_it_holds_is_forgotten(applied: Machine) -> None:
    kept, applied.vault = applied.vault, Absent()
    assert [applied.toolsync(*command).code for command in (APPLY, ("undo", "--yes"))] == [2, 2]
    applied.vault = kept
    assert (applied.toolsync("undo", "--yes").code, found(applied)) == (0, OWN)


# Killed


ROTATE = ("key", "rotate", "--yes", "--no-ping", "--from", "env:NEXT_KEY")
NEXT = ("apply", "--yes", "--no-ping", "--tool=own")
"""A command that writes, and has nothing of its own to write."""


@pytest.fixture
def killable(vibe: Machine) -> Machine:
    needs(tracer.can_trace(), "a system that lets processes be traced (Linux on x86-64)")
    vibe.vault = vault = OnDisk(vibe.place / "keyring")
    vault.set("work", Secret(KEY))
    vault.set(ENTRY, Secret(OWN))
    folder = vibe.config.parent / "tools/own"
    folder.mkdir(parents=True)
    (folder / "tool.toml").write_text('title = "Own"\n\n[[file]]\noverlay = "own.json"\npath = "~/own.json"\n')
    (folder / "own.json").write_text('{ "on": true }\n')
    assert vibe.toolsync(*NEXT).code == 0
    vibe.environ["NEXT_KEY"] = NEW
    return vibe


def everything(machine: Machine) -> tuple[str, list[str], list[str]]:
    """The tool's file, all that the keyring holds, and what is remembered of the entry."""
    assert isinstance(machine.vault, OnDisk)
    layers = [layer for entry in machine.memory["entries"].values() for layer in entry["layers"]]
    marks = [value["after"] for layer in layers for value in layer["values"]]
    return machine.read(CONFIG), sorted(machine.vault.names().values()), marks


def killed(machine: Machine, command: tuple[str, ...]) -> Iterator[None]:
    """The machine after the command was killed, at one instant after the other, and the next command that writes."""
    assert isinstance(machine.vault, OnDisk)
    with again(machine, machine.vault) as afresh:
        stops = tracer.stops(lambda: machine.toolsync(*command))
        for at in sorted({*range(0, len(stops), thorough(5, 47)), len(stops) - 1}):
            afresh()
            assert _killed_at(machine, command, at) == -9
            assert machine.toolsync(*NEXT).code == 0
            assert not (machine.state / "entries.json").exists()
            yield


def _killed_at(machine: Machine, command: tuple[str, ...], at: int) -> int:
    numbers = iter(range(10**6))

    def ordered(_: tracer.Stop) -> tracer.Order:
        return "kill" if next(numbers) == at else "go"

    return tracer.followed(lambda: os._exit(machine.toolsync(*command).code), ordered)


@pytest.mark.parametrize("command", [APPLY, ("undo", "--yes", "mistral-vibe")], ids=["apply", "undo"])
def test_killed_at_any_instant_it_goes_the_way_of_the_files(killable: Machine, command: tuple[str, ...]) -> None:
    applied, given = everything_after(killable, APPLY), everything_after(killable, ("undo", "--yes", "mistral-vibe"))
    old, new = (given, applied) if command == APPLY else (applied, given)
    if command != APPLY:
        assert everything_after(killable, APPLY) == applied
    ends = [{repr(old): "old", repr(new): "new"}[repr(everything(killable))] for _ in killed(killable, command)]
    assert (set(ends), ends) == ({"old", "new"}, sorted(ends, reverse=True))


def everything_after(machine: Machine, command: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    assert machine.toolsync(*command).code == 0
    assert machine.toolsync(*NEXT).code == 0
    return everything(machine)


def test_a_rotation_killed_at_any_instant_can_be_ended(killable: Machine) -> None:
    takes("kills many rotations")
    assert killable.toolsync(*APPLY).code == 0
    ends = []
    for _ in killed(killable, ROTATE):
        ends.append(found(killable))
        assert state(killable) == "same"
        ran = killable.toolsync(*ROTATE)
        assert (ran.code, found(killable)) == (0, NEW), ran.err
        assert (killable.toolsync("undo", "--yes", "mistral-vibe").code, found(killable)) == (0, OWN)
    assert (set(ends), ends[0]) == ({KEY, NEW}, KEY)
