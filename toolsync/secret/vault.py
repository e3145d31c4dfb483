"""Where keys are kept: the system's own keyring, or memory for as long as a demo runs. There is no file vault.

An item's service is `toolsync:NAME` and its user name `NAME`, so each has a service of its own: where two users share
one, Windows' backend of `keyring` moves the earlier item elsewhere. On Linux `secret-tool store --label=… service
toolsync:NAME username NAME` writes, and `lookup` with the same two attributes reads, the same item.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from toolsync.errors import KeyringLockedError, NoKeyringError, SecretError
from toolsync.masking import Secret
from toolsync.secret.backend import UNLOCK, WAYS_OUT, Allowed, allowed, lend_bus_address, loaded, opened, said

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

    from toolsync.sentence import Text

T = TypeVar("T")

ATTENDED_SECONDS = 60.0
"""A keyring may ask a person for its password."""
UNATTENDED_SECONDS = 5.0
"""Nobody is there to answer; a tool waits."""

_MOST_COPIES = 16
"""How many items of one name are removed before something is held to be wrong."""


class Entry(str):
    """The name of an item that another program keeps: `keyring:SERVICE/USER`; there is no slash in the user's."""

    __slots__ = ()

    @classmethod
    def of(cls, service: str, user: str) -> Entry:
        """The name of the item with that service and user."""
        return cls(f"keyring:{service}/{user}")

    @property
    def service(self) -> str:
        """The item's service."""
        return self.removeprefix("keyring:").rpartition("/")[0]

    @property
    def user(self) -> str:
        """The item's user."""
        return self.rpartition("/")[2]


class Vault(Protocol):
    """What keeps secrets by name, of ours or of another program's (`Entry`). Every method may raise a SecretError."""

    @property
    def backend(self) -> str:
        """Its name for people (`Secret Service`)."""
        ...

    def get(self, name: str) -> Secret | None:
        """The secret kept under `name`, if there is one."""
        ...

    def set(self, name: str, secret: Secret) -> None:
        """Keep `secret` under `name`, in the place of what was there, and read it back."""
        ...

    def remove(self, name: str) -> bool:
        """Keep nothing under `name`; whether there was something."""
        ...


class MemoryVault:
    """Keeps secrets for as long as the process lives: for the demo and for tests."""

    backend = "memory (kept only while this command runs)"

    def __init__(self) -> None:
        self._secrets: dict[str, Secret] = {}

    def get(self, name: str) -> Secret | None:
        """The secret kept under `name`, if there is one."""
        return self._secrets.get(name)

    def set(self, name: str, secret: Secret) -> None:
        """Keep `secret` under `name`, in the place of what was there."""
        self._secrets[name] = secret

    def remove(self, name: str) -> bool:
        """Keep nothing under `name`; whether there was something."""
        return self._secrets.pop(name, None) is not None


