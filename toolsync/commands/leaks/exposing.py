"""Who else can have a key that was found, and whether its owner agreed to just that."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from toolsync import disk, gitguard, registry
from toolsync.commands.keys.stored import references
from toolsync.commands.leaks.finding import NAME, Finding, Unseen, open_to
from toolsync.commands.leaks.looking import Looking
from toolsync.commands.leaks.slots import Literal
from toolsync.commands.leaks.sought import FORMER, Sought, is_kept
from toolsync.commands.leaks.suspects import places_of
from toolsync.errors import FileError, GitError, ProfileError
from toolsync.gitguard import Verdict
from toolsync.gitguard.git import encrypted
from toolsync.gitguard.git import found as found_git
from toolsync.gitguard.repository import WorkTree
from toolsync.planning.stores import Address
from toolsync.profile import Profile
from toolsync.remembered import LayerMemory, holds
from toolsync.secret import filled
from toolsync.session import Session
from toolsync.value import frozen


def expose(session: Session, looking: Looking) -> None:
    """Say of each finding who else can have it, whether its owner agreed, and whether a tool takes it from there."""
    findings = looking.findings
    reals = {one.file: real for one in findings if not is_past(one) and (real := real_path(one.file))}
    places = session.places
    files = tuple(real for real in dict.fromkeys(reals.values()) if ".git" not in real.parts)  # git takes up none of it
    try:
        verdicts = gitguard.look(files, home=places.home, environ=places.environ)
    except FileError as error:
        looking.unseen.append(Unseen("what git and chezmoi do with the files", error.message, matters=True))
        verdicts = ()
    shut = _encrypted(session, verdicts)
    found = {verdict.file: verdict for verdict in verdicts if verdict.file not in shut}
    copies = tuple(_copies(session, looking.sought))
    agreed, kept = _agreed(looking.sought, copies), _kept(session)
    printed = {real_path(path) for path in filled.recorded(session.state)} - {None}
    used = {place for place, one in _standing(looking.sought) if one.is_chosen and not one.is_login}
    for one in findings:
        if is_past(one):
            one.exposed.append("tracked" if one.inside == "index" else "history")
            continue
        status, real = looking.status(one.file), reals.get(one.file)
        if status is not None and sys.platform != "win32":
            one.exposed += _reachable(real or one.file, open_to(status))
        verdict = found.get(real) if real else None
        if verdict is not None and (verdict.is_taken_up or verdict.state in _IN_GIT):
            one.exposed.append(_IN_GIT.get(verdict.state, "open"))
            one.tree = verdict.tree
        place = str(real), one.secret
        one.is_used = place in used
        is_kept_there = (real in kept or one.kind == "login") and place not in used and not is_kept(one.secret)
        is_part = any(part in one.inside for part in agreed.get(place, ()))
        one.is_filled = real in printed and is_kept(one.secret)
        is_in_use = not one.secret.endswith(FORMER)
        one.is_agreed = not one.exposed and (is_kept_there or is_part or (one.is_filled and is_in_use))
        for copy in (copy for copy in copies if copy.path == str(real)):
            _judge_copy(one, copy, looking.sought)


_IN_GIT = {"tracked": "tracked", "copied": "copied"}


def is_past(one: Finding) -> bool:
    """Whether it stands in a repository only, not in the file of that name."""
    return one.kind == "repository" and one.inside not in ("", NAME)


def _encrypted(session: Session, verdicts: Iterable[Verdict]) -> set[Path]:
    """The tracked files of which git holds something that nobody else can read."""
    by_tree: dict[WorkTree, list[Path]] = {}
    for verdict in verdicts:
        if verdict.state == "tracked" and verdict.tree is not None:
            by_tree.setdefault(verdict.tree, []).append(verdict.file)
    found: set[Path] = set()
    with suppress(GitError):
        for tree, files in by_tree.items():
            found |= encrypted(found_git(session.places.environ), tree, files)
    return found


def _reachable(path: Path, who: list[str]) -> list[str]:
    """Those who can pass every folder on the way, too."""
    bits = {"group": 0o010, "others": 0o001}
    with suppress(OSError):
        modes = [folder.stat().st_mode for folder in path.parents]
        return [one for one in who if all(mode & (bits[one] | 0o001) for mode in modes)]
    return who


@frozen
class _Copy:
    """What was written of a profile's key into a tool's file, by its owner's consent.

    Attributes:
        path: the file.
        part: how its row is called, if it is a part of a database.
        layer: what is remembered of it.
        profile: whose key it is.
    """

    path: str
    part: str
    layer: LayerMemory
    profile: Profile

    def has(self, text: str, key: bytes) -> bool:
        """Whether a text is just what toolsync wrote there."""
        return any(value.secret and holds(value, text, key) for value in self.layer.values)

    @property
    def references(self) -> set[str]:
        """The profile's keys, by where they are kept."""
        return {str(reference) for _, reference in references(self.profile)}

    @property
    def renewal(self) -> str:
        """The command that writes the key in use."""
        return shlex.join(("toolsync", "apply", "--profile", self.profile.name, "--tool", self.layer.tool))


