"""The lines that make git ignore a file, and whether they would: tried beside the work tree before it is touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath

from toolsync import disk
from toolsync.gitguard.git import Git
from toolsync.masking import printable
from toolsync.value import frozen

NAME = ".gitignore"


@frozen
class Rule:
    """The pattern that decides about a path.

    Attributes:
        source: the file that it stands in, as git names it.
        line: 1-based.
        pattern: as it stands there.
    """

    source: str
    line: int
    pattern: str

    @property
    def is_ignoring(self) -> bool:
        """Whether it ignores, and does not take another pattern back."""
        return not self.pattern.startswith("!")

    def __str__(self) -> str:
        return printable(f"{self.source}:{self.line} `{self.pattern}`")


def pattern(relative: PurePath) -> str:
    """The anchored pattern for a path below the ignore file, and for nothing else.

    What no line can spell (control characters, bytes that are no text) is any one byte of git's.
    """
    escaped = re.sub(r"([\\*?\[])", r"\\\1", relative.as_posix())
    escaped = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", _any_bytes, escaped)
    return "/" + re.sub(r" (?= *$)", r"\\ ", escaped)


def _any_bytes(match: re.Match[str]) -> str:
    return "?" * len(match[0].encode(errors="surrogateescape"))


def beside_pattern(relative: PurePath, *, is_database: bool) -> str:
    """The anchored pattern for what holds a file's content beside it, for a while or for good.

    The new content of a file, until it is renamed; the journals of an SQLite database (`-journal`, `-wal`).
    """
    if is_database:
        return f"{pattern(relative)}-*"
    folder = pattern(relative.parent) if relative.parent.parts else ""
    return f"{folder}/{disk.TEMP_NAMES}"


def beside_sample(path: Path, *, is_database: bool) -> Path:
    """One of those files."""
    return path.with_name(f"{path.name}-journal" if is_database else disk.TEMP_NAMES.replace("*", "0" * 16))


def deciding(
    git: Git, root: Path, paths: Sequence[Path], planned: Mapping[Path, str | None]
) -> dict[Path, Rule | None]:
    """The rule that decides about each path; None where no pattern matches.

    Args:
        git: who decides.
        root: the work tree.
        paths: below it.
        planned: ignore files as they are to be, by real path; None for one that goes.

    Raises:
        GitError: it cannot tell.
    """
    if not planned:
        return _asked(git, root, paths, (), root)
    folders = {folder for path in paths for folder in path.parents if folder.is_relative_to(root)}
    with _shadow(root, sorted(folders), planned) as shadow:
        return _asked(git, root, paths, (f"--git-dir={_git_dir(git, root)}", f"--work-tree={shadow}"), shadow)


def _git_dir(git: Git, root: Path) -> str:
    return git.said("rev-parse", "--absolute-git-dir", at=root).decode(errors="surrogateescape").removesuffix("\n")


def _asked(git: Git, root: Path, paths: Sequence[Path], options: Sequence[str], at: Path) -> dict[Path, Rule | None]:
    given = b"".join(_bytes(path.relative_to(root)) + b"\0" for path in paths)
    # `-v` too: without it, git before 2.26 takes a path that a `!` pattern matches for an ignored one.
    said = git.said(
        *options, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin", at=at, given=given, fine=(0, 1)
    )
    fields = said.decode(errors="surrogateescape").split("\0")
    answers = zip(fields[0::4], fields[1::4], fields[2::4], strict=False)
    return {
        path: Rule(source, int(line), text) if source else None
        for path, (source, line, text) in zip(paths, answers, strict=True)
    }


def _bytes(relative: PurePath) -> bytes:
    return f"./{relative.as_posix()}".encode(errors="surrogateescape")  # a name may begin with `:`


@contextmanager
def _shadow(root: Path, folders: Sequence[Path], planned: Mapping[Path, str | None]) -> Iterator[Path]:
    """A work tree that holds nothing but the ignore files of `folders`, as they are to be."""
    from tempfile import TemporaryDirectory  # not on the way of those who write nothing

    with TemporaryDirectory(prefix="toolsync-") as place:
        shadow = disk.resolve(Path(place)) / "tree"
        for folder in folders:
            below = shadow / folder.relative_to(root)
            below.mkdir(parents=True, exist_ok=True)
            _copy(folder / NAME, below / NAME, planned)
        yield shadow


def _copy(source: Path, copy: Path, planned: Mapping[Path, str | None]) -> None:
    snapshot = disk.read(source)
    text = planned.get(snapshot.real)
    content = snapshot.raw if snapshot.real not in planned else None if text is None else text.encode()
    if content is None:
        return
    if source.is_symlink():  # git does not follow an ignore file that is a link (2.32 and later)
        real = copy.with_name("linked")
        copy.symlink_to(real)
        copy = real
    copy.write_bytes(content)
