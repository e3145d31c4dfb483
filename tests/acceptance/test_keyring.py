"""The command line and the real Secret Service, each command in a service of its own over one keyring folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine, Ran
from tests.acceptance.test_asking import terminal
from tests.acceptance.test_rotate import NEW
from tests.conftest import needs, takes
from tests.keys import invented
from toolsync.loopback import LoopbackGateway

pytestmark = pytest.mark.secret_service

SCRIPT = str(Path(__file__).parents[1] / "secret_service.sh")
LONG = NEW + "x" * 3000
SETTINGS = "service/settings.json"
BEFORE = f'{{"apiKey": "{invented("old")}"}}\n'
APPLY = ("apply", "--yes")

Command = Callable[..., Ran]


@pytest.fixture
def toolsync(machine: Machine, gateway: LoopbackGateway, tmp_path: Path) -> Command:
    """Runs a command line with the keyring; another `login` than the first finds it locked."""
    takes("starts a keyring for each command")
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


@pytest.fixture
def both(machine: Machine) -> Iterator[Both]:
    """A gateway that takes the key and a new one; the machine's profile names it, and a file may hold a copy."""
    with Both(KEY, NEW, LONG) as running:
        table = f'[profiles.work.tool.settings-json]\npaths = ["~/{SETTINGS}"]\nkey_way = "plaintext"\n'
        machine.profile(f'plaintext = "allow"\n\n{table}', base_url=running.base_url)
        yield running


def test_a_rotation_reaches_helpers_and_copies(machine: Machine, toolsync: Command, both: Both) -> None:
    for name in (".claude", ".codex"):
        (machine.home / name).mkdir()
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync(*APPLY).code == 0
    before = {name: machine.read(name) for name in (".claude/settings.json", ".codex/config.toml")}

    with machine.untouched():
        locked = toolsync("key", "rotate", "--stdin", "--yes", login="another", stdin=NEW)
    assert (locked.code, "Secret Service is locked" in locked.err) == (2, True)
    both.forget()
    with looking(KEY, NEW) as seen:
        ran = toolsync("key", "rotate", "--stdin", "--yes", "--json", stdin=NEW)
    assert (ran.code, ran.err, seen.where, seen.processes > 10) == (0, "", set(), True)
    sent = {one["program"]: (one["new_key"], one["status"]) for one in ran.json["data"]["sent"]}
    assert sent == dict.fromkeys(["Claude Code", "Codex CLI", "settings.json"], (True, 200))
    assert {key for _, key in both.came()} == {NEW}
    assert {name: machine.read(name) for name in before} == before
    assert json.loads(machine.read(SETTINGS))["apiKey"] == NEW

    both.keys = {KEY}
    assert toolsync("key", "rotate", "--back", "--yes").code == 0
    assert (json.loads(machine.read(SETTINGS))["apiKey"], toolsync("key", "print").out) == (KEY, f"{KEY}\n")


def test_a_person_types_the_new_key_sees_what_changes_and_says_yes(
    machine: Machine, toolsync: Command, both: Both, tmp_path: Path
) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync(*APPLY).code == 0
    machine.environ |= _service(tmp_path)
    both.forget()
    for answer, code, key in (("n\n", 2, KEY), ("y\n", 0, NEW)):
        with terminal(machine, "key", "rotate", before=(SCRIPT,)) as screen:
            screen.until("New key (nothing is shown): ").answer(f"{NEW}\n")
            screen.until("Replace keyring:work? [y/N]: ").answer(answer)
            assert (screen.ended(), NEW in screen.shown, "--- ~/service/settings.json" in screen.shown) == (
                code,
                False,
                True,
            )
        assert json.loads(machine.read(SETTINGS))["apiKey"] == key
    assert {sent for _, sent in both.came()} == {NEW}


