"""The vaults: what they keep, what they refuse, and how long they wait."""

from __future__ import annotations

import os
import socket
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import takes
from tests.secret.rings import Crowded, Sound, allowed
from toolsync.errors import KeyringLockedError, NoKeyringError, SecretError
from toolsync.masking import Secret
from toolsync.secret import backend
from toolsync.secret.backend import SECRET_SERVICE, WINDOWS, lend_bus_address
from toolsync.secret.vault import Entry, MemoryVault, SystemVault, Vault

KEY = Secret("sk-invented-0123456789")
OTHER = Secret("sk-invented-9876543210")


@pytest.fixture(autouse=True)
def _empty_rings() -> Iterator[None]:
    yield
    Sound.items.clear()
    Crowded.items.clear()


def vault_of(*names: str, longest: int | None = None, timeout_seconds: float = 5) -> SystemVault:
    return SystemVault(timeout_seconds=timeout_seconds, choices=[allowed(name, longest=longest) for name in names])


@pytest.mark.parametrize(
    "vault",
    [
        pytest.param(MemoryVault(), id="memory"),
        pytest.param(vault_of("Sound"), id="system"),
        pytest.param(vault_of("Crowded"), id="system, which keeps two items of a name"),
    ],
)
def test_a_vault_keeps_the_last_key_of_each_name(vault: Vault) -> None:
    assert vault.get("work") is None
    assert vault.remove("work") is False
    vault.set("work", KEY)
    vault.set("home", OTHER)
    assert vault.get("work") == KEY
    vault.set("work", OTHER)
    assert vault.get("work") == OTHER
    assert vault.remove("work") is True
    assert vault.get("work") is None
    assert vault.get("home") == OTHER


def test_each_item_has_a_service_of_its_own() -> None:
    vault_of("Sound").set("work", KEY)
    assert list(Sound.items) == [("toolsync:work", "work")]


def test_an_item_of_another_programs_has_its_service_and_user() -> None:
    vault, entry = vault_of("Sound"), Entry.of("com.example/agent", "AGENT_KEY")
    vault.set(entry, KEY)
    assert (list(Sound.items), entry) == ([("com.example/agent", "AGENT_KEY")], "keyring:com.example/agent/AGENT_KEY")
    assert (vault.get(entry), vault.get(Entry(str(entry))), vault.get(str(entry))) == (KEY, KEY, None)
    assert (vault.remove(entry), vault.get(entry)) == (True, None)


def test_items_of_a_name_that_others_wrote_are_replaced_and_removed() -> None:
    Crowded.items["toolsync:work", "work"] = ["old", "older"]
    vault_of("Crowded").set("work", KEY)
    assert Crowded.items == {("toolsync:work", "work"): [KEY.reveal()]}
    Crowded.items["toolsync:work", "work"] = ["old", "older"]
    assert vault_of("Crowded").remove("work") is True
    assert Crowded.items == {("toolsync:work", "work"): []}


FAULTS = [
    pytest.param("Forgetful", SecretError, "Forgetful ring took the key for 'work' and did not keep it", id="forgets"),
    pytest.param("Locked", KeyringLockedError, "Locked ring is locked", id="locked"),
    pytest.param(
        "Uncollected",
        NoKeyringError,
        "Uncollected ring cannot be used: Failed to create the collection: Prompt dismissed",
        id="no collection",
    ),
    pytest.param("Talkative", SecretError, "Talkative ring refused: �[31mcannot store ***", id="error holds the key"),
    pytest.param(
        "Absent", NoKeyringError, "no keyring answers here (Absent ring: the daemon is not running)", id="not running"
    ),
]


@pytest.mark.parametrize(("ring", "error", "message"), FAULTS)
def test_a_faulty_keyring_is_named_with_a_way_out(ring: str, error: type[SecretError], message: str) -> None:
    with pytest.raises(SecretError) as caught:
        vault_of(ring).set("work", KEY)
    assert (type(caught.value), caught.value.message) == (error, message)
    assert caught.value.hint


def test_no_keyring_shows_three_ways_out() -> None:
    with pytest.raises(NoKeyringError) as caught:
        SystemVault(timeout_seconds=5, choices=[]).get("work")
    assert caught.value.message == "no keyring answers here (none is installed)"
    assert all(way in caught.value.hint for way in ("Four ways out", "start", "(env:NAME)", "'command:pass show NAME'"))


def test_a_keyring_that_gives_back_what_was_deleted_is_an_error() -> None:
    vault = vault_of("Undying")
    vault.set("work", KEY)
    with pytest.raises(SecretError, match="keeps returning an item named 'work'"):
        vault.remove("work")


