"""What was found where, and what was not looked at."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from toolsync.gitguard.repository import WorkTree
from toolsync.leaks import Hit, Known
from toolsync.masking import on_one_line
from toolsync.value import frozen

NAME = "its name"
"""What a finding is inside of if the file is called by a key."""


@frozen
class Limits:
    """How much is looked at.

    Attributes:
        seconds: altogether.
        file_bytes: of one file.
        blob_bytes: of one version of a file in a repository.
        versions: how many earlier versions of files.
        commits: how many commits they are taken from.
        history_seconds: for them.
        git_seconds: for one question to git; None: as long as usual.
    """

    seconds: float = 90.0
    file_bytes: int = 2**30
    blob_bytes: int = 16 * 2**20
    versions: int = 20_000
    commits: int = 5_000
    history_seconds: float = 20.0
    git_seconds: float | None = None


@dataclass
class Finding:
    """A secret in a file, on however many lines.

    Attributes:
        file: where.
        kind: what the file is; see `Suspects`, and `repository`.
        tool: whose; "" for none.
        inside: which part: `index`, a commit, a row of a database; "" for the file itself.
        hit: the first of it.
        lines: the first lines; none where there are no lines.
        count: how often it stands there.
        exposed: who else can have it: `group`, `others`, `tracked`, `open`, `copied`, `history`.
        is_agreed: whether its owner agreed to just that.
        is_used: whether a tool takes it from there, as it is set now.
        is_filled: whether `env` filled the file, and so writes a key of ours anew.
        tree: the work tree of the repository that tracks it, if that is known.
        member: in which file, where it is an archive.
        renewal: the command that writes the key in use over it, where it is an agreed copy of the one before.
    """

    file: Path
    kind: str
    tool: str
    inside: str
    hit: Hit
    lines: list[int] = field(default_factory=list)
    count: int = 0
    exposed: list[str] = field(default_factory=list)
    is_agreed: bool = False
    is_used: bool = False
    is_filled: bool = False
    tree: WorkTree | None = None
    member: str = ""
    renewal: str = ""

    @property
    def part(self) -> str:
        """Where in the file it stands, for people."""
        member = f"in {on_one_line(self.member, limit=200)}" if self.member else ""
        return ", ".join(filter(None, (on_one_line(self.inside), member)))

    @property
    def secret(self) -> str:
        """What the secret is called."""
        return self.hit.secret.name if isinstance(self.hit.secret, Known) else self.hit.secret.title


@frozen
class Unseen:
    """What was not looked at.

    Attributes:
        what: a file, or some of them.
        reason: why not.
        matters: whether nobody can say that all is well without it.
    """

    what: Path | str
    reason: str
    matters: bool = False


@frozen
class Place:
    """What a text is a part of.

    Attributes:
        file: where it stands.
        kind: what the file is.
        tool: whose.
        inside: which part of it.
        has_lines: whether its lines are the file's.
        member: what an archive calls the text.
    """

    file: Path
    kind: str
    tool: str = ""
    inside: str = ""
    has_lines: bool = True
    member: str = ""


def is_private_kind(kind: str) -> bool:
    """Whether files of this kind are one person's own affair, so that shutting them to others harms nobody."""
    return kind in ("tool", "backup", "log", "history", "startup", "login", "editor", "settings", "own", "filled")


def open_to(status: os.stat_result) -> list[str]:
    """Who besides its owner may read a file, by its mode."""
    return [who for who, bit in (("group", stat.S_IRGRP), ("others", stat.S_IROTH)) if status.st_mode & bit]
