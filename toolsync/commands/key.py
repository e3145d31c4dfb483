"""`key set`, `key list` and `key remove`: what they do, without a word to the person."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from toolsync.errors import UsageError
from toolsync.profile import NAME, Profile
from toolsync.secret.index import forget, known_names, record
from toolsync.secret.key import checked, without_line_end
from toolsync.secret.vault import Vault


@dataclass(frozen=True)
class StoredKey:
    """A key under its name, never its value.

    Attributes:
        name: what stands after `keyring:` in a profile.
        profiles: the profiles that use it.
        is_stored: whether the vault holds it.
    """

    name: str
    profiles: tuple[str, ...]
    is_stored: bool


@dataclass(frozen=True)
class KeySet:
    """A key has been stored, and read back.

    Attributes:
        name: under which name.
        backend: where (`Secret Service`).
        is_changed: whether the vault held another key, or none, before.
    """

    name: str
    backend: str
    is_changed: bool


def set_key(text: str, name: str, vault: Vault, state_dir: Path) -> KeySet:
    """Store the key in `text`, as it was typed or came through stdin, one line end at its end not counted.

    Raises:
        UsageError: `name` is no name for a key.
        SecretError: the text cannot be a key, or the vault does not take it.
        FileError: the key is stored, and its name could not be noted.
    """
    name = _named(name)
    secret = checked(without_line_end(text), "the key")
    before = vault.get(name)
    if secret != before:  # setting it anew would make macOS ask again whether we may read it
        vault.set(name, secret)
    record(state_dir, name)
    return KeySet(name, vault.backend, is_changed=secret != before)


def list_keys(vault: Vault, state_dir: Path, profiles: Iterable[Profile]) -> tuple[StoredKey, ...]:
    """Every name that a profile uses, or under which a key was stored from here; sorted.

    Raises:
        SecretError: the vault does not answer.
    """
    profiles = tuple(profiles)
    return tuple(
        StoredKey(
            name=name,
            profiles=tuple(each.name for each in profiles if str(each.key) == f"keyring:{name}"),
            is_stored=vault.get(name) is not None,
        )
        for name in known_names(state_dir, (each.key for each in profiles))
    )


def remove_key(name: str, vault: Vault, state_dir: Path) -> bool:
    """Remove the key `name`; whether there was one.

    Raises:
        UsageError: `name` is no name for a key.
        SecretError: the vault does not let it go.
        FileError: the key is removed, and its name could not be taken out of the list.
    """
    name = _named(name)
    is_removed = vault.remove(name)
    forget(state_dir, name)
    return is_removed


_LOOKS_LIKE_A_KEY = re.compile(r"(sk|pk|gsk|hf|xai)[-_].*|.{65,}", re.DOTALL)


def _named(name: str) -> str:
    """The name, which is not shown when it is none: people paste the key itself here."""
    name = name.removeprefix("keyring:")
    if not NAME.fullmatch(name) or _LOOKS_LIKE_A_KEY.fullmatch(name):
        raise UsageError(
            "that is no name for a key",
            hint="A name has letters, digits, '.', '_' and '-'; the key itself never stands on the command line.",
        )
    return name
