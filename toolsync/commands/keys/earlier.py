"""The user's own earlier key, which `undo` gives back to the byte, though another may have replaced it since."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from toolsync import disk
from toolsync import memory as memories
from toolsync.address import origin
from toolsync.commands.describe import shown
from toolsync.document.keypath import spell
from toolsync.errors import SecretError, ToolsyncError
from toolsync.masking import Secret, is_reference, on_one_line, possible_keys, printable
from toolsync.plan import Change, FilePlan
from toolsync.planning.plans import Plan
from toolsync.profile import Profile
from toolsync.remembered import Memory, in_vault
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.value import frozen


def still_kept(session: Session, memory: Memory, replaced: Secret) -> Iterator[Message]:
    """That `undo` would give the key back which was replaced, for it stood there before the tool was applied.

    Args:
        session: the machine.
        memory: what is applied.
        replaced: the key that is in use no more.
    """
    for real, file in memory.everything.items():
        kept = {layer.tool: in_vault(layer) for layer in file.layers}
        tools = [tool for tool, names in kept.items() if any(_holds(session, name, replaced) for name in names)]
        if tools:
            place = real if isinstance(real, Entry) else session.shown(real)
            command = shlex.join(("toolsync", "undo", *tools))
            text = f"`{command}` would put the old key back into {on_one_line(place)}, where it stood before"
            yield Message("warning", text, "After an undo, put one there that is in use: until then no tool reads it.")


def _holds(session: Session, entry: str, key: Secret) -> bool:
    with suppress(SecretError):  # the rotation itself is done
        text = session.open_vault().get(entry)
        return text is not None and key.reveal() in text.reveal()
    return False


def kept_in_spite(session: Session, name: str) -> tuple[Message, ...]:
    """The same of the keys that `name` has replaced, as long as they are not forgotten."""
    with suppress(ToolsyncError):  # other commands say so
        memory = memories.read(memories.path_in(session.state))
        replaced = filter(None, map(session.open_vault().get, former.entries(name)))
        return tuple(dict.fromkeys(said for key in replaced for said in still_kept(session, memory, key)))
    return ()


def coming_back(session: Session, planned: Plan) -> Iterator[Message]:
    """That a plan gives a key back which is in use no more, as far as anybody can tell."""
    found = [(file, change, text) for file in planned.everything for change in file.changes if (text := _key(change))]
    if not found:
        return
    keys = _Keys(_profiles(session), *_known(session))
    for file, change, text in found:
        said = keys.said(file, text)
        if said:
            place = f"{shown(session, file)}: {printable(spell(change.path))}"
            hint = "Where it was revoked, the tool is answered 401: put one there that is in use."
            yield Message("warning", f"{place} gets a key back that stood there before: {said}", hint)


def _key(change: Change) -> str:
    """The text that is given back where a key may stand; "" for none."""
    after = change.after
    return after if change.secret and isinstance(after, str) and not is_reference(after) else ""


@frozen
class _Keys:
    """The profiles, and the names of the keyring's keys by value: of those in use, and of those that they replaced."""

    profiles: tuple[Profile, ...]
    now: Mapping[str, str]
    before: Mapping[str, str]

    def said(self, file: FilePlan, text: str) -> str:
        """Why the key in `text` may be in use no more; "" where nothing speaks for it."""
        if any(key in text for key in self.now):
            return ""
        old = next((name for key, name in self.before.items() if key in text), None)
        if old is not None:
            return f"keyring:{old} has replaced it"
        is_key = [*possible_keys(text)] == [text]
        stored = [one for one in self.profiles if one.key.kind == "keyring" and one.key.name in self.now.values()]
        other = next((one for one in stored if is_key and _leads_to(file, one)), None)
        return f"it goes to the gateway of '{other.name}', and is another key than {other.key}" if other else ""


def _leads_to(file: FilePlan, profile: Profile) -> bool:
    """Whether the file names the profile's gateway, once the plan is carried out."""
    with suppress(ToolsyncError):
        return origin(profile.base_url) in (file.after or "")
    return False


def _profiles(session: Session) -> tuple[Profile, ...]:
    with suppress(ToolsyncError):  # other commands say so
        return session.profiles().profiles if disk.is_there(session.config) else ()
    return ()


def _known(session: Session) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The names of the keyring's keys, by value: of those in use, and of those that they have replaced."""
    with suppress(ToolsyncError):  # nobody can tell where it does not answer
        there = {one.key.name for one in _profiles(session) if one.key.kind == "keyring"}
        names = sorted(there | former.noted(session.state).keys())
        before = [(name, entry) for name in names for entry in former.entries(name)]
        return _by_value(session, [(name, name) for name in names]), _by_value(session, before)
    return {}, {}


def _by_value(session: Session, entries: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    get = session.open_vault().get
    return {key.reveal(): name for name, entry in entries if (key := get(entry)) is not None}
