"""Folders that are swapped for links between check and write, and files that are not ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs
from tests.transaction import write
from toolsync import own_file, transaction
from toolsync.errors import ChangedError, FileError
from toolsync.transaction import Write, commit, pending
from toolsync.transaction.folder import held

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX links and owners")

NEW = b"new"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A tool's folder, and another with a file of the same name, which nobody means."""
    home = tmp_path.resolve() / "home"
    for folder in ("x/tool", "elsewhere/tool"):
        (home / folder).mkdir(parents=True)
        (home / folder / "settings").write_text("old")
    return home


def swapped(home: Path) -> None:
    """The folder above the tool's is moved away, and a link to the other one takes its place."""
    (home / "x").rename(home / "moved")
    (home / "x").symlink_to("elsewhere")


def after(monkeypatch: pytest.MonkeyPatch, name: str, meddle: Callable[[], object]) -> None:
    """`meddle` directly after a part of the transaction."""
    call = getattr(transaction, name)

    def then(*arguments: Any) -> Any:
        done = call(*arguments)
        meddle()
        return done

    monkeypatch.setattr(transaction, name, then)


def contents(folder: Path) -> dict[str, bytes]:
    """By name: of every file below the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def private(home: Path) -> Write:
    return write(home / "x/tool/settings", NEW, private=True)


@pytest.mark.parametrize("moment", ["announced", "staged"], ids=["before the temp file", "after it"])
def test_a_parent_that_becomes_a_link_is_not_followed(home: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    planned = private(home)
    after(monkeypatch, moment, lambda: swapped(home))
    with pytest.raises(ChangedError) as caught:
        commit([planned], state_dir=home / "state")
    said = {"announced": home / "x/tool", "staged": home / "x/tool/settings"}[moment]
    assert caught.value.message == f"{said} is now a link, or lies behind one"
    assert contents(home / "elsewhere") == contents(home / "moved") == {"tool/settings": b"old"}
    assert not pending(home / "state")


def test_after_the_commit_point_the_file_that_was_checked_is_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = private(home)
    after(monkeypatch, "_committed", lambda: swapped(home))
    commit([planned], state_dir=home / "state")
    assert contents(home / "elsewhere") == {"tool/settings": b"old"}
    assert contents(home / "moved") == {"tool/settings": NEW}


def test_a_new_folder_in_whose_place_a_link_appears_is_not_followed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = Write(home / "new/deep/settings", None, NEW, private=True)
    after(monkeypatch, "announced", lambda: (home / "new").symlink_to("elsewhere"))
    with pytest.raises(ChangedError, match="is now a link, or lies behind one"):
        commit([planned], state_dir=home / "state")
    assert contents(home / "elsewhere") == {"tool/settings": b"old"}


@pytest.mark.parametrize("moment", ["announced", "staged"])
def test_a_parent_that_vanishes_takes_nothing_with_it(home: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    (home / "a").write_text("old")
    writes = write(home / "a", b"new"), private(home)
    after(monkeypatch, moment, lambda: (home / "x").rename(home / "moved"))
    with pytest.raises((ChangedError, FileError)) as caught:
        commit(writes, state_dir=home / "state")
    assert "gone" in caught.value.message
    assert (home / "a").read_text() == "old"
    assert contents(home / "moved") == {"tool/settings": b"old"}
    assert not pending(home / "state")


def test_a_folder_that_was_moved_behind_a_link_since_the_death_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = private(home)

    def dying(*_: object) -> None:
        raise SystemError

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "forward", dying)
        patch.setattr(transaction, "_ended", lambda *_: None)
        with pytest.raises(SystemError):
            commit([planned], state_dir=home / "state")
    (home / "x").rename(home / "moved")
    (home / "x").symlink_to("moved")
    recovery = transaction.recover(home / "state")
    assert recovery is not None
    assert (recovery.outcome, recovery.foreign) == ("finished", ())
    assert contents(home / "moved") == {"tool/settings": NEW}


def _become(user: int) -> None:
    """The saved number stays root's: that is the way back."""
    os.setresuid(0, 0, 0)
    os.setresgid(user, user, 0)
    os.setresuid(user, user, 0)


@pytest.fixture
def nobody(home: Path) -> Iterator[None]:
    """To be another user for the length of a test."""
    needs(os.geteuid() == 0 and hasattr(os, "setresuid"), "root, to become another user")
    below = [path for path in home.rglob("*") if path.is_dir()]
    for folder in (*below, home, *home.parents[:-1]):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o001)
    (home / "state").mkdir(mode=0o700)
    for path in (home, home / "x", home / "x/tool", home / "state"):
        os.chown(path, 65534, 65534)
    _become(65534)
    yield
    _become(0)


@pytest.mark.usefixtures("nobody")
def test_the_file_of_another_user_is_refused_even_where_it_may_be_written(home: Path) -> None:
    file = home / "x/tool/settings"
    _become(0)
    file.chmod(0o666)
    _become(65534)
    (home / "a").write_text("old")
    writes = write(home / "a", b"new"), write(file, b"new")
    with pytest.raises(FileError) as caught:
        commit(writes, state_dir=home / "state")
    assert caught.value.message == f"{file} belongs to root, not to you"
    assert caught.value.hint == "Let its owner run toolsync, or leave this tool out."
    assert ((home / "a").read_text(), file.read_text()) == ("old", "old")


@pytest.mark.usefixtures("nobody")
def test_a_folder_of_another_user_that_is_shut_is_named_with_its_owner(home: Path) -> None:
    """As `sudo` leaves them."""
    planned = Write(home / "elsewhere/tool/new", None, b"new")
    with pytest.raises(FileError) as caught:
        commit([planned], state_dir=home / "state")
    folder = home / "elsewhere/tool"
    assert caught.value.message == f"{folder} belongs to root, and does not let you write in it"
    assert f"sudo chown $USER {folder}" in caught.value.hint


@pytest.mark.usefixtures("nobody")
def test_a_folder_that_may_only_be_passed_through_is_no_obstacle(home: Path) -> None:
    (home / "x").chmod(0o311)
    (home / "x/tool/own").write_text("old")
    commit([write(home / "x/tool/own", b"new")], state_dir=home / "state")
    (home / "x").chmod(0o755)
    assert (home / "x/tool/own").read_text() == "new"


def test_folders_are_let_go(home: Path) -> None:
    needs(Path("/proc/self/fd").is_dir(), "/proc")
    before = list(Path("/proc/self/fd").iterdir())
    with held(follow=False) as folders:
        assert folders.at(home / "x/tool").sha256("settings") is not None
        assert len(list(Path("/proc/self/fd").iterdir())) == len(before) + 1
    assert len(list(Path("/proc/self/fd").iterdir())) == len(before)


def test_what_root_makes_in_the_home_of_a_user_is_the_users(home: Path) -> None:
    """As `sudo` with HOME kept does: else nobody but root could go on."""
    needs(os.geteuid() == 0, "root")
    os.chown(home, 12345, 23456)
    writes = Write(home / "new/deep/file", None, b"new", private=True), Write(home / "memory", None, b"{}")
    commit(writes, state_dir=home / "own/state")
    own_file.put(home / "own/state/note", b"new")
    made = ["new", "new/deep", "new/deep/file", "memory", "own", "own/state", "own/state/lock", "own/state/note"]
    assert {name: (home / name).stat().st_uid for name in made} == dict.fromkeys(made, 12345)
    assert {(home / name).stat().st_gid for name in made} == {23456}
    assert (home / "x/tool/settings").stat().st_uid == 0  # what was there stays whose it is
