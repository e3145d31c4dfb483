"""What leads to a commit: branches and tags, which every clone has; stashes and reflogs, which none has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from toolsync.errors import GitError
from toolsync.gitguard.git import Git
from toolsync.gitguard.holding import PLAIN, decoded, own_folder
from toolsync.gitguard.repository import WorkTree


def commit_of(git: Git, tree: WorkTree, blob: str) -> str:
    """The latest commit that brought or removed a version of a file, abbreviated; empty where git cannot tell.

    One that branches and tags lead to, if there is any: what has the same version beside that is in fewer hands.
    """
    for whence in (_REFERENCES, ("--all", "--reflog")):
        options = ("log", *whence, "-1", "-m", "--format=%h", f"--find-object={blob}")  # -m: a stash is a merge
        with suppress(GitError):
            said = decoded(git.said(*tree.git_options, *options, *PLAIN, "--no-renames", at=tree.root))
            if said.strip():
                return said.split()[0]  # of a merge, once for each parent
    return ""


_REFERENCES = ("--branches", "--tags", "--remotes", "HEAD")
"""What a clone has, and what is checked out."""


def leading_to(git: Git, tree: WorkTree, commit: str) -> str:
    """What leads to a commit: `reference` (a branch, a tag, what is checked out); `stash@{N}`; or `reflog` alone.

    Raises:
        GitError: it cannot tell.
    """
    if not _is_beyond(git, tree, commit, [*_REFERENCES, "--glob=refs/notes"]):
        return "reference"
    stashes = _stashes(git, tree)
    if _is_beyond(git, tree, commit, stashes):
        return "reflog"
    first = next(number for number, stash in enumerate(stashes) if not _is_beyond(git, tree, commit, [stash]))
    return f"stash@{{{first}}}"


def _is_beyond(git: Git, tree: WorkTree, commit: str, others: Sequence[str]) -> bool:
    """Whether none of the others leads to a commit."""
    words = ("rev-list", "--max-count=1", commit, "--not", *others)
    return bool(git.said(*tree.git_options, *words, at=tree.root).strip())


def _stashes(git: Git, tree: WorkTree) -> list[str]:
    """The stashes, all but the last of which only a reflog leads to."""
    try:
        return decoded(git.said(*tree.git_options, "rev-list", "--walk-reflogs", "refs/stash", at=tree.root)).split()
    except GitError:  # there is none
        return []


def reflogs(git: Git, tree: WorkTree) -> tuple[Path, tuple[str, ...]]:
    """Where the repository keeps its reflogs, and what is checked out of which there is one, in every work tree.

    Raises:
        GitError: it cannot tell.
    """
    folder = own_folder(git, tree)
    try:
        others = sorted(path.parent.parent for path in folder.glob("worktrees/*/logs/HEAD"))
    except OSError:
        others = []
    own = [] if not (folder / "logs/HEAD").exists() else ["main-worktree/HEAD"] if others else ["HEAD"]
    return folder / "logs", (*own, *(f"worktrees/{path.name}/HEAD" for path in others))
