"""Homes with real repositories in them, and the machines of the acceptance tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.conftest import another, machine
from tests.conftest import needs

__all__ = ["another", "home", "machine"]


@dataclass(frozen=True)
class Home:
    """A home folder, and git as its owner runs it."""

    path: Path

    @property
    def environ(self) -> Mapping[str, str]:
        return {"HOME": str(self.path), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}

    def git(self, folder: str | Path, *arguments: str) -> str:
        place = self.path / folder
        place.mkdir(parents=True, exist_ok=True)
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=place, env=self.environ, capture_output=True, text=True, check=True
        )
        return done.stdout

    def repository(self, folder: str | Path) -> None:
        self.git(folder, "init", "-q", "-b", "main")

    def write(self, name: str, text: str = "{}\n") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def link(self, name: str, target: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.path / target)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    needs(shutil.which("git"), "git")
    needs(os.name == "posix", "links and modes of POSIX")
    path = tmp_path / "home"
    path.mkdir()
    return Home(path.resolve())
