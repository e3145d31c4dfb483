"""Invented and public keys: what a repository says that its files may hold, by shape; never a key that is kept."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from toolsync import disk
from toolsync.commands.leaks.finding import Finding
from toolsync.commands.leaks.sought import shapes
from toolsync.errors import FileError
from toolsync.gitguard.repository import enclosing
from toolsync.leaks import Shape
from toolsync.masking import on_one_line
from toolsync.result import Message
from toolsync.session import Session
from toolsync.value import frozen

FILE = ".toolsync-allow"
"""At a repository's root. A line is `PATTERN`, or `PATTERN: SHAPE`; `*` in it stands for anything, folders too."""


@frozen
class Rule:
    """A line of such a file.

    Attributes:
        pattern: of names below the root, `/` between folders.
        shape: the keys that may stand there; "" for all.
    """

    pattern: str
    shape: str

    def fits(self, name: str, shape: Shape) -> bool:
        """Whether a key of that shape may stand in the file."""
        return self.shape in ("", shape.name) and fnmatch.fnmatchcase(name, self.pattern)


class Allowed:
    """What the repositories of findings allow; each file is read once."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session
        self._rules: dict[Path, list[Rule]] = {}
        self._kept: dict[Path, int] = {}
        self._problems: list[Message] = []

    def left(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no repository allows."""
        return [one for one in findings if not self._is_allowed(one)]

    def _is_allowed(self, one: Finding) -> bool:
        shape = one.hit.secret
        if not isinstance(shape, Shape):
            return False
        for root in enclosing(one.file):
            name = one.file.relative_to(root).as_posix()
            if any(rule.fits(name, shape) for rule in self._of(root)):
                self._kept[root] = self._kept.get(root, 0) + 1
                return True
        return False

    def _of(self, root: Path) -> list[Rule]:
        if root not in self._rules:
            self._rules[root] = list(self._read(root / FILE))
        return self._rules[root]

    def _read(self, file: Path) -> Iterator[Rule]:
        try:
            text = (disk.read(file).raw or b"").decode(errors="replace")
        except FileError as error:
            self._problems.append(Message("warning", error.message, error.hint))
            return
        for number, line in enumerate(text.splitlines(), start=1):
            pattern, sign, shape = line.strip().rpartition(": ")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if sign and shape.strip() not in self._names:
                said = f"{self._session.shown(file)}:{number}: no shape of keys is called '{on_one_line(shape)}'"
                self._problems.append(Message("warning", said, f"These are: {', '.join(sorted(self._names))}."))
            elif sign:
                yield Rule(pattern.strip(), shape.strip())
            else:
                yield Rule(line.strip(), "")

    @cached_property
    def _names(self) -> set[str]:
        return {shape.name for shape in shapes()}

    def messages(self) -> Iterator[Message]:
        """How much was allowed, and what could not be understood."""
        yield from self._problems
        for root, count in self._kept.items():
            what = "1 finding is" if count == 1 else f"{count:,} findings are"
            yield Message("note", f"{what} allowed by {self._session.shown(root / FILE)}")
