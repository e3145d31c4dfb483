"""Help: every command in one line that is not cut off, every page on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from toolsync import cli
from toolsync.cli import app
from toolsync.cli.tree import PARTS, loaded

_CLICK_LIMIT = 45
"""How many characters of a command's first sentence a narrow terminal shows."""


def _commands(group: Any, words: str = "toolsync") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{words} {name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{words} {name}")


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_a_command_does_is_said_in_a_line_that_is_not_cut(command: Any) -> None:
    said = command.get_short_help_str(_CLICK_LIMIT)
    assert said
    assert not said.endswith("...")


@pytest.mark.parametrize(("name", "command"), COMMANDS.items(), ids=COMMANDS)
def test_a_page_of_help_fits_a_screen(name: str, command: Any) -> None:
    page = typer.Context(command, info_name=name, terminal_width=80).get_help().splitlines()
    assert len(page) <= 24
    assert max(map(len, page)) <= 80


def test_the_help_of_edit_shows_how_a_list_is_spelled() -> None:
    page = typer.Context(COMMANDS["toolsync profile edit"], terminal_width=80).get_help()
    assert """  --set 'tool.config-toml.paths=["~/service/config.toml"]'\n""" in page


@pytest.mark.parametrize(("part", "commands"), PARTS.items(), ids=PARTS)
def test_a_module_holds_the_commands_that_are_looked_for_in_it(part: str, commands: tuple[str, ...]) -> None:
    assert set(loaded(part)) == set(commands)


def test_every_module_of_commands_is_in_the_tree() -> None:
    folder = Path(cli.__file__).parent
    assert {file.stem for file in folder.glob("*.py") if "\napp = typer.Typer()" in file.read_text()} == set(PARTS)
