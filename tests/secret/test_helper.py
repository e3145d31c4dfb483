"""The command that tools run for the key: its words, its spelling for shells, and its dangers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import needs
from toolsync.errors import UsageError
from toolsync.secret import helper
from toolsync.secret.command import words
from toolsync.secret.helper import helper_command, helper_problem, line

posix = pytest.mark.skipif(sys.platform == "win32", reason="speaks of POSIX modes and shells")
ROOT = Path(Path(__file__).anchor)


def test_the_command_leaves_nothing_to_its_caller() -> None:
    python, config = ROOT / "opt" / "venv" / "bin" / "python", ROOT / "home" / "me" / "profile.toml"
    expected = (str(python), "-I", "-m", "toolsync", "--config", str(config), "key", "print", "work")
    assert helper_command(python, config, "work") == expected


@pytest.mark.parametrize(
    ("python", "config", "profile"),
    [
        pytest.param(Path("python"), ROOT / "profile.toml", "work", id="relative program"),
        pytest.param(ROOT / "python", Path("profile.toml"), "work", id="relative profile"),
        pytest.param(ROOT / "python", ROOT / "profile.toml", "x; rm -rf ~", id="a profile that speaks to a shell"),
        pytest.param(ROOT / "python", ROOT / "profile.toml", "-x", id="a profile that is an option"),
        pytest.param(ROOT / "python", ROOT / "profile.toml", "work\n", id="line break"),
        pytest.param(ROOT / "python", ROOT / "profile.toml", "", id="no name"),
    ],
)
def test_a_command_that_would_mean_something_else_is_refused(python: Path, config: Path, profile: str) -> None:
    with pytest.raises(UsageError):
        helper_command(python, config, profile)


word = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@posix
@given(st.lists(word, max_size=5))
def test_sh_reads_the_same_words(argv: list[str]) -> None:
    text = line(["printf", r"%s\0", *argv], "sh")
    out = subprocess.run(["sh", "-c", text], capture_output=True, check=True).stdout
    assert out == b"".join(each.encode() + b"\0" for each in argv or [""])


CMD = [
    pytest.param([r"C:\py\python.exe", "-I", "-m", "toolsync"], r"C:\py\python.exe -I -m toolsync", id="plain"),
    pytest.param([r"C:\Program Files\python.exe", "-I"], r'"C:\Program Files\python.exe" -I', id="space"),
    pytest.param(["C:\\a&b (x86)\\", "x"], '"C:\\a&b (x86)\\\\" x', id="ampersand, brackets, backslash at the end"),
    pytest.param(["C:\\a^b!", ""], '"C:\\a^b!" ""', id="caret, bang, empty word"),
    pytest.param([r"C:\Użytkownik\python.exe"], r'"C:\Użytkownik\python.exe"', id="not ASCII"),
]


@pytest.mark.parametrize(("argv", "expected"), CMD)
def test_cmd_is_given_quoted_words(argv: list[str], expected: str) -> None:
    assert line(argv, "cmd") == expected


@pytest.mark.parametrize("text", ["C:\\100%\\python.exe", 'a"b', "a\nb", "a\rb", "a\0b"])
def test_what_cmd_cannot_be_given_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be given to cmd"):
        line(["python", text], "cmd")


@given(st.lists(st.text(alphabet="ab \\&|<>()^!'", max_size=8), min_size=1, max_size=4))
def test_a_windows_program_reads_the_same_words(argv: list[str]) -> None:
    """cmd leaves quoted text alone, and every special character is quoted; the C runtime splits what remains."""
    text = line(["python", *argv], "cmd")
    assert words(text, platform="win32") == ["python", *argv]
    assert not set("&|<>()^") & set("".join(text.split('"')[::2]))


# Dangers


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an interpreter, the package and a profile, all private, wherever the tests run."""
    monkeypatch.setattr(helper, "_fault", lambda _: None)
    real = helper._chain
    monkeypatch.setattr(helper, "_chain", lambda path: (each for each in real(path) if each.is_relative_to(tmp_path)))
    tree = helper._work_tree(tmp_path)
    needs(tree is None, f"the folder for temporary files lies in the work tree {tree}")
    for name in ("venv/bin/python", "venv/lib/toolsync/__init__.py", "config/profile.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)
    return tmp_path


def problem(home: Path, python: str = "venv/bin/python") -> str | None:
    found = helper_problem(home / python, home / "venv" / "lib" / "toolsync", home / "config" / "profile.toml")
    return found.text if found else None


def test_a_private_installation_is_fine(home: Path) -> None:
    assert problem(home) is None


@posix
@pytest.mark.parametrize(
    "path", ["venv/bin/python", "venv/bin", "venv", "venv/lib/toolsync", "config/profile.toml", "config", "."]
)
def test_what_others_can_change_is_named(home: Path, path: str) -> None:
    (home / path).chmod(0o757)
    paths = [home / "venv" / "bin" / "python", home / "venv" / "lib" / "toolsync", home / path]
    assert helper.open_to_others(paths) == helper.HelperProblem(
        f"{home / path} can be changed by other users of this machine, and what it leads to is run for the key",
        f"Shut it to others: `chmod go-w {home / path}`.",
    )
    assert str(problem(home)).startswith(f"{home / path} can be changed by other users of this machine, ")


@posix
def test_a_sticky_folder_lets_others_change_nothing_of_ours(home: Path) -> None:
    home.chmod(0o1777)
    assert problem(home) is None


@posix
def test_a_link_is_as_private_as_what_it_leads_to(home: Path) -> None:
    (home / "open").mkdir()
    (home / "open" / "python").write_text("")
    (home / "open").chmod(0o777)
    (home / "link").symlink_to(home / "open" / "python")
    assert str(problem(home, "link")).startswith(f"{home / 'open'} can be changed by other users")


@posix
def test_a_group_of_others_counts_and_the_users_own_does_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "venv").chmod(0o775)
    monkeypatch.setattr(helper, "_trusted", lambda _: True)
    assert problem(home) is None
    monkeypatch.setattr(helper, "_trusted", lambda _: False)
    assert str(problem(home)).startswith(f"{home / 'venv'} can be changed")


