"""Users' own tools: what cannot be used is named, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolsync.errors import FileError, TemplateError
from toolsync.registry import tools

TOOL = """title = "Mine"
[[file]]
overlay = "a.json"
path = "~/a.json"
schema = "schema.json"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "tools/mine"
    folder.mkdir(parents=True)
    (folder / "tool.toml").write_text(TOOL)
    (folder / "a.json").write_text('{"model": "<model>"}')
    (folder / "schema.json").write_text('{"type": "object"}')
    return tmp_path


def test_a_tool_of_ones_own_stands_among_the_shipped(config: Path) -> None:
    assert {"claude-code", "mine"} < tools(config).keys()


def test_a_schema_that_is_none_is_refused_when_it_is_read(config: Path) -> None:
    (config / "tools/mine/schema.json").write_text('{"type": "nothing"}')
    with pytest.raises(TemplateError, match=r"tools/mine: the schema of a\.json is none: 'nothing' is not valid"):
        tools(config)


def test_a_folder_that_is_shut_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passing it over would be silent: it may hold the very tool that is asked for."""
    listed = Path.iterdir

    def shut(folder: Path) -> Iterator[Path]:
        if folder == config / "tools":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", shut)
    with pytest.raises(FileError, match="/tools: permission denied"):
        tools(config)
