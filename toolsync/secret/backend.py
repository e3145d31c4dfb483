"""The keyrings that toolsync trusts, opened by name: no plug-ins, no settings of `keyring`, no plaintext."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import MutableMapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolsync.errors import NoKeyringError
from toolsync.masking import masked, printable

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend


class Allowed(NamedTuple):  # a dataclass would cost `key print` as much as the interpreter
    """One keyring that may hold keys.

    Attributes:
        title: its name for people.
        module: the module of `keyring` that speaks to it.
        class_name: the class in that module.
        longest: how many UTF-16 units a value may have; None where nothing is known to limit it.
    """

    title: str
    module: str
    class_name: str
    longest: int | None = None


# CRED_MAX_CREDENTIAL_BLOB_SIZE is 5 * 512 bytes, which `keyring` fills with UTF-16; a longer value ends there in
# "(1783, 'CredWrite', 'The stub received bad data')" (jaraco/keyring#355).
WINDOWS = Allowed("Windows Credential Manager", "keyring.backends.Windows", "WinVaultKeyring", longest=1280)
MACOS = Allowed("macOS Keychain", "keyring.backends.macOS", "Keyring")
SECRET_SERVICE = Allowed("Secret Service", "keyring.backends.SecretService", "Keyring")
# KWallet 6 answers under the name of KWallet 5, and as a Secret Service.
KWALLET = Allowed("KWallet", "keyring.backends.kwallet", "DBusKeyring")
LIBSECRET = Allowed("libsecret", "keyring.backends.libsecret", "Keyring")


_START = {
    "win32": "start the service 'Credential Manager' (VaultSvc)",
    "darwin": "unlock the login keychain (`security unlock-keychain`)",
}.get(sys.platform, "start and unlock a keyring on the session bus (GNOME Keyring, KWallet, KeePassXC)")

_ELSEWHERE = (
    "or let the profile take the key, by `toolsync profile edit --set key=…`, from a variable (env:NAME), "
    "from a program ('command:pass show NAME'), or from a file that a passphrase shuts (age:~/toolsync.age)."
)

WAYS_OUT = f"Four ways out: {_START}; {_ELSEWHERE}"
"""Where no keyring answers."""

UNLOCK = f"Unlock it and try again; {_ELSEWHERE}"
"""Where one is there, and locked."""


def allowed(platform: str) -> tuple[Allowed, ...]:
    """The keyrings of `platform` (as `sys.platform` spells it), best first.

    The order never depends on the environment, as `keyring`'s own does (`XDG_CURRENT_DESKTOP`): a helper command that
    runs without it must look where `key set` has written.
    """
    if platform == "win32":
        return (WINDOWS,)
    if platform == "darwin":
        return (MACOS,)
    return (SECRET_SERVICE, KWALLET, LIBSECRET)


def loaded(choices: Sequence[Allowed]) -> list[tuple[Allowed, type[KeyringBackend]]]:
    """The classes behind `choices`; a module that cannot be imported here is left out."""
    found = []
    for choice in choices:
        try:
            module = import_module(choice.module)
        except Exception:  # noqa: BLE001, S112  platform bindings fail in ways of their own
            continue
        found.append((choice, getattr(module, choice.class_name)))
        if choice is SECRET_SERVICE:
            _let_a_busy_bus_answer()
    return found


_BUS_SECONDS = 60.0
"""Longer than any vault waits, whose limit is the one that counts."""


def _let_a_busy_bus_answer() -> None:
    """SecretStorage takes a bus that has not let it in within a second for none."""
    storage: Any
    try:
        storage, blocking = import_module("secretstorage"), import_module("jeepney.io.blocking")
    except Exception:  # noqa: BLE001  as above
        return
    storage.open_dbus_connection = partial(blocking.open_dbus_connection, auth_timeout=_BUS_SECONDS)


def opened(classes: Sequence[tuple[Allowed, type[KeyringBackend]]]) -> tuple[Allowed, KeyringBackend]:
    """The first of `classes` that answers. May hang, as every call to a keyring may.

    Raises:
        NoKeyringError: none does; with the reason of the one that most people have.
    """
    reasons = []
    for choice, kind in classes:
        try:
            kind.priority  # noqa: B018  asks whether it is there, and raises
            return choice, _instance(kind)
        except Exception as error:  # noqa: BLE001  jeepney, dbus-python and gi raise what they like
            reasons.append(f"{choice.title}: {said(error)}")
    raise NoKeyringError(f"no keyring answers here ({reasons[0] if reasons else 'none is installed'})", hint=WAYS_OUT)


def said(error: BaseException) -> str:
    """What a keyring's error says, fit to be shown, on one line."""
    text = " ".join(printable(masked(str(error)), limit=200).split())
    return text.rstrip(".") or type(error).__name__


def _instance(kind: type[KeyringBackend]) -> KeyringBackend:
    """An instance that `KEYRING_PROPERTY_*` in the environment cannot bend: a repository may have set it."""
    firm = type("Keyring", (kind,), {"set_properties_from_env": lambda _: None})
    return cast("KeyringBackend", firm())


def lend_bus_address(environ: MutableMapping[str, str]) -> None:
    """Where `environ` names no session bus, name the one systemd gives every user, if it is there and ours.

    Tools started by launchers, services or `env -i` run without the address; in a `tmux` that has outlived its login,
    it names a bus that is gone.
    """
    if not hasattr(os, "getuid") or _may_answer(environ.get("DBUS_SESSION_BUS_ADDRESS", "")):
        return
    path = f"/run/user/{os.getuid()}/bus"
    try:
        status = os.lstat(path)
    except OSError:
        return
    if stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid():
        environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={path}"


def _may_answer(address: str) -> bool:
    """Whether a bus is named whose socket is not known to be gone."""
    path = re.fullmatch(r"unix:path=([^,;%]+)(?:,guid=[0-9a-f]+)?", address)
    return bool(address) and (path is None or os.path.exists(path[1]))  # noqa: PTH110  `key print` needs no pathlib
