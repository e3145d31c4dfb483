"""Files, databases and repositories looked through for secrets: what was found where, and what was not looked at."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO

from toolsync.commands.leaks.finding import NAME, Finding, Limits, Place, Unseen
from toolsync.commands.leaks.sought import Sought
from toolsync.commands.leaks.suspects import Suspects
from toolsync.complaint import in_words
from toolsync.leaks import Finder, Shape, Spot
from toolsync.masking import learn, on_one_line
from toolsync.search import content, database, packed

_MOST_LINES = 10
"""How many lines are named of a secret that stands on more."""

_MOST_FINDINGS = 1000
"""More than anybody reads; their number is still told."""

_ESCAPED = "fish_variables"
"""What fish calls the file of its universal variables, of which it escapes what is no letter or digit."""

_READ = ("startup", "filled", "login", "project", "settings")
"""Kinds of files that programs take a key from: some that nobody got to are no small thing."""

_LOGGED_IN = ("tool", "settings")
"""Kinds of files in which programs keep the token of a login, which is where it belongs."""


class Looking:
    """One look through a machine."""

    def __init__(
        self,
        sought: Sought,
        finder: Finder,
        limits: Limits,
        allows: Callable[[Path, Shape], bool] = lambda _file, _shape: False,
    ) -> None:
        """Nothing is looked at yet; `allows` says whether a key of a shape may stand in a file."""
        self.sought, self.limits = sought, limits
        self._allows = allows
        self.unseen: list[Unseen] = []
        self.files = 0
        self.bytes = 0
        self._finder = finder
        self._found: dict[tuple[Path, str, str, str, str], Finding] = {}
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
            self.unseen.append(Unseen(what, self._late, _matters(kind) or kind in _READ))

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
        if opened.head(len(database.MAGIC)) == database.MAGIC:
            self._stream(_as_database(place), content.Stream(opened.file), self.limits.file_bytes)
            for log in database.logs(place.file):
                self._log_of(place, log)
            self._database(place)
            return
        is_large = place.kind == "repository" and packed.is_packed(opened.file)  # what people keep in those, and no log
        self._parts(place, opened.file, self.limits.blob_bytes if is_large else self.limits.file_bytes)

    def _parts(self, place: Place, file: IO[bytes], most_bytes: int) -> None:
        """Look through the texts in a file, so many bytes of it at most: its own, or those of an archive."""
        left = most_bytes
        for part in packed.parts(file):
            within = replace(place, member=part.name)
            if part.file is None or self.is_over or left <= 0:
                late = f"only its first {most_bytes // 2**20:,} MiB" if left <= 0 else self._late
                reason = f"{on_one_line(part.name)}: {part.reason}" if part.name and part.reason else part.reason
                self.unseen.append(Unseen(place.file, reason or late))
                if not part.reason:
                    return
                continue
            if part.name:
                self._member_name(within)
            before = self.bytes
            self._stream(within, content.Stream(part.file), left)
            left -= self.bytes - before

    def _member_name(self, place: Place) -> None:
        """Look at what an archive calls a file: who names it must not say a key."""
        for hit in self._finder.hits(place.member.encode(errors="replace")):
            learn(hit.value)
            self._note(replace(place, has_lines=False), Spot(0, hit))

    def _stream(self, place: Place, stream: content.Stream, most_bytes: int) -> None:
        """Look through bytes, so many at most, as long as there is time."""
        self.text(place, self._in_time(place, stream, most_bytes))

    @property
    def _late(self) -> str:
        return f"the time of {self.limits.seconds:g} s was over"

    def _in_time(self, place: Place, stream: content.Stream, most_bytes: int) -> Iterator[bytes]:
        self.files += 1
        pieces = stream.pieces(most_bytes)
        for piece in content.unescaped(pieces) if place.file.name.startswith(_ESCAPED) else pieces:
            self.bytes += len(piece)
            yield piece
            if self.is_over:
                self.unseen.append(Unseen(place.file, f"not to its end: {self._late}", _matters(place.kind)))
                return
        if not stream.is_at_end:
            reason = f"only its first {most_bytes // 2**20:,} MiB"
            self.unseen.append(Unseen(place.file, reason, _matters(place.kind)))

    def _log_of(self, place: Place, log: Path) -> None:
        """Look through the log of a database, as through a part of it."""
        try:
            with content.opened(log) as opened:
                self._seen.add((opened.status.st_dev, opened.status.st_ino))
                self._stream(_as_database(place), content.Stream(opened.file), self.limits.file_bytes)
        except FileNotFoundError:
            return
        except OSError as error:
            self._shut(replace(place, file=log), error)

    def _database(self, place: Place) -> None:
        """The texts of its rows; a secret that its bytes show is told once, as a row's if it is one."""
        try:
            read = database.tables if place.kind == "log" else database.cells  # logs say one thing in many rows
            for part in read(place.file):
                if self.is_over:
                    self.unseen.append(Unseen(place.file, "not all its rows: the time was over", _matters(place.kind)))
                    return
                self.text(Place(place.file, place.kind, place.tool, part.place, has_lines=False), [part.text])
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
        file = BytesIO(whole)
        try:
            self._parts(place, file, self.limits.blob_bytes)
        except OSError as error:
            if place.kind == "staged" or place.inside == "index":  # of earlier versions, nobody wants to know
                self._shut(place, error)

    def text(self, place: Place, pieces: Iterable[bytes]) -> None:
        """Look through a text."""
        for spot in self._finder.spots(pieces):
            self._note(place, spot)

    def _note(self, place: Place, spot: Spot) -> None:
        hit = spot.hit
        if isinstance(hit.secret, Shape) and self._allows(place.file, hit.secret):
            return
        if place.kind in _LOGGED_IN and isinstance(hit.secret, Shape) and hit.secret.is_token:
            return
        key = place.file, place.inside, place.member, hit.value, hit.spelling
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _MOST_FINDINGS:
                self._beyond += 1
                return
            found = Finding(place.file, place.kind, place.tool, place.inside, hit, member=place.member)
            self._found[key] = found
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
