"""`check` beside CC Switch: a row of ours by consent does not count, and one of the user's own does."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.acceptance.machine import KEY, Machine
from tests.acceptance.switch import APPLY, DATABASE
from tests.acceptance.switch import furnished as with_switch


def test_a_row_by_consent_is_no_leak_and_one_of_the_users_own_is(furnished: Machine) -> None:
    furnished.profile('plaintext = "allow"\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n')
    with_switch(furnished)
    assert furnished.toolsync(*APPLY).code == 0
    assert _in_rows(furnished) == {("(toolsync-work)", True)}
    with closing(sqlite3.connect(furnished.home / DATABASE)) as database:
        database.execute("UPDATE providers SET notes = ? WHERE id = 'own'", (KEY,))
        database.commit()
    assert _in_rows(furnished) == {("(toolsync-work)", True), ("(own)", False)}


def _in_rows(machine: Machine) -> set[tuple[str, bool]]:
    """The rows in which a key stands, and whether that was agreed to."""
    found = machine.toolsync("check", "--json").json["data"]["findings"]
    return {(one["inside"].split()[-2].rstrip(","), one["agreed"]) for one in found if one["shown"] == f"~/{DATABASE}"}
