"""What a repository holds: its index, what the next commit brings, earlier versions; nothing of its is run.

No work tree is compared with anything here: git would run the filters that the repository's configuration names.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from toolsync.errors import GitError
from toolsync.gitguard.git import Git, found
from toolsync.gitguard.repository import WorkTree
from toolsync.value import frozen

_REGULAR = "100"
"""How the mode of a file begins; links and submodules have others."""

_SUBMODULE = "160000"

_PLAIN = ("--no-show-signature", "--no-patch", "--no-ext-diff", "--no-textconv")
"""What keeps `git log` from running programs that a repository names: `gpg.program`, `diff.external`."""

_PIECE_BYTES = 2**20


@frozen
class Entry:
    """A file as a repository holds it.

    Attributes:
        name: below the root of the work tree, `/` between folders.
        blob: the name of its content.
    """

    name: str
    blob: str


@frozen
class Index:
    """What a repository's index holds.

    Attributes:
        files: those in conflict with each of their versions.
        submodules: the folders that belong to repositories of their own.
    """

    files: list[Entry]
    submodules: list[str]


def index(git: Git, tree: WorkTree) -> Index:
    """The index.

    Raises:
        GitError: it cannot be read.
    """
    said = _text(git.said(*tree.git_options, "ls-files", "-s", "-z", "--full-name", at=tree.root))
    rows = [row.partition("\t") for row in said.split("\0") if row]
    files = [Entry(name, about.split()[1]) for about, _, name in rows if about.startswith(_REGULAR)]
    return Index(files, [name for about, _, name in rows if about.startswith(_SUBMODULE)])


def loose(git: Git, tree: WorkTree) -> list[str]:
    """What of the work tree git would take up, for it neither knows nor ignores it; a repository inside ends in `/`.

    Raises:
        GitError: it cannot tell.
    """
    return _listed(git, tree, "-o", "--exclude-standard")


def ignored(git: Git, tree: WorkTree) -> list[str]:
    """Files that git ignores and that may hold settings; not those in folders that it ignores as a whole.

    Raises:
        GitError: it cannot tell.
    """
    names = _listed(git, tree, "-o", "-i", "--exclude-standard", "--directory")
    return [name for name in names if not name.endswith("/") and _holds_settings(name)]


def _listed(git: Git, tree: WorkTree, *options: str) -> list[str]:
    said = _text(git.said(*tree.git_options, "ls-files", *options, "-z", "--full-name", at=tree.root))
    return [name for name in said.split("\0") if name]


def own_folder(git: Git, tree: WorkTree) -> Path:
    """Where the repository keeps its configuration, for a linked work tree too.

    Raises:
        GitError: it cannot tell.
    """
    said = git.said(*tree.git_options, "rev-parse", "--git-common-dir", at=tree.root)
    return tree.root / _text(said).removesuffix("\n")


def staged(git: Git, tree: WorkTree) -> list[Entry]:
    """The files that the next commit adds or changes.

    Raises:
        GitError: it cannot tell.
    """
    try:
        git.said(*tree.git_options, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", at=tree.root)
    except GitError:  # nothing was ever committed: everything is new
        return index(git, tree).files
    options = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--diff-filter=d", "HEAD", "--")
    fields = _text(git.said(*tree.git_options, *options, at=tree.root)).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return [Entry(name, about.split()[3]) for about, name in pairs if about.split()[1].startswith(_REGULAR)]


def earlier(git: Git, tree: WorkTree, most_commits: int) -> list[Entry]:
    """Every version of every file in the latest commits of all branches and tags, the newest first.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    limit = f"--max-count={most_commits}"
    said = _text(git.said(*tree.git_options, "rev-list", "--objects", "--all", "--reflog", limit, at=tree.root))
    pairs = (line.partition(" ") for line in said.split("\n"))
    return [Entry(name, blob) for blob, _, name in pairs if name]


