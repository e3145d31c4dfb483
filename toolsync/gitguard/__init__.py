"""The git guard: a file that holds the key must never end in a repository.

Git itself says what it tracks and ignores, for nobody else knows its rules to the last one. Where it cannot say, the
answer is `unknown`, which is never taken for safe.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from toolsync.errors import FileError, GitError
from toolsync.gitguard import chezmoi
from toolsync.gitguard.git import Git, found, tracked, work_tree
from toolsync.gitguard.ignoring import NAME, Rule, beside_pattern, beside_sample, deciding, pattern
from toolsync.gitguard.repository import WorkTree, dotfiles, enclosing, left
from toolsync.value import frozen

__all__ = ["NAME", "Rule", "State", "Verdict", "ignore_file", "left", "lines", "look"]

State = Literal["outside", "ignored", "exposed", "unknown", "copied", "tracked"]
"""From the best to the worst."""


@frozen
class Verdict:
    """What git would do with a file.

    Attributes:
        file: its real path.
        state: `outside` every repository; `ignored`; `exposed`, for nothing ignores it, or what lies
            beside it; `unknown`; `copied` in clear by chezmoi; `tracked`.
        tree: the work tree that says so; None where git cannot tell, and outside.
        lines: those of `lines` that something is not ignored by yet.
        rule: the pattern that takes an earlier one back, where one does.
        reason: why the state is unknown.
    """

    file: Path
    state: State
    tree: WorkTree | None = None
    lines: tuple[str, ...] = ()
    rule: Rule | None = None
    reason: str = ""

    @property
    def is_taken_up(self) -> bool:
        """Whether git would take up the file itself, and not only what toolsync writes beside it."""
        return self.state == "exposed" and lines(self.file)[0] in self.lines

    @property
    def place(self) -> Path | None:
        """The repository as people know it: its work tree, or the bare repository; None where there is none."""
        if self.tree is None:
            return next(iter(enclosing(self.file)), None)
        return self.tree.git_dir or self.tree.root


def ignore_file(file: Path) -> Path | None:
    """The ignore file at the root of the repository that a real path lies in, there or not; None outside."""
    roots = enclosing(file)
    return roots[0] / NAME if roots else None


def lines(file: Path, *, is_database: bool = False) -> tuple[str, ...]:
    """The lines of that ignore file that ignore `file`, and what holds its content beside it."""
    roots = enclosing(file)
    relative = file.relative_to(roots[0]) if roots else None
    return (pattern(relative), beside_pattern(relative, is_database=is_database)) if relative else ()


def look(
    files: Sequence[Path],
    *,
    home: Path,
    environ: Mapping[str, str],
    planned: Mapping[Path, str | None] | None = None,
    databases: Collection[Path] = (),
) -> tuple[Verdict, ...]:
    """What git would do with each of `files`; no process is started where there is no repository.

    Args:
        files: real paths, there or not.
        home: the user's home folder.
        environ: the user's environment.
        planned: ignore files as they are to be, by real path; None for one that goes.
        databases: those of `files` that are databases, which keep journals beside them.

    Raises:
        FileError: chezmoi's folder cannot be read.
    """
    kept = ((file, chezmoi.source(file, home, environ)) for file in files)
    worst = {file: Verdict(file, "copied", WorkTree(at)) if at else Verdict(file, "outside") for file, at in kept}
    bare = dotfiles(home, environ)
    inside = [file for file in files if enclosing(file) or any(file.is_relative_to(tree.root) for tree in bare)]
    for verdict in _verdicts(inside, bare, environ, _Wanted(planned or {}, databases)) if inside else ():
        worst[verdict.file] = max(worst[verdict.file], verdict, key=lambda one: get_args(State).index(one.state))
    return tuple(worst[file] for file in files)


@frozen
class _Wanted:
    """How it is to be: ignore files as they are planned, and which files are databases."""

    planned: Mapping[Path, str | None]
    databases: Collection[Path]

    def lines(self, file: Path) -> tuple[str, ...]:
        return lines(file, is_database=file in self.databases)

    def beside(self, file: Path) -> Path:
        return beside_sample(file, is_database=file in self.databases)


def _verdicts(
    files: Sequence[Path], bare: Sequence[WorkTree], environ: Mapping[str, str], wanted: _Wanted
) -> Iterator[Verdict]:
    """One verdict for each repository that may have a say in a file."""
    try:
        git = found(environ)
    except GitError as error:
        yield from (Verdict(file, "unknown", reason=error.message) for file in files)
        return
    for root, inside in _by_root((enclosing(file)[:1], file) for file in files):
        yield from _or_unknown(inside, _nearest(git, root, inside, wanted))
    for root, inside in _by_root((enclosing(file)[1:], file) for file in files):
        yield from _or_unknown(inside, _outer(git, root, inside))
    for tree in bare:
        inside = [file for file in files if file.is_relative_to(tree.root)]
        yield from _or_unknown(inside, _tracked(git, tree, inside))


def _by_root(pairs: Iterable[tuple[Iterable[Path], Path]]) -> Iterable[tuple[Path, list[Path]]]:
    groups: dict[Path, list[Path]] = {}
    for roots, file in pairs:
        for root in roots:
            groups.setdefault(root, []).append(file)
    return groups.items()


def _or_unknown(files: Iterable[Path], verdicts: Iterator[Verdict]) -> list[Verdict]:
    try:
        return list(verdicts)
    except (GitError, FileError) as error:
        return [Verdict(file, "unknown", reason=error.message) for file in files]


def _nearest(git: Git, root: Path, files: Sequence[Path], wanted: _Wanted) -> Iterator[Verdict]:
    tree = work_tree(git, root)
    if tree is None:
        return
    yield from _tracked(git, tree, files)
    if tree.git_dir is not None:
        return
    rules = deciding(git, tree.root, [*files, *map(wanted.beside, files)], wanted.planned)
    yield from (_judged(file, tree, rules, wanted) for file in files)


def _outer(git: Git, root: Path, files: Sequence[Path]) -> Iterator[Verdict]:
    """A repository around the nearest one: it takes up no file from there, but goes on with one that it knows."""
    tree = work_tree(git, root)
    if tree is not None:
        yield from _tracked(git, tree, files)


def _tracked(git: Git, tree: WorkTree, files: Sequence[Path]) -> Iterator[Verdict]:
    yield from (Verdict(file, "tracked", tree) for file in tracked(git, tree, files))


def _judged(file: Path, tree: WorkTree, rules: Mapping[Path, Rule | None], wanted: _Wanted) -> Verdict:
    by_line = zip(wanted.lines(file), (rules[file], rules[wanted.beside(file)]), strict=True)
    open_lines = {line: rule for line, rule in by_line if rule is None or not rule.is_ignoring}
    if not open_lines:
        return Verdict(file, "ignored", tree)
    rule = next((rule for rule in open_lines.values() if rule), None)
    return Verdict(file, "exposed", tree, tuple(open_lines), rule)
