"""Which repositories a file lies in, and whether a link leads out of one: looked up on disk, no git needed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolsync import disk
from toolsync.value import frozen

_MOST_LINKS = 40
"""As many as Linux follows."""

_DOTFILES = ("dotfiles", "dotfiles.git")
"""What a bare repository is called that is not hidden."""


@frozen
class WorkTree:
    """A folder whose files a repository keeps.

    Attributes:
        root: a real path.
        git_dir: the repository where it does not lie in the folder, or says that it has no work tree: files come to it
            one by one, as they are named, and never by the way.
    """

    root: Path
    git_dir: Path | None = None

    @property
    def git_options(self) -> tuple[str, ...]:
        """What git needs to find it, from anywhere."""
        if self.git_dir is None:
            return ("-C", str(self.root))
        return (f"--git-dir={self.git_dir}", f"--work-tree={self.root}")


def enclosing(real: Path) -> tuple[Path, ...]:
    """The folders above a real path that a `.git` stands in, the nearest first."""
    return tuple(folder for folder in real.parents if disk.exists(folder / ".git"))


def dotfiles(home: Path, environ: Mapping[str, str]) -> tuple[WorkTree, ...]:
    """The bare repositories that people keep the files of `home` in: hidden ones in it, yadm's, vcsh's."""
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    hidden = [place for place in _entries(home) if place.name.startswith(".") and place.name != ".git"]
    named = [folder / name for folder in (home, data, config) for name in _DOTFILES]
    yadm = [folder / "yadm" / "repo.git" for folder in (data, config)]
    vcsh = [place for place in _entries(config / "vcsh" / "repo.d") if place.name.endswith(".git")]
    places = dict.fromkeys([*hidden, *named, *yadm, *vcsh])
    return tuple(WorkTree(disk.resolve(home), place) for place in places if _is_git_dir(place))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # there is none, or it is not ours to read
        return []


def _is_git_dir(place: Path) -> bool:
    return disk.exists(place / "HEAD") and disk.is_folder(place / "objects") and disk.is_folder(place / "refs")


def left(path: Path) -> Path | None:
    """The repository that a link on the way to `path` leads out of; None where none does.

    A link that stands outside and leads into a repository (stow's) is fine: no repository has brought it.
    """
    links = tuple(_links(path))
    if not links:
        return None
    real = disk.resolve(path)
    roots = (root for link in links for root in enclosing(link)[:1])
    return next((root for root in roots if not real.is_relative_to(root)), None)


def _links(path: Path) -> Iterator[Path]:
    """Every link on the way to `path`, in its real place; of a circle, as many as a system would follow."""
    steps, real, seen = [*reversed(path.parts[1:])], Path(path.anchor), 0
    while steps and seen < _MOST_LINKS:
        step = steps.pop()
        place = real.parent if step == ".." else real / step
        if step == ".." or not os.path.islink(place):  # noqa: PTH114  Path.is_symlink raises where we may not look
            real = place
            continue
        seen += 1
        yield place
        target = place.readlink()
        real = Path(target.anchor) if target.is_absolute() else real
        steps.extend(reversed(target.parts[1:] if target.is_absolute() else target.parts))
