"""Who still holds a key that is about to be forgotten: afterwards nobody here knows it any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from toolsync import disk, registry
from toolsync import memory as memories
from toolsync.commands.keys.started import started_with
from toolsync.commands.keys.stored import named
from toolsync.commands.leaks.leftover import Left, leftovers, said
from toolsync.errors import ToolsyncError
from toolsync.masking import Secret, on_one_line
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.index import known_names
from toolsync.session import Session


def still_held(session: Session, name: str) -> tuple[Message, ...]:
    """Where the keys that `name` has replaced still stand, and what runs with them; no value among it."""
    with suppress(ToolsyncError):  # who forgets a key need not have all else in order: other commands say so
        memory, known = memories.read(memories.path_in(session.state)), registry.tools(session.config.parent)
        return tuple(
            message
            for key in _going(session, name)
            for message in (*_told(leftovers(session, memory, key)), *started_with(session, known, key))
        )
    return ()


def _going(session: Session, name: str) -> list[Secret]:
    """The keys that nobody can bring back then: those that no other name of the keyring's holds."""
    get = session.open_vault().get
    profiles = session.profiles().profiles if disk.is_there(session.config) else ()
    staying = [get(one) for one in {name, *known_names(session.state, named(profiles))}]
    keys: list[Secret] = []
    for key in map(get, former.entries(name)):
        if key is not None and key not in (*staying, *keys):
            keys.append(key)
    return keys


def _told(left: Left) -> Iterator[Message]:
    if left.read:
        text = f"the key that is forgotten still stands in {said(left.read)}"
        hint = "What reads it there stays on it, and nothing brings it back: put the key in use there, or take it out."
        yield Message("warning", text, hint)
    if left.copies:
        text = f"copies, logs and histories that no tool reads hold the key that is forgotten: {said(left.copies)}"
        yield Message("warning", text)
    if left.missed:
        text = f"the key that is forgotten was not looked for everywhere: {on_one_line(', '.join(left.missed))}"
        yield Message("warning", text, "`toolsync check` says why.")
