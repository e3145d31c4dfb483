"""The keys that toolsync keeps in the keyring: those that a profile names, and those that were stored from here."""

from __future__ import annotations

from toolsync import disk
from toolsync.commands.keys.stored import named
from toolsync.errors import FileError, ProfileError, SecretError
from toolsync.profile import KeyRef
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.index import known_names
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
    """

    stored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    problem: SecretError | None = None
    warnings: tuple[Message, ...] = ()


def own_keys(session: Session) -> OwnKeys:
    """The keys, looked up; no keyring is opened where none has a name."""
    references, warnings = _references(session)
    known = known_names(session.state, references)
    names = (*known, *former.kept(session.state, known))
    if not names:
        return OwnKeys(warnings=warnings)
    try:
        vault = session.open_vault()
        return OwnKeys(tuple(name for name in names if vault.get(name) is not None), warnings=warnings)
    except SecretError as error:
        text = f"the keys in the keyring cannot be looked up: {error.message}"
        return OwnKeys((), names, error, (*warnings, Message("warning", text)))


def _references(session: Session) -> tuple[tuple[KeyRef, ...], tuple[Message, ...]]:
    """What the profiles name; nothing, and a warning, where their file cannot be read."""
    if not disk.is_there(session.config):
        return (), ()
    try:
        return named(session.profiles().profiles), ()
    except (ProfileError, FileError) as error:
        text = f"only the keys that were stored from here are known, for the profile cannot be read: {error.message}"
        return (), (Message("warning", text),)
