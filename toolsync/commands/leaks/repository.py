"""One repository looked through: what it holds now, and earlier versions."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from toolsync.commands.leaks.finding import Place, Unseen
from toolsync.commands.leaks.looking import Looking
from toolsync.errors import GitError
from toolsync.gitguard.blobs import Blobs, Entry, blobs
from toolsync.gitguard.git import Git
from toolsync.gitguard.holding import (
    Versions,
    by_interest,
    commits,
    earlier,
    ignored,
    index,
    loose,
    messages,
    notes,
    own_folder,
    references,
    stranded,
    work_trees,
)
from toolsync.gitguard.leading import commit_of, leading_to
from toolsync.gitguard.repository import WorkTree
from toolsync.masking import mask_key_shapes, on_one_line
from toolsync.search.content import opened
from toolsync.search.listing import listed

STRANDED = ", to which no commit leads any more"
"""How what was found ends in such an object: no clone has it."""

STASHED = re.compile(r", to which (stash@\{\d+\}) leads$")
TAKEN_BACK = ", to which only the reflog leads"
"""How what was found ends in commits that no branch and no tag leads to."""

NOTE = "note on "
"""How what was found begins that `git notes` keeps: a clone has it only where somebody fetches notes."""

_HISTORY = "version "
_FEW_COMMITS = 200
"""So many are looked at where git takes too long over more."""

_MOST_NAMED = 50
"""How many versions git is asked about: each costs a walk through all commits."""

_KEPT_BY_GIT = ("config", "config.worktree", "FETCH_HEAD", "description", "*_EDITMSG", "*_MSG", "hooks/*", "info/*")
"""Files of a repository's own: addresses with a token in them, messages that did not become a commit, and programs."""

INNER = "a repository of its own: run `toolsync check` there"

_MOST_FOLDERS = 5
"""How many are named that git ignores."""

_MOST_LOOSE = 20_000
"""How many files are looked at that git neither knows nor ignores."""


