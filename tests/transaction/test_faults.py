"""A fault, an interrupt or a death at every single step: all old or all new, and nothing lies about.

Every call that changes the disk is a step. A first run counts them; then each has its turn to fail.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs, sampled
from tests.transaction import write
from toolsync import disk
from toolsync.errors import ToolsyncError, TransactionError
from toolsync.transaction import Alongside, Write, commit, pending, recover, swap

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX calls, and fork")

KEY = b"sk-invented-for-the-fault-table"
CALLS = (
    "open",
    "write",
    "fsync",
    "ftruncate",
    "replace",
    "unlink",
    "mkdir",
    "rmdir",
    "chmod",
    "fchmod",
    "fchown",
    "setxattr",
    "removexattr",
    "chown",
)
DIED = 77
_TO_WRITE = os.O_CREAT | os.O_WRONLY | os.O_RDWR

Act = Callable[[int, str, Callable[[], Any]], None]
"""Step number, the call's name, and what does the first half of a `write`."""

Tree = dict[str, tuple[int, bytes | str]]


def furnish(home: Path) -> None:
    """Every kind of file that a transaction meets."""
    (home / "dotfiles").mkdir()
    (home / "made").mkdir()
    (home / "state").mkdir(mode=0o700)
    for name in ("plain", "dotfiles/real", "linked", "made/goes", "mode", "state/memory.json"):
        (home / name).write_bytes(f"old {name}".encode() * 50)
        (home / name).chmod(0o640)
    (home / "link").symlink_to("dotfiles/real")
    os.link(home / "linked", home / "other name")
    (home / "widened").write_bytes(b"old widened")
    (home / "widened").chmod(0o600)
    os.link(home / "widened", home / "its other name")


def writes(home: Path) -> list[Write]:
    """One write of every kind, planned from what stands there now."""
    return [
        write(home / "plain", b"new plain " * 70),
        write(home / "link", b'{"key": "' + KEY + b'"}', private=True),
        write(home / "linked", b"new linked " + KEY, private=True),
        write(home / "widened", b"new widened", mode=0o640),
        write(home / "new/deep/file", KEY, private=True),
        write(home / "made/goes", None, prune=(home / "made",)),
        write(home / "mode", disk.read(home / "mode").raw, mode=0o600),
        write(home / "state/memory.json", b"new memory", private=True),
    ]


