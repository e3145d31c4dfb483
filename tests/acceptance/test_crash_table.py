"""Killed before every call that may change the file system, and after the last: all old or all new, at any instant.

Twelve files of six tools, and a database, linked and hard-linked ones, new ones and one that goes among them, and a
keyring. After the kill `status` says that something is due, if it is; after the next command that writes, files, rows,
memory and keyring are all as they were or all as they should be, and nothing else lies about.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests import tracer
from tests.acceptance.killed import OnDisk
from tests.acceptance.machine import KEY, Machine
from tests.acceptance.switch import CODEX, DATABASE, LIVE
from tests.conftest import needs, thorough
from tests.keys import invented
from tests.store.cc_switch import Home
from tests.store.cc_switch import home as with_cc_switch
from toolsync import transaction
from toolsync.masking import Secret

FILES = {
    **LIVE,
    ".config/Code/User/settings.json": '// mine\n{\n\t"editor.fontSize": 13, // small\n}\n',
    ".cline/data/globalState.json": '{"mode":"plan","planModeApiProvider":"deepseek"}',
    ".cline/data/secrets.json": f'{{\n  "openAiApiKey": "{invented("cline")}"\n}}',
    "a/config.toml": f'[api]\nbase_url = "https://old.example/v1" # old\napi_key = "{invented("a")}"\n',
    "b/config.toml": "\ufeff[api]\r\n",
    "a/settings.json": f'{{\r\n\t"apiKey": "{invented("s")}"\r\n}}\r\n',
    "b/settings.json": "{}",
}
LINK, HARD_LINK = "dotfiles/codex.toml", "b/other name"
PROFILE = """plaintext = "allow"

[profiles.work.tool.cc-switch-opencode]
key_way = "plaintext"

[profiles.work.tool.config-toml]
paths = ["~/a/config.toml", "~/b/config.toml", "~/new/deep/config.toml"]
key_way = "plaintext"

[profiles.work.tool.settings-json]
paths = ["~/a/settings.json", "~/b/settings.json", "~/new/deep/settings.json"]
key_way = "plaintext"
"""
TOOLS = ("cc-switch", "cc-switch-opencode", "claude-code", "cline", "codex", "config-toml", "settings-json")
APPLY = ("apply", "--yes", "--no-ping", *(f"--tool={name}" for name in TOOLS))
UNDO = ("undo", "--yes", *TOOLS)
NEXT = ("apply", "--yes", "--no-ping", "--tool=own")
"""A command that writes, and has nothing of its own to write."""

SAMPLE = 23
"""Every so many points, where not all are tried."""


class Frozen(datetime):
    """A clock that stands: what is written does not tell when."""

    moment: ClassVar = datetime(2026, 1, 2, tzinfo=UTC)

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        del tz
        return cls.moment


Tree = dict[str, tuple[str, int, bytes]]


class Room:
    """A machine that can be put back, and whose state can be told."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.vault = self.vault = OnDisk(machine.place / "keyring")
        self.vault.set("work", Secret(KEY))
        machine.profile(PROFILE)
        _own_tool(machine.config.parent / "tools/own")
        for name, text in FILES.items():
            machine.write(name, text).chmod(0o640)
        (machine.home / "dotfiles").mkdir()
        (machine.home / CODEX).rename(machine.home / LINK)
        (machine.home / CODEX).symlink_to(f"../{LINK}")
        os.link(machine.home / "b/settings.json", machine.home / HARD_LINK)
        (machine.home / ".config/opencode").mkdir()  # whose row holds a copy of the key
        self.switch: Home = with_cc_switch(machine.home, "version 17")
        assert machine.toolsync(*NEXT).code == 0
        self.keep()

    def keep(self) -> None:
        """Let `afresh` come back to what is now."""
        self._kept, self._names = _tree(self.machine.home), self.vault.names()
        self.old = self.state()

    def afresh(self) -> None:
        """Put everything back, by writing where something differs: a hard link so stays one."""
        home, now = self.machine.home, _tree(self.machine.home)
        for name in sorted(now.keys() - self._kept.keys(), reverse=True):
            (home / name).rmdir() if now[name][0] == "folder" else (home / name).unlink()
        for name, (kind, mode, content) in self._kept.items():
            if now.get(name) == (kind, mode, content):
                continue
            (home / name).mkdir(exist_ok=True) if kind == "folder" else (home / name).write_bytes(content)
            (home / name).chmod(mode)
        self.vault.put(self._names)

    def state(self) -> dict[str, Any]:
        """Files with their modes, rows, memory and keyring; an entry of that is told by what it holds."""
        names = self.vault.names()
        tree = {name: what for name, what in _tree(self.machine.home).items() if not name.startswith(DATABASE)}
        memory = tree.pop(next(name for name in tree if name.endswith("/memory.json")))[2].decode()
        memory = re.sub(r"origin-[0-9a-z]+", lambda found: names[found[0]], memory)
        rows = self.switch.everything(), self.switch.database.stat().st_mode & 0o777
        return {**tree, "rows": rows, "memory": memory, "keyring": sorted(names.values())}

    def which(self, new: dict[str, Any]) -> str:
        """`old` or `new`; anything else fails, and says where it is neither or which is which."""
        now = self.state()
        if now == self.old:
            return "old"
        if now == new:
            return "new"
        pytest.fail(f"not old: {_difference(now, self.old)}\nnot new: {_difference(now, new)}")


