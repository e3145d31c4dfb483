"""`profile trust`: what a shared profile may do is shown and agreed to; from an address it is fetched, and kept."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsync import directory, disk, own_file
from toolsync.commands.pinging import network_table
from toolsync.commands.profiles.file import ProfileFile, existing, saved
from toolsync.commands.profiles.verbs import doubts
from toolsync.document import KeyPath, Value
from toolsync.document.keypath import spell
from toolsync.errors import ProfileError, UsageError
from toolsync.masking import mask_key_shapes, on_one_line
from toolsync.probe.failure import unsent
from toolsync.probe.network import Network, send
from toolsync.probe.response import Response
from toolsync.profile import editor, shared
from toolsync.profile.reader import read
from toolsync.profile.shared import Shared, Source
from toolsync.profile.wording import one_line
from toolsync.result import Message, Result
from toolsync.sentence import tell
from toolsync.session import Session
from toolsync.sharing import Desk
from toolsync.value import frozen

_HASH = re.compile(r"[0-9a-f]{64}")
_OK = 200
_REDIRECTS = range(300, 400)


@frozen
class Planned:
    """What is to be agreed to.

    Attributes:
        name: the profile.
        file: the user's own profile file, as it stood.
        found: the shared profile.
        values: what is written into the profile's own table.
        content: what was fetched and is to be kept, under its hash.
        difference: from what was kept until now to that, as a unified diff.
        wanted: the fields that need consent, with what they say.
    """

    name: str
    file: ProfileFile
    found: Shared
    values: Mapping[KeyPath, Value]
    content: tuple[str, bytes] | None
    difference: tuple[str, ...]
    wanted: Mapping[KeyPath, Value]

    @property
    def is_nothing(self) -> bool:
        """Whether all of it is agreed to, and kept."""
        return not self.values and self.content is None


def plan(session: Session, name: str | None, sha256: str | None) -> Planned:
    """What there is to agree to; nothing is written.

    Args:
        session: the machine.
        name: the profile; None: the active one.
        sha256: the hash of what stands at the address now; None: as the profile file says.

    Raises:
        UsageError: the profile begins in no shared file, or in none with a hash.
        ProfileError: the shared file is wrong, cannot be fetched, or is not what the hash says.
        FileError: a file cannot be read.
    """
    file = existing(session)
    profiles = read(file.text, file.shown)
    name = profiles.named(name)
    own = profiles.document.data["profiles"][name]
    if "from" not in own:
        raise UsageError(f"profile '{name}' is all your own: it has no `from`", hint="There is nothing to agree to.")
    user = _User(name, file, own, Desk(session.config, session.places.home))
    source = shared.source(name, own)
    if not source.is_address:
        if sha256 is not None:
            raise UsageError("`--sha256` is for a profile from an address", hint="Leave it out.")
        return _planned(user, user.desk.found(name, own))
    if sha256 is not None and not _HASH.fullmatch(sha256):
        raise UsageError(f"'{one_line(sha256)}' is no SHA-256", hint="It has 64 hexadecimal digits in lower case.")
    pinned = sha256 or own["sha256"]
    kept = user.desk.kept(pinned)
    fresh = _fetched(session, user, source, pinned) if kept is None else None
    found = shared.read(fresh or kept or b"", source, on_one_line(source.place))
    return _planned(user, found, pinned, fresh)


@frozen
class _User:
    """The profile, its file, its own table there, and where shared files are found."""

    name: str
    file: ProfileFile
    own: Mapping[str, Any]
    desk: Desk


def _planned(user: _User, found: Shared, pinned: str | None = None, raw: bytes | None = None) -> Planned:
    wanted = shared.asked(shared.given(found.table, user.own))
    says = {"sha256": pinned, "trusted": shared.digest(wanted) if wanted else None}
    values: dict[KeyPath, Value] = {(field,): value for field, value in says.items() if user.own.get(field) != value}
    content = None if pinned is None or raw is None else (pinned, raw)
    before = user.desk.kept(user.own["sha256"]) if ("sha256",) in values else None
    return Planned(user.name, user.file, found, values, content, _difference(before, found), wanted)


def _difference(old: bytes | None, found: Shared) -> tuple[str, ...]:
    if old is None:
        return ()
    before, after = old.decode(errors="replace").splitlines(), found.document.text.splitlines()
    lines = difflib.unified_diff(before, after, "kept here", "there now", lineterm="")
    return tuple(on_one_line(mask_key_shapes(line)) for line in lines)


def data(planned: Planned) -> dict[str, Any]:
    """The same for machines."""
    return {
        "profile": planned.name,
        "file": planned.file.shown,
        "from": planned.found.shown,
        "allows": [
            {"field": spell(path), "value": value, "line": planned.found.line(path)}
            for path, value in planned.wanted.items()
        ],
        "difference": list(planned.difference),
        "changed": not planned.is_nothing,
    }


def execute(session: Session, planned: Planned) -> Result:
    """Keep what was fetched, and write down what was agreed to.

    Raises:
        ChangedError: the profile file changed meanwhile.
        FileError: a file cannot be written.
    """
    desk = Desk(session.config, session.places.home)
    if planned.content is not None:
        sha256, content = planned.content
        _keep(desk.cached(sha256), content)
    if planned.wanted:
        _keep(desk.agreed(shared.digest(planned.wanted)), shared.listed(planned.wanted))
    text = planned.file.text
    after = editor.with_values(text, planned.name, planned.values, planned.file.shown) if planned.values else text
    saved(planned.file, after)
    said = "is trusted as it stands" if not planned.is_nothing else "was trusted as it stands already"
    note = Message("note", f"What {planned.found.shown} says of '{planned.name}' {said}.")
    return Result("profile trust", data(planned), (note, *doubts(session, planned.name)))


def _keep(path: Path, content: bytes) -> None:
    if own_file.read(path) == content:
        return
    directory.private_dir(path.parent)
    try:
        own_file.put(path, content)
    except OSError as error:
        raise disk.file_error(path, error) from error


# From an address: no key goes along, and no redirect is followed.


def _fetched(session: Session, user: _User, source: Source, pinned: str) -> bytes:
    shown = on_one_line(source.place)
    answer = _asked(session, source, user)
    if answer.status in _REDIRECTS:
        raise ProfileError(
            f"{shown}: answers with a redirect ({answer.status}), which is not followed",
            hint="Write the address that it leads to as `from`, if you trust it.",
        )
    if answer.status != _OK:
        raise ProfileError(f"{shown}: answers with status {answer.status}", hint="Look whether the address is right.")
    shared.stop_at_huge(answer.body, shown)
    there = disk.digest(answer.body)
    if there != pinned:
        raise ProfileError(
            f"{shown}: what stands there has the hash {there}, and not {on_one_line(pinned)}; it is not used",
            hint="If who keeps it says that this is right: "
            f"`toolsync profile trust {user.name} --sha256 {there}` shows the difference, and asks.",
        )
    return answer.body


def _asked(session: Session, source: Source, user: _User) -> Response:
    table = network_table(session, user.own.get("network", {}))
    network = Network.of(table, session.places.environ, source.place)
    try:
        return send("GET", source.place, None, {}, network)
    except Exception as error:  # every exception is a result, as for a ping
        verdict = unsent(error, source.place, network)
        raise ProfileError(
            f"{on_one_line(source.place)} cannot be fetched: {tell(verdict.problem)}",
            hint=_way_there(tell(verdict.hint), user),
        ) from error


def _way_there(hint: str, user: _User) -> str:
    """What a ping would advise, said of a shared file: it is no gateway, and the profile need not be the active one."""
    if not hint or "base_url" in hint:
        return (
            f"Look whether `from` of profile '{user.name}' in {user.file.shown} is right, and can be reached from here."
        )
    return hint.replace("profile edit --set", f"profile edit {user.name} --set")
