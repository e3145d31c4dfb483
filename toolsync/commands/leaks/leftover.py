"""Where one key stands in clear, and in which variables of this shell: what `check` looks through, but repositories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolsync import gateways, registry
from toolsync.commands.leaks.exposing import real_path
from toolsync.commands.leaks.finding import Limits
from toolsync.commands.leaks.looking import Looking
from toolsync.commands.leaks.sought import Sought
from toolsync.commands.leaks.suspects import suspects
from toolsync.errors import SecretError, ToolsyncError
from toolsync.facts import facts
from toolsync.leaks import Finder, Known
from toolsync.leaks.secret import SHORTEST
from toolsync.masking import Secret, on_one_line, printable
from toolsync.planning.delivery import entry_of
from toolsync.profile import for_tool
from toolsync.remembered import Memory
from toolsync.secret import filled
from toolsync.secret.vault import Entry
from toolsync.session import Session
from toolsync.value import frozen

_QUICK = Limits(seconds=10.0, file_bytes=64 * 2**20)
"""Somebody waits for another answer; `check` takes its time."""

_UNREAD = ("backup", "log", "history", "editor")
"""Kinds of files that no tool takes its settings from."""


@frozen
class Leftover:
    """A place where the key stands.

    Attributes:
        where: a file as people write it, `$NAME`, or another program's entry in the keyring (`keyring:SERVICE/USER`).
        lines: 1-based, the first of them; none where there are no lines.
        is_copy: whether no tool reads it: a copy of a settings file, a log, a history.
        is_filled: whether `env` filled the file.
    """

    where: str
    lines: tuple[int, ...] = ()
    is_copy: bool = False
    is_filled: bool = False

    def data(self) -> dict[str, Any]:
        """As JSON values."""
        return {"where": self.where, "lines": list(self.lines), "copy": self.is_copy}

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.lines))
        return f"{self.where} (line {numbers})" if len(self.lines) == 1 else self._of_many(numbers)

    def _of_many(self, numbers: str) -> str:
        return f"{self.where} (lines {numbers})" if self.lines else self.where


@frozen
class Left:
    """What a look for one key brought.

    Attributes:
        places: where it stands, each once; what tools read first.
        missed: files that matter and were not looked through, for people.
    """

    places: tuple[Leftover, ...] = ()
    missed: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[Leftover, ...]:
        """The places that somebody may read the key from."""
        return tuple(one for one in self.places if not one.is_copy)

    @property
    def copies(self) -> tuple[Leftover, ...]:
        """The others."""
        return tuple(one for one in self.places if one.is_copy)


def leftovers(session: Session, memory: Memory, key: Secret) -> Left:
    """The places where the key stands; nothing is looked for that is too short to be a secret.

    Args:
        session: the machine.
        memory: what is applied.
        key: what is looked for, in every spelling that `check` knows.

    Raises:
        FileError: the folder of the user's own tools cannot be read.
    """
    value = key.reveal()
    if len(value) < SHORTEST:
        return Left()
    wanted = Sought((Known("the key", value),), (), is_whole=True, memory=memory)
    looking = Looking(wanted, Finder(wanted.known), _QUICK)
    for one in suspects(session, memory):
        looking.suspects(one)
    variables = (Leftover(f"${printable(name)}") for name, text in session.places.environ.items() if text == value)
    missed = (_shown(session, one.what) for one in looking.unseen if one.matters)
    entries = _entries(session, memory, key)
    places = sorted((*variables, *entries, *_places(session, looking)), key=lambda one: one.is_copy)
    return Left(tuple(places), tuple(dict.fromkeys(missed)))


def _entries(session: Session, memory: Memory, key: Secret) -> Iterator[Leftover]:
    """The entries in the keyring that tools read it from: of those that are here, whether or not that is remembered."""
    names = dict.fromkeys(memory.entries)
    with suppress(ToolsyncError):  # other commands say so
        names |= dict.fromkeys(_looked_up(session))
    with suppress(SecretError):  # nobody finds anything there either
        for name in names:
            if session.open_vault().get(Entry(name)) == key:
                yield Leftover(printable(name))


def _looked_up(session: Session) -> Iterator[str]:
    folder = session.config.parent
    tools = [tool for tool in registry.tools(folder).values() if "keyring" in tool.key]
    for tool in (tool for tool in tools if registry.is_installed(tool, session.places)):
        for profile in session.profiles().profiles:
            gateway = gateways.find(profile.gateway, folder)
            given = facts(for_tool(profile, tool.name), key_variable=gateway.key_variable if gateway else None)
            entry = entry_of(session, tool, profile, str(given["key_variable"].value))
            if entry is not None:
                yield str(entry)


def _places(session: Session, looking: Looking) -> Iterator[Leftover]:
    """The files, each once, however often and in whichever spelling the key stands there."""
    lines: dict[Path, set[int]] = {}
    is_copy: dict[Path, bool] = {}
    for found in looking.findings:
        file = real_path(found.file) or found.file
        lines.setdefault(file, set()).update(found.lines)
        is_copy[file] = is_copy.get(file, True) and found.kind in _UNREAD
    printed = {real_path(path) for path in filled.recorded(session.state)}
    for file, some in lines.items():
        yield Leftover(session.shown(file), tuple(sorted(some)), is_copy[file], file in printed)


def _shown(session: Session, what: Path | str) -> str:
    return session.shown(what) if isinstance(what, Path) else what


def said(found: Iterable[Leftover]) -> str:
    """The places in one sentence's words."""
    return ", ".join(on_one_line(str(one)) for one in found)


def mending(read: Sequence[Leftover], memory: Memory) -> Iterator[str]:
    """What ends that the old key stands in places that toolsync does not write."""
    anew = [one for one in read if one.is_filled]
    if anew:
        yield f"`toolsync env` wrote it into {said(anew)}: take the old lines out, and run the same command again."
    if len(anew) == len(read):
        return
    whose = "Elsewhere toolsync remembers no writing of it" if anew else "toolsync remembers no writing of it there"
    if not memory.everything:
        whose = "Nothing is remembered of what was applied: `toolsync apply` writes it again. Elsewhere"
    yield f"{whose}: put the new key there, or take it out."
