"""The command line and the real Secret Service, each command in a service of its own over one keyring folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine, Ran
from tests.acceptance.test_asking import terminal
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
        return machine.child(*arguments, before=(SCRIPT,), stdin=stdin, **_service(tmp_path, login))

    return run


def _service(folder: Path, login: str = "first") -> dict[str, str]:
    """The environment in which the script keeps one keyring for all commands."""
    home = str(folder / "keyring")
    return {"SECRET_SERVICE_HOME": home, "SECRET_SERVICE_PASSWORD": login, "PATH": os.environ["PATH"]}


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
    assert locked.err.startswith("error: Secret Service is locked\n  hint: Unlock it and try again; ")
    assert toolsync(*APPLY).code == 0
    with machine.untouched():
        undo = toolsync("undo", "--yes", login="another")
    what = f"~/{SETTINGS}: what stood at apiKey lies in the keyring"
    assert undo.said == (
        2,
        f"error: {what}, and Secret Service is locked\n  hint: Run this where the keyring answers.\n",
    )


def _items(folder: Path) -> list[str]:
    """The user names of all items that were stored by way of `keyring`, as another program finds them."""
    needs(shutil.which("secret-tool"), "needs secret-tool (libsecret-tools)")
    address = f"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/{os.getuid()}/bus"
    search = ("secret-tool", "search", "--all", "application", "Python keyring library")
    environ = {**os.environ, **_service(folder)}
    argv = [SCRIPT, "env", address, *search]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environ, timeout=60)
    lines = f"{done.stdout}\n{done.stderr}".splitlines()  # attributes are said on stderr
    return sorted(line.partition(" = ")[2] for line in lines if line.startswith("attribute.username"))


def test_uninstall_leaves_no_item_of_ours(machine: Machine, toolsync: Command, tmp_path: Path) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync("key", "set", "spare", "--stdin", stdin=invented("spare")).code == 0
    assert toolsync(*APPLY).code == 0
    items = _items(tmp_path)
    assert [name.startswith("origin-") for name in items] == [True] * (len(items) - 2) + [False] * 2
    assert (len(items) > 2, items[-2:]) == (True, ["spare", "work"])

    with machine.untouched():
        assert toolsync("uninstall", "--yes", "--remove-keys", login="another").code == 2
    assert toolsync("uninstall", "--yes").said == (0, "")
    assert (machine.read(SETTINGS), _items(tmp_path)) == (BEFORE, ["spare", "work"])
    assert toolsync("uninstall", "--yes", "--remove-keys").said == (0, "")
    assert (_items(tmp_path), machine.state.exists()) == ([], False)


@pytest.mark.parametrize(("answer", "left"), [("y", []), ("n", ["work"])], ids=["the key goes", "the key stays"])
def test_whether_the_key_goes_is_a_question_of_its_own(
    machine: Machine, toolsync: Command, tmp_path: Path, answer: str, left: list[str]
) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync(*APPLY).code == 0
    machine.environ |= _service(tmp_path)
    with terminal(machine, "uninstall", before=(SCRIPT,)) as screen:
        screen.until("Remove keyring:work from the keyring too, where it may be kept nowhere else? [y/N]: ")
        screen.answer(f"{answer}\n").until("Remove all this? [y/N]: ")
        assert screen.answer("y\n").ended() == 0
    assert (machine.read(SETTINGS), _items(tmp_path)) == (BEFORE, left)
