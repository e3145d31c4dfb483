# ruff: noqa: ARG002  a faulty keyring looks at nothing
"""Keyrings with the faults that real ones have, in the form that `keyring` gives a backend."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from keyring.backend import KeyringBackend
from keyring.errors import InitError, KeyringLocked, PasswordDeleteError

from toolsync.secret.backend import Allowed


def allowed(name: str, *, longest: int | None = None) -> Allowed:
    """The row of the allow-list that means the class `name` of this module."""
    return Allowed(f"{name} ring", __name__, name, longest)


class Sound(KeyringBackend):
    """Keeps what it is given."""

    priority: Any = 5
    items: ClassVar[dict[tuple[str, str], list[str]]] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return next(iter(self.items.get((service, username), [])), None)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.items[service, username] = [password]

    def delete_password(self, service: str, username: str) -> None:
        values = self.items.get((service, username))
        if not values:
            raise PasswordDeleteError("No such password!")
        values.pop(0)


class Crowded(Sound):
    """Adds an item beside one with other attributes, and finds that one first (`secret-tool store`, then `set`)."""

    items: ClassVar[dict[tuple[str, str], list[str]]] = {}

    def set_password(self, service: str, username: str, password: str) -> None:
        self.items.setdefault((service, username), []).append(password)


class Forgetful(Sound):
    """Takes everything and keeps nothing, as `keyring.backends.null` does."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Nothing."""


class Undying(Sound):
    """Gives back what was deleted."""

    def delete_password(self, service: str, username: str) -> None:
        """Nothing."""


class Locked(Sound):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("Failed to unlock the collection!")


class Uncollected(Sound):
    def get_password(self, service: str, username: str) -> str | None:
        raise InitError("Failed to create the collection: Prompt dismissed..")


class Talkative(Sound):
    """Repeats the key in its error, with an escape sequence."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError(f"\x1b[31mcannot store {password}")


class Silent(Sound):
    """Never comes back: a prompt that nobody answers."""

    def get_password(self, service: str, username: str) -> str | None:
        threading.Event().wait()
        return None


class _NotRunning:
    def __get__(self, instance: object, owner: object) -> float:
        raise RuntimeError("the daemon is not running")


class Absent(Sound):
    priority = _NotRunning()


class Bendable(Sound):
    """Shows which properties `KEYRING_PROPERTY_*` could set."""

    def get_password(self, service: str, username: str) -> str | None:
        return str(vars(self).get("scheme", "as it was made"))
