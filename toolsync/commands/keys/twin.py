"""The same key under another name: replaced under one, it stays in use under the others."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from toolsync.commands.keys.holders import Holders, layers_of, users
from toolsync.commands.keys.stored import references
from toolsync.commands.leaks.leftover import Left
from toolsync.errors import SecretError
from toolsync.leaks.secret import SHORTEST
from toolsync.masking import Secret, on_one_line
from toolsync.profile import KeyRef, Profile
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen

_AT_ONCE = ("keyring", "env")
"""Where a key is looked for: others may ask a person."""


@frozen
class Twin:
    """A name under which the old key stays.

    Attributes:
        reference: where.
        profiles: those that have it from there.
    """

    reference: KeyRef
    profiles: tuple[Profile, ...]


def twins(session: Session, profiles: tuple[Profile, ...], reference: KeyRef, key: Secret) -> tuple[Twin, ...]:
    """The other names of a key.

    Args:
        session: the machine.
        profiles: all of them.
        reference: the name under which it is replaced.
        key: which it is.
    """
    named = dict.fromkeys(one for profile in profiles for _, one in references(profile))
    others = [one for one in named if one.kind in _AT_ONCE and one != reference]
    return tuple(Twin(one, users(one, profiles)) for one in others if _value(session, one) == key)


def _value(session: Session, reference: KeyRef) -> Secret | None:
    with suppress(SecretError):  # it is not there
        return session.secret(reference)
    return None


@frozen
class Twins:
    """All of them after a rotation.

    Attributes:
        found: the names.
        there: which tools are set to which profile.
    """

    found: tuple[Twin, ...]
    there: Holders

    @classmethod
    def of(cls, session: Session, reference: KeyRef, key: Secret | None, memory: Memory, known: Known) -> Twins:
        """Those of a key that `reference` was; none of what is no secret, as for servers that want none."""
        profiles = session.profiles()
        is_secret = key is not None and len(key.reveal()) >= SHORTEST
        found = twins(session, profiles.profiles, reference, key) if key is not None and is_secret else ()
        return cls(found, Holders(memory, known, profiles.names))

    def without_theirs(self, session: Session, left: Left) -> Left:
        """What is left of the key, without the copies that belong to one of these names."""
        names = {profile.name for twin in self.found for profile in twin.profiles}
        layers = ((real, layer) for real, layer in layers_of(self.there.memory) if layer.holds_key)
        theirs = {session.shown(real) for real, layer in layers if self.there.profile_of(real, layer) in names}
        return replace(left, places=tuple(one for one in left.places if one.where not in theirs))

    def messages(self) -> Iterator[Message]:
        """That they keep the key, and who goes on with it."""
        applied = self.there.applied()
        for twin in self.found:
            tools = dict.fromkeys(tool for profile in twin.profiles for tool in applied.get(profile.name, ()))
            titles = ", ".join(self.there.known[tool].title for tool in tools)
            goes_on = f"{titles} goes on with it" if len(tools) == 1 else f"{titles} go on with it"
            text = f"{on_one_line(str(twin.reference))} is the old key too, and was not replaced"
            yield Message("problem", f"{text}: {goes_on}" if tools else text, _way(twin))


def _way(twin: Twin) -> str:
    if twin.reference.kind == "env":
        return f"Set ${on_one_line(twin.reference.name)} to the new key where it is set now."
    owner = next((one.name for one in twin.profiles if one.key == twin.reference), str(twin.reference))
    return f"`{on_one_line(shlex.join(('toolsync', 'key', 'rotate', owner)))}` replaces it there."
