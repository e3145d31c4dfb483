"""What git would do with a file: real repositories of every kind, and the same without git."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.conftest import needs
from tests.gitguard.conftest import Home
from toolsync import disk, gitguard

FILE = "dots/tool/settings.json"


class Case(NamedTuple):
    """A home, a file in it, what git would do with it, and what can be told without git."""

    prepare: Callable[[Home], object]
    state: gitguard.State
    without_git: gitguard.State = "unknown"
    file: str = FILE


def _repository(ignore: str = "", **more: str) -> Callable[[Home], None]:
    """A repository with its ignore file, and other ones: `tool="…"` is that of the folder `tool`."""

    def prepare(home: Home) -> None:
        home.repository("dots")
        home.write(FILE)
        if ignore:
            home.write("dots/.gitignore", ignore)
        for folder, text in more.items():
            home.write(f"dots/{folder}/.gitignore", text)

    return prepare


def _tracked(ignore: str = "") -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        _repository(ignore)(home)
        home.git("dots", "add", "-f", "tool/settings.json")

    return prepare


def _excludes(home: Home) -> None:
    _repository()(home)
    home.write(".gitconfig", "[core]\n\texcludesFile = ~/everywhere\n")
    home.write("everywhere", "settings.json\n.toolsync-*\n")


def _xdg_excludes(home: Home) -> None:
    _repository()(home)
    home.write(".config/git/ignore", "tool/\n")


def _info_exclude(home: Home) -> None:
    _repository()(home)
    home.write("dots/.git/info/exclude", "tool/\n")


def _not_there_yet(home: Home) -> None:
    home.repository("dots")


def _worktree(exclude: str) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        home.repository("main")
        home.git("main", "commit", "-q", "--allow-empty", "-m", "first")
        home.git("main", "worktree", "add", "-q", str(home.path / "dots"))
        home.write("main/.git/info/exclude", exclude)
        home.write(FILE)

    return prepare


def _broken_worktree(home: Home) -> None:
    home.write("dots/.git", "gitdir: /nowhere/.git/worktrees/dots\n")
    home.write(FILE)


def _submodule(outer: str, inner: str) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        home.repository("inner")
        home.write("inner/.gitignore", inner)
        home.git("inner", "add", "-f", ".gitignore")
        home.git("inner", "commit", "-q", "-m", "first")
        home.repository("dots")
        home.git("dots", "submodule", "--quiet", "add", str(home.path / "inner"), "tool")
        home.write("dots/.gitignore", outer)
        home.write(FILE)

    return prepare


def _stowed(ignore: str) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        _repository(ignore)(home)
        home.link(".tool/settings.json", FILE)

    return prepare


def _stowed_folder(home: Home) -> None:
    _repository()(home)
    home.link(".tool", "dots/tool")


def _home_repository(ignore: str) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        home.repository("")
        home.write(".gitignore", ignore)
        home.write(".tool/settings.json")

    return prepare


def _link_that_is_tracked(home: Home) -> None:
    """The home keeps the link; what it leads to, in a repository of its own, is ignored there."""
    _stowed("tool/\n")(home)
    home.repository("")
    home.git("", "add", ".tool/settings.json")


def _bare(git_dir: str, *, tracking: bool) -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        home.git("", "init", "-q", "--bare", git_dir)
        home.write(".tool/settings.json")
        if tracking:
            home.git("", f"--git-dir={git_dir}", f"--work-tree={home.path}", "add", "-f", ".tool/settings.json")

    return prepare


def _bare_beside(home: Home) -> None:
    """A bare clone with work trees beside it, as `git worktree` invites to: this folder is none of them."""
    home.git("", "init", "-q", "--bare", "dots/.bare")
    home.write("dots/.git", "gitdir: ./.bare\n")
    home.write(FILE)


def _nested_in_a_home_that_tracks_it(home: Home) -> None:
    home.repository("")
    home.write(FILE)
    home.git("", "add", FILE)
    home.repository("dots")
    home.write("dots/.gitignore", "tool/\n")


def _empty_git_folder(home: Home) -> None:
    home.write(FILE)
    (home.path / "dots" / ".git").mkdir()


def _empty_git_folder_inside(home: Home) -> None:
    _repository()(home)
    (home.path / "dots" / "tool" / ".git").mkdir()


def _core_worktree(home: Home) -> None:
    _repository("tool/\n")(home)
    (home.path / "other").mkdir()
    home.git("dots", "config", "core.worktree", str(home.path / "other"))


def _linked_ignore_file(home: Home) -> None:
    _repository()(home)
    home.write("dots/ignored", "tool/\n")
    home.link("dots/.gitignore", "dots/ignored")


def _chezmoi(source: str, root: str = "") -> Callable[[Home], None]:
    def prepare(home: Home) -> None:
        home.write(".tool/settings.json")
        home.write(f".local/share/chezmoi/{source}")
        if root:
            home.write(".local/share/chezmoi/.chezmoiroot", f"{root}\n")

    return prepare


def _of_somebody_else(home: Home) -> None:
    needs(hasattr(os, "geteuid") and os.geteuid() == 0, "root, to give a repository to somebody else")
    _repository("tool/\n")(home)
    for place in (home.path / "dots", home.path / "dots/.git"):
        os.chown(place, 12345, 12345)


CASES = {
    "no repository": Case(lambda home: home.write(FILE), "outside", "outside"),
    "not ignored": Case(_repository(), "exposed"),
    "its folder is ignored": Case(_repository("tool/\n"), "ignored"),
    "the file is ignored, its temp files are not": Case(_repository("/tool/settings.json\n"), "exposed"),
    "the lines that the guard asks for": Case(_repository("/tool/settings.json\n/tool/.toolsync-*.tmp\n"), "ignored"),
    "CRLF, a byte-order mark and no final newline": Case(_repository("\ufeff*.tmp\r\n*.json"), "ignored"),
    "ignored, and taken back below": Case(_repository("*.json\n*.tmp\n!settings.json\n"), "exposed"),
    "ignored in its own folder": Case(_repository(tool="*\n"), "ignored"),
    "taken back in its own folder": Case(_repository("*.json\n*.tmp\n", tool="!settings.json\n"), "exposed"),
    "taken back in an ignored folder, which git does not look into": Case(
        _repository("tool/\n", tool="!settings.json\n"), "ignored"
    ),
    "ignored by core.excludesFile": Case(_excludes, "ignored"),
    "ignored by the user's own ignore file": Case(_xdg_excludes, "ignored"),
    "ignored by info/exclude": Case(_info_exclude, "ignored"),
    "an ignore file that is a link": Case(_linked_ignore_file, "exposed"),
    "tracked": Case(_tracked(), "tracked"),
    "tracked, and ignored": Case(_tracked("tool/\n"), "tracked"),
    "neither file nor folder is there yet": Case(_not_there_yet, "exposed"),
    "a work tree beside the main one": Case(_worktree(""), "exposed"),
    "a work tree, ignored by the main one's exclude": Case(_worktree("tool/\n"), "ignored"),
    "a work tree whose repository is gone": Case(_broken_worktree, "unknown"),
    "a submodule": Case(_submodule("", ""), "exposed"),
    "a submodule, ignored by the repository around it": Case(_submodule("tool/\n", ""), "exposed"),
    "a submodule, ignored by itself": Case(_submodule("", "*\n"), "ignored"),
    "a link into a repository (stow)": Case(_stowed(""), "exposed", file=".tool/settings.json"),
    "a link to what is ignored there": Case(_stowed("tool/\n"), "ignored", file=".tool/settings.json"),
    "a linked folder": Case(_stowed_folder, "exposed", file=".tool/settings.json"),
    "a tracked link to what is ignored": Case(_link_that_is_tracked, "ignored", file=".tool/settings.json"),
    "the home is a repository": Case(_home_repository(""), "exposed", file=".tool/settings.json"),
    "the home is a repository that ignores all": Case(_home_repository("*\n"), "ignored", file=".tool/settings.json"),
    "a bare repository of dotfiles": Case(_bare(".dotfiles", tracking=True), "tracked", file=".tool/settings.json"),
    "a bare repository that does not know it": Case(
        _bare(".cfg", tracking=False), "outside", file=".tool/settings.json"
    ),
    "yadm": Case(_bare(".local/share/yadm/repo.git", tracking=True), "tracked", file=".tool/settings.json"),
    "vcsh": Case(_bare(".config/vcsh/repo.d/tools.git", tracking=True), "tracked", file=".tool/settings.json"),
    "a hidden bare repository of any name": Case(
        _bare(".my-own.files", tracking=True), "tracked", file=".tool/settings.json"
    ),
    "a bare repository that is not hidden": Case(
        _bare("dotfiles", tracking=True), "tracked", file=".tool/settings.json"
    ),
    "chezmoi": Case(_chezmoi("dot_tool/private_settings.json"), "copied", "copied", ".tool/settings.json"),
    "chezmoi, below a root of its own": Case(
        _chezmoi("home/exact_dot_tool/settings.json", "home"), "copied", "copied", ".tool/settings.json"
    ),
    "chezmoi, encrypted": Case(
        _chezmoi("dot_tool/encrypted_settings.json.age"), "outside", "outside", ".tool/settings.json"
    ),
    "chezmoi, another file": Case(_chezmoi("dot_tool/other.json"), "outside", "outside", ".tool/settings.json"),
    "beside a bare repository": Case(_bare_beside, "outside"),
    "ignored in a repository within one that tracks it": Case(_nested_in_a_home_that_tracks_it, "tracked"),
    "an empty .git": Case(_empty_git_folder, "outside"),
    "an empty .git within a repository": Case(_empty_git_folder_inside, "exposed"),
    "a repository whose work tree is elsewhere": Case(_core_worktree, "unknown"),
    "a repository of somebody else": Case(_of_somebody_else, "unknown"),
}


def _look(home: Home, name: str, **environ: str) -> gitguard.Verdict:
    file = disk.resolve(home.path / name)
    (verdict,) = gitguard.look([file], home=home.path, environ={**home.environ, **environ})
    return verdict


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_git_says_what_it_would_do_with_a_file(home: Home, case: Case) -> None:
    case.prepare(home)
    assert _look(home, case.file).state == case.state


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_without_git_a_repository_is_never_taken_for_safe(home: Home, case: Case) -> None:
    case.prepare(home)
    verdict = _look(home, case.file, PATH="/nowhere")
    assert (verdict.state, verdict.reason) == (case.without_git, "git is not installed" * (verdict.state == "unknown"))