def _difference(now: dict[str, Any], then: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {
        name: (now.get(name), then.get(name)) for name in now.keys() | then.keys() if now.get(name) != then.get(name)
    }


def _own_tool(folder: Path) -> None:
    """A tool of the user's with settings that never change."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tool.toml").write_text('title = "Own"\n\n[[file]]\noverlay = "own.json"\npath = "~/own.json"\n')
    (folder / "own.json").write_text('{ "on": true }\n')


def _tree(folder: Path) -> Tree:
    """All that stands there but the lock."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        content = path.read_bytes() if kind == "file" else b""
        if path.name != "lock":
            found[path.relative_to(folder).as_posix()] = kind, path.lstat().st_mode & 0o7777, content
    return found


class Table:
    """A command, and what it makes of a room when nothing stops it.

    Attributes:
        stops: where it can be stopped.
        new: the room's state then.
    """

    def __init__(self, room: Room, *command: str) -> None:
        self.command = command
        self.stops = tracer.stops(lambda: room.machine.toolsync(*command))
        assert room.machine.toolsync(*NEXT).code == 0
        self.new = room.state()
        assert self.new != room.old
        room.afresh()

    def stopped(self, room: Room, at: int, order: tracer.Order) -> int:
        """The exit code of the command that got the order at that stop."""
        numbers = itertools.count()

        def ordered(stop: tracer.Stop) -> tracer.Order:
            number = next(numbers)
            assert number > at or stop == self.stops[number]
            return order if number == at else "go"

        return tracer.followed(lambda: os._exit(room.machine.toolsync(*self.command).code), ordered)

    def killed(self, room: Room, at: int) -> str:
        """How the room is after the next command that writes, for a command that was killed at that stop."""
        machine = room.machine
        assert self.stopped(room, at, "kill") == -9
        is_due = (machine.state / "journal.json").exists()
        assert transaction.pending(machine.state) == is_due
        if at % (4 * SAMPLE) == 0:
            said = machine.toolsync("status", "--json").json
            assert (said["data"]["recovery_due"], said["exit_code"]) == (is_due, 1 if is_due else said["exit_code"])
        assert machine.toolsync(*NEXT).said == (0, "")
        return room.which(self.new)

    def interrupted(self, room: Room, at: int) -> str:
        """How the room is at once, for a command that was interrupted at that stop."""
        code = self.stopped(room, at, "interrupt")
        assert not transaction.pending(room.machine.state)
        room.machine.toolsync(*NEXT)  # which only tidies the keyring
        which = room.which(self.new)
        assert code == 130 or (code, which) == (0, "new"), (code, which, self.stops[at])
        return which


def in_turn(rooms: Sequence[Room], points: Sequence[int], outcome: Callable[[Room, int], str]) -> dict[int, str]:
    """What becomes of each point, each room with a process of its own that takes its share."""
    children = {}
    for number, room in enumerate(rooms):
        child = os.fork()
        if child == 0:
            os._exit(_share(room, points[number :: len(rooms)], outcome))
        children[child] = room
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    said = [json.loads((room.machine.place / "outcomes").read_text()) for room in rooms]
    assert codes == [0] * len(rooms), "\n".join(one for one in said if isinstance(one, str))
    return {int(at): end for one in said for at, end in one.items()}


def _share(room: Room, points: Sequence[int], outcome: Callable[[Room, int], str]) -> int:
    found: dict[int, str] = {}
    problem = ""
    sys.settrace(None)  # a measured line takes several times as long, and what it says is lost at the end
    gc.freeze()  # what is here already is no garbage, and looking at it costs each child a copy of its memory
    try:
        for at in points:
            room.afresh()
            found[at] = outcome(room, at)
    except BaseException:  # noqa: BLE001  a child of a test must not run on into pytest
        problem = f"at {at}: {traceback.format_exc()}"
    (room.machine.place / "outcomes").write_text(json.dumps(problem or found))
    return 1 if problem else 0


@pytest.fixture
def rooms(another: Callable[[], Machine], monkeypatch: pytest.MonkeyPatch) -> list[Room]:
    return furnished_rooms(another, monkeypatch)


def furnished_rooms(another: Callable[[], Machine], monkeypatch: pytest.MonkeyPatch) -> list[Room]:
    """A room for each processor, whose clock stands."""
    needs(tracer.can_trace(), "a system that lets processes be traced (Linux on x86-64)")
    monkeypatch.setattr("toolsync.session.datetime", Frozen)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # only the first room's child would write it
    return [Room(another()) for _ in range(min(os.cpu_count() or 1, 4))]


def every(step: int, stops: Sequence[tracer.Stop]) -> list[int]:
    """Every so many of the stops, and the last."""
    return sorted({*range(0, len(stops), step), len(stops) - 1})


def to_kill_at(step: int, stops: Sequence[tracer.Stop]) -> list[int]:
    """The same without those after a call whose next is tried too: before that the disk is as it was."""
    assert [stop.moment for stop in stops] == ["before", "after"] * (len(stops) // 2)
    points = every(step, stops)
    return [at for at in points if stops[at].moment == "before" or at + 1 not in points]


Choice = Callable[[Sequence[tracer.Stop]], Sequence[int]]
Outcome = Callable[[Table, Room, int], str]


def _table(rooms: Sequence[Room], command: Sequence[str], choice: Choice, outcome: Outcome) -> int:
    """The chosen points of the command, each of which must end old or new; how many points it has."""
    tables = {room: Table(room, *command) for room in rooms}
    first, *others = tables.values()
    assert all(other.stops == first.stops for other in others)
    points = choice(first.stops)
    ends = in_turn(rooms, points, lambda room, at: outcome(tables[room], room, at))
    assert sorted(ends) == points
    assert [ends[at] for at in points] == sorted(ends.values(), reverse=True), "once new, always new"
    assert set(ends.values()) == {"old", "new"}
    return len(first.stops)


def test_an_apply_that_is_killed(rooms: list[Room]) -> None:
    assert _table(rooms, APPLY, partial(to_kill_at, thorough(1, SAMPLE)), Table.killed) >= 150


def test_an_apply_that_is_interrupted(rooms: list[Room]) -> None:
    assert _table(rooms, APPLY, partial(every, thorough(5, 5 * SAMPLE)), Table.interrupted) >= 150


@pytest.fixture
def applied(rooms: list[Room]) -> list[Room]:
    for room in rooms:
        ran = room.machine.toolsync(*APPLY)
        assert ran.code == 0, ran.out[-3000:]
        room.keep()
    return rooms


def test_an_undo_that_is_killed(applied: list[Room]) -> None:
    assert _table(applied, UNDO, partial(to_kill_at, thorough(3, 3 * SAMPLE)), Table.killed) >= 150


def test_an_undo_that_is_interrupted(applied: list[Room]) -> None:
    assert _table(applied, UNDO, partial(every, thorough(11, 11 * SAMPLE)), Table.interrupted) >= 150