def _copies(session: Session, wanted: Sought) -> Iterator[_Copy]:
    """Those that are remembered, of profiles that allow it still."""
    with suppress(ProfileError, FileError):
        profiles = {profile.name: profile for profile in session.profiles().profiles}
        for real, file in wanted.memory.files.items():
            for layer in file.layers:
                path, part, named = _place(real)
                profile = profiles.get(named if part and layer.holds_key else wanted.memory.copies.get(layer.tool, ""))
                if profile and profile.plaintext != "never" and any(value.secret for value in layer.values):
                    yield _Copy(path, part, layer, profile)


def _agreed(wanted: Sought, copies: Iterable[_Copy]) -> dict[tuple[str, str], set[str]]:
    """Where a copy of a key stands by its owner's consent, or a tool's own login: file, key, and which parts of it."""
    agreed = {place: {""} for place, one in _standing(wanted) if one.is_login and not is_kept(place[1])}
    for copy in copies:
        for name in copy.references:
            agreed.setdefault((copy.path, wanted.called.get(name, name)), set()).add(copy.part)
    return agreed


def _judge_copy(one: Finding, copy: _Copy, wanted: Sought) -> None:
    """Say of what toolsync wrote, and is not the key in use, what it is: nobody knows where that cannot be had now."""
    if copy.part not in one.inside or not copy.has(one.hit.value, wanted.memory.key):
        return
    if not wanted.called.keys() >= copy.references:  # the keyring is locked, a passphrase is not there
        one.is_agreed = not one.exposed
    elif one.secret not in map(wanted.called.get, copy.references):
        one.renewal, one.is_agreed = copy.renewal, False


def _standing(wanted: Sought) -> Iterator[tuple[tuple[str, str], Literal]]:
    """The literal keys, each with its file and the name that its value is known by."""
    names = {one.value: one.name for one in wanted.known}
    yield from (((str(real_path(one.file)), names[one.key.reveal()]), one) for one in wanted.literals)


def _kept(session: Session) -> frozenset[Path | None]:
    """The files in which tools themselves keep what a login gave them, whether they use it just now or not."""
    paths: list[Path] = []
    for tool in registry.tools(session.config.parent).values():
        rows = {row.overlay: row.path for row in tool.files if not row.each}
        if tool.store:  # where its user gave it the keys of all providers
            paths += places_of(session, [path for row in tool.files for path in row.path])
        for layer in (layer for layer in tool.layers if layer.is_login):
            paths += places_of(session, rows.get(layer.overlay, layer.path))
    return frozenset(map(real_path, paths)) - {None}


def _place(remembered: str) -> tuple[str, str, str]:
    """The file that memory speaks of; of a part of a database, how its row is called, and whose it is."""
    if "#" not in remembered or os.path.exists(remembered):  # noqa: PTH110  a name may be too long to look at
        return remembered, "", ""
    try:
        address = Address.parse(remembered)
    except FileError:  # links in a circle lead nowhere
        return remembered, "", ""
    return str(address.path), f"(toolsync-{address.profile})", address.profile


def real_path(path: Path) -> Path | None:
    """The path behind every link; None where links lead in a circle."""
    with suppress(FileError):
        return disk.resolve(path)
    return None