def messages(git: Git, tree: WorkTree, most_commits: int) -> Iterator[tuple[str, bytes]]:
    """What the latest commits say, by their abbreviated names.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    form = "--format=%x00%h%x00%B"
    options = ("log", "--all", "--reflog", f"--max-count={most_commits}", *_PLAIN)
    fields = git.said(*tree.git_options, *options, form, at=tree.root).split(b"\0")[1:]
    yield from zip((name.decode(errors="replace") for name in fields[::2]), fields[1::2], strict=False)


def references(git: Git, tree: WorkTree) -> Iterator[tuple[str, bytes]]:
    """What branches and tags are called, and what each annotated tag says; nothing for the others.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    form = "--format=%(refname)%00%(if:equals=tag)%(objecttype)%(then)%(contents)%(end)%00"
    fields = git.said(*tree.git_options, "for-each-ref", form, at=tree.root).split(b"\0")
    names = (_text(name).removeprefix("\n") for name in fields[::2])
    yield from zip(names, fields[1::2], strict=False)


def commits(git: Git, tree: WorkTree) -> int:
    """How many commits there are on all branches and tags, and in the reflog.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    return int(git.said(*tree.git_options, "rev-list", "--all", "--reflog", "--count", at=tree.root))


def commit_of(git: Git, tree: WorkTree, blob: str) -> str:
    """The latest commit that brought or removed a version of a file, abbreviated; empty where git cannot tell."""
    options = ("log", "--all", "--reflog", "-1", "--format=%h", f"--find-object={blob}")
    try:
        return _text(git.said(*tree.git_options, *options, *_PLAIN, "--no-renames", at=tree.root)).strip()
    except GitError:
        return ""


@frozen
class Blobs:
    """Contents by name, out of one process.

    Attributes:
        sent: names go in here.
        told: contents come out here.
    """

    sent: IO[bytes]
    told: IO[bytes]

    def read(self, blob: str, most_bytes: int) -> bytes | None:
        """A content; None where it is longer, is missing (a partial clone), or is no file's.

        Raises:
            OSError: git has ended.
        """
        self.sent.write(f"{blob}\n".encode())
        self.sent.flush()
        about = self.told.readline().split()
        if len(about) != 3:  # noqa: PLR2004  name, kind, size; of one that is missing, no size
            return None
        size, content = int(about[2]), None
        if about[1] == b"blob" and size <= most_bytes:
            content = self.told.read(size)
        else:
            self._pass(size)
        self.told.read(1)
        return content

    def _pass(self, size: int) -> None:
        """So many bytes go by, without being held."""
        while size > 0:
            size -= len(self.told.read(min(size, _PIECE_BYTES))) or size


@contextmanager
def blobs(git: Git, tree: WorkTree) -> Iterator[Blobs]:
    """The contents that a repository holds, asked for one by one.

    Raises:
        GitError: git cannot be run.
    """
    argv = git.argv(*tree.git_options, "cat-file", "--batch")
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tree.root,
            env=git.environ,
        )
    except (OSError, ValueError) as error:
        raise GitError(f"git cannot be run: {getattr(error, 'strerror', None) or error}") from error
    with process:
        assert process.stdin is not None  # noqa: S101  both are pipes
        assert process.stdout is not None  # noqa: S101  likewise
        try:
            yield Blobs(process.stdin, process.stdout)
        finally:
            process.kill()


def committing(environ: Mapping[str, str]) -> Git:
    """The user's git as a hook of a commit sees the repository: with the index that this commit is made of.

    `git commit FILE` and `git commit -a` make one for the occasion, and name it to their hooks.

    Raises:
        GitError: there is none.
    """
    git = found(environ)
    named = environ.get("GIT_INDEX_FILE", "")
    return Git(git.program, {**git.environ, "GIT_INDEX_FILE": str(Path.cwd() / named)}) if named else git


def _text(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def by_interest(entries: Iterable[Entry], known: Sequence[str]) -> list[Entry]:
    """Versions of files in the order in which they are looked at: those that hold settings first; each content once.

    Args:
        entries: the newest first.
        known: contents that need no look.
    """
    seen = set(known)
    first: list[Entry] = []
    rest: list[Entry] = []
    for entry in entries:
        if entry.blob not in seen:
            seen.add(entry.blob)
            (first if _holds_settings(entry.name) else rest).append(entry)
    return [*first, *rest]


_SETTINGS = (
    ".json",
    ".jsonc",
    ".toml",
    ".yaml",
    ".yml",
    ".ini",
    ".cfg",
    ".conf",
    ".sh",
    ".fish",
    ".ps1",
    ".bak",
    ".log",
)


def _holds_settings(name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    return ".env" in base or base.startswith(".") or base.endswith(_SETTINGS)
