"""What is noted of a key that another has replaced: lost or damaged, it loses no key; its time comes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from toolsync.keyref import NAME
from toolsync.masking import Secret
from toolsync.secret import former, index
from toolsync.secret.former import Former
from toolsync.secret.vault import MemoryVault

FIRST, SECOND = former.entries("work")
OLD, NOW = Secret("sk-invented-old"), Secret("sk-invented-now")


def test_no_profile_can_name_its_entries() -> None:
    assert [NAME.fullmatch(entry) for entry in former.entries("a.b-c")] == [None, None]


@pytest.mark.parametrize(
    "said",
    ["text", 5, [], {"entry": "work"}, {"entry": "home@former-1", "going": 7}, {"until": 5, "is_back": "yes"}],
    ids=str,
)
def test_a_note_that_somebody_damaged_says_nothing(tmp_path: Path, said: Any) -> None:
    (tmp_path / "keys.json").write_text(json.dumps({"names": ["work"], "former": {"work": said}}))
    assert former.noted(tmp_path) == {"work": Former()}
    assert former.read(tmp_path, "work", MemoryVault()) == Former()


@pytest.mark.parametrize("entry", [FIRST, SECOND])
def test_without_a_note_the_keyring_says_where_it_is(tmp_path: Path, entry: str) -> None:
    vault = MemoryVault()
    vault.set(entry, OLD)
    assert former.read(tmp_path, "work", vault) == Former(entry=entry)


CUT_SHORT = [
    pytest.param(None, NOW, Former(entry=SECOND), {SECOND}, id="before anything was put away"),
    pytest.param(NOW, NOW, Former(entry=SECOND), {SECOND}, id="before the new key came"),
    pytest.param(OLD, NOW, Former(entry=FIRST), {FIRST}, id="after it"),
]


@pytest.mark.parametrize(("put", "now", "expected", "entries"), CUT_SHORT)
def test_a_rotation_that_was_cut_short_counts_as_done_or_not_begun(
    tmp_path: Path, put: Secret | None, now: Secret, expected: Former, entries: set[str]
) -> None:
    vault = MemoryVault()
    vault.set("work", now)
    vault.set(SECOND, Secret("sk-invented-older"))
    if put is not None:
        vault.set(FIRST, put)
    former.note(tmp_path, "work", Former(entry=SECOND, going=FIRST))
    assert former.settled(tmp_path, "work", vault) == expected
    assert {name for name in former.entries("work") if vault.get(name)} == entries
    assert former.noted(tmp_path) == {"work": expected}


DAY = "2026-01-02T00:00:00"
TIMES = [(f"{DAY}+00:00", True), (DAY, True), ("2026-01-03T00:00:00Z", False), ("", True), ("soon", True)]


@pytest.mark.parametrize(("until", "expected"), TIMES)
def test_its_time_comes(until: str, expected: bool) -> None:
    assert former.is_due(Former(entry=FIRST, until=until), datetime(2026, 1, 2, 12, tzinfo=UTC)) is expected


def test_names_and_notes_do_not_disturb_each_other(tmp_path: Path) -> None:
    index.record(tmp_path, "work")
    former.note(tmp_path, "work", Former(entry=FIRST))
    index.record(tmp_path, "home")
    index.forget(tmp_path, "work")
    assert (index.recorded(tmp_path), former.kept(tmp_path, ["work", "home"])) == (("home",), (FIRST,))
    former.note(tmp_path, "work", Former())
    assert (index.recorded(tmp_path), former.noted(tmp_path)) == (("home",), {})
