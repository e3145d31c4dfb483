"""A file that toolsync made goes with the last of ours, but for what its user wrote into it, comments included."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import Machine

CODEX, SERVICE = ".codex/config.toml", "service/config.toml"
NOTE = '# approval_policy = "never"   # try on Monday\n'
SKELETON = '\n[profiles.work.tool.config-toml]\npaths = ["~/service/config.toml"]\n'


def _applied(machine: Machine, tool: str, more: str = "") -> None:
    machine.profile(more)
    ran = machine.toolsync("apply", "--tool", tool, "--yes", "--no-ping")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(("tool", "file", "more"), [("codex", CODEX, ""), ("config-toml", SERVICE, SKELETON)])
@pytest.mark.parametrize("is_first", [True, False], ids=["at its top", "at its end"])
def test_a_comment_of_the_users_keeps_the_file(
    machine: Machine, tool: str, file: str, more: str, *, is_first: bool
) -> None:
    _applied(machine, tool, more)
    text = machine.read(file)
    machine.write(file, NOTE + text if is_first else text + NOTE)
    assert machine.toolsync("undo", "--yes").code == 0
    assert machine.read(file).strip() == NOTE.strip()


@pytest.mark.parametrize(("tool", "file", "more"), [("codex", CODEX, ""), ("config-toml", SERVICE, SKELETON)])
def test_blank_lines_and_our_own_comments_keep_none(machine: Machine, tool: str, file: str, more: str) -> None:
    _applied(machine, tool, more)
    machine.write(file, machine.read(file) + "\n\n")
    assert machine.toolsync("undo", "--yes").code == 0
    assert not (machine.home / file).exists()
