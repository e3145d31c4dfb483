"""Files, databases and repositories looked through for secrets: what was found where, and what was not looked at."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from toolsync.commands.leaks.sought import Sought
from toolsync.commands.leaks.suspects import Suspects
from toolsync.complaint import in_words
from toolsync.gitguard.repository import WorkTree
from toolsync.leaks import Finder, Hit, Known, Spot
from toolsync.masking import learn
from toolsync.search import content, database
from toolsync.value import frozen

_MOST_LINES = 10
"""How many lines are named of a secret that stands on more."""

_MOST_FINDINGS = 1000
"""More than anybody reads; their number is still told."""

NAME = "its name"
"""What a finding is inside of if the file is called by a key."""


@frozen
class Limits:
    """How much is looked at.

    Attributes:
        seconds: altogether.
        file_bytes: of one file.
        blob_bytes: of one version of a file in a repository.
        versions: how many earlier versions of files.
        commits: how many commits they are taken from.
        history_seconds: for them.
        git_seconds: for one question to git; None: as long as usual.
    """

    seconds: float = 90.0
    file_bytes: int = 2**30
    blob_bytes: int = 16 * 2**20
    versions: int = 20_000
    commits: int = 5_000
    history_seconds: float = 20.0
    git_seconds: float | None = None


@dataclass
class Finding:
    """A secret in a file, on however many lines.

    Attributes:
        file: where.
        kind: what the file is; see `Suspects`, and `repository`.
        tool: whose; "" for none.
        inside: which part: `index`, a commit, a row of a database; "" for the file itself.
        hit: the first of it.
        lines: the first lines; none where there are no lines.
        count: how often it stands there.
        exposed: who else can have it: `group`, `others`, `tracked`, `open`, `copied`, `history`.
        is_agreed: whether its owner agreed to just that.
        tree: the work tree of the repository that tracks it, if that is known.
    """

    file: Path
    kind: str
    tool: str
    inside: str
    hit: Hit
    lines: list[int] = field(default_factory=list)
    count: int = 0
    exposed: list[str] = field(default_factory=list)
    is_agreed: bool = False
    tree: WorkTree | None = None

    @property
    def secret(self) -> str:
        """What the secret is called."""
        return self.hit.secret.name if isinstance(self.hit.secret, Known) else self.hit.secret.title


@frozen
class Unseen:
    """What was not looked at.

    Attributes:
        what: a file, or some of them.
        reason: why not.
        matters: whether nobody can say that all is well without it.
    """

    what: Path | str
    reason: str
    matters: bool = False


@frozen
class Place:
    """What a text is a part of.

    Attributes:
        file: where it stands.
        kind: what the file is.
        tool: whose.
        inside: which part of it.
        has_lines: whether its lines are the file's.
    """

    file: Path
    kind: str
    tool: str = ""
    inside: str = ""
    has_lines: bool = True


class Looking:
    """One look through a machine."""

    def __init__(self, sought: Sought, finder: Finder, limits: Limits) -> None:
        """Nothing is looked at yet."""
        self.sought, self.limits = sought, limits
        self.unseen: list[Unseen] = []
        self.files = 0
        self.bytes = 0
        self._finder = finder
        self._found: dict[tuple[Path, str, str, str], Finding] = {}
        self._seen: set[tuple[int, int]] = set()
        self._statuses: dict[Path, os.stat_result] = {}
        self._beyond = 0
        self._end = time.monotonic() + limits.seconds

    @property
    def findings(self) -> list[Finding]:
        """What was found, in the order in which it was."""
        return list(self._found.values())

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end

    def status(self, path: Path) -> os.stat_result | None:
        """Of a file that was looked at, when it was."""
        return self._statuses.get(path)

    def files_of(self, kind: str, tool: str, paths: Iterable[Path]) -> None:
        """Look through files; each once, whatever it is called."""
        late = 0
        for path in paths:
            if self.is_over:
                late += 1
            else:
                self.file(Place(path, kind, tool))
        if late:
            what = f"{late} {'file' if late == 1 else 'files'} ({' '.join(filter(None, (tool, kind)))})"
            self.unseen.append(Unseen(what, f"the time of {self.limits.seconds:g} s was over", _matters(kind)))

    def suspects(self, one: Suspects) -> None:
        """Look through files of a kind, and note what of them cannot be looked at."""
        self.shut_folders(one.listing.shut, one.kind)
        self.files_of(one.kind, one.tool, one.listing.files)
        if one.listing.is_cut:
            what = f"further files ({' '.join(filter(None, (one.tool, one.kind)))})"
            self.unseen.append(Unseen(what, f"only {len(one.listing.files):,} of them, or too deep a folder"))

    def file(self, place: Place) -> None:
        """Look through one file, and at what it is called."""
        if place.file == Path(os.devnull):  # what a history is told to be that nobody wants
            return
        if place.kind == "repository" and place.file.is_symlink():  # git would take up the link
            return
        self._name(place)
        try:
            with content.opened(place.file) as opened:
                self._through(place, opened)
        except FileNotFoundError:  # gone since it was listed, or a link that leads nowhere
            return
        except OSError as error:
            self._shut(place, error)

    def _through(self, place: Place, opened: content.Opened) -> None:
        identity = opened.status.st_dev, opened.status.st_ino
        if identity in self._seen and opened.status.st_ino:
            return
        self._seen.add(identity)
        self._statuses[place.file] = opened.status
        head = opened.head(len(database.MAGIC))
        is_database = head == database.MAGIC
        if place.kind == "repository" and opened.is_packed:  # what people keep in those is large, and no log
            raise OSError(content.PACKED)
        self.text(_as_database(place) if is_database else place, self._in_time(place, opened.unpacked()))
        if is_database:
            self._database(place)

    def _in_time(self, place: Place, opened: content.Opened) -> Iterator[bytes]:
        """The pieces of a file, as long as there is time."""
        self.files += 1
        for piece in opened.pieces(self.limits.file_bytes):
            self.bytes += len(piece)
            yield piece
            if self.is_over:
                reason = f"the time of {self.limits.seconds:g} s was over"
                self.unseen.append(Unseen(place.file, f"not to its end: {reason}", _matters(place.kind)))
                return
        if not opened.is_at_end:
            reason = f"only its first {self.limits.file_bytes // 2**20:,} MiB"
            self.unseen.append(Unseen(place.file, reason, _matters(place.kind)))

    def _database(self, place: Place) -> None:
        """The texts of its rows; a secret that its bytes show is told once, as a row's if it is one."""
        try:
            for cell in database.cells(place.file):
                if self.is_over:
                    self.unseen.append(Unseen(place.file, "not all its rows: the time was over", _matters(place.kind)))
                    return
                self.text(Place(place.file, place.kind, place.tool, cell.place, has_lines=False), [cell.text])
        except (sqlite3.Error, OSError, ValueError) as error:  # names that are no UTF-8, too
            reason = f"it is a database whose rows cannot all be read ({error}); its bytes were looked through"
            self.unseen.append(Unseen(place.file, reason))
            return
        rows = {found.hit.value for found in self._found.values() if found.file == place.file and not _is_bytes(found)}
        for key, found in list(self._found.items()):
            if found.file == place.file and _is_bytes(found) and found.hit.value in rows:
                del self._found[key]

    def _name(self, place: Place, *, is_told: bool = True) -> None:
        """Look at what a file and its folders are called: who names it must not say a key."""
        path = os.fsencode(place.file)
        for hit in self._finder.hits(path):
            learn(hit.value)
            if is_told and hit.start >= len(path) - len(os.fsencode(place.file.name)):
                self._note(Place(place.file, place.kind, place.tool, NAME, has_lines=False), Spot(0, hit))

    def blob(self, place: Place, whole: bytes) -> None:
        """Look through what a repository holds, as through a file."""
        self._name(place, is_told=place.kind == "staged")  # others' names are those of files
        self.files += 1
        self.bytes += len(whole)
        self.text(place, content.plain([whole]))

    def text(self, place: Place, pieces: Iterable[bytes]) -> None:
        """Look through a text."""
        for spot in self._finder.spots(pieces):
            self._note(place, spot)

    def _note(self, place: Place, spot: Spot) -> None:
        hit = spot.hit
        key = place.file, place.inside, hit.value, hit.spelling
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _MOST_FINDINGS:
                self._beyond += 1
                return
            found = self._found[key] = Finding(place.file, place.kind, place.tool, place.inside, hit)
        found.count += 1
        if place.has_lines and len(found.lines) < _MOST_LINES and spot.line not in found.lines:
            found.lines.append(spot.line)

    def _shut(self, place: Place, error: OSError) -> None:
        said = in_words(error)[0] if error.errno else str(error)
        self.unseen.append(Unseen(place.file, said, error.errno is not None and _matters(place.kind)))

    def end(self) -> None:
        """Say of how many findings nothing more is told."""
        if self._beyond:
            what = f"{self._beyond:,} further places where a key stands"
            self.unseen.append(Unseen(what, f"more than {_MOST_FINDINGS:,} findings: see to these first"))

    def shut_folders(self, folders: Iterable[Path], kind: str) -> None:
        """Note folders that do not let us look."""
        self.unseen += [Unseen(folder, "permission denied", _matters(kind)) for folder in folders]


_BYTES = "a deleted or unread part of the database"


def _as_database(place: Place) -> Place:
    return Place(place.file, place.kind, place.tool, _BYTES, has_lines=False)


def _is_bytes(found: Finding) -> bool:
    return found.inside == _BYTES


def _matters(kind: str) -> bool:
    return kind in ("tool", "own", "repository", "staged")


def is_private_kind(kind: str) -> bool:
    """Whether files of this kind are one person's own affair, so that shutting them to others harms nobody."""
    return kind in ("tool", "backup", "log", "history", "startup", "editor", "settings", "own")


def open_to(status: os.stat_result) -> list[str]:
    """Who besides its owner may read a file, by its mode."""
    return [who for who, bit in (("group", stat.S_IRGRP), ("others", stat.S_IROTH)) if status.st_mode & bit]