class Repository:
    """One repository that is looked through."""

    def __init__(self, looking: Looking, git: Git, tree: WorkTree) -> None:
        self._looking, self._git, self._tree = looking, git, tree
        self._notes: dict[str, str] = {}

    def look(self, *, is_project: bool) -> None:
        """Files and index, then earlier versions and what commits say.

        Args:
            is_project: whether files count that git does not know, and would take up.

        Raises:
            GitError: the index cannot be read.
        """
        held = index(self._git, self._tree)
        folder = own_folder(self._git, self._tree)
        kept = [file for name in _KEPT_BY_GIT for file in listed(folder / name).files]
        self._looking.files_of("repository", "", kept)
        self._look_at_names()
        with blobs(self._git, self._tree) as contents:
            for entry in self._changed(held.files):
                self._look_at(contents, entry, "index")
            if is_project and self._tree.git_dir is None:
                self._look_at_loose()
                self._pass_over(held.submodules)
            self._look_back(contents, held.files)

    def _look_at_names(self) -> None:
        """Look at what branches and tags are called, and say; a clone has it all."""
        place = Place(self._tree.root, "repository", inside="name of a branch or tag", has_lines=False)
        try:
            for name, words in references(self._git, self._tree):
                self._looking.text(place, [os.fsencode(name)])
                self._looking.text(replace(place, inside=f"message of {mask_key_shapes(on_one_line(name))}"), [words])
        except GitError as error:
            self._looking.unseen.append(Unseen(self._tree.root, f"branches and tags: {error.message}"))

    def _look_at_loose(self) -> None:
        """Look at files that git would take up, and at settings that it ignores."""
        try:
            names, unwanted = loose(self._git, self._tree), ignored(self._git, self._tree)
            others = work_trees(self._git, self._tree)
        except GitError as error:
            reason = f"files that git does not know: {error.message}"
            self._looking.unseen.append(Unseen(self._tree.root, reason, matters=True))
            return
        self._pass_over([name.rstrip("/") for name in names if name.endswith("/")])
        self._pass_over(others, "another work tree of this repository: run `toolsync check` there")
        files = [name for name in names if not name.endswith("/")]
        settings = [name for name in unwanted if not name.endswith("/")]
        folders = [
            on_one_line(name)
            for name in unwanted
            if name.endswith("/") and not any(other.startswith(name) for other in settings)
        ]
        if folders:
            more = f" and {len(folders) - _MOST_FOLDERS:,} more" if len(folders) > _MOST_FOLDERS else ""
            reason = f"folders that git ignores as a whole: {', '.join(folders[:_MOST_FOLDERS])}{more}"
            self._looking.unseen.append(Unseen(self._tree.root, reason))
        for kind, some in (("repository", files), ("project", settings)):
            self._looking.files_of(kind, "", (self._tree.root / name for name in some[:_MOST_LOOSE]))
            if len(some) > _MOST_LOOSE:
                reason = f"only {_MOST_LOOSE:,} of {len(some):,} files that git does not know"
                self._looking.unseen.append(Unseen(self._tree.root, reason))

    def _pass_over(self, names: Iterable[str], reason: str = INNER) -> None:
        """Say that other repositories, or work trees, are not looked at."""
        self._looking.unseen += [Unseen(self._tree.root / name, reason) for name in names]

    def _changed(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Look at the files that git knows; those come back that are not as the index has them."""
        late = 0
        for entry in entries:
            if self._looking.is_over:
                late += 1
                continue
            path = self._tree.root / entry.name
            self._looking.file(Place(path, "repository"))
            if _blob_name(path, self._looking.limits.blob_bytes, len(entry.blob)) != entry.blob:
                yield entry
        if late:
            reason = f"{late:,} files: the time of {self._looking.limits.seconds:g} s was over"
            self._looking.unseen.append(Unseen(self._tree.root, reason, matters=True))

    def _look_back(self, contents: Blobs, entries: Iterable[Entry]) -> None:
        """Look at versions that the index does not have."""
        looking, limits = self._looking, self._looking.limits
        end = time.monotonic() + limits.history_seconds
        try:
            total = commits(self._git, self._tree)
            self._notes = notes(self._git, self._tree)
            every, most = self._earlier(limits.commits)
            for commit, whose, words in messages(self._git, self._tree, limits.commits):
                place = Place(self._tree.root, "repository", inside=f"message of commit {commit}", has_lines=False)
                looking.text(place, [words])
                looking.text(replace(place, inside=f"author of commit {commit}"), [whose])
        except GitError as error:
            looking.unseen.append(Unseen(self._tree.root, f"earlier versions: {error.message}"))
            return
        indexed = [entry.blob for entry in entries]
        versions = by_interest(every.files, indexed)
        versions += self._stranded({*every.objects, *indexed}) if total <= most else ()
        done = 0
        for version in versions[: limits.versions]:
            if looking.is_over or time.monotonic() > end:
                break
            self._look_at(contents, version, _HISTORY)
            done += 1
        if done < len(versions):
            reason = f"{len(versions) - done:,} of {len(versions):,} earlier versions of files (limit)"
            looking.unseen.append(Unseen(self._tree.root, reason))
        if (own_folder(self._git, self._tree) / "shallow").exists():
            reason = "what is older than the commits of this shallow clone: `git fetch --unshallow` brings it"
            looking.unseen.append(Unseen(self._tree.root, reason))
        if total > most:
            reason = f"{total - most:,} commits older than the latest {most:,} (limit), and what no commit leads to"
            looking.unseen.append(Unseen(self._tree.root, reason))
        self._name_commits(versions)

    def _stranded(self, known: Container[str]) -> list[Entry]:
        """What no commit leads to any more, and git has not cleared away yet."""
        try:
            return stranded(self._git, self._tree, known)
        except GitError as error:
            self._looking.unseen.append(Unseen(self._tree.root, f"what no commit leads to: {error.message}"))
            return []

    def _earlier(self, most_commits: int) -> tuple[Versions, int]:
        """The versions in the latest commits: in so many, or in as many as git can tell of in its time."""
        try:
            return earlier(self._git, self._tree, most_commits), most_commits
        except GitError:
            few = min(most_commits, _FEW_COMMITS)
            return earlier(self._git, self._tree, few), few

    def _look_at(self, contents: Blobs, entry: Entry, inside: str) -> None:
        place = Place(self._tree.root / entry.name, "repository", inside=inside)
        if inside == _HISTORY and entry.blob in self._notes:
            inside = f"{NOTE}{self._notes[entry.blob][:12]}"
            place = Place(self._tree.root, "repository", inside=inside, has_lines=False)
        elif inside == _HISTORY:
            place = Place(place.file, "repository", inside=f"{_HISTORY}{entry.blob}")
        look_at(self._looking, contents, entry, place, is_told=inside != _HISTORY)

    def _name_commits(self, versions: Iterable[Entry]) -> None:
        """Say in which commit each version is that something was found in, and what leads to it."""
        by_blob = {f"{_HISTORY}{version.blob}": version for version in versions}
        named: dict[str, str] = {}
        for found in self._looking.findings:
            if found.inside in by_blob:
                version = by_blob[found.inside]
                blob = version.blob
                if version.name and blob not in named and len(named) < _MOST_NAMED:
                    named[blob] = commit_of(self._git, self._tree, blob)
                lost = "" if version.name else STRANDED
                found.inside = f"commit {named[blob]}" if named.get(blob) else f"object {blob[:12]}{lost}"
                found.tree = self._tree
        led: dict[str, str] = {}
        for found in self._looking.findings:
            match = _IN_COMMIT.fullmatch(found.inside) if found.file.is_relative_to(self._tree.root) else None
            if match is None:
                continue
            if match[1] not in led and len(led) < _MOST_NAMED:
                led[match[1]] = self._leading_to(match[1])
            if led.get(match[1]):
                found.inside, found.tree = found.inside + led[match[1]], self._tree

    def _leading_to(self, commit: str) -> str:
        """How it is said of a commit that no branch and no tag leads to it; nothing where one does."""
        try:
            led = leading_to(self._git, self._tree, commit)
        except GitError:  # one of another repository inside
            return ""
        return {"reference": "", "reflog": TAKEN_BACK}.get(led, f", to which {led} leads")


_IN_COMMIT = re.compile(r"(?:message of |author of )?commit ([0-9a-f]+)")


def look_at(looking: Looking, contents: Blobs, entry: Entry, place: Place, *, is_told: bool) -> None:
    """Look at a file as git holds it.

    Args:
        looking: what is sought, and found.
        contents: the repository's objects.
        entry: the file.
        place: where a finding is said to be.
        is_told: whether one that is missing, or too long, is named as unseen.

    Raises:
        GitError: git ended.
    """
    try:
        content = contents.read(entry, looking.limits.blob_bytes)
    except (OSError, ValueError) as error:
        raise GitError(f"git ended while it was asked for {on_one_line(entry.name)}") from error
    if content is not None:
        looking.blob(place, content)
    elif is_told:
        limit = looking.limits.blob_bytes // 2**20
        reason = f"in the index: missing there, or more than {limit} MiB"
        matters = place.kind != "staged"  # else the file could never be committed
        looking.unseen.append(Unseen(place.file, reason, matters))


def _blob_name(path: Path, most_bytes: int, length: int) -> str:
    """What git would call the file's content; "" where it is no file, or too long to hold."""
    try:
        if path.is_symlink():
            return ""
        with opened(path) as file:
            if file.status.st_size > most_bytes:
                return ""
            content = file.file.read()
    except OSError:
        return ""
    whole = hashlib.new("sha1" if length == _SHA1 else "sha256", usedforsecurity=False)
    whole.update(b"blob %d\0" % len(content))
    whole.update(content)
    return whole.hexdigest()


_SHA1 = 40
