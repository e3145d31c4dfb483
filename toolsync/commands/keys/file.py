"""`key set` where the profile keeps its key in a file of age's: the key itself, or the passphrase of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from unicodedata import category

from toolsync.commands.keys.astray import led_astray
from toolsync.commands.keys.holders import outdated
from toolsync.errors import SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret, learn
from toolsync.result import Message, Result
from toolsync.secret import age
from toolsync.secret.index import record
from toolsync.secret.key import checked, checked_typed, without_line_end
from toolsync.secret.reference import file_of, passphrase_of
from toolsync.session import Session
from toolsync.transaction import lock

_WAIT_SECONDS = 10.0


def set_in_file(session: Session, reference: KeyRef, typed: Callable[[], str]) -> Result:
    """Shut the key in the file, by the passphrase that its reference leads to, or that a person types twice.

    Args:
        session: the machine.
        reference: names the file.
        typed: has the key; called only where the file can be written.

    Raises:
        SecretError: the text cannot be a key, there is no passphrase, or what stands there is no file of age's.
        FileError: it cannot be written.
    """
    path = file_of(reference)
    is_there = age.is_there(path)
    key = checked_typed(without_line_end(typed()), "the key")
    passphrase = passphrase_of(reference, session.open_vault, session.places.environ) or age.chosen(path)
    before = None
    if is_there:
        with suppress(SecretError):  # another passphrase: the file gets this one
            before = without_line_end(age.opened(path, passphrase))
    is_changed = before != key.reveal()
    if is_changed:
        age.shut(path, key, passphrase)
    text = f"another passphrase opened {age.named(path)} until now, and opens it no more"
    lost = [Message("warning", text, "What asks with that one gets no key.")] if is_there and before is None else []
    told = f"{age.named(path)} {'holds the key, shut with the passphrase' if is_changed else 'is unchanged'}."
    data = {"name": age.named(path), "backend": "a file of age's", "changed": is_changed}
    stale = (*outdated(session, reference), *led_astray(session, reference)) if is_there and is_changed else ()
    return Result("key set", data, (Message("note", told), *lost, *stale))


def set_passphrase(session: Session, name: str, files: Sequence[Path], typed: Callable[[], str]) -> Result:
    """Keep the passphrase of files in the keyring; those that open with the one that stood there get the new one.

    Killed on the way, the same command with the same passphrase ends it.

    Args:
        session: the machine.
        name: of the entry.
        files: whose passphrase it is; they need not be there yet.
        typed: has the passphrase.

    Raises:
        SecretError: it cannot be one, or the keyring does not take it; the files are as they were.
        FileError: a file cannot be written; they are all as they were.
        TransactionError: another toolsync is writing.
    """
    passphrase = _passphrase(typed())
    vault = session.open_vault()
    with lock.held(session.state, _WAIT_SECONDS):
        before = vault.get(name)
        is_changed = before != passphrase
        held = dict(_opened(files, before)) if before is not None and is_changed else {}
        shut: list[Path] = []
        try:
            for path, key in held.items():
                shut.append(path)
                age.shut(path, key, passphrase)
            if is_changed:
                vault.set(name, passphrase)
        except BaseException:
            for path in shut:
                if before is not None:
                    age.shut(path, held[path], before)
            raise
        record(session.state, name)
    state = "unchanged" if not is_changed else "stored" if before is None else "replaced"
    told = [Message("note", f"keyring:{name} is {state} in {vault.backend}.")]
    told += [Message("note", f"{age.named(path)} is shut with it now.") for path in held]
    told += _refusing(name, [path for path in files if path not in held], passphrase)
    return Result("key set", {"name": name, "backend": vault.backend, "changed": is_changed}, tuple(told))


def _refusing(name: str, files: Sequence[Path], passphrase: Secret) -> Iterator[Message]:
    """That files were shut with another passphrase."""
    for path in files:
        with suppress(SecretError):  # who wants the key is told why it cannot be had
            if age.is_there(path) and not any(_opened((path,), passphrase)):
                text = f"{age.named(path)} does not open with it, and stays as it is"
                way = f"`toolsync key set {name}` takes the passphrase that it has."
                hint = f"What asks for the key in it gets none. {way}"
                yield Message("warning", text, hint)


def _passphrase(text: str) -> Secret:
    """One line, in which anything may stand."""
    line = without_line_end(text)
    if not line.strip() or any(category(one) == "Cc" for one in line):
        raise SecretError("a passphrase is one line of text", hint="Type it anew.")
    learn(line)
    return Secret(line)


def _opened(files: Sequence[Path], passphrase: Secret) -> Iterator[tuple[Path, Secret]]:
    """The keys in those that the passphrase opens."""
    for path in files:
        if not age.is_there(path):
            continue
        with suppress(SecretError):  # it is not this one's
            yield path, checked(without_line_end(age.opened(path, passphrase)), age.named(path))
