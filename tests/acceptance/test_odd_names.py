"""Names that are no text: what cannot be said in a tool's file is said by name, and keeps no other tool back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.acceptance.machine import Machine
from tests.conftest import needs

CLAUDE, CODEX, SERVICE = ".claude/settings.json", ".codex/config.toml", "service/config.toml"
BEFORE = {CLAUDE: "{}\n", CODEX: 'model = "mine"\n', SERVICE: '[api]\nbase_url = "mine"\n'}
PATHS = f'\n[profiles.work.tool.config-toml]\npaths = ["~/{SERVICE}"]\n'


@pytest.fixture
def odd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Machine:
    """A machine whose profile lies in a folder with a name that is no UTF-8."""
    needs(sys.platform == "linux", "names of any bytes")
    made = Machine(tmp_path / "machine", tmp_path / os.fsdecode(b"caf\xe9") / "profile.toml", capsys)
    made.profile(PATHS)
    for name, text in BEFORE.items():
        made.write(name, text)
    return made


def test_a_command_that_no_file_can_hold_leaves_those_tools_out_and_no_other(odd: Machine) -> None:
    ran = odd.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 1
    assert "codex is left out: config.toml cannot say model_providers.toolsync.auth: not Unicode text" in ran.out
    assert "claude-code is left out: settings.json cannot say apiKeyHelper: not Unicode text" in ran.out
    assert "has a name that is no UTF-8" in ran.out
    assert "https://gateway.example" in odd.read(SERVICE)
    assert [odd.read(name) for name in (CLAUDE, CODEX)] == [BEFORE[CLAUDE], BEFORE[CODEX]]
    assert odd.toolsync("undo", "--yes").code == 0
    assert {name: odd.read(name) for name in BEFORE} == BEFORE


def test_asked_for_by_name_it_is_an_error(odd: Machine) -> None:
    with odd.untouched():
        ran = odd.toolsync("apply", "--yes", "--no-ping", "--tool", "codex")
    assert ran.code == 2
    assert ran.err.startswith("error: codex: config.toml cannot say model_providers.toolsync.auth: not Unicode text\n")