@posix
@pytest.mark.parametrize(
    ("group", "expected"), [("jo", True), ("root", True), ("wheel", True), ("staff", False), ("", False)]
)
def test_a_group_is_the_users_own_the_administrators_or_of_others(
    monkeypatch: pytest.MonkeyPatch, group: str, expected: bool
) -> None:
    import grp  # not on Windows
    import pwd  # likewise

    def named(_gid: int) -> object:
        if not group:
            raise KeyError  # as for a number that nobody has given a name
        return SimpleNamespace(gr_name=group)

    monkeypatch.setattr(grp, "getgrgid", named)
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: SimpleNamespace(pw_name="jo"))
    assert helper._trusted(1000) is expected


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.getuid() != 0, reason="only root can give files away")
def test_a_stranger_who_owns_it_can_change_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chown(home / "venv" / "bin", 12345, 0)
    found = helper.open_to_others([home / "venv" / "bin" / "python"])
    assert (found.hint if found else "").startswith("It belongs to another user: ")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert problem(home) is None


@pytest.mark.parametrize("is_file", [False, True], ids=["a repository", "a linked work tree or submodule"])
def test_a_work_tree_is_named(home: Path, *, is_file: bool) -> None:
    if is_file:
        (home / "venv" / ".git").write_text("gitdir: elsewhere")
    else:
        (home / "venv" / ".git").mkdir()
    python = home / "venv" / "bin" / "python"
    assert str(problem(home)).startswith(f"{python} lies in the git work tree {home / 'venv'}: ")


def test_a_profile_may_lie_in_a_work_tree(home: Path) -> None:
    (home / "config" / ".git").mkdir()
    assert problem(home) is None


def test_an_installation_in_a_cache_is_named(home: Path) -> None:
    shutil.copytree(home / "venv", home / ".cache" / "uv" / "archive-v0")
    assert "lies in a cache" in str(problem(home, ".cache/uv/archive-v0/bin/python"))


@posix
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param('[ "$*" = "-I -m toolsync --version" ]', None, id="finds toolsync"),
        pytest.param("exit 1", "does not find toolsync when it runs for a tool", id="installed for the user only"),
        pytest.param(None, "does not run", id="not there"),
    ],
)
def test_an_interpreter_that_does_not_find_toolsync_is_named(
    tmp_path: Path, script: str | None, expected: str | None
) -> None:
    python = tmp_path / "python"
    if script is not None:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    fault = helper._fault(python)
    assert fault is None if expected is None else expected in str(fault)
