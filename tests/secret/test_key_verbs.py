"""`key set`, `key list`, `key remove`, without their words to a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from toolsync.commands.keys import stored
from toolsync.commands.keys.stored import KeySet, StoredKey, demand_unused, list_keys, remove_key, set_key, uses
from toolsync.errors import PlanRefusedError, SecretError, TransactionError, UsageError
from toolsync.masking import Secret
from toolsync.profile import KeyRef, Profile
from toolsync.secret.vault import MemoryVault
from toolsync.transaction import lock

KEY = "sk-invented-0123456789"


def profile(name: str, key: str) -> Profile:
    return Profile(name, "https://gateway.example", "model", KeyRef.parse(key))


def test_a_key_is_set_from_a_line(tmp_path: Path) -> None:
    vault = MemoryVault()
    assert set_key(f"{KEY}\r\n", "work", vault, tmp_path) == KeySet("work", vault.backend, is_changed=True)
    assert vault.get("work") == Secret(KEY)
    assert set_key(KEY, "keyring:work", vault, tmp_path) == KeySet("work", vault.backend, is_changed=False)


@pytest.mark.parametrize("text", ["", "\n", f"{KEY}\n\n", f"{KEY}\n{KEY}", f"{KEY} {KEY}", "ключ"])
def test_what_cannot_be_a_key_is_not_stored(tmp_path: Path, text: str) -> None:
    vault = MemoryVault()
    with pytest.raises(SecretError):
        set_key(text, "work", vault, tmp_path)
    assert (vault.get("work"), list(tmp_path.iterdir())) == (None, [])


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a b",
        "../x",
        "[red]x[/red]",
        "\x1b[31m",
        KEY,
        "sk-ant-api03-x",
        "x" * 65,
        "a/b=",
        "csk-0123456789abcdefghij",
    ],
)
def test_what_is_no_name_may_be_a_key_and_is_not_shown(tmp_path: Path, name: str) -> None:
    for verb in (
        lambda: set_key(KEY, name, MemoryVault(), tmp_path),
        lambda: remove_key(name, MemoryVault(), tmp_path),
    ):
        with pytest.raises(UsageError, match=r"^that is no name for a key$"):
            verb()


def test_nothing_is_set_or_removed_while_another_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rotation that is under way has read the key, and will put it away or back."""
    monkeypatch.setattr(stored, "_WAIT_SECONDS", 0.0)
    vault = MemoryVault()
    set_key(KEY, "work", vault, tmp_path)
    for verb in (lambda: set_key("sk-another", "work", vault, tmp_path), lambda: remove_key("work", vault, tmp_path)):
        with lock.held(tmp_path, 0.0), pytest.raises(TransactionError, match="another toolsync"):
            verb()
    assert vault.get("work") == Secret(KEY)


def test_keys_are_listed_by_name_with_their_profiles(tmp_path: Path) -> None:
    vault = MemoryVault()
    set_key(KEY, "old", vault, tmp_path)
    set_key(KEY, "work", vault, tmp_path)
    profiles = [
        profile("a", "keyring:work"),
        profile("b", "keyring:work"),
        profile("c", "keyring:new"),
        profile("d", "env:K"),
    ]
    assert list_keys(vault, tmp_path, profiles) == (
        StoredKey(KeyRef("keyring", "new"), ("c",), is_stored=False),
        StoredKey(KeyRef("keyring", "old"), (), is_stored=True),
        StoredKey(KeyRef("keyring", "work"), ("a", "b"), is_stored=True),
        StoredKey(KeyRef("env", "K"), ("d",), is_stored=None),
    )


def test_a_key_is_used_as_the_key_or_in_a_header() -> None:
    headers = {"headers": {"X-Team": "keyring:work", "X-Plain": "5"}}
    profiles = [
        profile("a", "keyring:work"),
        replace(profile("b", "env:K"), request=headers),
        replace(profile("c", "env:K"), tool={"codex": {"request": headers}}),
        profile("d", "keyring:other"),
    ]
    expected = {"a": "as its key", "b": "in the header X-Team", "c": "in the header X-Team"}
    assert uses(KeyRef("keyring", "work"), profiles) == expected
    demand_unused("other", profiles, besides="d")
    with pytest.raises(PlanRefusedError, match="profile 'b' in the header X-Team and profile 'c' in the header"):
        demand_unused("work", profiles, besides="a")


def test_a_removed_key_is_gone_from_the_list(tmp_path: Path) -> None:
    vault = MemoryVault()
    set_key(KEY, "work", vault, tmp_path)
    assert [remove_key("work", vault, tmp_path), remove_key("work", vault, tmp_path)] == [True, False]
    assert list_keys(vault, tmp_path, []) == ()
