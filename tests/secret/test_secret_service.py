"""The real Secret Service: GNOME Keyring on a real bus, in a private place (`tests/secret_service.sh`)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import needs, takes
from tests.key_print import key_print, profile_file
from toolsync.commands.keys.stored import StoredKey, list_keys, remove_key, set_key
from toolsync.masking import Secret
from toolsync.profile import KeyRef, Profile
from toolsync.secret.vault import Entry, SystemVault

pytestmark = pytest.mark.secret_service

KEY = "sk-invented-0123456789"
SCRIPT = Path(__file__).parents[1] / "secret_service.sh"


@pytest.fixture
def vault() -> Iterator[SystemVault]:
    """The vault on the private service; whatever the test leaves in it goes."""
    needs(os.environ.get("TOOLSYNC_SECRET_SERVICE") == "private", "run through tests/secret_service.sh")
    vault = SystemVault(timeout_seconds=20)
    yield vault
    for name in ("work", "home", "work.2-b_c"):
        vault.remove(name)


@pytest.fixture
def script() -> Path:
    """The script itself, for tests that want a service of their own."""
    needs(shutil.which("gnome-keyring-daemon") and shutil.which("dbus-daemon"), "needs gnome-keyring and dbus")
    needs(run(SCRIPT, "true").returncode == 0, "needs a place for a bus (root, or mount namespaces)")
    return SCRIPT


def run(*argv: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False, env={**os.environ, **environ}, timeout=120)


def secret_tool(*argv: str, stdin: str = "") -> str:
    needs(shutil.which("secret-tool"), "needs secret-tool (libsecret-tools)")
    address = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/{os.getuid()}/bus"}
    environ = {**os.environ, **address}
    return subprocess.run(
        ["secret-tool", *argv], input=stdin, capture_output=True, text=True, check=False, env=environ
    ).stdout


def test_keys_are_kept_replaced_and_removed(vault: SystemVault) -> None:
    assert (vault.backend, vault.get("work"), vault.remove("work")) == ("Secret Service", None, False)
    for value in (KEY, "sk-invented-second", "x" * 20_000):
        vault.set("work", Secret(value))
        assert vault.get("work") == Secret(value)
    assert vault.get("home") is None
    assert (vault.remove("work"), vault.get("work")) == (True, None)


def test_another_program_finds_its_entry_and_what_it_wrote_is_replaced(vault: SystemVault) -> None:
    """As Mistral Vibe 3.0.3 does it: through `keyring`, by service and user."""
    entry = Entry.of("com.example.agent", "AGENT_KEY")
    bus = f"unix:path=/run/user/{os.getuid()}/bus"

    def theirs(call: str) -> str:
        code = f"import keyring; print(keyring.{call})"
        for _ in range(10):
            done = run(sys.executable, "-c", code, DBUS_SESSION_BUS_ADDRESS=bus)
            if "NoKeyringError" not in done.stderr:  # as that library calls a bus that was busy for a second
                break
        return done.stdout.strip()

    assert theirs("set_password('com.example.agent', 'AGENT_KEY', 'mine')") == "None"
    assert vault.get(entry) == Secret("mine")
    vault.set(entry, Secret(KEY))
    assert theirs("get_password('com.example.agent', 'AGENT_KEY')") == KEY
    assert vault.remove(entry)
    assert theirs("get_password('com.example.agent', 'AGENT_KEY')") == "None"


def test_the_verbs_work_on_it(vault: SystemVault, tmp_path: Path) -> None:
    set_key(f"{KEY}\n", "work.2-b_c", vault, tmp_path)
    profiles = [Profile("a", "https://gateway.example", "m", KeyRef("keyring", "work"))]
    stored = (
        StoredKey(KeyRef("keyring", "work"), ("a",), is_stored=False),
        StoredKey(KeyRef("keyring", "work.2-b_c"), (), is_stored=True),
    )
    assert list_keys(vault, tmp_path, profiles) == stored
    assert remove_key("work.2-b_c", vault, tmp_path) is True


def test_what_undo_keeps_may_have_lines_and_any_character(vault: SystemVault) -> None:
    text = '"sk-old"  # мой ключ\r\n\tsecond 🔑 line\n'
    vault.set("home", Secret(text))
    assert vault.get("home") == Secret(text)


def test_secret_tool_reads_what_we_write(vault: SystemVault) -> None:
    vault.set("work", Secret(KEY))
    assert secret_tool("lookup", "service", "toolsync:work", "username", "work") == KEY


def test_we_read_replace_and_remove_what_secret_tool_writes(vault: SystemVault, tmp_path: Path) -> None:
    attributes = ("service", "toolsync:work", "username", "work")
    secret_tool("store", "--label=toolsync", *attributes, stdin=f"{KEY}\n")
    printed = key_print(profile_file(tmp_path, "keyring:work"), environ={})
    assert (printed.returncode, printed.stdout) == (0, f"{KEY}\n")
    vault.set("work", Secret("sk-invented-second"))
    assert vault.get("work") == Secret("sk-invented-second")
    secret_tool("store", "--label=toolsync", *attributes, "mine", "yes", stdin=KEY)
    assert vault.remove("work") is True
    assert secret_tool("lookup", *attributes) == ""


def test_key_print_finds_the_bus_without_an_address(vault: SystemVault, tmp_path: Path) -> None:
    vault.set("work", Secret(KEY))
    printed = key_print(profile_file(tmp_path, "keyring:work"), environ={})
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, f"{KEY}\n", "")


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}, id="another backend"),
        pytest.param({"KEYRING_PROPERTY_SCHEME": "KeePassXC"}, id="another scheme"),
        pytest.param({"KEYRING_PROPERTY_PREFERRED_COLLECTION": "/org/freedesktop/secrets/x"}, id="another collection"),
        pytest.param({"PYTHONPATH": "/nonexistent", "PYTHONSTARTUP": "/nonexistent"}, id="Python's variables"),
        pytest.param({"XDG_CONFIG_HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"}, id="XDG"),
        pytest.param({"TOOLSYNC_CONFIG": "/nonexistent", "HOME": "/nonexistent"}, id="ours"),
    ],
)
def test_the_callers_environment_does_not_bend_key_print(
    vault: SystemVault, tmp_path: Path, environ: dict[str, str]
) -> None:
    vault.set("work", Secret(KEY))
    printed = key_print(profile_file(tmp_path, "keyring:work"), environ=environ)
    assert (printed.returncode, printed.stdout) == (0, f"{KEY}\n")


@pytest.mark.parametrize("key", ["keyring:work", "env:API_KEY"])
def test_thirty_two_tools_may_ask_at_once(vault: SystemVault, tmp_path: Path, key: str) -> None:
    vault.set("work", Secret(KEY))
    config = profile_file(tmp_path, key)
    running = [key_print.start(config, environ={"API_KEY": KEY}) for _ in range(32)]
    results = [(*process.communicate(timeout=60), process.returncode) for process in running]
    assert results == [(f"{KEY}\n", "", 0)] * 32


def test_key_print_does_without_the_library_that_is_slow(vault: SystemVault, tmp_path: Path) -> None:
    vault.set("work", Secret("x" * 3000))
    argv = key_print.argv(profile_file(tmp_path, "keyring:work"))
    done = run(argv[0], "-X", "importtime", *argv[1:])
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.stdout == f"{'x' * 3000}\n"
    assert modules & {"keyring", "secretstorage", "cryptography", "dataclasses"} == set()


def test_a_key_that_is_not_there_is_named(vault: SystemVault, tmp_path: Path) -> None:
    assert vault.get("work") is None
    printed = key_print(profile_file(tmp_path, "keyring:work"), environ={})
    message = (
        "toolsync: keyring:work: Secret Service holds no key of that name. Store it with `toolsync key set work`.\n"
    )
    assert (printed.returncode, printed.stdout, printed.stderr) == (2, "", message)


def test_a_locked_keyring_is_said_to_be_locked(script: Path, tmp_path: Path) -> None:
    """The same folder with another password: the collection is there, and nobody can be asked."""
    config = profile_file(tmp_path, "keyring:work")
    store = "import sys; sys.path.insert(0, sys.argv[1]); from toolsync.secret.vault import *\n"
    store += "SystemVault(timeout_seconds=20).set('work', Secret('sk-invented-0123456789'))"
    root = str(Path(__file__).parents[2])
    stored = run(script, sys.executable, "-c", store, root, SECRET_SERVICE_HOME=str(tmp_path / "keyring"))
    assert (stored.returncode, stored.stderr) == (0, "")
    printed = run(
        script,
        *key_print.argv(config),
        SECRET_SERVICE_HOME=str(tmp_path / "keyring"),
        SECRET_SERVICE_PASSWORD="another",
    )
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.startswith("toolsync: Secret Service is locked. Unlock it and try again;")


PROMPTED = """
export DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$(id -u)/bus
Xvfb -displayfd 3 -nolisten tcp -screen 0 640x480x8 3>"$1" 2>/dev/null & screen=$!
while [ ! -s "$1" ]; do sleep 0.02; done
export DISPLAY=:$(cat "$1")
HOME="$1.home" "$2" >/dev/null 2>&1 & prompter=$!
shift 2
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:org.gnome.keyring.SystemPrompter 2>/dev/null | grep -q 'boolean true'; do sleep 0.02; done
"$@"
code=$?
kill $prompter $screen
wait
exit $code
"""
"""A display, and the program that asks for the keyring's password on it, which nobody sees."""