def test_a_keyring_that_never_answers_is_given_up() -> None:
    start = time.monotonic()
    with pytest.raises(KeyringLockedError, match=r"did not answer within 0\.2 s"):
        vault_of("Silent", timeout_seconds=0.2).get("work")
    assert time.monotonic() - start < 10


@pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux's")
def test_a_bus_that_lets_nobody_in_is_waited_for_as_long_as_a_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes("waits for a second")
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path / 'bus'}")
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(tmp_path / "bus"))
        busy.listen()
        with pytest.raises(KeyringLockedError, match=r"did not answer within 1\.3 s"):
            SystemVault(timeout_seconds=1.3, choices=[SECRET_SERVICE]).get("work")


def test_the_first_that_answers_is_taken() -> None:
    vault = vault_of("Absent", "Sound", "Crowded")
    vault.set("work", KEY)
    assert (vault.backend, list(Crowded.items)) == ("Sound ring", [])


@pytest.mark.parametrize("length", [1, WINDOWS.longest, 1281, 20_000])
def test_a_key_that_the_keyring_cannot_hold_is_refused_before_it_is_written(length: int) -> None:
    vault = vault_of("Sound", longest=WINDOWS.longest)
    if length <= 1280:
        vault.set("work", Secret("x" * length))
        return
    with pytest.raises(SecretError) as caught:
        vault.set("work", Secret("x" * length))
    assert caught.value.message == f"the key has {length} characters, and Sound ring keeps at most 1280"
    assert Sound.items == {}


def test_windows_counts_utf_16_units() -> None:
    with pytest.raises(SecretError, match="has 1282 characters"):
        vault_of("Sound", longest=WINDOWS.longest).set("origin", Secret("\U0001f511" * 641))


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "freebsd14"])
def test_only_keyrings_that_encrypt_are_allowed(platform: str) -> None:
    forbidden = ("alt", "null", "fail", "chainer", "core")
    modules = [choice.module for choice in backend.allowed(platform)]
    assert modules
    assert all(module.startswith("keyring.backends.") and not module.endswith(forbidden) for module in modules)


def test_keyring_is_not_asked_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither plug-ins (keyrings.alt) nor `PYTHON_KEYRING_BACKEND` nor keyringrc.cfg have a say."""

    def chosen(*_: object) -> None:
        raise AssertionError("keyring chose a backend")

    import keyring.backend
    import keyring.core

    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    for module, name in [
        (keyring.core, "init_backend"),
        (keyring.core, "load_config"),
        (keyring.backend, "_load_plugins"),
    ]:
        monkeypatch.setattr(module, name, chosen)
    vault_of("Sound").set("work", KEY)
    assert list(Sound.items) == [("toolsync:work", "work")]


def test_the_environment_does_not_bend_a_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYRING_PROPERTY_SCHEME", "KeePassXC")
    assert vault_of("Bendable").get("work") == Secret("as it was made")


@pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux's")
@pytest.mark.parametrize(
    ("address", "is_left"),
    [
        ("unix:path={there}", True),
        ("unix:path={there},guid=0123456789abcdef", True),
        ("unix:abstract=/tmp/dbus-x", True),
        ("unix:path={there}.gone;unix:path={there}", True),
        ("disabled:", True),
        ("unix:path={there}.gone", False),
        ("unix:path={there}.gone,guid=0123456789abcdef", False),
        ("", False),
    ],
)
def test_the_address_of_a_bus_that_may_be_there_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, *, is_left: bool
) -> None:
    address = address.format(there=tmp_path)
    environ = {"DBUS_SESSION_BUS_ADDRESS": address}
    ours = os.stat_result((stat.S_IFSOCK, 0, 0, 1, os.getuid(), 0, 0, 0, 0, 0))
    monkeypatch.setattr("toolsync.secret.backend.os.lstat", lambda _: ours)
    lend_bus_address(environ)
    lent = f"unix:path=/run/user/{os.getuid()}/bus"
    assert environ == {"DBUS_SESSION_BUS_ADDRESS": address if is_left else lent}


@pytest.mark.skipif(sys.platform != "linux", reason="the Secret Service is Linux's")
@pytest.mark.parametrize("address", ["unix:path=/dev/null", "disabled:", "nonsense", "tcp:host=localhost,port=1"])
def test_a_dead_bus_is_no_keyring(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    with pytest.raises(NoKeyringError, match=r"^no keyring answers here \(Secret Service: "):
        SystemVault(timeout_seconds=5, choices=[SECRET_SERVICE]).get("work")