def tree(home: Path) -> Tree:
    """All that stands there but the lock: modes, contents, links."""
    found: Tree = {}
    for path in sorted(home.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        name = str(path.relative_to(home))
        if name == "state/lock":
            continue
        if path.is_symlink():
            found[name] = 0, f"-> {path.readlink()}"
        else:
            found[name] = mode, "folder" if path.is_dir() else path.read_bytes()
    return found


def half(call: Callable[..., Any], *arguments: object) -> None:
    """Write the first half of the bytes."""
    descriptor, data = arguments
    assert isinstance(data, bytes | memoryview)
    call(descriptor, data[: len(data) // 2])


@contextmanager
def steps(act: Act) -> Iterator[list[str]]:
    """`act(number, name, half)` runs before each call that changes the disk; the calls made are listed."""
    made: list[str] = []
    real = {(os, name): getattr(os, name) for name in CALLS if hasattr(os, name)}
    real |= {(swap, name): getattr(swap, name) for name in ("exchange", "place")}

    def stepping(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: object, **named: object) -> object:
            if name == "open" and isinstance(arguments[1], int) and not arguments[1] & _TO_WRITE:
                return call(*arguments, **named)
            made.append(name)
            act(len(made), name, partial(half, call, *arguments))
            return call(*arguments, **named)

        return step

    try:
        for (module, name), call in real.items():
            setattr(module, name, stepping(name, call))
        yield made
    finally:
        for (module, name), call in real.items():
            setattr(module, name, call)


def nothing(_number: int, _name: str, _half: Callable[[], Any]) -> None:
    """Let every call pass."""


class Rooms:
    """Fresh homes, and how they look before and after."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        home = self.fresh()
        self.old = tree(home)
        with steps(nothing) as made:
            commit(writes(home), state_dir=home / "state")
        self.made = tuple(made)
        self.new = tree(home)

    def fresh(self) -> Path:
        self.count += 1
        home = self.folder / str(self.count)
        home.mkdir()
        furnish(home)
        return home

    def step(self, call: str, nth: int) -> int:
        """The number of the `nth` such call; the first two `replace` put the journal and its mark in place."""
        return [number for number, name in enumerate(self.made, 1) if name == call][nth - 1]

    def which(self, home: Path) -> str:
        """`old` or `new`; anything else fails the test and shows what is neither, or which are of either kind."""
        now = tree(home)
        names = sorted(now.keys() | self.old.keys() | self.new.keys())
        moving = [name for name in names if self.old.get(name) != self.new.get(name)]
        for end, wanted in (("old", self.old), ("new", self.new)):
            if now == wanted:
                return end
        strange = {
            name: now.get(name) for name in names if now.get(name) not in (self.old.get(name), self.new.get(name))
        }
        pytest.fail(f"neither: {strange}; new: {[name for name in moving if now.get(name) == self.new.get(name)]}")


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Rooms:
    return Rooms(tmp_path_factory.mktemp("rooms").resolve())


def test_the_furniture_takes_every_call(rooms: Rooms) -> None:
    expected = {"open", "write", "fsync", "ftruncate", "replace", "unlink", "mkdir", "rmdir", "fchmod"}
    assert expected <= set(rooms.made)
    assert rooms.old != rooms.new
    assert [name for name in rooms.new if ".tmp" in name or "journal" in name] == []


def dies(home: Path, at: int, action: Callable[[Path], object], *, torn: bool = False) -> bool:
    """Whether a child process that does `action` dies at step `at`; `torn`: half of a write's bytes still go out."""

    def die(number: int, name: str, half: Callable[[], Any]) -> None:
        if number != at:
            return
        if torn and name == "write":
            half()
        os._exit(DIED)

    child = os.fork()
    if child == 0:
        try:
            with steps(die):
                action(home)
            os._exit(0)
        except BaseException:  # noqa: BLE001  a child of a test must not run on into pytest
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, DIED)
    return code == DIED


def committing(home: Path) -> object:
    return commit(writes(home), state_dir=home / "state")


def recovering(home: Path) -> object:
    return recover(home / "state")


def no_secret_lies_about(home: Path) -> None:
    """A key is in its files and in temp files that nobody else reads; never in journal or memory."""
    for path in home.rglob("*"):
        if path.is_symlink() or not path.is_file() or KEY not in path.read_bytes():
            continue
        assert path.parent != home / "state"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("torn", [False, True], ids=["between calls", "in the middle of a write"])
def test_death_at_any_step(rooms: Rooms, *, torn: bool) -> None:
    needs(hasattr(os, "fork"), "fork")
    ends = []
    for at in sampled(range(1, len(rooms.made) + 1)):
        home = rooms.fresh()
        assert dies(home, at, committing, torn=torn)
        no_secret_lies_about(home)
        was_pending = pending(home / "state")
        recovery = recover(home / "state")
        assert was_pending == (recovery is not None)
        end = rooms.which(home)
        ends.append(end)
        if recovery is not None:
            assert recovery.outcome == {"old": "undone", "new": "finished"}[end]
            assert recovery.foreign == ()
        assert (pending(home / "state"), recover(home / "state")) == (False, None)
    assert ends == sorted(ends, reverse=True), "once new, always new"
    assert {"old", "new"} == set(ends)


def test_death_where_nothing_can_be_swapped(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and on some file systems: files are renamed over."""
    needs(hasattr(os, "fork"), "fork")
    monkeypatch.setattr(swap, "_call", lambda: None)
    ends = []
    for at in range(1, len(rooms.made), 3):
        home = rooms.fresh()
        assert dies(home, at, committing)
        recover(home / "state")
        ends.append(rooms.which(home))
    assert ends == sorted(ends, reverse=True)
    assert {"old", "new"} == set(ends)


def test_death_during_recovery_too(rooms: Rooms) -> None:
    needs(hasattr(os, "fork"), "fork")
    total = len(rooms.made)
    for at in sampled(range(20, total + 1, 7)):
        for again in range(5, 12, 3):
            home = rooms.fresh()
            assert dies(home, at, committing, torn=True)
            dies(home, again, recovering, torn=True)
            dies(home, again + 2, recovering)
            recover(home / "state")
            rooms.which(home)


def test_the_next_commit_ends_what_was_interrupted(rooms: Rooms) -> None:
    home = rooms.fresh()
    planned = writes(home)
    assert dies(home, rooms.step("replace", 2), committing)
    assert commit(planned, state_dir=home / "state").files
    assert rooms.which(home) == "new"


class Ring(Alongside):
    """A keyring that holds something exactly while it must."""

    holds = False

    def prepare(self) -> None:
        self.holds = True

    def take_back(self) -> None:
        self.holds = False


FULL = pytest.param(OSError(errno.ENOSPC, "No space left on device"), id="disk full")
BROKEN = pytest.param(OSError(errno.EIO, "Input/output error"), id="disk fault")
DENIED = pytest.param(PermissionError(errno.EACCES, "Permission denied"), id="no permission")
INTERRUPT = pytest.param(KeyboardInterrupt(), id="Ctrl-C")


@pytest.mark.parametrize("fault", [FULL, DENIED, INTERRUPT])
def test_a_passing_fault_at_any_step(rooms: Rooms, fault: BaseException) -> None:
    """After it all is old or new at once, the keyring too, and the answer says which."""
    for at in sampled(range(1, len(rooms.made) + 1)):
        home, ring = rooms.fresh(), Ring()

        def fail(number: int, _name: str, _half: object, at: int = at) -> None:
            if number == at:
                raise fault

        planned = writes(home)
        said: BaseException | None = None
        with steps(fail):
            try:
                commit(planned, state_dir=home / "state", alongside=ring)
            except (ToolsyncError, KeyboardInterrupt) as error:
                said = error
        end = rooms.which(home)
        assert ring.holds == (end == "new"), rooms.made[at - 1]
        if isinstance(fault, KeyboardInterrupt):
            assert isinstance(said, KeyboardInterrupt)
        else:
            assert end == ("new" if said is None else "old"), rooms.made[at - 1]


@pytest.mark.parametrize("fault", [BROKEN, INTERRUPT])
def test_a_lasting_fault_from_any_step_on(rooms: Rooms, fault: BaseException) -> None:
    """Nothing can be done any more; once it is mended, the next command brings all to old or new."""
    for at in sampled(range(1, len(rooms.made) + 1)):
        home = rooms.fresh()

        def fail(number: int, _name: str, _half: object, at: int = at) -> None:
            if number >= at:
                raise fault

        planned = writes(home)
        with steps(fail), suppress(ToolsyncError, KeyboardInterrupt):
            commit(planned, state_dir=home / "state")
        recover(home / "state")
        rooms.which(home)


def test_a_full_disk_says_so(rooms: Rooms) -> None:
    home = rooms.fresh()

    def fail(number: int, name: str, _half: object) -> None:
        if number > rooms.step("replace", 1) and name == "write":
            raise OSError(errno.ENOSPC, "No space left on device")

    planned = writes(home)
    with steps(fail), pytest.raises(ToolsyncError) as caught:
        commit(planned, state_dir=home / "state")
    assert caught.value.message == f"{home / 'plain'}: the disk is full"
    assert caught.value.hint == "Free some space and run the command again."


def test_a_disk_that_fails_after_the_commit_point_says_what_comes_next(rooms: Rooms) -> None:
    home = rooms.fresh()

    def fail(number: int, _name: str, _half: object) -> None:
        if number > rooms.step("replace", 3):
            raise OSError(errno.EIO, "Input/output error")

    planned = writes(home)
    with steps(fail), pytest.raises(TransactionError) as caught:
        commit(planned, state_dir=home / "state")
    assert caught.value.message.startswith("the change could not be ended: ")
    assert caught.value.message.endswith("the disk reports a fault")
    assert "ends it, all or nothing" in caught.value.hint
    assert pending(home / "state")
    recovery = recover(home / "state")
    assert recovery is not None
    assert (recovery.outcome, rooms.which(home)) == ("finished", "new")


def test_what_another_program_wrote_after_the_death_is_kept(rooms: Rooms) -> None:
    home = rooms.fresh()
    assert dies(home, rooms.step("replace", 3), committing)
    (home / "plain").write_text("theirs")
    recovery = recover(home / "state")
    assert recovery is not None
    assert (recovery.outcome, recovery.foreign) == ("finished", (home / "plain",))
    assert (home / "plain").read_text() == "theirs"
    assert [path.name for path in home.rglob(".toolsync-*")] == []


def _torn(rooms: Rooms) -> Path:
    """A home whose hard link is half written."""
    home = rooms.fresh()
    write = rooms.step("ftruncate", rooms.made.count("ftruncate")) - 1
    assert rooms.made[write - 1] == "write"
    assert dies(home, write, committing, torn=True)
    return home


def test_what_another_program_makes_of_a_half_written_file_is_kept(rooms: Rooms) -> None:
    """Long after the death; `test_death_at_any_step` shows that one that nobody touched is finished."""
    home = _torn(rooms)
    (home / "linked").write_text("theirs")
    os.utime(home / "linked", (2**31, 2**31))
    recovery = recover(home / "state")
    assert recovery is not None
    assert (recovery.outcome, recovery.foreign) == ("finished", (home / "linked",))
    assert (home / "linked").read_text() == "theirs"
    assert not pending(home / "state")