def test_a_prompt_that_nobody_answers_is_waited_for_five_seconds(script: Path, tmp_path: Path) -> None:
    takes("waits for five seconds")
    needs(shutil.which("Xvfb"), "needs Xvfb (Debian, Ubuntu: apt-get install xvfb)")
    prompter = next((path for path in PROMPTERS if path.exists()), None)
    needs(prompter, "needs gcr-prompter (Debian, Ubuntu: apt-get install gcr)")
    keyring = {"SECRET_SERVICE_HOME": str(tmp_path / "keyring")}
    config = profile_file(tmp_path, "keyring:work")
    assert run(script, "true", **keyring).returncode == 0
    argv = ["sh", "-c", PROMPTED, "-", str(tmp_path / "display"), str(prompter), *key_print.argv(config)]
    start = time.monotonic()
    printed = run(script, *argv, **keyring, SECRET_SERVICE_PASSWORD="another")
    assert (printed.returncode, printed.stdout) == (2, "")
    assert printed.stderr.startswith("toolsync: the keyring did not answer within 5 s: it may be locked, and wait for")
    assert 5 < time.monotonic() - start < 20


PROMPTERS = [Path("/usr/libexec/gcr-prompter"), Path("/usr/lib/gcr-prompter"), Path("/usr/lib/gcr/gcr-prompter")]


