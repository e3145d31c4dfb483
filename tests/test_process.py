"""Running programs, found by their names: real ones, and what systems say that are not this one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import needs
from toolsync import process
from toolsync.process import running

SLEEP = shutil.which("sleep") or ""


@contextmanager
def started(file: Path) -> Iterator[int]:
    """A program of that name, running; its number."""
    needs(os.name == "posix" and SLEEP, "needs a program to run")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SLEEP, file)
    child = subprocess.Popen([file, "60"])
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def called(name: str) -> list[int]:
    return [one.pid for one in running() if one.is_called(name)]


@pytest.mark.parametrize("name", ["code", "CODE", "code-of-a-name-of-more-than-fifteen", ".editor-server/"])
def test_a_real_program_is_found_by_its_name_and_by_a_folder_above_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".editor-server" / "bin" / name.lower().strip("./")
    with started(file) as pid:
        assert pid in called(name)
    assert pid not in called(name)


def test_it_is_found_while_its_file_was_replaced(tmp_path: Path) -> None:
    needs(Path("/proc/self/exe").exists(), "needs Linux's /proc")
    with started(tmp_path / "code-of-a-name-of-more-than-fifteen") as pid:
        (tmp_path / "code-of-a-name-of-more-than-fifteen").unlink()
        assert called("code-of-a-name-of-more-than-fifteen") == [pid]


def test_they_come_in_order_of_their_numbers() -> None:
    needs(os.name == "posix", "needs a system whose processes are listed in no order")
    numbers = [one.pid for one in running()]
    assert numbers == sorted(numbers)
    assert os.getpid() in numbers


def test_ps_says_the_same(tmp_path: Path) -> None:
    needs(shutil.which("ps"), "needs ps")
    with started(tmp_path / "code") as pid:
        found = list(process._of_ps())
    assert [one.pid for one in found if one.pid == pid and one.is_called("code")] == [pid]


def test_a_program_of_macos_is_found_by_its_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_listed", lambda *_: f"  412 {_BUNDLE}/Contents/MacOS/Electron\n   77 /bin/zsh\n")
    found = [one.pid for one in process._of_ps() if one.is_called("Visual Studio Code.app/")]
    assert found == [412]


_BUNDLE = "/Applications/Visual Studio Code.app"


def test_a_program_of_windows_is_found_without_its_suffix(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = '"System","4","Services","0","8 K"\n"Code.exe","5120","Console","1","123,456 K"\n'
    monkeypatch.setattr(process, "_listed", lambda *_: listed)
    assert [one.pid for one in process._of_windows() if one.is_called("code")] == [5120]


def test_a_system_that_does_not_say_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> Iterator[process.Process]:
        raise OSError("no")

    monkeypatch.setattr(process, "_found", nothing)
    assert running() == ()


def test_a_lister_that_fails_or_is_missing_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("false", "there-is-no-such-program"):
        monkeypatch.setattr(process, "_found", lambda command=command: process._listed(command))
        assert running() == ()
