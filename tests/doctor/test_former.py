"""A variable that still holds the key from before a rotation: said as that, once the gateway refuses it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.doctor.home import KEY, OTHER, Home
from tests.keys import invented
from toolsync.commands.doctor.standing import standing
from toolsync.doctor.checks import findings
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.remedy import fix
from toolsync.masking import Secret
from toolsync.secret import former
from toolsync.secret.former import Former
from toolsync.secret.vault import MemoryVault
from toolsync.sentence import tell

ROWS = {
    "the key from before": (
        OTHER,
        False,
        [("env_not_refreshed", "likely", "Start a new shell, or set ANTHROPIC_AUTH")],
    ),
    "the same, set in a file": (OTHER, True, [("env_not_refreshed", "likely", "Put the new key in the place of")]),
    "the profile's": (KEY, False, []),
    "somebody else's": (invented("else"), False, [("foreign_credential", "likely", "")]),
}


@pytest.mark.parametrize(("exported", "is_written", "expected"), ROWS.values(), ids=ROWS)
def test_a_variable_after_a_rotation(
    tmp_path: Path, exported: str, expected: list[tuple[str, str, str]], *, is_written: bool
) -> None:
    vault = MemoryVault()
    for name, key in (("work", KEY), ("work@former-1", OTHER)):
        vault.set(name, Secret(key))
    home = Home(tmp_path, {"ANTHROPIC_AUTH_TOKEN": exported, "SHELL": "/bin/bash"}, vault=vault)
    home.write({".claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://gw.example/api"}})})
    if is_written:
        home.write({".bashrc": "export ANTHROPIC_AUTH_TOKEN=$OLD\n"})
    former.note(home.session().state, "work", Former("work@former-1", "2026-12-01T00:00:00+00:00"))
    found = [one for one in findings(home.look("claude-code")) if "AUTH_TOKEN" in str(one.where)]
    fixes = [one.fix or Fix("") for one in found]
    told = [(one.cause, one.certainty, tell(fix.text)) for one, fix in zip(found, fixes, strict=True)]
    assert [(cause, certainty) for cause, certainty, _ in told] == [row[:2] for row in expected]
    assert all(said.startswith(row[2]) for (_, _, said), row in zip(told, expected, strict=True)), told


@pytest.mark.parametrize("is_kept", [True, False])
def test_where_the_new_key_is_refused_the_way_back_is_named_beside_another_one(tmp_path: Path, is_kept: bool) -> None:
    vault = MemoryVault()
    vault.set("work", Secret(KEY))
    if is_kept:
        vault.set("work@former-1", Secret(OTHER))
    home = Home(tmp_path, vault=vault)
    home.write({".claude/settings.json": "{}"})
    former.note(home.session().state, "work", Former("work@former-1", "2026-12-01T00:00:00+00:00"))
    look = home.look("claude-code")
    stands = replace(standing(look, Finding("key_invalid")), is_set=True)
    found = fix(look.effective, Finding("key_invalid"), look.world.profile, stands)
    assert found is not None
    assert found.argv == ("key", "rotate", "work")
    back = ["the key that it replaced is still kept: `toolsync key rotate work --back` goes back to it"]
    assert [tell(line).partition(",")[0] for line in found.why] == (back if is_kept else [])
