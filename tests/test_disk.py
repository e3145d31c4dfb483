"""Reading files: links, circumstances, and every fault in plain words."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import needs
from toolsync import directory, disk, patience
from toolsync.errors import FileError

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_a_file_is_read_with_its_circumstances(home: Path) -> None:
    file = home / "a.json"
    file.write_bytes(b"\xef\xbb\xbf{}\r\n")
    file.chmod(0o640)
    snapshot = disk.read(file)
    status = file.stat()
    assert (snapshot.raw, snapshot.real, snapshot.sha256) == (
        b"\xef\xbb\xbf{}\r\n",
        file,
        disk.digest(snapshot.raw or b""),
    )
    assert snapshot.status is not None
    assert (snapshot.status.st_ino, snapshot.status.st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    assert snapshot.mode == stat.S_IMODE(status.st_mode)


def test_no_file_is_a_snapshot_of_nothing(home: Path) -> None:
    snapshot = disk.read(home / "x" / "y" / "a.json")
    assert (snapshot.raw, snapshot.sha256, snapshot.mode) == (None, None, None)
    assert directory.missing_folders(snapshot.real) == (home / "x", home / "x" / "y")


@posix
def test_a_chain_of_links_is_followed_to_the_file(home: Path) -> None:
    (home / "dotfiles").mkdir()
    real = home / "dotfiles" / "settings.json"
    real.write_text("{}")
    (home / "two").symlink_to("dotfiles/settings.json")
    (home / "one").symlink_to(home / "two")
    assert disk.read(home / "one").real == real


@posix
def test_a_dangling_link_names_the_file_that_writing_would_make(home: Path) -> None:
    (home / "link").symlink_to("dotfiles/settings.json")
    snapshot = disk.read(home / "link")
    assert (snapshot.real, snapshot.raw) == (home / "dotfiles" / "settings.json", None)
    assert directory.missing_folders(snapshot.real) == (home / "dotfiles",)


@posix
def test_a_link_out_of_a_repository_is_refused(home: Path) -> None:
    (home / "repository").mkdir()
    (home / "secret").write_text("x")
    (home / "repository" / "settings.json").symlink_to("../secret")
    (home / "repository" / "inside").symlink_to("there")
    assert disk.read(home / "repository" / "inside", within=home / "repository").raw is None
    with pytest.raises(FileError, match="leads out of"):
        disk.read(home / "repository" / "settings.json", within=home / "repository")


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name + "2")
    (path.parent / (path.name + "2")).symlink_to(path.name)


def _below_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(disk.LIMIT_BYTES + 1)


@posix
@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(_folder, "{} is a folder, not a file", id="folder"),
        pytest.param(_loop, "{}: its links lead in a circle", id="loop"),
        pytest.param(_below_a_file, "{}: a file stands where a folder should be", id="below a file"),
        pytest.param(_pipe, "{} is a device, pipe or socket, not a file", id="pipe"),
        pytest.param(_huge, "{} has 67,108,865 bytes; a settings file has 67,108,864 at most", id="huge"),
    ],
)
def test_what_is_no_file_is_said_plainly(home: Path, make: Callable[[Path], None], said: str) -> None:
    path = home / "folder" / "settings.json"
    path.parent.mkdir()
    make(path)
    with pytest.raises(FileError) as caught:
        disk.read(path)
    assert caught.value.message == said.format(path)
    assert caught.value.hint


@posix
def test_an_unreadable_file_is_said_plainly(home: Path) -> None:
    needs(os.geteuid() != 0 or hasattr(os, "fork"), "a user who is not root, or fork to become one")
    file = home / "settings.json"
    file.write_text("{}")
    file.chmod(0)
    said = f"{file}: permission denied"
    if os.geteuid() != 0:
        with pytest.raises(FileError) as caught:
            disk.read(file)
        assert caught.value.message == said
        return
    child = os.fork()
    if child == 0:
        os._exit(_as_nobody(file, said))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _as_nobody(file: Path, said: str) -> int:
    for folder in file.parents[:-1]:
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    os.setuid(65534)
    try:
        disk.read(file)
    except FileError as error:
        return 0 if error.message == said else 2
    return 1


@posix
def test_escape_characters_in_a_name_do_not_reach_the_terminal(home: Path) -> None:
    folder = home / "\x1b[31mred\nerror: none"
    folder.mkdir()
    with pytest.raises(FileError) as caught:
        disk.read(folder)
    assert "/�[31mred�error: none is a folder" in caught.value.message


@posix
def test_a_private_folder_is_made_and_narrowed(home: Path) -> None:
    made, wide = home / "a" / "made", home / "wide"
    wide.mkdir(mode=0o755)
    for folder in (made, wide):
        directory.private_dir(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_in_place_of_the_private_folder_is_said_plainly(home: Path) -> None:
    (home / "state").write_text("")
    with pytest.raises(FileError, match="something already stands there"):
        directory.private_dir(home / "state")


class _BusyError(PermissionError):
    def __init__(self, code: int) -> None:
        super().__init__(errno.EACCES, "in use")
        self.winerror = code


@pytest.mark.parametrize(
    ("faults", "tries", "raised"),
    [
        pytest.param([], 1, False, id="free"),
        pytest.param([32], 2, False, id="shared for a moment"),
        pytest.param([5, 33, 32, 5], 5, False, id="scanner, lock, editor"),
        pytest.param([32] * 7, 7, True, id="busy for too long"),
        pytest.param([2], 1, True, id="another error"),
    ],
)
def test_windows_is_given_a_moment(faults: list[int], tries: int, *, raised: bool) -> None:
    left, made = list(faults), 0
    slept: list[float] = []

    def action() -> None:
        nonlocal made
        made += 1
        if left:
            raise _BusyError(left.pop(0))

    try:
        patience.patiently(action, sleep=slept.append)
    except PermissionError:
        assert raised
    else:
        assert not raised
    assert made == tries
    assert sum(slept) <= 2.6


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/home/me/a/b", "~/a/b"), ("/home/me", "/home/me"), ("/home/meat/a", "/home/meat/a"), ("/a\n\x1b", "/a��")],
    ids=["below home", "home itself", "beside it", "with control characters"],
)
def test_a_path_is_shown_as_people_write_it(monkeypatch: pytest.MonkeyPatch, path: str, expected: str) -> None:
    needs(os.name == "posix", "homes of POSIX")
    monkeypatch.setenv("HOME", "/home/me")
    assert disk.shown(path) == expected
