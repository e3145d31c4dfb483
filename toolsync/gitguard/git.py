"""Git, asked without letting a repository run anything: its own programs, hooks and transports stay shut."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolsync import on_path
from toolsync.errors import GitError
from toolsync.gitguard.repository import WorkTree
from toolsync.masking import printable
from toolsync.value import frozen

_SECONDS = 10.0

# `ls-files` and `check-ignore` run what a repository's config names as `core.fsmonitor` (tried with git 2.39). A
# bare repository that lies in a work tree, and that could bring such a config along, is not taken for one.
_SHUT = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit"),
)

# A partial clone fetches what it lacks, by programs that its config names: no transport is allowed. The system's and
# the user's own configuration count as they do when the user commits: they say what is ignored, and whom git trusts.
_OURS = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
}


@frozen
class Git:
    """The user's git.

    Attributes:
        program: its absolute path.
        environ: the environment that it is given.
        seconds: how long it may take for an answer; None: as long as usual.
    """

    program: str
    environ: Mapping[str, str]
    seconds: float | None = None

    def argv(self, *arguments: str) -> list[str]:
        """The command line of it."""
        return [self.program, *_SHUT, *arguments]

    def said(self, *arguments: str, at: Path, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
        """What git prints.

        Args:
            arguments: git's own options, the command and what belongs to it.
            at: the folder that it runs in.
            given: its standard input.
            fine: the exit codes that are an answer.

        Raises:
            GitError: it cannot be run, says that it cannot answer, or takes too long.
        """
        seconds = _SECONDS if self.seconds is None else self.seconds
        try:
            done = subprocess.run(
                self.argv(*arguments),
                input=given,
                capture_output=True,
                cwd=at,
                env=self.environ,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git did not answer within {seconds:g} s") from error
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be run: {getattr(error, 'strerror', None) or error}") from error
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        complaints = [line for line in lines if line.startswith(("fatal: ", "error: "))]
        # A sparse index that cannot be read is left out of `ls-files`' answer, and the exit code is 0 all the same.
        if done.returncode not in fine or complaints:
            reason = next(reversed(complaints or lines), f"git ended with code {done.returncode}")
            raise GitError(printable(reason.removeprefix("fatal: ").removeprefix("error: "), limit=300))
        return done.stdout


def work_tree(git: Git, folder: Path) -> WorkTree | None:
    """The work tree that `folder`, in which a `.git` stands, belongs to; None if git sees no repository.

    Raises:
        GitError: there is one that git does not read: another's, a broken one.
    """
    try:
        said = git.said("rev-parse", "--show-toplevel", at=folder)
    except GitError as error:
        if error.message.startswith("not a git repository (or any"):
            return None
        if error.message.startswith("this operation must be run in a work tree"):
            return WorkTree(folder, folder / ".git")
        raise
    root = Path(said.decode(errors="surrogateescape").removesuffix("\n"))
    if not folder.is_relative_to(root):
        raise GitError(f"its `core.worktree` is another folder, {printable(str(root))}")
    return WorkTree(root)


def tracked(git: Git, tree: WorkTree, files: Sequence[Path]) -> list[Path]:
    """Those of `files`, below the tree's root, that its repository holds.

    Raises:
        GitError: it cannot tell.
    """
    by_name = {file.relative_to(tree.root).as_posix(): file for file in files}
    options = (*tree.git_options, "--literal-pathspecs", "ls-files", "-z", "--full-name", "--", *by_name)
    said = git.said(*options, at=tree.root).decode(errors="surrogateescape")
    return [by_name[name] for name in said.split("\0") if name in by_name]


def encrypted(git: Git, tree: WorkTree, files: Sequence[Path]) -> set[Path]:
    """Those of the files that git keeps encrypted: a filter of git-crypt's kind shuts them, and opens them again.

    Raises:
        GitError: it cannot tell.
    """
    by_name = {os.fsencode(file.relative_to(tree.root).as_posix()): file for file in files}
    options = (*tree.git_options, "check-attr", "-z", "--stdin", "filter")
    fields = git.said(*options, at=tree.root, given=b"\0".join(by_name)).split(b"\0")
    return {by_name[name] for name, value in zip(fields[::3], fields[2::3], strict=False) if b"crypt" in value}


def found(environ: Mapping[str, str]) -> Git:
    """The git that the user's shell would find; one that a relative `PATH` entry leads to does not count.

    Raises:
        GitError: there is none.
    """
    program = on_path.found("git", environ)
    if program is None:
        raise GitError("git is not installed")
    return Git(program, {**_scrubbed(environ), **_OURS})


def _scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what points git elsewhere: inside a hook, `GIT_DIR` names another repository."""
    return {name: value for name, value in environ.items() if not name.upper().startswith("GIT_")}
