"""Settings that lie in no file: containers (CC Switch's database) whose parts are texts, planned as files are.

A part is one text with one format, named by a path of its own: `codex` is a row's columns, `codex/settings_config`
the JSON in one of them, `codex/settings_config/config` the TOML in that. Parts never overlap: where one lies inside
another, the outer holds an empty string in its place, and is given the inner one back when it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, cast

from toolsync.errors import TemplateError
from toolsync.paths import Places
from toolsync.value import frozen

Token = str
"""What the rows of a store were at one moment: a digest, so that the journal may hold it."""


@frozen
class Moment:
    """A store at the moment when it was read: what is planned from that holds only as long as it stays so.

    Attributes:
        rows: of every row of ours, whichever profile it belongs to.
        chosen: which rows were chosen, ours or not: the files that they stand for are planned with them.
    """

    rows: Token
    chosen: str


Live = Literal["ours", "theirs", "taken over", "added"]
"""Whose values a tool's own file holds: the store's row of ours, another row, or a local proxy of the store's owner; or
all rows that were switched on, ours `added` to them."""


class Store(Protocol):
    """A container, as one profile sees it: its own rows, and nobody else's."""

    def read(self, path: Path) -> tuple[Mapping[str, str], Moment]:
        """The parts that are there, by name, and the moment for `write`.

        Raises:
            StoreError: it cannot be read, or is not what this store knows.
        """

    def made(self, parts: Mapping[str, str]) -> Collection[str]:
        """The apps whose rows say that an earlier apply made them, be it remembered here or not.

        Args:
            parts: what `read` gave.
        """

    def start(self, path: Path, part: str) -> str | None:
        """What a part that is not there starts as: what choosing it would replace; None for nothing.

        Raises:
            StoreError, FileError: what it would start as cannot be read.
        """

    def write(
        self, path: Path, rows: Mapping[str, Mapping[str, str | None]], seen: Moment, prepared: Callable[[Token], None]
    ) -> None:
        """Make the named parts what is given, all of them or none; the others stay. None removes a whole row.

        Args:
            path: the container.
            rows: new texts by profile (those of others too) and part.
            seen: what `read` gave with the texts that these were made from.
            prepared: called with the new token directly before the commit; what it raises leaves everything old.

        Raises:
            ChangedError: the rows are not what they were then, or others are chosen.
            StoreError: it cannot be written; nothing was changed.
        """

    def live(self, path: Path) -> Mapping[str, Live]:
        """Whose values each tool's own file holds; tools for which no row is chosen are left out.

        Raises:
            StoreError, FileError: it cannot be read.
        """

    def warnings(self, path: Path, live: Collection[str], rows: Collection[str]) -> tuple[str, ...]:
        """What a person should know before the parts are written, a sentence or two each.

        Args:
            path: the container.
            live: the apps whose own files hold, or will hold, what we write.
            rows: the apps whose rows change.

        Raises:
            StoreError, FileError: it cannot be read.
        """

    def parting(self, path: Path, rows: Collection[str], addresses: Collection[bytes]) -> tuple[str, ...]:
        """What a person should know before rows of ours are taken away, a sentence or two each.

        Args:
            path: the container.
            rows: the apps whose rows go.
            addresses: those that toolsync wrote anywhere: where one stands, something of ours may.

        Raises:
            StoreError, FileError: it cannot be read.
        """


_STORES = {"cc_switch": ("toolsync.store.cc_switch", "CcSwitch")}
"""The name in a template to module and class; the module (and SQLite) is imported when such a tool is met."""


def store(name: str, profile: str, places: Places, now_ms: Callable[[], int]) -> Store:
    """The store called `name`, as `profile` sees it.

    Args:
        name: as a template has it.
        profile: whose rows.
        places: where settings lie on this machine.
        now_ms: the present moment, in milliseconds since 1970.

    Raises:
        TemplateError: there is none.
    """
    if name not in _STORES:
        raise TemplateError(f"unknown store '{name}'", hint=f"Known: {', '.join(_STORES)}.")
    module, kind = _STORES[name]
    return cast("Store", getattr(import_module(module), kind)(profile, places, now_ms=now_ms))


def token_now(path: str) -> Token:
    """The token of the store at `path` as it is now, whichever profile wrote: what a recovery asks for.

    One that is gone has none ("") and is no reason to wait: its program was removed.

    Raises:
        StoreError: it cannot be read.
        FileError: nobody can see whether it is there.
    """
    from toolsync import disk
    from toolsync.store import cc_switch  # the only one whose commit can be a transaction's

    if not disk.is_there(Path(path)):
        return ""
    return cc_switch.token_now(Path(path))


def variables(places: Places) -> Mapping[str, str]:
    """Where the owners of stores say that tools' settings lie: variables for path templates, set ones only."""
    from toolsync.store import cc_switch_home

    return cc_switch_home.variables(places)
