"""`check` beside CC Switch: a row of ours by consent does not count, and one of the user's own does."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.acceptance.switch import APPLY, DATABASE
from tests.acceptance.switch import furnished as with_switch
from tests.check.planted import SHAPED
from tests.keys import invented
from toolsync.masking import Secret


def test_a_row_by_consent_is_no_leak_and_one_of_the_users_own_is(furnished: Machine) -> None:
    furnished.profile('plaintext = "allow"\n[profiles.work.tool.codex]\nkey_way = "plaintext"\n')
    with_switch(furnished)
    assert furnished.toolsync(*APPLY).code == 0
    assert _in_rows(furnished) == {("(toolsync-work)", True)}
    with closing(sqlite3.connect(furnished.home / DATABASE)) as database:
        database.execute("UPDATE providers SET notes = ? WHERE id = 'own'", (KEY,))
        database.commit()
    assert _in_rows(furnished) == {("(toolsync-work)", True), ("(own)", False)}


def test_a_key_of_another_provider_belongs_to_cc_switch(furnished: Machine) -> None:
    with_switch(furnished)
    with closing(sqlite3.connect(furnished.home / DATABASE)) as database:
        settings = json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": SHAPED["anthropic"]}})
        database.execute("UPDATE providers SET settings_config = ? WHERE id = 'own'", (settings,))
        database.commit()
    (furnished.home / DATABASE).chmod(0o600)
    assert {agreed for _, agreed in _in_rows(furnished)} == {True}
    assert furnished.toolsync("check").code == 0


@pytest.mark.parametrize(("tool", "rows"), [("cc-switch-gemini", 1), ("cc-switch", 2)])
def test_each_of_two_profiles_has_its_own_consent(
    furnished: Machine, monkeypatch: pytest.MonkeyPatch, tool: str, rows: int
) -> None:
    """A rotation of either profile's key writes the rows of its own, which hold a copy, and asks nothing."""
    other = invented("switch-other")
    urls = f'urls.gemini = "{ADDRESS}"\n'
    home = f'\n[profiles.home]\nbase_url = "{ADDRESS}"\nmodel = "m"\nkey = "keyring:home"\n{urls}'
    furnished.profile(f"{urls}{_plaintext('work')}{home}{_plaintext('home')}")
    furnished.vault.set("home", Secret(other))
    with_switch(furnished)
    for profile in ("work", "home"):
        agreed = ("--profile", profile, "--tool", tool, "--allow-plaintext")
        assert furnished.toolsync("apply", *agreed, "--yes", "--no-ping").code == 0
    assert _in_rows(furnished) == {("(toolsync-work)", True), ("(toolsync-home)", True)}
    for number, profile in enumerate(("work", "home")):
        monkeypatch.setattr("sys.stdin", io.StringIO(invented(f"switch-new-{number}")))
        ran = furnished.toolsync("key", "rotate", profile, "--stdin", "--yes", "--no-ping")
        assert (ran.code, f"{rows} row{'s' * (rows > 1)} changed" in ran.out) == (0, True), ran.err
    assert _in_rows(furnished) == {("(toolsync-work)", True), ("(toolsync-home)", True)}


def _plaintext(profile: str) -> str:
    """The way by which rows hold a copy as well: those of the tools whose own files they hold."""
    tools = ("claude-code", "codex")
    return "".join(f'\n[profiles.{profile}.tool.{tool}]\nkey_way = "plaintext"\n' for tool in tools)


def _in_rows(machine: Machine) -> set[tuple[str, bool]]:
    """The rows in which a key stands, and whether that was agreed to."""
    found = machine.toolsync("check", "--json").json["data"]["findings"]
    return {(one["inside"].split()[-2].rstrip(","), one["agreed"]) for one in found if one["shown"] == f"~/{DATABASE}"}
