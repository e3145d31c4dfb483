"""The keyring as `key print` asks it: the Secret Service by itself, without `keyring`, which takes ten times as long.

Only what goes well goes well here. Whatever else there is (another keyring, a locked one, no such item) is for
`SystemVault`, which knows all of them, finds what this one finds, and says what is wrong.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from toolsync.masking import Secret
from toolsync.secret.vault import UNATTENDED_SECONDS, SystemVault, service_of, unanswered

_SERVICE = "org.freedesktop.secrets"
_ROOT = "/org/freedesktop/secrets"
_DEFAULT = f"{_ROOT}/aliases/default"
_SECRET = "org.freedesktop.Secret"  # noqa: S105  an interface


class QuickVault(SystemVault):
    """The operating system's keyring, for a tool that waits for a key."""

    def __init__(self, *, timeout_seconds: float = UNATTENDED_SECONDS) -> None:
        super().__init__(timeout_seconds=timeout_seconds)

    def get(self, name: str) -> Secret | None:
        """The secret kept under `name`, if there is one."""
        self.lend_address()
        attributes = {"service": service_of(name), "username": name}  # what `keyring` looks for
        value = _looked_up(attributes, self.timeout_seconds) if sys.platform == "linux" else None
        return super().get(name) if value is None else Secret(value)


def _looked_up(attributes: Mapping[str, str], timeout_seconds: float) -> str | None:
    """The secret of the first item with these attributes in the default collection; None where that needs more.

    Raises:
        KeyringLockedError: the service does not answer in time.
    """
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return None
    try:
        from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        return None
    until = time.monotonic() + timeout_seconds
    try:
        with open_dbus_connection(auth_timeout=timeout_seconds) as connection:
            return _Bus(connection, until).secret(attributes)
    except TimeoutError as error:
        raise unanswered(timeout_seconds) from error
    except Exception:  # noqa: BLE001  whatever it is, the other way says it in words
        return None


class _Bus:
    """A connection on which one secret is asked for."""

    def __init__(self, connection: Any, until: float) -> None:
        self._connection, self._until = connection, until

    def secret(self, attributes: Mapping[str, str]) -> str | None:
        """The secret of the first item; None where the collection is locked, or has no such item.

        The session is a plain one: who may listen on the bus may ask the service as well, and the cryptography of the
        other kind takes longer than all of this.
        """
        is_locked = self._asked(
            _DEFAULT, "org.freedesktop.DBus.Properties", "Get", "ss", f"{_SECRET}.Collection", "Locked"
        )[0][1]
        items = (
            [] if is_locked else self._asked(_DEFAULT, f"{_SECRET}.Collection", "SearchItems", "a{ss}", attributes)[0]
        )
        if not items:
            return None
        session = self._asked(_ROOT, f"{_SECRET}.Service", "OpenSession", "sv", "plain", ("s", ""))[1]
        value: bytes = self._asked(items[0], f"{_SECRET}.Item", "GetSecret", "o", session)[0][2]
        return value.decode()

    def _asked(self, path: str, interface: str, method: str, signature: str, *body: Any) -> Any:
        from jeepney import DBusAddress, new_method_call  # type: ignore[import-untyped]  # likewise
        from jeepney.wrappers import unwrap_msg  # type: ignore[import-untyped]  # likewise

        message = new_method_call(DBusAddress(path, _SERVICE, interface), method, signature, body)
        left = max(self._until - time.monotonic(), 0.001)
        return unwrap_msg(self._connection.send_and_get_reply(message, timeout=left))
