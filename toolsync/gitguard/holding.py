"""What a repository holds: its index, what the next commit brings, earlier versions; nothing of its is run.

No work tree is compared with anything here: git would run the filters that the repository's configuration names.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from toolsync.errors import GitError
from toolsync.gitguard.blobs import TOLD, Entry
from toolsync.gitguard.git import Git, found
from toolsync.gitguard.repository import WorkTree
from toolsync.value import frozen

_TEXTS = ("100", "120")
"""How the modes of files begin, and of links, which hold where they lead; submodules have another."""

_SUBMODULE = "160000"

PLAIN = ("--no-show-signature", "--no-patch", "--no-ext-diff", "--no-textconv")
"""What keeps `git log` from running programs that a repository names: `gpg.program`, `diff.external`."""


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
    said = decoded(git.said(*tree.git_options, "ls-files", "-s", "-z", "--full-name", at=tree.root))
    rows = [row.partition("\t") for row in said.split("\0") if row]
    files = [Entry(name, about.split()[1]) for about, _, name in rows if about.startswith(_TEXTS)]
    return Index(files, [name for about, _, name in rows if about.startswith(_SUBMODULE)])


def loose(git: Git, tree: WorkTree) -> list[str]:
    """What of the work tree git would take up, for it neither knows nor ignores it; a repository inside ends in `/`.

    Raises:
        GitError: it cannot tell.
    """
    return _listed(git, tree, "-o", "--exclude-standard")


def ignored(git: Git, tree: WorkTree) -> list[str]:
    """Files that git ignores and that may hold settings, and the folders that it ignores as a whole, which end in `/`.

    Raises:
        GitError: it cannot tell.
    """
    names = _listed(git, tree, "-o", "-i", "--exclude-standard", "--directory")
    return [name for name in names if name.endswith("/") or _holds_settings(name)]


def work_trees(git: Git, tree: WorkTree) -> list[str]:
    """The other work trees of the repository.

    Raises:
        GitError: it cannot tell.
    """
    said = decoded(git.said(*tree.git_options, "worktree", "list", "--porcelain", at=tree.root))
    records = [record.split("\n") for record in said.split("\n\n") if record.startswith("worktree ")]
    there = [Path(lines[0].removeprefix("worktree ")) for lines in records if "bare" not in lines]
    none = {tree.root, own_folder(git, tree).resolve()}  # a submodule's own folder is listed as its main work tree
    return [str(root) for root in there if root not in none and root.is_dir()]


def _listed(git: Git, tree: WorkTree, *options: str) -> list[str]:
    said = decoded(git.said(*tree.git_options, "ls-files", *options, "-z", "--full-name", at=tree.root))
    return [name for name in said.split("\0") if name]


def own_folder(git: Git, tree: WorkTree) -> Path:
    """Where the repository keeps its configuration, for a linked work tree too.

    Raises:
        GitError: it cannot tell.
    """
    said = git.said(*tree.git_options, "rev-parse", "--git-common-dir", at=tree.root)
    return tree.root / decoded(said).removesuffix("\n")


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
    fields = decoded(git.said(*tree.git_options, *options, at=tree.root)).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return [Entry(name, about.split()[3]) for about, name in pairs if about.split()[1].startswith(_TEXTS)]


@frozen
class Versions:
    """What commits lead to.

    Attributes:
        files: every version of every file, the newest first.
        objects: the names of these, and of all the rest: commits, folders.
    """

    files: list[Entry]
    objects: frozenset[str]


def earlier(git: Git, tree: WorkTree, most_commits: int) -> Versions:
    """What the latest commits of all branches and tags lead to, those that are in a reflog alone among them.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    limit = f"--max-count={most_commits}"
    said = decoded(git.said(*tree.git_options, "rev-list", "--objects", "--all", "--reflog", limit, at=tree.root))
    pairs = [line.partition(" ") for line in said.split("\n")]
    return Versions([Entry(name, blob) for blob, _, name in pairs if name], frozenset(blob for blob, _, _ in pairs))


def notes(git: Git, tree: WorkTree) -> dict[str, str]:
    """What `git notes` keeps, every version of it: for each content, the name of the object that the note is on.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    said = decoded(git.said(*tree.git_options, "rev-list", "--objects", "--glob=refs/notes", at=tree.root))
    pairs = (line.partition(" ") for line in said.split("\n"))
    return {blob: on for blob, _, name in pairs if _OBJECT.fullmatch(on := name.replace("/", ""))}


_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def stranded(git: Git, tree: WorkTree, known: Container[str]) -> list[Entry]:
    """The objects that no commit leads to any more: of what was added and not committed, amended, dropped from a stash.

    Args:
        git: how it is asked.
        tree: where.
        known: the names of what is looked at anyway.

    Returns:
        Contents, commits and tags, without a name of a file.

    Raises:
        GitError: it cannot tell, or takes too long.
    """
    if (own_folder(git, tree) / "objects/info/alternates").exists():
        raise GitError("it borrows objects from another repository, which may lead to them")
    options = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)")
    said = decoded(git.said(*tree.git_options, *options, at=tree.root))
    rows = (line.partition(" ") for line in said.splitlines())
    return [Entry("", name) for name, _, kind in rows if kind in TOLD and name not in known]


def messages(git: Git, tree: WorkTree, most_commits: int) -> Iterator[tuple[str, bytes, bytes]]:
    """The latest commits by their abbreviated names: whose they are, and what they say.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    form = "--format=%x00%h%x00%an <%ae>%n%cn <%ce>%x00%B"
    options = ("log", "--all", "--reflog", f"--max-count={most_commits}", *PLAIN)
    fields = git.said(*tree.git_options, *options, form, at=tree.root).split(b"\0")[1:]
    names = (name.decode(errors="replace") for name in fields[::3])
    yield from zip(names, fields[1::3], fields[2::3], strict=False)


def references(git: Git, tree: WorkTree) -> Iterator[tuple[str, bytes]]:
    """What branches and tags are called, and what each annotated tag says; nothing for the others.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    form = "--format=%(refname)%00%(if:equals=tag)%(objecttype)%(then)%(contents)%(end)%00"
    fields = git.said(*tree.git_options, "for-each-ref", form, at=tree.root).split(b"\0")
    names = (decoded(name).removeprefix("\n") for name in fields[::2])
    yield from zip(names, fields[1::2], strict=False)


def commits(git: Git, tree: WorkTree) -> int:
    """How many commits there are on all branches and tags, and in the reflog.

    Raises:
        GitError: it cannot be read, or takes too long.
    """
    return int(git.said(*tree.git_options, "rev-list", "--all", "--reflog", "--count", at=tree.root))


def committing(environ: Mapping[str, str]) -> Git:
    """The user's git as a hook of a commit sees the repository: with the index that this commit is made of.

    `git commit FILE` and `git commit -a` make one for the occasion, and name it to their hooks.

    Raises:
        GitError: there is none.
    """
    git = found(environ)
    named = environ.get("GIT_INDEX_FILE", "")
    return Git(git.program, {**git.environ, "GIT_INDEX_FILE": str(Path.cwd() / named)}) if named else git


def decoded(raw: bytes) -> str:
    """What git says, whatever bytes its names have."""
    return raw.decode(errors="surrogateescape")


def by_interest(entries: Iterable[Entry], known: Iterable[str]) -> list[Entry]:
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
