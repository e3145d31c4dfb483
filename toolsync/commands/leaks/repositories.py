"""Repositories looked through: which ones there are, each as a whole, and what the next commit brings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from toolsync import disk
from toolsync.commands.leaks.finding import Place, Unseen
from toolsync.commands.leaks.looking import Looking
from toolsync.commands.leaks.repository import INNER, Repository, look_at
from toolsync.errors import GitError
from toolsync.gitguard.blobs import blobs
from toolsync.gitguard.git import found as found_git
from toolsync.gitguard.git import work_tree
from toolsync.gitguard.holding import committing, staged
from toolsync.gitguard.repository import WorkTree, dotfiles, enclosing
from toolsync.paths import Places


def repositories(places: Places, files: Iterable[Path]) -> list[WorkTree]:
    """Those that the project, or one of `files`, lies in; and the bare ones that the home folder's files are kept in.

    Args:
        places: whose project and home.
        files: real paths.
    """
    roots: dict[Path, None] = {}
    project = disk.resolve(places.project)
    for file in (project / "x", *files):
        roots.update(dict.fromkeys(enclosing(file)))
    return [*map(WorkTree, roots), *dotfiles(places.home, places.environ)]


def look_through(looking: Looking, trees: Iterable[WorkTree], places: Places) -> None:
    """Look through repositories: files that they know, the index, earlier versions; in the project's, all the rest."""
    trees, environ = list(trees), places.environ
    project = disk.resolve(places.project) / "x"
    try:
        git = replace(found_git(environ), seconds=looking.limits.git_seconds) if trees else None
    except GitError as error:
        looking.unseen += [Unseen(tree.root, f"a repository, and {error.message}", matters=True) for tree in trees]
        return
    looked: set[object] = set()
    for tree in trees if git else ():
        assert git is not None  # noqa: S101  there are trees
        try:
            real = tree if tree.git_dir else work_tree(git, tree.root)
            if real is not None:
                looked.add(real.root)
                Repository(looking, git, real).look(is_project=project.is_relative_to(real.root))
        except GitError as error:
            place = tree.git_dir or tree.root
            looking.unseen.append(Unseen(place, f"git does not read this repository: {error.message}", matters=True))
    # The folder of a submodule that is looked through by itself.
    looking.unseen = [one for one in looking.unseen if one.reason != INNER or one.what not in looked]


def look_at_staged(looking: Looking, places: Places) -> None:
    """Look through what the next commit brings, as the index has it.

    Raises:
        GitError: there is no repository here, or git cannot tell.
    """
    git = committing(places.environ)
    here = disk.resolve(places.project)
    root = next(iter(enclosing(here / "x")), None)
    tree = work_tree(git, root) if root else None
    named = places.environ.get("GIT_DIR", "")
    if tree is None and named:  # as in the hook of a bare repository that the home folder's files are kept in
        tree = WorkTree(here, here / named)
    if tree is None:
        raise GitError("there is no repository here", hint="Run it in one: it looks at what the next commit brings.")
    entries = staged(git, tree)
    with blobs(git, tree) as contents:
        for entry in entries:
            look_at(looking, contents, entry, Place(tree.root / entry.name, "staged", inside="index"), is_told=True)
