"""Machines on which `check` looks around."""

from __future__ import annotations

import shutil

import pytest

from tests.acceptance.conftest import another, machine
from tests.acceptance.machine import Machine
from tests.check.planted import HEADER, REPLACED
from tests.conftest import needs
from tests.gitguard.conftest import home
from toolsync.commands.leaks import exposing
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault

__all__ = ["another", "furnished", "home", "machine"]


@pytest.fixture
def furnished(machine: Machine) -> Machine:
    """A machine with git, whose keyring holds three keys: one in use, one replaced, one for a header."""
    needs(shutil.which("git", path="/usr/bin:/bin"), "git")
    machine.environ["PATH"] = "/usr/bin:/bin"
    machine.config = machine.home / ".config/toolsync/profile.toml"
    machine.config.parent.mkdir(parents=True)
    machine.profile('[profiles.work.request]\nheaders = { X-Team = "keyring:team" }\n')
    assert isinstance(machine.vault, MemoryVault)
    machine.vault.set("team", Secret(HEADER))
    machine.vault.set("work@former-1", Secret(REPLACED))
    return machine


@pytest.fixture
def open_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody may pass the folders above the home, as pytest's own never let them."""
    monkeypatch.setattr(exposing, "_reachable", lambda _path, who: who)
