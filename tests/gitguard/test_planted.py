"""A repository's own configuration names programs in many places: none of them runs when the guard asks git."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import needs
from tests.gitguard.conftest import Home
from toolsync import disk, gitguard
from toolsync.gitguard import git as gits


def _trap(home: Home) -> tuple[Path, Path]:
    """A program that leaves a mark when it runs, and the mark."""
    mark = home.path / "ran"
    program = home.write("trap", f"#!/bin/sh\necho x >>'{mark}'\n")
    program.chmod(0o755)
    return program, mark


def _fsmonitor(home: Home, trap: Path) -> None:
    home.git("dots", "config", "core.fsmonitor", str(trap))


def _included(home: Home, trap: Path) -> None:
    home.write("more", f"[core]\n\tfsmonitor = {trap}\n")
    home.git("dots", "config", "include.path", str(home.path / "more"))


def _worktree_config(home: Home, trap: Path) -> None:
    home.git("dots", "config", "extensions.worktreeConfig", "true")
    home.git("dots", "config", "--worktree", "core.fsmonitor", str(trap))


def _lazy_fetch(home: Home, trap: Path) -> None:
    """A partial clone that lacks a folder of its sparse index, and a transport that is a program."""
    for name in ("a", "b"):
        home.write(f"dots/{name}/file", name)
    home.git("dots", "add", "a", "b")
    home.git("dots", "commit", "-q", "-m", "first")
    home.git("dots", "sparse-checkout", "set", "--cone", "--sparse-index", "a")
    tree = home.git("dots", "rev-parse", "HEAD:b").strip()
    (home.path / "dots/.git/objects" / tree[:2] / tree[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{trap}",
        "protocol.ext.allow": "always",
    }.items():
        home.git("dots", "config", name, value)


TRAPS: dict[str, Callable[[Home, Path], None]] = {
    "core.fsmonitor": _fsmonitor,
    "core.fsmonitor in an included file": _included,
    "core.fsmonitor of the work tree": _worktree_config,
    "a lazy fetch": _lazy_fetch,
}


@pytest.mark.parametrize("plant", TRAPS.values(), ids=TRAPS)
def test_what_a_repository_plants_runs_when_git_is_asked_and_not_when_the_guard_asks(
    home: Home, plant: Callable[[Home, Path], None]
) -> None:
    home.repository("dots")
    program, mark = _trap(home)
    plant(home, program)
    file = home.write("dots/b/settings.json")
    with pytest.MonkeyPatch.context() as patch:  # the proof that the trap works
        patch.setattr(gits, "_SHUT", ())
        patch.setattr(gits, "_OURS", {})
        gitguard.look([file], home=home.path, environ=home.environ)
    assert mark.exists()
    mark.unlink()
    verdict = gitguard.look([file], home=home.path, environ=home.environ, planned={home.path / "dots/.gitignore": "x"})
    assert (mark.exists(), verdict[0].state) == (False, "unknown" if plant is _lazy_fetch else "exposed")


def test_a_bare_repository_of_dotfiles_runs_nothing_either(home: Home) -> None:
    program, mark = _trap(home)
    home.git("", "init", "-q", "--bare", ".cfg")
    home.git("", "--git-dir=.cfg", "config", "core.fsmonitor", str(program))
    file = home.write(".tool/settings.json")
    gitguard.look([file], home=home.path, environ=home.environ)
    assert not mark.exists()


def test_git_is_taken_from_absolute_folders_of_the_path_only(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.repository("dots")
    program, mark = _trap(home)
    program.rename(home.path / "dots/git")
    monkeypatch.chdir(home.path / "dots")
    (verdict,) = gitguard.look([home.path / "dots/file"], home=home.path, environ={"PATH": ".::dots"})
    assert (verdict.reason, mark.exists()) == ("git is not installed", False)


def test_a_git_that_does_not_answer_is_not_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.repository("dots")
    home.write("bin/git", "#!/bin/sh\nexec sleep 60\n").chmod(0o755)
    monkeypatch.setattr(gits, "_SECONDS", 0.2)
    environ = {"PATH": f"{home.path}/bin:{os.environ['PATH']}"}
    (verdict,) = gitguard.look([home.path / "dots/file"], home=home.path, environ=environ)
    assert (verdict.state, verdict.reason) == ("unknown", "git did not answer within 0.2 s")


def test_what_git_says_speaks_to_no_terminal(home: Home) -> None:
    needs(os.name == "posix", "a shell")
    home.repository("dots")
    home.write("bin/git", "#!/bin/sh\nprintf 'fatal: \\033[2Jx' >&2\nexit 128\n").chmod(0o755)
    (verdict,) = gitguard.look([home.path / "dots/file"], home=home.path, environ={"PATH": f"{home.path}/bin:/bin"})
    assert verdict.reason == "\ufffd[2Jx"


def test_what_points_git_elsewhere_is_not_passed_on(home: Home) -> None:
    home.repository("dots")
    home.repository("other")
    home.write("other/.git/info/exclude", "*\n")
    elsewhere = {
        "GIT_DIR": str(home.path / "other/.git"),
        "GIT_CEILING_DIRECTORIES": str(home.path),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.excludesFile",
        "GIT_CONFIG_VALUE_0": str(home.write("everything", "*\n")),
    }
    file = disk.resolve(home.path / "dots/file")
    (verdict,) = gitguard.look([file], home=home.path, environ={**home.environ, **elsewhere})
    assert (verdict.state, verdict.place) == ("exposed", home.path / "dots")
