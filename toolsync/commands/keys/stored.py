"""`key set`, `key list` and `key remove`: what they do, without a word to the person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolsync.disk import shown
from toolsync.errors import PlanRefusedError, UsageError
from toolsync.keyref import REFERENCE
from toolsync.masking import holds_key_shape, on_one_line
from toolsync.profile import NAME, KeyRef, Profile, Profiles
from toolsync.secret import former
from toolsync.secret.index import forget, known_names, record
from toolsync.secret.key import checked_typed, without_line_end
from toolsync.secret.reference import file_of
from toolsync.secret.vault import Vault
from toolsync.value import frozen

_WAIT_SECONDS = 10.0


@frozen
class StoredKey:
    """A key by its reference, never its value.

    Attributes:
        reference: as it stands in a profile, `keyring:work`.
        profiles: the profiles that use it.
        is_stored: whether the vault holds it; None for one that is kept elsewhere.
    """

    reference: KeyRef
    profiles: tuple[str, ...]
    is_stored: bool | None


@frozen
class KeySet:
    """A key has been stored, and read back.

    Attributes:
        name: under which name.
        backend: where (`Secret Service`).
        is_changed: whether the vault held another key, or none, before.
        is_replaced: whether it held another key.
    """

    name: str
    backend: str
    is_changed: bool
    is_replaced: bool = False


def set_key(text: str, name: str, vault: Vault, state_dir: Path) -> KeySet:
    """Store the key in `text`, as it was typed or came through stdin, one line end at its end not counted.

    Under the lock that a rotation takes: one that is under way would take this key for the one that it found.

    Raises:
        UsageError: `name` is no name for a key.
        SecretError: the text cannot be a key, or the vault does not take it.
        FileError: the folder cannot be written; or the key is stored, and its name could not be noted.
        TransactionError: another toolsync is writing, and nothing was stored.
    """
    name = checked_name(name)
    secret = checked_typed(without_line_end(text), "the key")
    from toolsync.transaction import lock  # who only lists keys needs none

    with lock.held(state_dir, _WAIT_SECONDS):
        before = vault.get(name)
        if secret != before:  # setting it anew would make macOS ask again whether we may read it
            vault.set(name, secret)
        record(state_dir, name)
    is_changed = secret != before
    return KeySet(name, vault.backend, is_changed, is_replaced=is_changed and before is not None)


def needs_keyring(state_dir: Path, profiles: Iterable[Profile]) -> bool:
    """Whether a key that a profile uses, or that was stored from here, is kept in the keyring."""
    return bool(known_names(state_dir, named(profiles)))


def list_keys(vault: Vault | None, state_dir: Path, profiles: Iterable[Profile]) -> tuple[StoredKey, ...]:
    """Every key that a profile uses, or that was stored from here; those of the keyring first, by name.

    Args:
        vault: the keyring; None where no key needs it.
        state_dir: where the names are noted.
        profiles: all of them.

    Raises:
        SecretError: the vault does not answer.
    """
    profiles = tuple(profiles)
    in_use = named(profiles)
    names = known_names(state_dir, in_use)
    kept = [(KeyRef("keyring", name), vault.get(name) is not None) for name in names] if vault else []
    elsewhere = [(one, None) for one in sorted((one for one in in_use if one.kind != "keyring"), key=str)]
    return tuple(StoredKey(one, tuple(uses(one, profiles)), is_stored) for one, is_stored in (*kept, *elsewhere))


def uses(reference: KeyRef, profiles: Iterable[Profile]) -> dict[str, str]:
    """The profiles that use a key, and as what: `as its key`, `in the header X-Team`, `as the passphrase of …`."""
    return {
        profile.name: role
        for profile in profiles
        for role, used in reversed([*references(profile), *_passphrases(profile)])
        if used == reference
    }


def named(profiles: Iterable[Profile]) -> tuple[KeyRef, ...]:
    """Every key that a profile uses, each once."""
    return tuple(dict.fromkeys(used for profile in profiles for _, used in references(profile)))


def meant(profiles: Profiles, state_dir: Path, name: str | None) -> KeyRef:
    """The key of a profile, the active one for None; or one that profiles name, or that was stored from here.

    Raises:
        ProfileError: there is neither such a profile nor such a key.
        FileError: the names of the keys cannot be read.
    """
    key = KeyRef("keyring", (name or "").removeprefix("keyring:"))
    if name is None or name in profiles.names or key.name not in known_names(state_dir, named(profiles.profiles)):
        return profiles.get(name).key
    return key


def passphrase_files(name: str, profiles: Iterable[Profile]) -> tuple[Path, ...]:
    """The files of age's that the entry `name` of the keyring has the passphrase of."""
    wanted = KeyRef("keyring", name)
    found = (used for profile in profiles for _, used in references(profile) if used.inner == wanted)
    return tuple(dict.fromkeys(file_of(used) for used in found))