def test_the_script_leaves_nothing_behind(script: Path, tmp_path: Path) -> None:
    mark = f"LEFT_BY={tmp_path}"
    count = f"grep -lz '^{mark}$' /proc/[0-9]*/environ 2>/dev/null | wc -l; exit 7"
    done = run(script, "sh", "-c", count, LEFT_BY=str(tmp_path), TMPDIR=str(tmp_path))
    left = [path for path in Path("/proc").glob("[0-9]*/environ") if mark in environment_of(path)]
    assert int(done.stdout) >= 4  # the script, the bus, the keyring, the command
    assert (done.returncode, left, list(tmp_path.iterdir())) == (7, [], [])


def environment_of(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []  # gone, or another user's


@pytest.fixture
def silent_bus(tmp_path: Path) -> Iterator[str]:
    """The address of a real bus whose Secret Service never answers."""
    needs(sys.platform == "linux" and shutil.which("dbus-daemon"), "needs dbus")
    address = f"unix:path={tmp_path / 'bus'}"
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", f"--address={address}", "--nofork", "--nopidfile", "--print-address"],
        stdout=subprocess.PIPE,
    )
    assert daemon.stdout is not None
    daemon.stdout.readline()
    service = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("silent_service.py"), address], stdout=subprocess.PIPE
    )
    assert service.stdout is not None
    assert service.stdout.readline() == b"ready\n"
    yield address
    for process in (service, daemon):
        process.terminate()
        process.communicate()


def test_key_print_gives_up_a_silent_keyring_and_a_bus_that_lets_nobody_in(silent_bus: str, tmp_path: Path) -> None:
    """The latter is as one whose process is stopped: the system takes the connection, and nobody answers on it."""
    takes("waits for five seconds")
    config, place = profile_file(tmp_path, "keyring:work"), tmp_path / "stopped"
    with socket.socket(socket.AF_UNIX) as stopped:
        stopped.bind(str(place))
        stopped.listen()
        start = time.monotonic()
        buses = (silent_bus, f"unix:path={place}")
        running = [key_print.start(config, environ={"DBUS_SESSION_BUS_ADDRESS": bus}) for bus in buses]
        for process in running:
            out, err = process.communicate(timeout=60)
            assert (process.returncode, out) == (2, "")
            assert err.startswith("toolsync: the keyring did not answer within 5 s: it may be locked")
        assert 5 < time.monotonic() - start < 20


ASK = """
import sys; sys.path.insert(0, sys.argv[1])
from toolsync.errors import SecretError
from toolsync.secret.vault import *
vault = SystemVault(timeout_seconds=0.5)
for ask in (lambda: vault.get("work"), lambda: vault.set("work", Secret("sk")), lambda: vault.remove("work")):
    try:
        ask()
    except SecretError as error:
        print(type(error).__name__)
"""


def test_a_silent_keyring_counts_as_locked(silent_bus: str) -> None:
    asked = run(sys.executable, "-c", ASK, Path(__file__).parents[2], DBUS_SESSION_BUS_ADDRESS=silent_bus)
    assert (asked.stdout, asked.stderr) == ("KeyringLockedError\n" * 3, "")
