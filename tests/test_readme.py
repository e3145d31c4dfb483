"""The README is run: its sessions as they stand there, its tables against the templates."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.keys import invented
from toolsync import process
from toolsync.__main__ import main
from toolsync.cli import context
from toolsync.doctor import helper
from toolsync.gateways import gateways
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.registry import tools
from toolsync.secret.vault import MemoryVault
from toolsync.tool import Tool

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_INSTALLED = "/home/you/.local/share/pipx/venvs/toolsync/bin/python"
_KEY = invented("readme")


class _Keyring(MemoryVault):
    """Stands in for the keyring that not every machine with the tests has; its name is what the README shows."""

    backend = "Secret Service"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the settings that the README speaks of, and nothing of this machine."""
    vault = _Keyring()
    monkeypatch.setattr(context, "_vault", lambda _is_interactive: lambda: vault)
    monkeypatch.setattr(helper, "printed", lambda *_: helper.Printed(Secret(_KEY)))  # of that keyring, as a child would
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "TOOLSYNC_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(tmp_path), "PATH": "/nowhere"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(
        '{\n  "permissions": {\n    "allow": ["Bash(git diff:*)"]\n  },\n  "env": {\n    "EDITOR": "vim"\n  }\n}\n'
    )
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        '# my Codex\nmodel = "gpt-5-codex"   # the good one\n\n# servers\n[mcp_servers.docs]\ncommand = "npx"\n'
    )
    return tmp_path


def test_the_sessions_say_what_the_program_says(
    home: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(process, "running", tuple)  # a tool that is open here is no part of the session
    text = README.read_text()
    with LoopbackGateway(Secret(_KEY)) as gateway:
        played = _BLOCK.sub(lambda block: f"```console\n{_played(block[1], home, gateway, monkeypatch)}```", text)
    if request.config.getoption("--update-golden"):
        README.write_text(played)
        text = played
    assert _figureless(played) == _figureless(text)


def _played(block: str, home: Path, gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"{line}\n{_output(line, home, gateway, monkeypatch)}" for line in commands)


def _output(line: str, home: Path, gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch) -> str:
    there = gateway.base_url.removesuffix("/api")
    words = line[line.index("toolsync ") :].replace("https://taotoken.net", there).split()[1:]
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{_KEY}\n"))
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        main([*words, "--base-url", gateway.base_url] if words[0] == "init" else words)
    said = out.getvalue().replace(there, "https://taotoken.net").replace(sys.executable, _INSTALLED)
    return said.replace(str(home), "/home/you")


def _figureless(text: str) -> str:
    return re.sub(r"\d+ ms|\*\*\*[0-9a-f]{6}\*\*\*", "#", text)


def test_the_table_of_tools_is_the_templates(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cells = [
        (f"{tool.title} (`{tool.name}`)", ", ".join(_files(tool)), *_as_held(tool, tool.speaks, tool.key))
        for tool in tools(tmp_path).values()
    ]
    head = ["| Tool | Settings | Speaks | Takes the key by |", "|---|---|---|---|"]
    table = "\n".join(["", *head, *(f"| {' | '.join(row)} |" for row in cells), ""])
    _assert_between("tools: derived from templates/, kept by the tests", "tools", table, request)


def _as_held(tool: Tool, *lists: Iterable[str]) -> Iterator[str]:
    """Each list as a cell; where a store says nothing of its own, whose settings it holds does."""
    held = " and ".join(f"`{name}`" for name in tool.holds)
    return (", ".join(words) or f"as {held}" for words in lists)


def _files(tool: Tool) -> Iterable[str]:
    """Each once: a store has many parts."""
    return dict.fromkeys(f"`{row.path[-1]}`" if row.path else f"the profile's `{row.each}`" for row in tool.files)


def test_the_gateways_are_the_templates(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    names = ", ".join(f"`{name}`" for name in gateways(tmp_path))
    _assert_between("gateways", "gateways", names, request)


def _assert_between(start: str, end: str, expected: str, request: pytest.FixtureRequest) -> None:
    text = README.read_text()
    before, rest = text.split(f"<!-- {start} -->")
    found, after = rest.split(f"<!-- /{end} -->", 1)
    if request.config.getoption("--update-golden"):
        README.write_text(f"{before}<!-- {start} -->{expected}<!-- /{end} -->{after}")
        found = expected
    assert found == expected
