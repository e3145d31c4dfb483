"""Profiles that begin in a shared file: the file read, held against consent, and joined with one's own table.

Nothing here goes to the network: what stands at an address was fetched when it was agreed to (`profile trust`), and is
kept beside the profile file under its hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolsync import disk, own_file
from toolsync.document import KeyPath, Value
from toolsync.document.keypath import spell
from toolsync.errors import FileError, ProfileError, UntrustedProfileError
from toolsync.masking import on_one_line
from toolsync.profile import shared
from toolsync.profile.model import Joined
from toolsync.profile.shared import Shared, Source
from toolsync.value import frozen

FOLDER = "shared"
"""Beside the profile file: what was fetched and what was agreed to, each by its hash."""


@frozen
class Desk:
    """Where one's own profile file lies, and whose home `~` is."""

    config: Path
    home: Path

    def joined(self, name: str, own: Mapping[str, Any]) -> Joined:
        """The whole profile `name`, whose own table says `from`.

        Raises:
            ProfileError: the shared file is missing or wrong, or says what nobody agreed to.
            FileError: it cannot be read.
        """
        found = self.found(name, own)
        values = shared.given(found.table, own)
        self._stop_at_unasked(name, found, own)
        origins = {spell(path): f"{found.shown}:{found.line(path)}" for path in values}
        return Joined(shared.laid_over(found.table, own), origins)

    def found(self, name: str, own: Mapping[str, Any]) -> Shared:
        """The shared profile, whether or not it is agreed to.

        Raises:
            ProfileError, FileError: as `joined`.
        """
        source = shared.source(name, own)
        raw = self._kept(name, source, own) if source.is_address else self._read(name, source)
        return shared.read(raw, source, on_one_line(source.place))

    def cached(self, sha256: str) -> Path:
        """Where the content of that hash is kept."""
        return self.config.parent / FOLDER / f"{sha256}.toml"

    def kept(self, sha256: str) -> bytes | None:
        """The content of that hash, if it is kept, and still is what it was.

        Raises:
            FileError: something else stands there.
        """
        raw = own_file.read(self.cached(sha256))
        return raw if raw is not None and disk.digest(raw) == sha256 else None

    def _kept(self, name: str, source: Source, own: Mapping[str, Any]) -> bytes:
        raw = self.kept(str(own.get("sha256", "")))
        if raw is None:
            raise UntrustedProfileError(
                f"what {on_one_line(source.place)} says is not kept here",
                profile=name,
                hint=f"`toolsync profile trust {name}` fetches it, and asks about what it may do.",
            )
        return raw

    def _read(self, name: str, source: Source) -> bytes:
        path = self.home / source.place[2:] if source.place[:2] in ("~/", "~\\") else Path(source.place)
        repository = next((folder for folder in path.parents if disk.exists(folder / ".git")), None)
        snapshot = disk.read(path, within=repository)
        if snapshot.raw is None:
            raise ProfileError(
                f"{on_one_line(source.place)} is not there",
                hint="Fetch the repository that it belongs to, or say where it is now: "
                f"`toolsync profile edit {name} --set from=FILE#{on_one_line(source.profile)}`.",
            )
        return snapshot.raw

    def agreed(self, trusted: str) -> Path:
        """Where it is kept what was agreed to, by the hash that stands for it."""
        return self.config.parent / FOLDER / f"{trusted}.json"

    def _stop_at_unasked(self, name: str, found: Shared, own: Mapping[str, Any]) -> None:
        """Let a shared profile pass whose every field of consequence was agreed to.

        Raises:
            ProfileError: one was not; names them with their lines.
        """
        wanted = shared.asked(shared.given(found.table, own))
        if not wanted or own.get("trusted") == shared.digest(wanted):
            return
        before = self._agreed_to(str(own.get("trusted", "")))
        told = _told(found, wanted) if before is None else _told_apart(found, wanted, before)
        what = "says otherwise than you agreed to" if "trusted" in own else "says what needs your consent"
        raise UntrustedProfileError(
            f"{found.shown} {what}: {told}",
            profile=name,
            hint=f"`toolsync profile trust {name}` shows it, and asks.",
        )

    def _agreed_to(self, trusted: str) -> Mapping[str, Value] | None:
        """What the hash stands for, by field; None where it is not kept here, as on another machine of the user's."""
        if not _HASH.fullmatch(trusted):
            return None
        try:
            raw = own_file.read(self.agreed(trusted))
            return dict(json.loads(raw)) if raw is not None and disk.digest(raw) == trusted else None
        except (FileError, ValueError, TypeError, RecursionError):
            return None


_HASH = re.compile("[0-9a-f]{64}")


def _told(found: Shared, wanted: Mapping[KeyPath, Value]) -> str:
    return ", ".join(f"{on_one_line(spell(path))} (line {found.line(path)})" for path in wanted)


def _told_apart(found: Shared, wanted: Mapping[KeyPath, Value], before: Mapping[str, Value]) -> str:
    """What is not as it was agreed to; the rest is not named."""
    new = {path: value for path, value in wanted.items() if before.get(spell(path)) != value}
    gone = before.keys() - {spell(path) for path in wanted}
    states = {path: "" if spell(path) in before else ", which is new" for path in new}
    told = [f"{on_one_line(spell(path))} (line {found.line(path)}{state})" for path, state in states.items()]
    return ", ".join([*told, *(f"{on_one_line(path)} (gone)" for path in sorted(gone))])
