"""The lines that the guard asks for: a file and its temp files are ignored, and nothing else, whatever their names."""

from __future__ import annotations

import os
import string
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.conftest import needs
from tests.gitguard.conftest import Home
from toolsync import disk, gitguard
from toolsync.gitguard.ignoring import beside_pattern, pattern

NAMES = {
    "plain": ("tool/settings.json", "/tool/settings.json", "/tool/.toolsync-*.tmp"),
    "at the root": ("settings.json", "/settings.json", "/.toolsync-*.tmp"),
    "a dotfile": (".claude/settings.json", "/.claude/settings.json", "/.claude/.toolsync-*.tmp"),
    "a comment's sign": ("#x", "/#x", "/.toolsync-*.tmp"),
    "an exclamation mark": ("!x", "/!x", "/.toolsync-*.tmp"),
    "wildcards": ("a*b/c?[d]", r"/a\*b/c\?\[d]", r"/a\*b/.toolsync-*.tmp"),
    "a backslash": ("a\\b", r"/a\\b", "/.toolsync-*.tmp"),
    "spaces": ("my tool/my file  ", r"/my tool/my file\ \ ", "/my tool/.toolsync-*.tmp"),
    "another script": ("工具/設定.json", "/工具/設定.json", "/工具/.toolsync-*.tmp"),
    "a line feed": ("a\nb", "/a?b", "/.toolsync-*.tmp"),
    "a carriage return at the end": ("a\r", "/a?", "/.toolsync-*.tmp"),
    "a line separator of Unicode": ("a\u2028b", "/a???b", "/.toolsync-*.tmp"),
    "no text at all": ("a\udcff", "/a?", "/.toolsync-*.tmp"),
}


@pytest.mark.parametrize(("name", "line", "temp_line"), NAMES.values(), ids=NAMES)
def test_a_name_is_spelled_as_a_pattern(name: str, line: str, temp_line: str) -> None:
    assert (pattern(Path(name)), beside_pattern(Path(name), is_database=False)) == (line, temp_line)


@pytest.mark.parametrize(("name", "line", "temp_line"), NAMES.values(), ids=NAMES)
def test_git_reads_the_lines_as_they_are_meant(home: Home, name: str, line: str, temp_line: str) -> None:
    home.repository("")
    file, ignore_file = home.path / name, home.path / ".gitignore"
    assert gitguard.lines(file) == (line, temp_line)
    text = f"{line}\n{temp_line}\n"
    (planned,) = gitguard.look([file], home=home.path, environ=home.environ, planned={ignore_file: text})
    home.write(".gitignore", text)
    (written,) = gitguard.look([file], home=home.path, environ=home.environ)
    assert (planned.state, written.state) == ("ignored", "ignored")


_TROUBLE = st.sampled_from("*?[]!#\\ .:~-^{}\t\n\r\u2028é工")
_NAME = st.text(_TROUBLE | st.sampled_from(string.ascii_lowercase), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Home:
    needs(os.name == "posix", "names that only POSIX allows")
    made = Home(disk.resolve(tmp_path_factory.mktemp("names")))
    made.repository("")
    return made


@settings(max_examples=100)  # git is started four times for each
@given(parts=st.lists(_NAME.filter(lambda name: name not in (".", "..", ".git", ".gitignore")), min_size=1, max_size=3))
def test_any_name_can_be_ignored(repository: Home, parts: list[str]) -> None:
    file = Path(repository.path, *parts)
    assume(file.name != ".gitignore")
    text = "\n".join(gitguard.lines(file)) + "\n"
    (verdict,) = gitguard.look(
        [file], home=repository.path, environ=repository.environ, planned={repository.path / ".gitignore": text}
    )
    assert verdict.state == "ignored"


@given(
    parts=st.lists(_NAME.filter(lambda name: name.isprintable() and name not in (".", "..")), min_size=1, max_size=2)
)
def test_a_neighbour_is_not_ignored_with_it(repository: Home, parts: list[str]) -> None:
    file = Path(repository.path, *parts)
    neighbour = file.with_name(f"{file.name}x")
    text = "\n".join(gitguard.lines(file)) + "\n"
    (verdict,) = gitguard.look(
        [neighbour], home=repository.path, environ=repository.environ, planned={repository.path / ".gitignore": text}
    )
    assert verdict.state == "exposed"
