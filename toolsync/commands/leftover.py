"""Where a key stands in clear: every file that toolsync or its tools know, by name and line, and never its value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from toolsync import disk
from toolsync.commands.copies import beside
from toolsync.commands.state_folder import own_files
from toolsync.commands.stores import Address
from toolsync.doctor import startup
from toolsync.errors import FileError, TemplateError, ToolsyncError
from toolsync.masking import Secret, on_one_line, printable
from toolsync.paths import candidates
from toolsync.registry import Known
from toolsync.remembered import Memory
from toolsync.session import Session

_SHORTEST = 8
"""A shorter key (`ollama`) stands everywhere, and tells nothing."""

_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Leftover:
    """A place where the key stands.

    Attributes:
        where: a file as people write it, or `$NAME`.
        lines: 1-based; none where there are no lines.
        is_copy: whether it is another program's copy of a settings file, which no tool reads.
    """

    where: str
    lines: tuple[int, ...] = ()
    is_copy: bool = False

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.lines))
        return f"{self.where} (line {numbers})" if len(self.lines) == 1 else self._of_many(numbers)

    def _of_many(self, numbers: str) -> str:
        return f"{self.where} (lines {numbers})" if self.lines else self.where


def leftovers(session: Session, known: Known, memory: Memory, key: Secret) -> tuple[Leftover, ...]:
    """The places where the key stands, each once; nothing is looked for that is too short to be a secret.

    Args:
        session: the machine.
        known: every tool.
        memory: what is applied.
        key: what is looked for, byte for byte, and as JSON's and TOML's escapes spell it.
    """
    value = key.reveal()
    if len(value) < _SHORTEST:
        return ()
    marks = {value.encode(), json.dumps(value)[1:-1].encode()}
    files = dict.fromkeys(_known_files(session, known, memory))
    copies = [path for path in dict.fromkeys(_copies(session, files)) if path not in files]
    variables = [Leftover(f"${printable(name)}") for name, text in session.places.environ.items() if text == value]
    found = [
        Leftover(session.shown(path), lines, is_copy)
        for paths, is_copy in ((files, False), (copies, True))
        for path in paths
        if (lines := _lines(path, marks)) is not None
    ]
    return (*variables, *found)


def _copies(session: Session, files: Iterable[Path]) -> Iterator[Path]:
    """What lies beside the files and may be copies of them; nothing that merely lies in the home folder."""
    for file in files:
        if file.parent != session.places.home and file.is_relative_to(session.places.home):
            yield from beside(file)


def _lines(path: Path, marks: Iterable[bytes]) -> tuple[int, ...] | None:
    """The lines in which one of them stands; None where none does."""
    with suppress(FileError):  # a folder, too large, not ours to read
        raw = disk.read(path).raw or b""
        if not any(mark in raw for mark in marks):
            return None
        if raw.startswith(_SQLITE):
            return ()
        rows = enumerate(raw.splitlines(), start=1)
        return tuple(number for number, line in rows if any(mark in line for mark in marks))
    return None


def _known_files(session: Session, known: Known, memory: Memory) -> Iterator[Path]:
    """Real paths: one that is reached by two names is one place."""
    for path in (*_of_tools(session, known), *_remembered(memory), *_own(session), *startup.files(session.places)):
        with suppress(OSError, ToolsyncError):
            if path.is_file():
                yield disk.resolve(path)


def _remembered(memory: Memory) -> Iterator[Path]:
    for real in memory.files:
        yield Path(real)
        yield Address.parse(real).path


def _of_tools(session: Session, known: Known) -> Iterator[Path]:
    """Wherever a tool may keep its settings, and whatever else it reads."""
    for spec in (*_specs(known), *_named_paths(session)):
        with suppress(TemplateError):  # no variable says where it would lie
            yield from candidates(spec, session.places)


def _specs(known: Known) -> Iterator[str]:
    for tool in known.values():
        yield from (spec for row in tool.files if row.each is None for spec in row.path)
        yield from (spec for layer in tool.layers for spec in layer.path)


def _named_paths(session: Session) -> Iterator[str]:
    """The files that profiles name."""
    with suppress(ToolsyncError):
        for profile in session.profiles().profiles:
            yield from (spec for overrides in profile.tool.values() for spec in overrides.get("paths", ()))


def _own(session: Session) -> Iterator[Path]:
    """The profile and the templates beside it, what toolsync keeps, and the project's own variables."""
    yield session.config
    for name in ("tools", "gateways"):
        with suppress(OSError):
            yield from sorted(session.config.with_name(name).rglob("*"))
    yield from own_files(session.state)
    yield session.places.project / ".env"


def said(found: Iterable[Leftover]) -> str:
    """The places in one sentence's words."""
    return ", ".join(on_one_line(str(one)) for one in found)