def _passphrases(profile: Profile) -> Iterator[tuple[str, KeyRef]]:
    """What opens the files that a profile has keys in; it is no key, and no rotation's affair."""
    for _, used in references(profile):
        if used.inner is not None:
            yield f"as the passphrase of age:{shown(file_of(used))}", used.inner


def references(profile: Profile) -> Iterator[tuple[str, KeyRef]]:
    """Every key reference in a profile, with its role there: its key, and the headers that are secret."""
    yield "as its key", profile.key
    for table in (profile.request, *(tool.get("request", {}) for tool in profile.tool.values())):
        for header, value in table.get("headers", {}).items():
            if REFERENCE.fullmatch(value):
                yield f"in the header {on_one_line(header)}", KeyRef.parse(value)


def demand_unused(name: str, profiles: Iterable[Profile], *, besides: str | None) -> None:
    """Nothing, if no profile but `besides` uses the key `name` of the keyring.

    Raises:
        PlanRefusedError: others do; names them.
    """
    others = {user: role for user, role in uses(KeyRef("keyring", name), profiles).items() if user != besides}
    if others:
        told = " and ".join(f"profile '{user}' {role}" for user, role in others.items())
        raise PlanRefusedError(
            f"keyring:{name} is also used by {told}; nothing was removed", hint="`--force` removes it all the same."
        )


def remove_key(name: str, vault: Vault, state_dir: Path) -> bool:
    """Remove the key `name`, and the one that it has replaced; whether there was one.

    Raises:
        UsageError: `name` is no name for a key.
        SecretError: the vault does not let it go.
        FileError: the folder cannot be written; or the key is removed, and its name could not be taken out of the list.
        TransactionError: another toolsync is writing, and nothing was removed.
    """
    name = checked_name(name)
    from toolsync.transaction import lock

    with lock.held(state_dir, _WAIT_SECONDS):
        former.forgotten(state_dir, name, vault)
        is_removed = vault.remove(name)
        forget(state_dir, name)
        return is_removed


def unset_key(name: str, vault: Vault, state_dir: Path) -> None:
    """Take back what `set_key` stored where there was no key; one that was replaced earlier stays.

    Raises:
        SecretError: the vault does not let it go.
        FileError: the folder cannot be written; or its name could not be taken out of the list.
        TransactionError: another toolsync is writing.
    """
    from toolsync.transaction import lock

    with lock.held(state_dir, _WAIT_SECONDS):
        vault.remove(name)
        forget(state_dir, name)


_LOOKS_LIKE_A_KEY = re.compile(r"(sk|pk|gsk|hf|xai)[-_].*|.{65,}", re.DOTALL)


def checked_name(name: str) -> str:
    """The name under which the keyring is asked.

    Raises:
        UsageError: it is none; it is not shown then: people paste the key itself here.
    """
    name = name.removeprefix("keyring:")
    if not NAME.fullmatch(name) or _LOOKS_LIKE_A_KEY.fullmatch(name) or holds_key_shape(name):
        raise UsageError(
            "that is no name for a key",
            hint="A name has letters, digits, '.', '_' and '-'; the key itself never stands on the command line.",
        )
    return name
