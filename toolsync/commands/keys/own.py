"""The keys that toolsync keeps in the keyring: those that a profile names, and those that were stored from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path

from toolsync import disk
from toolsync.commands.keys.stored import named, passphrase_files
from toolsync.errors import FileError, ProfileError, SecretError
from toolsync.profile import Profile
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.index import known_names
from toolsync.secret.reference import file_of
from toolsync.session import Session
from toolsync.value import frozen


@frozen
class OwnKeys:
    """Names, never values.

    Attributes:
        stored: of the keys that the keyring holds.
        unknown: of those that it may hold, where it does not answer.
        problem: why it does not.
        warnings: what a person should know of this.
        opens: the files of age's, by the name in the keyring that is no key, but their passphrase.
        shut: every file of age's that a profile has its key in, and that is there.
    """

    stored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    problem: SecretError | None = None
    warnings: tuple[Message, ...] = ()
    opens: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    shut: tuple[Path, ...] = ()


def own_keys(session: Session) -> OwnKeys:
    """The keys, looked up; no keyring is opened where none has a name."""
    profiles, warnings = _profiles(session)
    known = known_names(session.state, named(profiles))
    names = (*known, *former.kept(session.state, known))
    there = OwnKeys(
        warnings=warnings,
        opens={name: files for name in known if (files := _there(passphrase_files(name, profiles)))},
        shut=_there(file_of(one) for one in named(profiles) if one.kind == "age"),
    )
    if not names:
        return there
    try:
        vault = session.open_vault()
        return replace(there, stored=tuple(name for name in names if vault.get(name) is not None))
    except SecretError as error:
        text = f"the keys in the keyring cannot be looked up: {error.message}"
        return replace(there, unknown=names, problem=error, warnings=(*warnings, Message("warning", text)))


def _there(files: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(file for file in files if disk.is_there(file)))


def _profiles(session: Session) -> tuple[tuple[Profile, ...], tuple[Message, ...]]:
    """The profiles; none, and a warning, where their file cannot be read."""
    if not disk.is_there(session.config):
        return (), ()
    try:
        return session.profiles().profiles, ()
    except (ProfileError, FileError) as error:
        text = f"only the keys that were stored from here are known, for the profile cannot be read: {error.message}"
        return (), (Message("warning", text),)
