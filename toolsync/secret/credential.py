"""systemd's credentials, for `systemd:` references: a file in the folder that the service was started with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolsync.errors import KeyMissingError, SecretError

_FOLDER = "CREDENTIALS_DIRECTORY"
_MOST_BYTES = 16 * 1024
"""More than servers take in a header."""


def credential(name: str, environ: Mapping[str, str]) -> str:
    """What the credential holds, without the line end that an editor or `echo` adds.

    Args:
        name: as `LoadCredential=` calls it.
        environ: where `CREDENTIALS_DIRECTORY` is looked up (systemd.exec, "Credentials").

    Raises:
        KeyMissingError: this is no service with credentials, or it has none of that name.
        SecretError: it cannot be read, or holds no text.
    """
    folder = environ.get(_FOLDER, "")
    if not folder:
        raise KeyMissingError(
            f"systemd:{name}: this process was not started with credentials (${_FOLDER} is not set)",
            hint=f"{_unit(name)} Elsewhere let the profile name another place.",
        )
    if not Path(folder).is_absolute():
        raise SecretError(f"systemd:{name}: ${_FOLDER} is no absolute path", hint="systemd sets it; let nothing else.")
    try:
        with (Path(folder) / name).open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise KeyMissingError(
            f"systemd:{name}: the service has no credential of that name",
            hint=_unit(name),
        ) from error
    except OSError as error:
        raise SecretError(f"systemd:{name} cannot be read: {error.strerror}") from error
    if len(raw) > _MOST_BYTES:
        raise SecretError(f"systemd:{name} is longer than any key")
    return raw.decode(errors="replace")


def _unit(name: str) -> str:
    return f"Give its unit `LoadCredential={name}:/PATH` or `LoadCredentialEncrypted={name}:/PATH`."
