"""From a key reference to the key: out of the keyring, a variable, or what a program prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolsync.errors import KeyMissingError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret, printable
from toolsync.secret.key import checked, without_line_end

if TYPE_CHECKING:
    from toolsync.secret.vault import Vault

COMMAND_SECONDS = 30.0
"""A password manager may ask its owner first."""


def resolve(
    reference: KeyRef,
    vault: Callable[[], Vault],
    environ: Mapping[str, str],
    *,
    timeout_seconds: float = COMMAND_SECONDS,
) -> Secret:
    """The key that `reference` stands for.

    Args:
        reference: `keyring:NAME`, `env:VARIABLE` or `command:LINE`.
        vault: makes the vault; called for `keyring:` only. Its time limit is its own.
        environ: where variables are looked up, and what the program of a `command:` sees.
        timeout_seconds: how long that program may take.

    Raises:
        KeyMissingError: there is none.
        SecretError: what is there is no key, or it cannot be reached (with NoKeyringError, KeyringLockedError).
    """
    if reference.kind == "keyring":
        return _from_keyring(reference.name, vault())
    if reference.kind == "env":
        return _from_variable(reference.name, environ)
    return _from_command(reference.name, environ, timeout_seconds)


def _from_keyring(name: str, vault: Vault) -> Secret:
    shown = printable(name, limit=80)
    secret = vault.get(name)
    if secret is None:
        raise KeyMissingError(
            f"keyring:{shown}: {vault.backend} holds no key of that name",
            hint=f"Store it with `toolsync key set {shown}`.",
        )
    return checked(without_line_end(secret.reveal()), f"keyring:{shown}")


def _from_variable(name: str, environ: Mapping[str, str]) -> Secret:
    shown = printable(name, limit=80)
    value = environ.get(name, "")
    if not value:
        state = "empty" if name in environ else "not set"
        raise KeyMissingError(
            f"env:{shown}: the variable is {state}",
            hint=f"Set {shown} in this shell, or where the tool is started, or keep the key in the keyring "
            "(keyring:NAME).",
        )
    return checked(value, f"env:{shown}")


def _from_command(line: str, environ: Mapping[str, str], timeout_seconds: float) -> Secret:
    from toolsync.secret.command import output  # brings subprocess, which the other kinds do without

    program, text = output(line, environ, timeout_seconds=timeout_seconds)
    return checked(text.strip(), f"what '{program}' printed")
