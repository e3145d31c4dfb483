"""A key of the user's own that stood in clear before `apply`, and was replaced since: whoever gives it back says so."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine
from tests.keys import invented

NEW, OTHER = invented("new"), invented("another")
FILE = ".claude/settings.json"
UNDO = "`toolsync undo claude-code` would put the old key back into ~/.claude/settings.json, where it stood before\n"
BACK = "~/.claude/settings.json: env.ANTHROPIC_AUTH_TOKEN gets a key back that stood there before: "
REPLACED = f"warning: {BACK}keyring:work has replaced it\n"
STRANGE = f"warning: {BACK}it goes to the gateway of 'work', and is another key than keyring:work\n"


@pytest.fixture
def both() -> Iterator[Both]:
    with Both(KEY, NEW) as gateway:
        yield gateway


def applied(machine: Machine, both: Both, *, key: str = KEY, base_url: str = "") -> str:
    """A Claude Code that its user set up by hand, and then the profile applied to it; what stood there."""
    env = f'"ANTHROPIC_BASE_URL": "{base_url or both.base_url}", "ANTHROPIC_AUTH_TOKEN": "{key}"'
    before = f'{{"env": {{{env}}}}}\n'
    machine.write(FILE, before)
    machine.profile(base_url=both.base_url)
    assert machine.toolsync("apply", "--yes", "--tool", "claude-code").said == (0, "")
    return before


def rotate(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
    ran = machine.toolsync("key", "rotate", "--stdin", "--yes")
    assert ran.said == (0, ""), ran.out
    return ran.out


def test_a_rotation_says_that_undo_has_the_old_key_and_so_does_forgetting_it(
    machine: Machine, both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(machine, both)
    assert f"warning: {UNDO}" in rotate(machine, monkeypatch)
    assert UNDO in machine.toolsync("key", "forget", "--yes").out


@pytest.mark.parametrize("command", ["undo", "uninstall"])
@pytest.mark.parametrize("is_forgotten", [False, True], ids=["kept", "forgotten"])
def test_what_gives_it_back_says_so_before_and_gives_it_back_to_the_byte(
    machine: Machine, both: Both, monkeypatch: pytest.MonkeyPatch, command: str, *, is_forgotten: bool
) -> None:
    before = applied(machine, both)
    rotate(machine, monkeypatch)
    if is_forgotten:
        assert machine.toolsync("key", "forget", "--yes").code == 0
    ran = machine.toolsync(command, "--yes")
    assert (ran.code, ran.out.count(STRANGE if is_forgotten else REPLACED)) == (0, 1), ran.out
    assert (machine.read(FILE), KEY in ran.out) == (before, False)


def test_a_rotation_of_another_key_than_the_one_that_stood_there_says_nothing(
    machine: Machine, both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(machine, both, key=OTHER)
    assert "would put" not in rotate(machine, monkeypatch)
    assert "would put" not in machine.toolsync("key", "forget", "--yes").out


@pytest.mark.parametrize(
    ("key", "base_url"),
    [
        pytest.param(KEY, "", id="the key in use"),
        pytest.param(OTHER, "https://api.example.com", id="another gateway's"),
        pytest.param("${SOME_KEY}", "", id="a reference"),
    ],
)
def test_a_key_that_was_replaced_by_none_comes_back_without_a_word(
    machine: Machine, both: Both, key: str, base_url: str
) -> None:
    before = applied(machine, both, key=key, base_url=base_url)
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, "gets a key back" in ran.out) == (0, False), ran.out
    assert machine.read(FILE) == before


HELD = "warning: the key that is forgotten still stands in ~/.zshrc (line 2)\n"


@pytest.mark.parametrize("is_sure", [True, False], ids=["yes", "nobody is there"])
def test_who_forgets_a_key_is_told_first_what_still_holds_it(
    machine: Machine, both: Both, monkeypatch: pytest.MonkeyPatch, *, is_sure: bool
) -> None:
    applied(machine, both, key=OTHER)
    rotate(machine, monkeypatch)
    machine.write(".zshrc", f"# mine\nexport A_SERVICE={KEY}\n")
    ran = machine.toolsync("key", "forget", *(["--yes"] if is_sure else []))
    assert (ran.code, KEY in ran.out + ran.err) == (0 if is_sure else 2, False)
    assert ran.out.count(HELD) == 1, ran.out
    if not is_sure:
        assert machine.toolsync("key", "rotate", "--back", "--yes").said == (0, "")


def test_a_key_that_another_name_of_the_keyring_holds_is_not_spoken_of(
    machine: Machine, both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(machine, both, key=OTHER)
    rotate(machine, monkeypatch)
    machine.write(".zshrc", f"# mine\nexport A_SERVICE={KEY}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY))
    assert machine.toolsync("key", "set", "spare", "--stdin").code == 0
    assert "still stands" not in machine.toolsync("key", "forget", "--yes").out
