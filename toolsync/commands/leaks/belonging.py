"""Which profile a tool with a key in clear is set to: it is led to no other one's gateway, and given no other's key."""

from __future__ import annotations

from collections.abc import Sequence

from toolsync.commands.leaks.exposing import real_path
from toolsync.commands.leaks.finding import Finding
from toolsync.commands.leaks.slots import Literal
from toolsync.commands.leaks.sought import Sought, is_kept
from toolsync.errors import FileError, ProfileError
from toolsync.session import Session


def profile_of(session: Session, one: Finding, wanted: Sought) -> str:
    """The profile that a finding's tool is set to, by us or by hand; "" for none of the user's."""
    by_hand = [
        name
        for literal in wanted.literals
        if (literal.tool, literal.key.reveal()) == (one.tool, one.hit.value) and not literal.is_login
        for name in literal.profiles
    ]
    return _chosen(session, one.tool, by_hand or _copied(one, wanted), one.secret, wanted)


def profile_at(session: Session, literal: Literal, wanted: Sought) -> str:
    """The profile to whose gateway a tool sends a literal key; "" for none of the user's."""
    called = next((known.name for known in wanted.known if known.value == literal.key.reveal()), "")
    return _chosen(session, literal.tool, literal.profiles, called, wanted)


def _copied(one: Finding, wanted: Sought) -> list[str]:
    """The profile whose key was written to the file for its tool."""
    remembered = wanted.memory.files.get(str(real_path(one.file)))
    layers = remembered.layers if remembered and is_kept(one.secret) else ()
    name = wanted.memory.profile_of(one.tool)
    return [name] if name and any(layer.tool == one.tool and layer.holds_key for layer in layers) else []


def _chosen(session: Session, tool: str, names: Sequence[str], secret: str, wanted: Sought) -> str:
    """Of several that share a gateway: whose key it is, then whose the tool was set to, then the active one."""
    try:
        there = session.profiles()
    except (ProfileError, FileError):
        return ""
    record = wanted.memory.applied.get(tool, "")
    keyed = [one.name for one in there.profiles if one.name in names and str(one.key) == secret]
    order = (*(name for name in keyed if name == record), *keyed, record, there.active, *names)
    return next((name for name in order if name in names and name in there.names), "")
