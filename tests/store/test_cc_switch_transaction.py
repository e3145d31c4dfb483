"""The database and files together: a crash at any instant leaves both old or both new after the next command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.cc_switch import CLAUDE, CODEX, ROW, Home
from tests.store.cc_switch import home as made
from toolsync import disk
from toolsync.errors import ChangedError, StoreError, TransactionError
from toolsync.store import Moment, cc_switch, token_now
from toolsync.transaction import StoreCommit, Write, commit, recover

_OLD, _NEW = b'{"old": 1}\n', b'{"new": 1}\n'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = made(tmp_path)
    home.write(CODEX)
    home.put(".claude/settings.json", _OLD.decode())
    return home


def _commit(home: Home, seen: Moment | None = None) -> None:
    read = seen or home.store.read(home.database)[1]

    def write(prepared: Callable[[str], None]) -> None:
        home.store.write(home.database, {"work": CLAUDE}, read, prepared)

    stores = StoreCommit(home.database, read.rows, write, token_now)
    file = home.path / ".claude" / "settings.json"
    writes = [Write(file, expected=disk.digest(_OLD), content=_NEW)]
    commit(writes, state_dir=home.path / "state", store=stores)


def _is_new(home: Home) -> tuple[bool, bool]:
    """Of the row, and of the file."""
    return home.row("claude") is not None, (home.path / ".claude" / "settings.json").read_bytes() == _NEW


def test_both_are_written(home: Home) -> None:
    _commit(home)
    assert _is_new(home) == (True, True)
    assert not list((home.path / "state").glob("journal*"))


def test_rows_that_changed_leave_both_old(home: Home) -> None:
    seen = home.store.read(home.database)[1]
    home.run("UPDATE providers SET name = 'Theirs' WHERE id = ?", ROW)
    with pytest.raises(ChangedError):
        _commit(home, seen)
    assert _is_new(home) == (False, False)


def test_a_lock_leaves_both_old(home: Home) -> None:
    seen = home.store.read(home.database)[1]
    with home.connection() as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            _commit(home, seen)
    assert _is_new(home) == (False, False)
    assert recover(home.path / "state", token_now=token_now) is None


_CRASH = """
import os, sys
from pathlib import Path
from tests.store.cc_switch import CLAUDE, Home
from toolsync import disk
from toolsync.store import token_now
from toolsync.transaction import StoreCommit, Write, commit

home, moment = Home(Path(sys.argv[1])), sys.argv[2]
read = home.store.read(home.database)[1]

def write(prepared):
    def almost(token):
        if moment == "before the journal knows":
            os._exit(9)
        prepared(token)
        if moment == "before the commit":
            os._exit(9)
    home.store.write(home.database, {"work": CLAUDE}, read, almost)
    os._exit(9)

file = home.path / ".claude" / "settings.json"
writes = [Write(file, expected=disk.digest(file.read_bytes()), content=b'{"new": 1}\\n')]
commit(writes, state_dir=home.path / "state", store=StoreCommit(home.database, read.rows, write, token_now))
"""


def _crash(home: Home, moment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CRASH, str(home.path), moment], check=False, cwd=Path(__file__).parents[2]
    )
    assert done.returncode == 9


@pytest.mark.parametrize(
    ("moment", "outcome"),
    [
        ("before the journal knows", "undone"),
        ("before the commit", "undone"),
        ("after the commit", "finished"),
    ],
)
def test_a_crash_leaves_both_old_or_both_new(home: Home, moment: str, outcome: str) -> None:
    _crash(home, moment)
    recovery = recover(home.path / "state", token_now=token_now)
    assert recovery is not None
    assert (recovery.outcome, recovery.store_changed) == (outcome, False)
    assert _is_new(home) == (outcome == "finished",) * 2
    assert not list(home.path.glob(".claude/.toolsync*"))


def test_rows_that_cc_switch_changed_after_a_crash_are_left_and_named(home: Home) -> None:
    _crash(home, "after the commit")
    home.run("UPDATE providers SET settings_config = '{}' WHERE id = ? AND app_type = 'claude'", ROW)
    recovery = recover(home.path / "state", token_now=token_now)
    assert recovery is not None
    assert (recovery.outcome, recovery.store_changed) == ("undone", True)
    assert _is_new(home) == (True, False)


def test_a_database_that_is_locked_leaves_the_recovery_for_later(home: Home) -> None:
    _crash(home, "after the commit")
    with home.connection() as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TransactionError, match="locked"):
            recover(home.path / "state", token_now=lambda path: cc_switch.token_now(Path(path), 0.05))
    assert recover(home.path / "state", token_now=token_now) is not None
    assert _is_new(home) == (True, True)
