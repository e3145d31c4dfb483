"""Keys in files of the age format (age-encryption.org/v1), shut by a passphrase, for machines without a keyring.

`age -d FILE` reads what is written here, and what `age -p` writes is read. scrypt makes each opening take a second or
two, which is what keeps a stolen file shut.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from toolsync import hidden
from toolsync.disk import shown
from toolsync.errors import FileError, KeyMissingError, SecretError
from toolsync.masking import Secret, learn
from toolsync.secret.reference import PASSPHRASES

_MOST_BYTES = 64 * 1024
"""A key is far shorter, armoured and with a header too."""
_ARMOUR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_MAGIC = (b"age-encryption.org/v1\n", _ARMOUR)


def opened(path: Path, passphrase: Secret, source: str = "") -> str:
    """What the file holds.

    Args:
        path: the file.
        passphrase: what is to open it.
        source: where that comes from, for people; "" where a person typed it.

    Raises:
        KeyMissingError: there is no such file.
        SecretError: it is no age file, the passphrase does not open it, or the library is not installed.
    """
    library, raw = _library(), _read(path)
    try:
        text = _decrypted(library, raw, passphrase)
    except library.DecryptError as error:  # its words say no more, and could say too much
        if str(error).startswith(_TOO_MUCH):
            raise SecretError(
                f"{shown(path)} is shut at a price that this machine cannot pay",
                hint="Open it elsewhere with `age -d`, and shut the key anew here with `toolsync key set`.",
            ) from error
        raise SecretError(
            f"the passphrase does not open {shown(path)}",
            hint=(f"Check the passphrase that {source} gives. " if source else "")
            + "A file that is shut for a key pair instead is opened by `command:age -d -i IDENTITY FILE`.",
        ) from error
    return text.decode(errors="replace")


_TOO_MUCH = "Excessive work"
_MOST_TRIES = 8


def _decrypted(library: Any, raw: bytes, passphrase: Secret) -> bytes:
    """The library measures for a moment what this machine can do: one that is held up just then takes it for too slow.

    Raises:
        DecryptError: the library's.
    """
    for left in reversed(range(_MOST_TRIES)):
        try:
            text: bytes = library.passphrase.decrypt(raw, passphrase.reveal())
        except library.DecryptError as error:
            if not left or not str(error).startswith(_TOO_MUCH):
                raise
        else:
            return text
    raise AssertionError("the last try ends it")


def shut(path: Path, key: Secret, passphrase: Secret) -> None:
    """Write the key to the file, in the place of what was there; what does not open again is not written.

    Raises:
        SecretError: the library is not installed, or what it made does not open again.
        FileError: it cannot be written.
    """
    library = _library()
    raw: bytes = library.passphrase.encrypt(key.reveal().encode(), passphrase.reveal())
    if _decrypted(library, raw, passphrase) != key.reveal().encode():
        raise SecretError(f"{named(path)} would not open again as it was shut; nothing was written")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(Path(os.path.realpath(path)), raw)
    except OSError as error:
        raise FileError(f"{shown(path)}: {error.strerror}") from error


def is_there(path: Path) -> bool:
    """Whether the file is there already.

    Raises:
        SecretError: another file is, which is not written over; or the library is not installed.
    """
    _library()
    return path.exists() and bool(_read(path))


def demand_there(path: Path) -> None:
    """Nothing, if the file can be read and the library is there, before anybody is asked for a passphrase.

    Raises:
        KeyMissingError: there is no such file.
        SecretError: it is no file of age's, or the library is not installed.
    """
    _library()
    _read(path)


def asked(path: Path) -> Secret:
    """The passphrase, typed by a person.

    Raises:
        SecretError: nobody is there.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise SecretError(
            f"{named(path)} is shut with a passphrase, and nobody is there to type it",
            hint=f"{_WHERE}: `{named(path)}{PASSPHRASES}.",
        )
    return _typed(f"Passphrase of {shown(path)} (nothing is shown): ")


def chosen(path: Path) -> Secret:
    """The passphrase that the file is to have, typed twice by a person, also where the key comes through stdin.

    Raises:
        SecretError: nobody is there, or the two differ.
    """
    if not (sys.stderr and sys.stderr.isatty()):
        text = f"nobody is there to type a passphrase for {named(path)}"
        raise SecretError(text, hint=f"{_WHERE}: `{named(path)}{PASSPHRASES}.")
    typed = _typed(f"Passphrase for {shown(path)} (nothing is shown): ")
    if typed != _typed("Once more: "):
        raise SecretError("the two passphrases differ; nothing was written")
    return typed


_WHERE = "Let the profile's reference say where it is to be had"


def _typed(question: str) -> Secret:
    try:
        text = hidden.typed(question, hint="")
    except EOFError as error:
        raise SecretError("no passphrase was typed") from error
    if not text:
        raise SecretError("no passphrase was typed")
    learn(text)
    return Secret(text)


def named(path: Path) -> str:
    """What messages call it."""
    return f"age:{shown(path)}"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES)
    except FileNotFoundError as error:
        raise KeyMissingError(f"{shown(path)} is not there", hint="`toolsync key set` makes it.") from error
    except OSError as error:
        raise SecretError(f"{shown(path)} cannot be read: {error.strerror}") from error
    if not raw.startswith(_MAGIC):
        raise SecretError(f"{shown(path)} is no file of age's", hint="Name a file that `age -p` or `key set` made.")
    return raw


def _library() -> Any:
    try:
        return import_module("pyrage")
    except ImportError as error:
        raise SecretError(
            "age: references need the library pyrage, which is not installed",
            hint="`pipx inject toolsync pyrage`, or `pip install pyrage` with toolsync's own pip; "
            'or let the program of age do it: key = "command:age -d -i IDENTITY FILE".',
        ) from error


def _replace(path: Path, raw: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".key-", dir=path.parent)  # 0600 from its first byte
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
