"""Programs by their names: none from the current folder, which may be anybody's repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import needs
from toolsync import on_path
from toolsync.bench.gpu.amd import Amd
from toolsync.bench.gpu.reading import UnreadableError
from toolsync.bench.gpu.smi import Smi
from toolsync.commands.profiles.draft import editor
from toolsync.errors import GitError, SecretError, UsageError
from toolsync.gitguard.git import found
from toolsync.secret.command import output

NAMES = ("git", "nvidia-smi", "amd-smi", "ssh", "pass", "nano", "vim", "vi", "editor")


@pytest.fixture(params=["", ".", "bin", "./bin:", ":/nowhere"])
def environ(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A shell in a repository that brings programs, with a `PATH` that leads into it."""
    needs(os.name == "posix", "needs a shell")
    for name in NAMES:
        for folder in (tmp_path, tmp_path / "bin"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            (folder / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", request.param)
    return {"PATH": request.param}


def test_nothing_of_a_repository_is_run(environ: dict[str, str], tmp_path: Path) -> None:
    assert [name for name in NAMES if on_path.found(name, environ)] == []
    with pytest.raises(GitError, match="git is not installed"):
        found(environ)
    with pytest.raises(SecretError, match="there is no program 'pass'"):
        output("pass show x", environ, timeout_seconds=5)
    with pytest.raises(UsageError, match="no editor is known"):
        editor(environ)
    with pytest.raises(UnreadableError, match="amd-smi cannot be run: No such file or directory"):
        Amd().read()
    for smi in (Smi(100), Smi(100, "host")):
        smi.start()
        assert smi.stop().reason.endswith(" cannot be run: No such file or directory")
    assert not (tmp_path / "ran").exists()


def test_what_the_user_installed_is_found(tmp_path: Path, environ: dict[str, str]) -> None:
    there = {"PATH": f"{environ['PATH']}:{tmp_path / 'bin'}"}
    assert on_path.found("git", there) == on_path.needed("git", there) == str(tmp_path / "bin" / "git")
