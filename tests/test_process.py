"""Running programs, found by their names: real ones, and what systems say that are not this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from tests.conftest import needs
from tests.programs import started
from toolsync.process import Process, names, running


def called(name: str) -> list[Process]:
    return [one for one in running() if one.is_called(name)]


@pytest.mark.parametrize("name", ["code", "CODE", "code-of-a-name-of-more-than-fifteen", ".editor-server/"])
def test_a_real_program_is_found_by_its_name_and_by_a_folder_above_it(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".editor-server" / "bin" / name.lower().strip("./")
    with started(file) as pid:
        assert pid in [one.pid for one in called(name)]
    assert pid not in [one.pid for one in called(name)]


def test_it_is_found_while_its_file_was_replaced(tmp_path: Path) -> None:
    needs(Path("/proc/self/exe").exists(), "needs Linux's /proc")
    with started(tmp_path / "code-of-a-name-of-more-than-fifteen") as pid:
        (tmp_path / "code-of-a-name-of-more-than-fifteen").unlink()
        assert [one.pid for one in called("code-of-a-name-of-more-than-fifteen")] == [pid]


def test_they_come_in_order_of_their_numbers() -> None:
    needs(os.name == "posix", "needs a system whose processes are listed in no order")
    numbers = [one.pid for one in running()]
    assert numbers == sorted(numbers)
    assert os.getpid() in numbers


def test_those_of_another_user_are_left_out_where_users_have_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs(psutil.Process):
        def username(self) -> str:
            return "somebody else"

    monkeypatch.delattr(os, "getuid", raising=False)
    monkeypatch.setattr(psutil, "process_iter", lambda: [psutil.Process(), Theirs()])
    assert [one.pid for one in running()] == [os.getpid()]


def test_one_says_when_it_started_who_started_it_and_with_what(tmp_path: Path) -> None:
    needs(Path("/proc/self/environ").exists(), "needs a system that shows a program's variables")
    before = time.time()
    with started(tmp_path / "some-tool", {"TOOL_URL": "http://old.example"}) as pid:
        (found,) = [one for one in called("some-tool") if one.pid == pid]
        assert found.parent == os.getpid()
        assert found.environ() == {"TOOL_URL": "http://old.example"}
        assert (found.folder(), found.called) == (Path.cwd(), "some-tool")
    assert found.started is not None
    assert abs(found.started - before) < 60
    assert (found.environ(), found.folder()) == (None, None), "it has ended"


NAMES: dict[str, tuple[str, str, Sequence[str], set[str]]] = {
    "a program": ("codex", "/usr/bin/codex", ["codex"], {"codex", "usr/", "bin/"}),
    "a bundle of macOS": (
        "Electron",
        "/Applications/Visual Studio Code.app/Contents/MacOS/Electron",
        [],
        {"electron", "applications/", "visual studio code.app/", "contents/", "macos/"},
    ),
    "a program of Windows": ("Code.exe", r"C:\Apps\Code.exe", [], {"code", "apps/"}),
    "one that shows nothing": ("sshd", "", [], {"sshd"}),
    "a link that Node runs": ("node", "/bin/node", ["node", "/usr/bin/claude", "-p"], {"node", "bin/", "claude"}),
    "a package that Node runs": (
        "MainThread",
        "/bin/node",
        ["node", "--no-warnings", "/lib/node_modules/@openai/codex/bin/codex.js"],
        {"mainthread", "node", "bin/", "codex"},
    ),
    "a script of one's own": ("python3", "/bin/python3", ["python3", "code.py"], {"python3", "bin/"}),
    "an interpreter alone": ("node", "/bin/node", ["node"], {"node", "bin/"}),
}


@pytest.mark.parametrize(("name", "file", "argv", "expected"), NAMES.values(), ids=NAMES)
def test_what_a_program_may_be_called(name: str, file: str, argv: Sequence[str], expected: set[str]) -> None:
    assert names(name, file, argv) == expected


def test_a_system_that_does_not_say_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> Iterator[psutil.Process]:
        raise OSError("no")

    monkeypatch.setattr(psutil, "process_iter", nothing)
    assert running() == ()


def test_a_program_that_ends_while_it_is_looked_at_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(process: psutil.Process) -> float:
        raise psutil.NoSuchProcess(process.pid)

    monkeypatch.setattr(psutil.Process, "create_time", gone)
    assert list(running()) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param([], (True, True), id="here"),
        pytest.param(["--net"], (False, True), id="with a network of its own"),
        pytest.param(["--mount"], (True, False), id="with folders of its own"),
    ],
)
def test_what_runs_in_a_container_is_told_apart(
    tmp_path: Path, options: list[str], expected: tuple[bool, bool]
) -> None:
    needs(os.name == "posix" and os.geteuid() == 0 and shutil.which("unshare"), "root, and unshare")
    home = tmp_path / "home"
    home.mkdir()
    hides = f"mount -t tmpfs none {tmp_path} && mkdir {home} && " if "--mount" in options else ""
    argv = ["unshare", *options, "sh", "-c", f"{hides} echo ready && exec sleep 600"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            one = Process(child.pid, frozenset())
            assert (one.is_of_network(), one.has(home)) == expected
        finally:
            child.kill()


def test_where_nothing_is_known_of_it_it_counts_as_one_of_ours(tmp_path: Path) -> None:
    one = Process(2**22 + 1, frozenset())  # above the largest number that Linux gives (proc(5), pid_max)
    assert (one.is_of_network(), one.has(tmp_path)) == (True, True)


@pytest.mark.parametrize("is_apart", [False, True])
def test_the_other_ends_of_our_own_pipe_are_told_from_other_jobs(*, is_apart: bool) -> None:
    needs(os.name == "posix", "needs groups of processes")
    with subprocess.Popen(["sleep", "600"], process_group=0 if is_apart else None) as child:
        try:
            assert Process(child.pid, frozenset()).is_of_job() is not is_apart
        finally:
            child.kill()
    assert Process(os.getpid(), frozenset()).is_of_job()
    assert not Process(2**22 + 1, frozenset()).is_of_job()
