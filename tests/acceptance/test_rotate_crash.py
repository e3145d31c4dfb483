"""`key rotate` and `--back` killed before every call that may change the file system, and after the last; then ended.

Twelve files of six tools, CC Switch's rows, and a keyring. Directly after the kill, a gateway that takes both keys is
asked as every tool would ask it, its settings being as they are: each works, with the old key or the new one. The same
command again ends with the new key everywhere, `--back` with the old one, and `apply` with the one in the keyring;
nothing else lies about. One file has two names and so is written in place: for the instant between two calls it can be
read by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine, Ran
from tests.acceptance.test_crash_table import APPLY, NEXT, PROFILE, Room, Table, furnished_rooms, in_turn, to_kill_at
from tests.acceptance.test_rotate import NEW
from tests.conftest import takes, thorough
from toolsync import memory as memories
from toolsync import registry, transaction
from toolsync.address import Dialect
from toolsync.doctor.helper import Command, Printed
from toolsync.doctor.look import Look, looks
from toolsync.doctor.world import World
from toolsync.masking import Secret
from toolsync.paths import Places
from toolsync.planning.fitting import remembered_tools
from toolsync.probe import PingRequest, ping
from toolsync.secret import former
from toolsync.session import Session

ROTATE = ("key", "rotate", "--yes", "--no-ping", "--from", "env:NEXT_KEY")
BACK = ("key", "rotate", "--yes", "--no-ping", "--back")
SAMPLE = 61
"""Every so many points, where not all are tried; no multiple of three, so that they are ended by turns in every way."""


@pytest.fixture
def gateway() -> Iterator[Both]:
    with Both(KEY, NEW) as running:
        yield running


@pytest.fixture
def rooms(another: Callable[[], Machine], monkeypatch: pytest.MonkeyPatch, gateway: Both) -> list[Room]:
    """Rooms to which the profile is applied."""
    made = furnished_rooms(another, monkeypatch)
    for room in made:
        room.machine.environ["NEXT_KEY"] = NEW
        room.machine.profile(PROFILE, base_url=gateway.base_url)
        ran = room.machine.toolsync(*APPLY)
        assert ran.code == 0, ran.out[-3000:]
        room.keep()
    return made


class Helped(World):
    """A machine whose helpers print what the keyring holds: in this test, no other process sees it."""

    def printed(self, command: Command, environ: Mapping[str, str]) -> Printed:
        del command, environ
        return Printed(self.session.open_vault().get("work"))


def keys_sent(room: Room) -> set[str]:
    """The keys with which the tools would ask now; the gateway takes each of them."""
    machine = room.machine
    places = Places(machine.home, {"HOME": str(machine.home)}, machine.project, Path("/"), "linux")
    session = Session(places, machine.config, machine.state, lambda: machine.vault)
    profiles = session.profiles()
    world = Helped(session, profiles.get("work"), profiles.profiles)
    known = registry.tools(machine.config.parent)
    applied = remembered_tools(memories.read(memories.path_in(machine.state)))
    asked: dict[tuple[Dialect, str, str, Secret], None] = {}
    for look in (look for name in sorted(applied) for look in looks(world, known[name]) if not _is_torn(look)):
        one = look.effective
        if one.dialect is not None:  # a tool of the user's own, which asks nobody
            (key,) = {credential.value for credential in one.credentials if credential.value is not None}
            asked[one.dialect, one.base_url, one.model, key] = None
    for request in asked:
        came = ping(PingRequest(*request))
        assert came.status == 200, (request[0], came.problem)
    return {key.reveal() for *_, key in asked}


def _is_torn(look: Look) -> bool:
    """Whether a file of the program's is half written: one with a second name is written in place, by two calls."""
    linked = [one for one in look.layers if one.path and one.path.exists() and one.path.stat().st_nlink > 1]
    return any(one.document is None for one in linked)


