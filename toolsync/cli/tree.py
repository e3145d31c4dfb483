"""The tree of commands; the module of one is loaded when it is asked for: to load all takes longer than most runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

PARTS = {
    "starting": ("init",),
    "work": ("apply", "undo", "diff", "status", "ping", "models"),
    "doctoring": ("doctor",),
    "telling": ("explain", "tools", "demo", "schema"),
    "profiles": ("use", "profile"),
    "keys": ("key",),
    "checking": ("check",),
    "environment": ("exec", "env", "hook"),
    "benchmarking": ("bench",),
    "leaving": ("uninstall",),
}
"""Which module beside this one holds which commands, in the order of the help; a test holds it against the modules."""


class Tree(TyperGroup):
    """The program's own group, whose commands stand in `PARTS`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        commands: Any = _Commands()  # read only; typer adds none to a group that it was told none for
        self.commands = commands


class _Commands(Mapping[str, Any]):
    """The commands by name."""

    def __init__(self) -> None:
        self._parts = {command: part for part, commands in PARTS.items() for command in commands}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        part = self._parts[name]
        if name not in self._loaded:
            self._loaded |= loaded(part)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def loaded(part: str) -> Mapping[str, Any]:
    """The commands of one module, by name."""
    holder = typer.Typer(rich_markup_mode=None)
    holder.add_typer(import_module(f"toolsync.cli.{part}").app)
    group: Any = typer.main.get_group(holder)
    return dict(group.commands)
