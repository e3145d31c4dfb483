"""The contents that a repository holds, read out of one process."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from toolsync.errors import GitError
from toolsync.gitguard.git import Git
from toolsync.gitguard.repository import WorkTree
from toolsync.value import frozen

_PIECE_BYTES = 2**20

TOLD = ("blob", "commit", "tag")
"""Kinds of objects that say what somebody wrote."""


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
class Blobs:
    """Contents by name, out of one process.

    Attributes:
        sent: names go in here.
        told: contents come out here.
    """

    sent: IO[bytes]
    told: IO[bytes]

    def read(self, entry: Entry, most_bytes: int) -> bytes | None:
        """A content; None where it is longer, is missing (a partial clone), or is no file's.

        Of what has no name of a file, what a commit or tag says counts too.

        Raises:
            OSError: git has ended.
        """
        self.sent.write(f"{entry.blob}\n".encode())
        self.sent.flush()
        about = self.told.readline().split()
        if len(about) != 3:  # noqa: PLR2004  name, kind, size; of one that is missing, no size
            return None
        size, content = int(about[2]), None
        if about[1].decode() in (("blob",) if entry.name else TOLD) and size <= most_bytes:
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
