"""Users' own tools: what cannot be used is named, with the reason."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolsync.errors import FileError, TemplateError
from toolsync.registry import named, tools

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
    with pytest.raises(TemplateError, match=r"/tools/mine: the schema of a\.json is none: 'nothing' is not valid"):
        named(tools(config), "mine")


WRONG = {
    "unknown field, wrong type, twice named": (
        f'{TOOL}titel = "x"\nrunning = 1\n\n[detect]\npaths = ["~/a", 5]\n',
        [
            "6: file[0].titel: there is no such field; there are overlay, part, of, path, ",
            "7: file[0].running: 1 is not a list",
            "10: detect.paths[1]: 5 is not text",
        ],
    ),
    "dialect": ('speaks = ["openai"]\n' + TOOL, ["1: speaks[0]: 'openai' is none of "]),
    "field": ('titel = "x"\n' + TOOL, ["1: titel: there is no such field; did you mean 'title'?"]),
    "no file": ('title = "x"\n', ["1: 'file' is missing"]),
    "no path": (TOOL + "[detect]\npaths = 5\n", ["7: detect.paths: 5 is not text or a list"]),
    "another folder": (TOOL.replace('"a.json"', '"../a"'), ["3: file[0].overlay: '../a' is no name of a file in this"]),
    "layer": (TOOL + '[[layer]]\nname = "x"\n', ["6: layer[0]: the table must say one of file, overlay, environment"]),
    "trace": (TOOL + '[trace]\nkey = "x"\n', ["7: trace.key: 'x' is not a list"]),
    "request": (
        TOOL + '[request]\nheader = {}\npath = "chat"\nheaders = { key = "a b" }\n',
        [
            "7: request.header: there is no such field; did you mean 'headers'?",
            "8: request.path: 'chat' must begin with '/'",
            "9: request.headers.key: 'a b' is no name of a header",
        ],
    ),
    "processes": (TOOL + "[processes]\nlive = 1\n", ["7: processes.live: 1 is not true or false"]),
    "no TOML": ("x = = 1\n", ["1:5: this is no value"]),
}


@pytest.mark.parametrize(("text", "problems"), WRONG.values(), ids=WRONG)
def test_all_that_is_wrong_in_a_template_is_said_with_its_line(config: Path, text: str, problems: list[str]) -> None:
    file = config / "tools/mine/tool.toml"
    file.write_text(text)
    said = tools(config).broken["mine"].message.splitlines()
    assert [line[: len(f"{file}:{problem}")] for line, problem in zip(said, problems, strict=True)] == [
        f"{file}:{problem}" for problem in problems
    ]


def test_a_broken_template_leaves_the_others_alone(config: Path) -> None:
    (config / "tools/mine/a.json").write_text('{"model": "<modell>"}')
    known = tools(config)
    assert {"claude-code", "codex"} < known.keys()
    assert "mine" not in known
    assert known.broken["mine"].message == f"{config}/tools/mine/a.json: '<modell>' is no fact"
    assert known.broken["mine"].hint.startswith("Did you mean '<model>'? ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"~/a.json"', '"~/' + "{a,b}" * 30 + '"', " means more than 64 files"),
        ('"~/a.json"', '"a.json"', "'a.json' is not an absolute path"),
        ('"~/a.json"', '"~/a.json"\nneeds = "a"', "'a' is not an absolute path"),
        ('title = "Mine"', 'detect.paths = ["~/a", "b"]', "'b' is not an absolute path"),
        ('"schema.json"', '"schema.json"\n[[layer]]\nname = "x"\nfile = "x.json"', "'x.json' is not an absolute path"),
    ],
    ids=["braces", "a file", "what it needs", "what shows it", "a layer"],
)
def test_a_path_that_can_be_none_is_named_with_its_tool(config: Path, old: str, new: str, said: str) -> None:
    (config / "tools/mine/tool.toml").write_text(TOOL.replace(old, new))
    message = tools(config).broken["mine"].message
    assert (message.startswith(f"{config}/tools/mine: '"), message.endswith(said)) == (True, True)


@pytest.mark.parametrize("reference", ["https://h.example/s.json", "#/$defs/b", "other.json"])
def test_a_schema_that_refers_to_what_is_not_in_it_is_refused(config: Path, reference: str) -> None:
    schema = {"$defs": {"a": {"$ref": "#/$defs/c"}, "c": {}}, "anyOf": [{"items": {"$ref": reference}}]}
    (config / "tools/mine/schema.json").write_text(json.dumps(schema))
    said = f"{config}/tools/mine: the schema of a.json names '{reference}', which is not in it"
    assert tools(config).broken["mine"].message == said


def test_a_picture_beside_a_template_is_none(config: Path) -> None:
    (config / "tools/mine/screenshot.png").write_bytes(b"\x89PNG\r\n\xff")
    assert "mine" in tools(config)


def _shut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = Path.stat

    def status(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.parent == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", status)
    monkeypatch.setattr(Path, "lstat", lambda path: status(path, follow_symlinks=False))


def _linked_to_itself(folder: Path, _monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tool.toml").unlink()
    (folder / "tool.toml").symlink_to("tool.toml")


def _a_folder(folder: Path, _monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tool.toml").unlink()
    (folder / "tool.toml").mkdir()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_shut, ": permission denied"),
        (_linked_to_itself, "/tool.toml is no file that can be read"),
        (_a_folder, "/tool.toml is no file that can be read"),
    ],
    ids=["shut", "a link to itself", "a folder"],
)
def test_a_tool_that_cannot_be_read_leaves_the_others_alone(
    config: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path, pytest.MonkeyPatch], None], said: str
) -> None:
    spoil(config / "tools/mine", monkeypatch)
    known = tools(config)
    assert ("codex" in known, list(known.broken), known.broken["mine"].message[-len(said) :]) == (True, ["mine"], said)


def test_a_broken_one_with_a_shipped_ones_name_stands_in_its_place(config: Path) -> None:
    """Taking the shipped one would write what the user replaced; so are those left out that hold its settings."""
    (config / "tools/mine").rename(config / "tools/claude-code")
    (config / "tools/claude-code/a.json").write_text("{")
    known = tools(config)
    assert {"claude-code", "cc-switch"} == set(known.broken)
    assert not {"claude-code", "cc-switch"} & known.keys()


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
