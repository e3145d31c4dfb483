"""Another program writes at the worst instant: between our last look at a file and the rename over it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.transaction import write
from tests.transaction.test_faults import DIED, dies
from toolsync.errors import ChangedError
from toolsync.transaction import Write, commit, pending, recover, swap
from toolsync.transaction.folder import Folder, held

Meddle = Callable[[Path], object]
OURS = b"ours"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    needs(_can_swap(tmp_path), "renames that swap (Linux, and a file system that has them)")
    (tmp_path / "home").mkdir()
    return tmp_path.resolve() / "home"


def _can_swap(folder: Path) -> bool:
    for name in ("one", "other"):
        (folder / name).write_text(name)
    with held(follow=True) as folders:
        return folders.at(folder).exchange("one", "other") and (folder / "one").read_text() == "other"


def by_rename(file: Path, content: str = "theirs") -> None:
    """As editors and careful tools write."""
    (file.parent / "theirs.tmp").write_text(content)
    (file.parent / "theirs.tmp").replace(file)


def in_place(file: Path, content: str = "theirs") -> None:
    """As `fs.writeFile` does."""
    file.write_text(content)


def before_renames(monkeypatch: pytest.MonkeyPatch, *meddling: Callable[[], object]) -> list[str]:
    """What happens directly before the first rename that changes a target, the second, and so on."""
    made: list[str] = []

    def meddled(call: Callable[..., object]) -> Callable[..., object]:
        def step(*arguments: object, **named: object) -> object:
            if any(str(one).startswith(".toolsync-") for one in arguments):
                made.append(call.__name__)
                if len(made) <= len(meddling):
                    meddling[len(made) - 1]()
            return call(*arguments, **named)

        return step

    for module, name in ((swap, "exchange"), (swap, "place"), (os, "replace")):
        monkeypatch.setattr(module, name, meddled(getattr(module, name)))
    return made


def committed(home: Path, *writes: Write) -> str:
    """The message of the refusal; "" where there is none."""
    try:
        commit(writes, state_dir=home / "state")
    except ChangedError as error:
        return error.message
    return ""


def contents(home: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in home.iterdir() if path.is_file()}


@pytest.mark.parametrize("meddle", [by_rename, in_place])
def test_what_another_program_writes_in_the_last_instant_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch, meddle: Meddle
) -> None:
    (home / "a").write_text("old")
    (home / "b").write_text("old")
    writes = write(home / "a", OURS), write(home / "b", OURS)
    before_renames(monkeypatch, lambda: meddle(home / "a"))
    assert committed(home, *writes).startswith(f"{home / 'a'}: changed by another program while")
    assert contents(home) == {"a": "theirs", "b": "ours"}
    assert not pending(home / "state")


@pytest.mark.parametrize("again", [by_rename, in_place])
@pytest.mark.parametrize("meddle", [by_rename, in_place])
def test_what_it_writes_while_that_is_put_back_stays_too(
    home: Path, monkeypatch: pytest.MonkeyPatch, meddle: Callable[..., object], again: Callable[..., object]
) -> None:
    (home / "a").write_text("old")
    planned = write(home / "a", OURS)
    times = iter(range(1, 5))

    def newer(how: Callable[..., object]) -> Callable[[], object]:
        return lambda: how(home / "a", f"theirs {next(times)}")

    made = before_renames(monkeypatch, newer(meddle), newer(again), newer(again), newer(meddle))
    assert committed(home, planned)
    assert (contents(home), len(made)) == ({"a": "theirs 4"}, 5)


def test_a_file_that_appears_in_the_last_instant_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = write(home / "a", OURS)
    before_renames(monkeypatch, lambda: in_place(home / "a"))
    assert committed(home, planned)
    assert contents(home) == {"a": "theirs"}


@pytest.mark.parametrize("meddle", [by_rename, in_place])
def test_a_file_that_is_to_go_and_is_written_stays(home: Path, monkeypatch: pytest.MonkeyPatch, meddle: Meddle) -> None:
    (home / "a").write_text("old")
    planned = write(home / "a", None, prune=(home,))
    before_renames(monkeypatch, lambda: meddle(home / "a"))
    assert committed(home, planned)
    assert contents(home) == {"a": "theirs"}


def test_of_a_file_that_is_to_go_the_newest_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("old")
    planned = write(home / "a", None)
    before_renames(monkeypatch, lambda: in_place(home / "a", "1"), lambda: in_place(home / "a", "2"))
    assert committed(home, planned)
    assert contents(home) == {"a": "2"}


def test_a_hard_link_that_is_written_before_its_turn_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("old")
    os.link(home / "a", home / "b")
    (home / "c").write_text("old")
    writes = write(home / "a", OURS), write(home / "c", OURS)
    before_renames(monkeypatch, lambda: in_place(home / "b"))
    assert committed(home, *writes).startswith(f"{home / 'a'}: changed by another program while")
    assert contents(home) == {"a": "theirs", "b": "theirs", "c": "ours"}


def test_a_file_that_vanishes_in_the_last_instant_stays_away(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("old")
    planned = write(home / "a", OURS)
    before_renames(monkeypatch, (home / "a").unlink)
    assert committed(home, planned)
    assert contents(home) == {}


@pytest.mark.parametrize("content", [OURS, None], ids=["replaced", "removed"])
def test_what_was_displaced_when_we_died_goes_back(home: Path, content: bytes | None) -> None:
    """Killed after the rename that displaced another program's file, before that was seen."""
    (home / "a").write_text("old")
    planned, after = write(home / "a", content), None if content is None else "ours"
    look = Folder.sha256

    def meddling(folder: Folder, name: str) -> str | None:
        is_displaced = name != "a" and contents(home).get("a") == after
        if is_displaced:
            os._exit(DIED)
        found = look(folder, name)
        if name == "a":
            by_rename(home / "a")
        return found

    def committing(home: Path) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Folder, "sha256", meddling)
            return commit([planned], state_dir=home / "state")

    assert dies(home, 10**9, committing)
    assert contents(home).get("a") == after
    recovery = recover(home / "state")
    assert recovery is not None
    assert (recovery.outcome, recovery.foreign) == ("finished", (home / "a",))
    assert contents(home) == {"a": "theirs"}


def test_what_was_written_after_the_rename_is_noticed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read back: ours was there, and is not any more."""
    (home / "a").write_text("old")
    planned = write(home / "a", OURS)
    sync = Folder.sync

    def late(folder: Folder) -> None:
        sync(folder)
        if (home / "a").read_bytes() == OURS:
            in_place(home / "a")

    monkeypatch.setattr(Folder, "sync", late)
    assert committed(home, planned).startswith(f"{home / 'a'}: changed by another program while")
    assert contents(home) == {"a": "theirs"}


def test_where_nothing_can_be_swapped_files_are_renamed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("old")
    (home / "goes").write_text("old")
    writes = write(home / "a", OURS), write(home / "b", OURS), write(home / "goes", None)
    monkeypatch.setattr(swap, "_call", lambda: lambda *_: errno.EINVAL)
    assert committed(home, *writes) == ""
    assert contents(home) == {"a": "ours", "b": "ours"}
