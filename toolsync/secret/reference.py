"""From a key reference to the key: keyring, variable, program, credential of a service, or file of age's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolsync.errors import KeyMissingError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret, learn, printable
from toolsync.secret.key import checked, without_line_end

if TYPE_CHECKING:
    from pathlib import Path

    from toolsync.secret.vault import Vault

COMMAND_SECONDS = 30.0
"""A password manager may ask its owner first."""

PASSPHRASES = "#keyring:NAME`, `…#env:NAME`, `…#systemd:NAME` or `…#command:LINE`"
"""What says, behind the file of an `age:` and an opening quote, where its passphrase is to be had."""


def resolve(
    reference: KeyRef,
    vault: Callable[[], Vault],
    environ: Mapping[str, str],
    *,
    timeout_seconds: float = COMMAND_SECONDS,
) -> Secret:
    """The key that `reference` stands for.

    Args:
        reference: one of its five kinds.
        vault: makes the vault; called for `keyring:` only. Its time limit is its own.
        environ: where variables are looked up, and what the program of a `command:` sees.
        timeout_seconds: how long that program may take.

    Raises:
        KeyMissingError: there is none.
        SecretError: what is there is no key, or it cannot be reached (with NoKeyringError, KeyringLockedError).
    """
    return checked(*_found(reference, vault, environ, timeout_seconds))


def _found(
    reference: KeyRef, vault: Callable[[], Vault], environ: Mapping[str, str], timeout_seconds: float
) -> tuple[str, str]:
    """What the reference stands for, a key or not, and what errors call it."""
    if reference.kind == "keyring":
        return _from_keyring(reference.name, vault())
    if reference.kind == "env":
        return _from_variable(reference.name, environ)
    if reference.kind == "systemd":
        return _from_systemd(reference.name, environ)
    if reference.kind == "age":
        return _from_age(reference, vault, environ, timeout_seconds)
    return _from_command(reference.name, environ, timeout_seconds)


def passphrase_of(
    reference: KeyRef,
    vault: Callable[[], Vault],
    environ: Mapping[str, str],
    *,
    timeout_seconds: float = COMMAND_SECONDS,
) -> Secret | None:
    """The passphrase of an `age:` reference's file; None where a person is to be asked for it.

    Raises:
        SecretError: the reference behind its `#` has none, or cannot be reached.
    """
    _, _, inner = reference.name.partition("#")
    if not inner:
        return None
    source_of = KeyRef.parse(inner)
    try:
        text, source = _found(source_of, vault, environ, timeout_seconds)
    except KeyMissingError as error:
        if source_of.kind != "env":
            raise
        name = printable(source_of.name, limit=80)
        hint = f"Set {name} to the passphrase of the file, or keep that in the keyring (age:FILE#keyring:NAME)."
        raise KeyMissingError(error.message, hint=hint) from error
    text = without_line_end(text)
    if not text:
        raise KeyMissingError(f"{source} is empty", hint="It is to be the passphrase of the file.")
    learn(text)
    return Secret(text)


def needs_person(reference: KeyRef) -> bool:
    """Whether somebody must be there to type a passphrase whenever the key is looked up."""
    return reference.kind == "age" and "#" not in reference.name


def file_of(reference: KeyRef) -> Path:
    """The file of an `age:` reference."""
    from pathlib import Path

    return Path(reference.name.partition("#")[0]).expanduser()


def _from_keyring(name: str, vault: Vault) -> tuple[str, str]:
    shown = printable(name, limit=80)
    secret = vault.get(name)
    if secret is None:
        raise KeyMissingError(
            f"keyring:{shown}: {vault.backend} holds no key of that name",
            hint=f"Store it with `toolsync key set {shown}`.",
        )
    return without_line_end(secret.reveal()), f"keyring:{shown}"


def _from_variable(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    shown = printable(name, limit=80)
    value = environ.get(name, "")
    if not value:
        state = "empty" if name in environ else "not set"
        raise KeyMissingError(
            f"env:{shown}: the variable is {state}",
            hint=f"Set {shown} in this shell, or where the tool is started, or keep the key in the keyring "
            "(keyring:NAME).",
        )
    return value, f"env:{shown}"


def _from_command(line: str, environ: Mapping[str, str], timeout_seconds: float) -> tuple[str, str]:
    from toolsync.secret.command import output  # brings subprocess, which the other kinds do without

    program, text = output(line, environ, timeout_seconds=timeout_seconds)
    return text.strip(), f"what '{program}' printed"


def _from_systemd(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    from toolsync.secret.credential import credential  # rare

    return without_line_end(credential(name, environ)), f"systemd:{name}"


def _from_age(
    reference: KeyRef, vault: Callable[[], Vault], environ: Mapping[str, str], timeout_seconds: float
) -> tuple[str, str]:
    from toolsync.secret import age  # rare, and its library is optional

    path = file_of(reference)
    age.demand_there(path)
    passphrase = passphrase_of(reference, vault, environ, timeout_seconds=timeout_seconds) or age.asked(path)
    inner = reference.name.partition("#")[2]
    source = printable(inner, limit=80) if inner and KeyRef.parse(inner).kind != "command" else ""
    return without_line_end(age.opened(path, passphrase, source)), f"what {age.named(path)} holds"
