"""Copies of a key that its owner agreed to, where the key itself was replaced since, or cannot be had just now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.keys import invented

NEW = invented("copies-new")
SKELETON = '\n[profiles.work.tool.config-toml]\npaths = ["~/service/config.toml"]\nkey_way = "plaintext"\n'
COPIES = {
    "cline": [".cline/data/secrets.json", ".cline/data/settings/providers.json"],
    "codex": [".codex/config.toml"],
    "config-toml": ["service/config.toml"],
}
ROWS = [(tool, file) for tool, files in COPIES.items() for file in files]


@pytest.fixture
def copied(furnished: Machine) -> Machine:
    """One whose key comes from a variable, with a copy in three tools' files."""
    furnished.environ["GW_KEY"] = KEY
    furnished.profile(f'{SKELETON}[profiles.work.tool.codex]\nkey_way = "plaintext"\n', key="env:GW_KEY")
    ran = furnished.toolsync("apply", "--yes", "--no-ping", "--force", "--allow-plaintext", *_tools())
    assert ran.code == 0, ran.err
    assert all(KEY in furnished.read(file) for _, file in ROWS)
    return furnished


def _tools() -> list[str]:
    return [word for tool in COPIES for word in ("--tool", tool)]


def _findings(machine: Machine) -> dict[str, Any]:
    found = machine.toolsync("check", "--json").json["data"]["findings"]
    return {one["shown"].removeprefix("~/"): one for one in found}


def test_they_are_where_they_are_meant_to_be(copied: Machine) -> None:
    assert {file: one["agreed"] for file, one in _findings(copied).items()} == {file: True for _, file in ROWS}


@pytest.mark.parametrize(("tool", "file"), ROWS)
def test_one_of_the_key_before_is_renewed(copied: Machine, tool: str, file: str) -> None:
    copied.environ["GW_KEY"] = NEW
    one = _findings(copied)[file]
    command = f"toolsync apply --profile work --tool {tool}"
    assert (one["agreed"], one["advice"]) == (
        False,
        f"It is the key from before: `{command}` writes the one in use there.",
    )
    assert "apply" not in one["fixes"]
    assert copied.toolsync(*command.split()[1:], "--yes", "--no-ping").code == 0
    assert _findings(copied)[file]["agreed"]


def test_while_the_key_cannot_be_had_they_are_no_leaks(copied: Machine) -> None:
    del copied.environ["GW_KEY"]
    assert [file for file, one in _findings(copied).items() if not one["agreed"]] == []


def test_another_key_in_their_place_is_one_all_the_same(copied: Machine) -> None:
    del copied.environ["GW_KEY"]
    other = invented("copies-9f2c7d")
    copied.write(".codex/config.toml", copied.read(".codex/config.toml").replace(KEY, other))
    assert not _findings(copied)[".codex/config.toml"]["agreed"]
