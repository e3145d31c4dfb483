"""`check` with a real keyring: what lies in the Secret Service is looked for, in a commit too."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs
from tests.gitguard.conftest import Home
from tests.keys import invented
from toolsync.masking import Secret
from toolsync.secret.vault import SystemVault

pytestmark = pytest.mark.secret_service

KEY = invented("in-the-service")


@pytest.fixture
def vault() -> Iterator[SystemVault]:
    """The vault on the private service; whatever the test leaves in it goes."""
    needs(os.environ.get("TOOLSYNC_SECRET_SERVICE") == "private", "run through tests/secret_service.sh")
    vault = SystemVault(timeout_seconds=20)
    yield vault
    vault.remove("check")


def test_the_key_in_the_secret_service_is_looked_for(furnished: Machine, vault: SystemVault) -> None:
    needs(shutil.which("git"), "git")
    vault.set("check", Secret(KEY))
    furnished.profile(key="keyring:check")
    furnished.environ |= {name: value for name, value in os.environ.items() if name.startswith("DBUS_")}
    home = Home(furnished.home)
    home.repository("project")
    furnished.write("project/a.txt", f"{KEY}\n")
    home.git("project", "add", ".")
    for options in ((), ("--staged",)):
        ran = furnished.child("check", *options)
        assert (ran.code, "keyring:check in clear" in ran.out, KEY in ran.out + ran.err) == (1, True, False), ran
