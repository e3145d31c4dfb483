"""The hooks that we offer, run by the real pre-commit: a commit that would take a key along does not come about."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.check.planted import SHAPED
from tests.conftest import needs
from tests.gitguard.conftest import Home
from tests.keys import invented

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
KEY = invented("hook")


class Repository:
    """A repository whose commits pre-commit watches over."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.write("hooks/.pre-commit-hooks.yaml", HOOKS.read_text(encoding="utf-8"))
        home.repository("hooks")
        home.git("hooks", "add", ".")
        home.git("hooks", "commit", "-q", "-m", "hooks")
        revision = home.git("hooks", "rev-parse", "HEAD").strip()
        home.repository("project")
        repo = f"- repo: {home.path / 'hooks'}\n  rev: {revision}\n  hooks: [{{ id: toolsync-check-installed }}]\n"
        home.write("project/.pre-commit-config.yaml", f"repos:\n{repo}")
        profile = 'active = "w"\n[profiles.w]\nbase_url = "https://g.example"\nmodel = "m"\nkey = "env:HOOK_KEY"\n'
        home.write("profile.toml", profile)
        self._run(sys.executable, "-m", "pre_commit", "install")
        self._run("git", "add", ".")

    def write(self, name: str, text: str) -> None:
        self._home.write(f"project/{name}", text)

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments, is_fine=False)

    def _run(self, *argv: str, is_fine: bool = True) -> subprocess.CompletedProcess[str]:
        # Where no address is to be had, whatever is asked for over the network fails.
        away = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}
        own = {"TOOLSYNC_CONFIG": str(self._home.path / "profile.toml"), "HOOK_KEY": KEY}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environ = {**self._home.environ, **away, **own, "PATH": path, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            argv, cwd=self._home.path / "project", env=environ, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0 or not is_fine, done.stderr
        return done


@pytest.fixture
def repository(home: Home) -> Repository:
    needs(find_spec("pre_commit"), "pre-commit")
    needs(shutil.which("toolsync", path=str(Path(sys.executable).parent)), "toolsync, installed beside this Python")
    return Repository(home)


def test_a_commit_comes_about_without_a_key_only(repository: Repository) -> None:
    repository.write("a.txt", "key = sk-your-key-here\n")
    repository.git("add", ".")
    done = repository.git("commit", "-m", "one")
    assert (done.returncode, "Passed" in done.stdout + done.stderr) == (0, True)
    repository.write("a.txt", f"\n{KEY}\n{SHAPED['github']}\n")
    for arguments in (["commit", "-a"], ["commit", "a.txt"], ["commit"]):
        if arguments == ["commit"]:
            repository.git("add", ".")
            repository.write("a.txt", "what is beside the index does not count\n")
        done = repository.git(*arguments, "-m", "two")
        said = done.stdout + done.stderr
        assert (done.returncode, "a.txt:2 (index)" in said, "a.txt:3 (index)" in said) == (1, True, True), arguments
        assert not any(key in said for key in (KEY, SHAPED["github"]))
    assert repository.git("log", "--format=%s").stdout == "one\n"
