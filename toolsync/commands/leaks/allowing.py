"""Invented and public keys: what a repository says that its files may hold, by shape; never a key that is kept."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from toolsync import disk
from toolsync.commands.leaks.sought import shapes
from toolsync.errors import FileError
from toolsync.gitguard.repository import enclosing
from toolsync.leaks import Shape
from toolsync.masking import on_one_line
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen

FILE = ".toolsync-allow"
"""At a repository's root. A line is `PATTERN`, or `PATTERN: SHAPE`; patterns are like those of `.gitignore`."""


@frozen
class Rule:
    """A line of such a file.

    Attributes:
        pattern: of a name below the root, or of a folder; without `/` inside, of one at any depth.
        shape: the keys that may stand there; "" for all.
    """

    pattern: str
    shape: str

    def fits(self, name: str, shape: str) -> bool:
        """Whether a key of that shape may stand in the file, whose folders end in `/`."""
        if self.shape not in ("", shape):
            return False
        pattern, parts = self.pattern.removeprefix("./").rstrip("/"), name.split("/")
        if "/" not in pattern:
            return any(fnmatch.fnmatchcase(part, pattern) for part in parts)
        pattern = pattern.removeprefix("/")
        heads = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        wanted = {pattern, pattern.removeprefix("**/")}
        return any(fnmatch.fnmatchcase(head, one) for head in heads for one in wanted)


class Allowed:
    """What repositories allow; each file is read once."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session
        self._roots: dict[Path, tuple[Path, ...]] = {}
        self._rules: dict[Path, list[Rule]] = {}
        self._kept: dict[Path, int] = {}
        self._problems: list[Message] = []

    def allows(self, file: Path, shape: Shape) -> bool:
        """Whether a key of that shape may stand in a file."""
        if file not in self._roots:
            self._roots[file] = enclosing(file)
        for root in self._roots[file]:
            name = file.relative_to(root).as_posix()
            if any(rule.fits(name, shape.name) for rule in self._of(root)):
                self._kept[root] = self._kept.get(root, 0) + 1
                return True
        return False

    def _of(self, root: Path) -> list[Rule]:
        if root not in self._rules:
            self._rules[root] = list(self._read(root / FILE))
        return self._rules[root]

    def _read(self, file: Path) -> Iterator[Rule]:
        try:
            text = (disk.read(file).raw or b"").decode("utf-8-sig", errors="replace")
        except FileError as error:
            self._problems.append(Message("warning", error.message, error.hint))
            return
        for number, line in enumerate(text.splitlines(), start=1):
            said = _REMARK.sub("", line).strip()
            pattern, sign, shape = (part.strip() for part in said.rpartition(":"))
            if said and (not sign or shape in self._names):
                yield Rule(pattern, shape) if sign else Rule(said, "")
            elif said:
                where = f"{self._session.shown(file)}:{number}"
                told = f"{where}: no shape of keys is called '{on_one_line(shape)}'"
                self._problems.append(Message("warning", told, f"These are: {', '.join(sorted(self._names))}."))

    @cached_property
    def _names(self) -> set[str]:
        return {shape.name for shape in shapes()}

    def messages(self) -> Iterator[Message]:
        """How much was allowed, and what could not be understood."""
        yield from self._problems
        for root, count in self._kept.items():
            what = "1 key is" if count == 1 else f"{count:,} keys are"
            yield Message("note", f"{what} allowed by {self._session.shown(root / FILE)}")


_REMARK = re.compile(r"(?:^|\s)#.*")