class SystemVault:
    """The operating system's keyring, one of the allowed kinds only, every call with a time limit.

    Attributes:
        timeout_seconds: how long each call may take.

    Raises, from every method:
        NoKeyringError: none of the allowed keyrings answers.
        KeyringLockedError: it is locked, or does not answer in time.
        SecretError: it refuses.
    """

    def __init__(self, *, timeout_seconds: float, choices: Sequence[Allowed] | None = None) -> None:
        self.timeout_seconds = timeout_seconds
        self._choices = allowed(sys.platform) if choices is None else choices
        self._open: tuple[Allowed, KeyringBackend] | None = None

    @property
    def backend(self) -> str:
        """The keyring's name for people; opens it."""
        return self._kind().title

    def get(self, name: str) -> Secret | None:
        """The secret kept under `name`, if there is one."""
        value = self._asked(lambda ring: ring.get_password(*_place(name)))
        return None if value is None else Secret(value)

    def set(self, name: str, secret: Secret) -> None:
        """Keep `secret` under `name`, in the place of what was there, and read it back.

        Raises:
            SecretError: also when it is too long for this keyring, or another value is read back.
        """
        self._check_length(secret)
        if not self._asked(lambda ring: _stored(ring, name, secret.reveal())):
            raise SecretError(
                f"{self.backend} took the key for '{name}' and did not keep it",
                hint="Look at it with the keyring's own program (Seahorse, KWalletManager, Credential Manager).",
            )

    def remove(self, name: str) -> bool:
        """Keep nothing under `name`; whether there was something."""
        return self._asked(lambda ring: _removed(ring, name))

    def _check_length(self, secret: Secret) -> None:
        kind = self._kind()
        length = len(secret.reveal().encode("utf-16-le")) // 2
        if kind.longest is not None and length > kind.longest:
            raise SecretError(
                f"the key has {length} characters, and {kind.title} keeps at most {kind.longest}",
                hint="Keep it elsewhere and let the profile say where: env:VARIABLE, or command:LINE.",
            )

    @staticmethod
    def lend_address() -> None:
        """Let the keyring be found where the environment does not say where it is."""
        lend_bus_address(os.environ)

    def _kind(self) -> Allowed:
        self._asked(lambda _: None)
        assert self._open is not None  # noqa: S101  `_asked` has opened it, or raised
        return self._open[0]

    def _asked(self, ask: Callable[[KeyringBackend], T]) -> T:
        """What `ask` makes of the keyring, opened if need be, in time; other errors become ours."""
        from toolsync import waiting
        from toolsync.deadline import answered  # threads are not there for nothing

        self.lend_address()
        classes = [] if self._open else loaded(self._choices)  # not timed: importing depends on nobody's answer

        def ask_opened() -> T:
            self._open = self._open or opened(classes)
            return ask(self._open[1])

        try:
            with waiting.on(_waited, self.timeout_seconds):
                return answered(ask_opened, self.timeout_seconds)
        except SecretError:
            raise
        except TimeoutError as error:
            raise unanswered(self.timeout_seconds) from error
        except Exception as error:
            raise _translated(error, self._open[0].title if self._open else "the keyring") from error


def _waited() -> Text:
    from toolsync.sentence import say  # only who waits for long is told

    return say("waits_keyring")


def service_of(name: str) -> str:
    """The service under which the keyring holds the item `name`."""
    return f"toolsync:{name}"


def _place(name: str) -> tuple[str, str]:
    """Service and user of an item."""
    return (name.service, name.user) if isinstance(name, Entry) else (service_of(name), name)


def _stored(ring: KeyringBackend, name: str, value: str) -> bool:
    ring.set_password(*_place(name), value)
    if ring.get_password(*_place(name)) == value:
        return True
    # An item with fewer attributes, as `secret-tool` writes it, is not replaced by ours, and may be found before it.
    _removed(ring, name)
    ring.set_password(*_place(name), value)
    return ring.get_password(*_place(name)) == value


def _removed(ring: KeyringBackend, name: str) -> bool:
    from keyring.errors import PasswordDeleteError  # as heavy as the rest of keyring

    for count in range(_MOST_COPIES):
        try:
            ring.delete_password(*_place(name))
        except PasswordDeleteError:
            if ring.get_password(*_place(name)) is None:
                return count > 0
            raise
    raise SecretError(f"the keyring keeps returning an item named '{name}' that was removed")


def unanswered(seconds: float) -> SecretError:
    """That nothing came within the time."""
    return KeyringLockedError(
        f"the keyring did not answer within {seconds:g} s: it may be locked, and wait for its password",
        hint=UNLOCK,
    )


_LOCKED = {"KeyringLocked", "LockedException", "PromptDismissedException"}
_ABSENT = {"InitError", "NoKeyringError", "SecretServiceNotAvailableException"}
"""Classes of keyring and SecretStorage, by name: SecretStorage is installed on Linux only."""


def _translated(error: Exception, title: str) -> SecretError:
    kind = type(error).__name__
    if kind in _LOCKED:
        return KeyringLockedError(f"{title} is locked", hint=UNLOCK)
    if kind in _ABSENT:
        return NoKeyringError(f"{title} cannot be used: {said(error)}", hint=WAYS_OUT)
    return SecretError(f"{title} refused: {said(error)}", hint=WAYS_OUT)
