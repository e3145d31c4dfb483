"""Our own lines that nothing is remembered of, or that came from another machine: undo takes them away."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.acceptance.machine import ADDRESS, Machine

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"
BEFORES = {
    CLAUDE: '{\n  "permissions": {"allow": ["Bash(ls)"]},\n  "env": {"A": "1"}\n}\n',
    CODEX: '# mine\n[model_providers.other]  # too\nname = "other"\nbase_url = "https://other.example/v1"\n',
}
OTHER = "/home/other/pipx/bin/python"
APPLY = ("apply", "--yes", "--no-ping")
UNDOS = (("undo", "--yes"), ("uninstall", "--yes"))


@pytest.fixture
def applied(machine: Machine) -> Machine:
    """Claude Code and Codex, applied."""
    for name, content in BEFORES.items():
        machine.write(name, content)
    assert machine.toolsync(*APPLY).said == (0, "")
    return machine


def _forget(machine: Machine) -> None:
    (machine.state / "memory.json").unlink()


def _move(machine: Machine) -> None:
    """The files as they would be on a machine where toolsync lies elsewhere, and another profile is asked for."""
    helper = json.loads(machine.read(CLAUDE))["apiKeyHelper"].partition(" -I ")[0]
    for name in BEFORES:
        text = machine.read(name)
        moved = text.replace(helper, OTHER).replace(str(machine.config), "/home/other/p.toml")
        assert OTHER in moved
        machine.write(name, moved.replace("key print work", "key print home").replace('"work"]', '"home"]'))


def _both(machine: Machine) -> None:
    _move(machine)
    _forget(machine)


def _left(machine: Machine, *words: str) -> dict[str, str]:
    ran = machine.toolsync(*words, "--json")
    assert ran.said == (0, "")
    return {one["name"]: one["reason"] for one in ran.json["data"].get("left", ())}


@pytest.mark.parametrize("words", UNDOS, ids=["undo", "uninstall"])
@pytest.mark.parametrize("happens", [_forget, _move, _both], ids=["memory lost", "dotfiles pulled", "dotfiles"])
def test_they_go_and_all_else_stays(
    applied: Machine, happens: Callable[[Machine], None], words: tuple[str, ...]
) -> None:
    whole = applied.contents()
    happens(applied)
    assert applied.toolsync(*APPLY).said == (0, "")
    assert applied.contents() == whole
    left = _left(applied, *words)
    assert applied.contents() == BEFORES
    assert {CLAUDE, CODEX}.isdisjoint(name.removeprefix("~/") for name in left)


@pytest.mark.parametrize("words", UNDOS, ids=["undo", "uninstall"])
def test_another_machines_go_where_nothing_was_applied_since(applied: Machine, words: tuple[str, ...]) -> None:
    _move(applied)
    left = _left(applied, *words)
    assert applied.contents() == BEFORES
    assert {CLAUDE, CODEX}.isdisjoint(name.removeprefix("~/") for name in left)


def test_beside_another_address_nothing_applied_since_they_stay_and_are_named(applied: Machine) -> None:
    _move(applied)
    for name in BEFORES:
        applied.write(name, applied.read(name).replace(ADDRESS, "https://mine.example/api"))
    left = _left(applied, "uninstall", "--yes")
    for name in BEFORES:
        assert OTHER in applied.read(name)
        assert "https://mine.example/api" in applied.read(name)
        assert left[f"~/{name}"].endswith(
            "still asks toolsync there for the key of 'home': put by hand what is to stand there"
        )


def test_what_was_right_already_is_remembered_as_ours_once(applied: Machine) -> None:
    _forget(applied)
    assert "everything was right already" in applied.toolsync(*APPLY).out
    memory = (applied.state / "memory.json").read_bytes()
    assert applied.toolsync(*APPLY).said == (0, "")
    assert (applied.state / "memory.json").read_bytes() == memory


def test_beside_another_address_they_are_put_back_and_named(applied: Machine) -> None:
    """Whose the address is, nobody can tell: it is not parted from what gives it its key."""
    for name in BEFORES:
        applied.write(name, applied.read(name).replace(ADDRESS, "https://mine.example/api"))
    whole = applied.contents()
    _forget(applied)
    assert applied.toolsync(*APPLY).said == (0, "")
    assert applied.contents() != whole
    left = _left(applied, "uninstall", "--yes")
    assert applied.contents() == whole
    then = "still asks toolsync there for the key of 'work': put by hand what is to stand there"
    assert left[f"~/{CLAUDE}"] == f"Claude Code {then}"
    assert left[f"~/{CODEX}"] == f"Codex CLI {then}"


MINE = (
    "toolsync key print work",
    "/opt/bin/python -I -m toolsync --config /p.toml key print work | tr -d x",
    "/opt/bin/my-helper",
)


@pytest.mark.parametrize("helper", MINE)
def test_a_helper_that_the_user_wrote_is_put_back(machine: Machine, helper: str) -> None:
    before = f'{{"apiKeyHelper": "{helper}", "env": {{"ANTHROPIC_BASE_URL": "{ADDRESS}"}}}}\n'
    machine.write(CLAUDE, before)
    assert machine.toolsync(*APPLY).said == (0, "")
    assert machine.read(CLAUDE) != before
    left = _left(machine, "uninstall", "--yes")
    assert (machine.read(CLAUDE), f"~/{CLAUDE}" in left) == (before, "toolsync" in helper)
