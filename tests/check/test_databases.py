"""What agents keep of every session in databases with a log beside them: looked through, and nothing is left there."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.machine import KEY, Machine
from tests.conftest import needs


def _session_database(path: Path, *, is_open: bool) -> sqlite3.Connection:
    """One of the kind that agents keep what was said in: with a log beside it for as long as it is open."""
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE threads (id TEXT, title TEXT, first_words TEXT)")
    rows = [(f"t{number}", f"try {KEY}", f"please try {KEY}") for number in range(3)]
    connection.executemany("INSERT INTO threads VALUES (?, ?, ?)", rows)
    connection.commit()
    if not is_open:
        connection.close()
    return connection


@pytest.mark.parametrize("is_open", [True, False], ids=["while the program runs", "afterwards"])
@pytest.mark.parametrize("name", [".codex/state_5.sqlite", ".cline/data/db/sessions.db"])
def test_what_an_agent_was_told_stands_in_its_database_too(furnished: Machine, name: str, *, is_open: bool) -> None:
    path = furnished.home / name
    connection = _session_database(path, is_open=is_open)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir() if not one.name.endswith("-shm")}
    (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
    assert (one["shown"], one["inside"], one["count"]) == (f"~/{name}", "table threads", 6)
    after = {one.name: one.read_bytes() for one in path.parent.iterdir() if not one.name.endswith("-shm")}
    assert after == before
    names = {one.name for one in path.parent.iterdir()}
    assert names == ({path.name, f"{path.name}-wal", f"{path.name}-shm"} if is_open else {path.name})
    connection.close()


def test_what_was_deleted_is_in_its_log_still(furnished: Machine) -> None:
    path = furnished.home / ".codex/state_5.sqlite"
    with closing(_session_database(path, is_open=True)) as connection:
        connection.execute("DELETE FROM threads")
        connection.commit()
        (one,) = furnished.toolsync("check", "--json").json["data"]["findings"]
        assert one["inside"] == "a deleted or unread part of the database"


def test_a_log_beside_a_database_is_shut_with_it(furnished: Machine) -> None:
    needs(os.name == "posix", "needs modes of files")
    path = furnished.home / ".codex/state_5.sqlite"
    with closing(_session_database(path, is_open=True)):
        files = (path, path.with_name(f"{path.name}-wal"))
        for one in files:
            one.chmod(0o644)
        assert furnished.toolsync("check", "--fix", "--yes").code == 1
        assert [one.stat().st_mode & 0o777 for one in files] == [0o600, 0o600]