class Turn(Table):
    """A rotation, or the way back, and what it makes of a room when nothing stops it."""

    def __init__(self, room: Room, command: tuple[str, ...], becomes: str) -> None:
        super().__init__(room, *command)
        self.becomes = becomes
        self.other = {ROTATE: BACK, BACK: ROTATE}[command]

    def ended(self, room: Room, at: int) -> str:
        """Which key it ended with, for one that was killed at that stop: by turns by itself, the other one, `apply`."""
        machine = room.machine
        assert self.stopped(room, at, "kill") == -9
        assert keys_sent(room) <= {KEY, NEW}
        other = KEY if self.becomes == NEW else NEW
        if at % 3 == 0:
            if not self._is_done(room):  # else `--back` goes forth again
                ran = _run(room, self.command)
                assert ran.code == 0, (at, ran.err)
            return _judged(room, self.becomes, self.new)
        if at % 3 == 1:
            ran = _run(room, self.other)
            assert ran.code == 0 or (ran.code, "keeps no key" in ran.err) == (2, True), (at, ran.err)
            return _judged(room, other, room.old)
        assert machine.toolsync(*APPLY).code == 0, at
        if room.vault.get("work") == Secret(self.becomes):
            return _judged(room, self.becomes, self.new, most=3)
        return _judged(room, other, room.old, most=3)

    def interrupted(self, room: Room, at: int) -> str:
        """Which key it is at once, for one that was interrupted at that stop."""
        code = self.stopped(room, at, "interrupt")
        is_new = room.vault.get("work") == Secret(self.becomes)
        assert code == 130 or (code, is_new) == (0, True), (at, code)
        return _judged(room, self.becomes, self.new) if is_new else _judged(room, KEY, room.old)

    def _is_done(self, room: Room) -> bool:
        noted = former.noted(room.machine.state).get("work", former.Former())
        is_pending = transaction.pending(room.machine.state)
        return not is_pending and not noted.going and room.vault.get("work") == Secret(self.becomes)


def _run(room: Room, command: tuple[str, ...]) -> Ran:
    """The command, with the new key in the variable only where it comes from there: else that would be left of it."""
    room.machine.environ = {"NEXT_KEY": NEW} if command == ROTATE else {}
    ran = room.machine.toolsync(*command)
    room.machine.environ = {"NEXT_KEY": NEW}
    return ran


def _judged(room: Room, key: str, wanted: dict[str, Any], *, most: int = 2) -> str:
    """That files and rows are as wanted, that the tools send the key, and that nothing is lost or lies about.

    Of the keys from before, `most` counted with the one in use may be kept: one, or two where no rotation has gone on.
    """
    machine = room.machine
    assert not transaction.pending(machine.state)
    assert machine.toolsync(*NEXT).said == (0, "")
    now = room.state()
    assert _files(now) == _files(wanted)
    assert (keys_sent(room), room.vault.get("work")) == ({key}, Secret(key))
    names = {name for name in room.vault.names() if not name.startswith("origin-")}
    assert names <= {"work", *former.entries("work")}
    assert len(names) <= most
    return "new" if key == NEW else "old"


def _files(state: dict[str, Any]) -> dict[str, Any]:
    """Files with their modes, and rows; not what toolsync notes of them, which says when and by which way."""
    return {name: what for name, what in state.items() if not name.endswith("/keys.json") and name not in NOTES}


NOTES = ("memory", "keyring")


def _table(rooms: list[Room], command: tuple[str, ...], becomes: str, step: int) -> int:
    """Every so many points of the command, and its last two; how many points it has."""
    tables = {room: Turn(room, command, becomes) for room in rooms}
    first, *others = tables.values()
    assert all(other.stops == first.stops for other in others)
    count = len(first.stops)
    points = sorted({*to_kill_at(step, first.stops), count - 2})
    ends = in_turn(rooms, points, lambda room, at: tables[room].ended(room, at))
    assert sorted(ends) == points
    assert set(ends.values()) == {"old", "new"}
    return count


def test_a_rotation_that_is_killed(rooms: list[Room]) -> None:
    assert _table(rooms, ROTATE, NEW, thorough(1, SAMPLE)) >= 100


def test_a_rotation_that_is_interrupted(rooms: list[Room]) -> None:
    """At once all old or all new, the keyring too."""
    takes("interrupts many rotations")
    tables = {room: Turn(room, ROTATE, NEW) for room in rooms}
    count = len(tables[rooms[0]].stops)
    points = sorted({*range(0, count, thorough(7, 3 * SAMPLE)), count - 1})
    ends = in_turn(rooms, points, lambda room, at: tables[room].interrupted(room, at))
    assert [ends[at] for at in points] == sorted(ends.values(), reverse=True)
    assert set(ends.values()) == {"old", "new"}


def test_a_way_back_that_is_killed(rooms: list[Room]) -> None:
    takes("kills many rotations")
    for room in rooms:
        assert room.machine.toolsync(*ROTATE).code == 0
        room.keep()
    assert _table(rooms, BACK, KEY, thorough(4, 3 * SAMPLE - 2)) >= 100
