"""The command line and the real Secret Service, each command in a service of its own over one keyring folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine, Ran
from tests.conftest import needs
from tests.keys import invented
from toolsync.loopback import LoopbackGateway

pytestmark = pytest.mark.secret_service

SCRIPT = str(Path(__file__).parents[1] / "secret_service.sh")
SETTINGS = "service/settings.json"
BEFORE = f'{{"apiKey": "{invented("old")}"}}\n'
APPLY = ("apply", "--yes")

Command = Callable[..., Ran]


@pytest.fixture
def toolsync(machine: Machine, gateway: LoopbackGateway, tmp_path: Path) -> Command:
    """Runs a command line with the keyring; another `login` than the first finds it locked."""
    needs(shutil.which("gnome-keyring-daemon") and shutil.which("dbus-daemon"), "needs gnome-keyring and dbus")
    started = subprocess.run([SCRIPT, "true"], capture_output=True, check=False, timeout=60)
    needs(started.returncode == 0, "needs a place for a bus (root, or mount namespaces)")
    machine.profile(f'\n[profiles.work.tool.settings-json]\npaths = ["~/{SETTINGS}"]\n', base_url=gateway.base_url)
    machine.write(SETTINGS, BEFORE)

    def run(*arguments: str, login: str = "first", stdin: str = "") -> Ran:
        service = {"SECRET_SERVICE_HOME": str(tmp_path / "keyring"), "SECRET_SERVICE_PASSWORD": login}
        return machine.child(*arguments, before=(SCRIPT,), stdin=stdin, PATH=os.environ["PATH"], **service)

    return run


def test_the_key_and_the_old_key_live_in_the_keyring(machine: Machine, toolsync: Command) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).said == (0, "")
    ran = toolsync(*APPLY)
    assert ran.said == (0, "")
    assert "${TOOLSYNC_API_KEY}" in machine.read(SETTINGS)
    assert toolsync("undo", "--yes").said == (0, "")
    assert machine.read(SETTINGS) == BEFORE


def test_a_locked_keyring_stops_apply_and_undo(machine: Machine, toolsync: Command) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    with machine.untouched():
        locked = toolsync(*APPLY, login="another")
    assert locked.code == 2
    assert locked.err.startswith("error: Secret Service is locked\n  hint: Unlock it and try again. ")
    assert toolsync(*APPLY).code == 0
    with machine.untouched():
        undo = toolsync("undo", "--yes", login="another")
    what = f"~/{SETTINGS}: what stood at apiKey lies in the keyring"
    assert undo.said == (
        2,
        f"error: {what}, and Secret Service is locked\n  hint: Run this where the keyring answers.\n",
    )