def test_a_key_is_typed_unseen(machine: Machine, toolsync: Command, tmp_path: Path) -> None:
    assert toolsync("key", "list").code == 0
    machine.environ |= _service(tmp_path)
    with terminal(machine, "key", "set", before=(SCRIPT,)) as screen:
        assert screen.until("Key (nothing is shown): ").answer(f"{KEY}\n").ended() == 0
    assert KEY not in screen.shown
    assert _items(tmp_path) != []


@dataclass
class Seen:
    """What was seen of this machine's processes.

    Attributes:
        processes: how many were looked at, each time anew.
        where: `cmdline` or `environ` of a program that held a key.
    """

    processes: int = 0
    where: set[str] = field(default_factory=set)

    def look(self, keys: tuple[bytes, ...]) -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                with suppress(OSError):
                    text = (folder / name).read_bytes()
                    self.processes += "toolsync" in text.decode(errors="replace")
                    self.where |= {f"{name} of {folder.name}" for key in keys if key in text}


@contextmanager
def looking(*keys: str) -> Iterator[Seen]:
    """Looks at command lines and environments of all processes, again and again, for as long as the block lasts."""
    seen, ended = Seen(), threading.Event()

    def look() -> None:
        while not ended.wait(0.02):
            seen.look(tuple(key.encode() for key in keys))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def test_a_key_that_another_program_changed_is_taken_as_it_is(
    machine: Machine, toolsync: Command, both: Both, tmp_path: Path
) -> None:
    needs(shutil.which("secret-tool"), "needs secret-tool (libsecret-tools)")
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync(*APPLY).code == 0
    store = ("secret-tool", "store", "--label=x", "service", "toolsync:work", "username", "work")
    address = f"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/{os.getuid()}/bus"
    environ = {**os.environ, **_service(tmp_path)}
    argv = [SCRIPT, "env", address, *store]
    subprocess.run(argv, input=NEW, text=True, check=True, env=environ, timeout=60, capture_output=True)

    status = toolsync("status", "--json")
    assert (status.code, status.json["data"]["waiting"]) == (1, 1)
    assert toolsync("key", "rotate", "--stdin", "--yes", stdin=NEW).code == 0
    assert json.loads(machine.read(SETTINGS))["apiKey"] == NEW
    assert both.came()[-1][1] == NEW


def test_a_key_of_three_thousand_characters_is_kept_and_handed_on(
    machine: Machine, toolsync: Command, both: Both
) -> None:
    assert toolsync("key", "set", "--stdin", stdin=KEY).code == 0
    assert toolsync(*APPLY).code == 0
    assert toolsync("key", "rotate", "--stdin", "--yes", stdin=LONG).code == 0
    assert toolsync("key", "print").out == f"{LONG}\n"
    assert (json.loads(machine.read(SETTINGS))["apiKey"], both.came()[-1][1]) == (LONG, LONG)


PLAINTEXT = """import pathlib
from keyring.backend import KeyringBackend


class Keyring(KeyringBackend):
    priority = 99
    file = pathlib.Path(__file__).with_name("keys.txt")

    def get_password(self, service, username):
        return self.file.read_text() if self.file.exists() else None

    def set_password(self, service, username, password):
        self.file.write_text(password)
"""


@pytest.mark.parametrize("backend", ["plain_ring.Keyring", "keyring.backends.null.Keyring"])
def test_a_backend_that_keeps_keys_in_clear_or_not_at_all_is_not_taken(
    machine: Machine, tmp_path: Path, backend: str
) -> None:
    needs(sys.platform == "linux", "the Secret Service is Linux's")
    (tmp_path / "plain_ring.py").write_text(PLAINTEXT)
    machine.environ |= {
        "DBUS_SESSION_BUS_ADDRESS": "unix:abstract=/nonexistent",  # a path that is gone has the login's own bus asked
        "PYTHON_KEYRING_BACKEND": backend,
        "PYTHONPATH": str(tmp_path),
    }
    ran = machine.child("key", "set", "--stdin", stdin=KEY)
    assert (ran.code, ran.err.startswith("error: no keyring answers here (Secret Service: ")) == (2, True)
    assert not (tmp_path / "keys.txt").exists()


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
