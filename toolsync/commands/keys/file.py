"""`key set` where the profile keeps its key in a file of age's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from toolsync.commands.keys.holders import outdated
from toolsync.errors import SecretError
from toolsync.keyref import KeyRef
from toolsync.result import Message, Result
from toolsync.secret import age
from toolsync.secret.key import checked, without_line_end
from toolsync.secret.reference import file_of, passphrase_of
from toolsync.session import Session


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
    key = checked(without_line_end(typed()), "the key")
    passphrase = passphrase_of(reference, session.open_vault, session.places.environ) or age.chosen(path)
    before = None
    if is_there:
        with suppress(SecretError):  # another passphrase: the file gets this one
            before = without_line_end(age.opened(path, passphrase))
    is_changed = before != key.reveal()
    if is_changed:
        age.shut(path, key, passphrase)
    told = f"{age.named(path)} {'holds the key, shut with the passphrase' if is_changed else 'is unchanged'}."
    data = {"name": age.named(path), "backend": "a file of age's", "changed": is_changed}
    stale = outdated(session, reference) if before is not None and is_changed else ()
    return Result("key set", data, (Message("note", told), *stale))
