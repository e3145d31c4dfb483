"""JSON documents over a corpus of nasty files.

`pytest -k corpus --corpus jsonc=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import corpus_rows, raw
from tests.document import oracle
from tests.document.conftest import Reported
from tests.document.corpus import Row, is_json, is_no_json, refusal, share_to_succeed
from tests.document.damage import check_damaged, damaged
from tests.document.faithful import has_place, removed_or_refused, set_or_refused
from toolsync.document import KeyPath, parse

pytestmark = pytest.mark.usefixtures("room_for_the_oracle")

SHARE_OF_EDITS_TO_SUCCEED = 0.95
SHORT = 2000
"""Bytes of a file that is small enough to be damaged and read again some hundred times."""


def is_object(row: Row) -> bool:
    value = oracle.read(raw(row).decode()).value if is_json(row) else None
    return isinstance(value, tuple) and value[0] == "{"


def edits_of(row: Row) -> list[tuple[KeyPath, Any]]:
    """Each set and insert that a row asks for: path and new value."""
    edits: list[tuple[KeyPath, Any]] = []
    if row.get("set") is not None:
        edits.append((tuple(row["set"]), "https://gateway.example/v1"))
    if row.get("insert"):
        edits.append((("toolsync_new",), "value"))
        edits.append((("toolsync_new", "nested", "key"), {"list": [1, {"x": None}], "empty": {}}))
    if row.get("insert_under") is not None:
        edits.append(((*row["insert_under"], "toolsync_new"), 1))
    return edits


@pytest.mark.corpus("jsonc", where=is_json)
def test_corpus_file_is_byte_identical_when_nothing_is_edited(row: Row) -> None:
    assert parse(raw(row), "jsonc").text.encode() == raw(row)


@pytest.mark.corpus("jsonc", where=is_no_json)
def test_corpus_file_that_is_broken_is_refused_with_its_place(row: Row) -> None:
    for format_ in ("json", "jsonc"):
        assert refusal(row, format_).reason


@pytest.mark.corpus("jsonc", where=is_json)
def test_corpus_edit_is_faithful_or_refused(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    for path, value in edits_of(row):
        set_or_refused(document, path, value)


@pytest.mark.corpus("jsonc", where=is_json)
def test_corpus_removal_keeps_foreign_comments_or_is_refused(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    for keys in row.get("delete") or []:
        removed_or_refused(document, tuple(keys))


@pytest.mark.corpus("jsonc", where=is_object)
def test_corpus_insertion_can_be_taken_back(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    back = document.set(("toolsync_new",), 1).remove(("toolsync_new",))
    assert oracle.read(back.text).value == oracle.read(document.text).value
    assert oracle.read(back.text).comments == oracle.read(document.text).comments


def test_corpus_as_a_whole(pytestconfig: pytest.Config, reported: Reported) -> None:
    """At least 95 % of sets and inserts succeed (of our own rows: all); every refusal is listed with its reason.

    Where no object is to hold a member, or a scalar stands in the way, a refusal is right, listed, and not counted.
    """
    made = 0
    refused: list[str] = []
    others: list[str] = []
    for row in corpus_rows(pytestconfig, "jsonc"):
        if is_no_json(row):
            others.append(f"{row['name']}: {refusal(row, 'jsonc').message}")
            continue
        document = parse(raw(row), "jsonc")
        for path, value in edits_of(row):
            _, reason = set_or_refused(document, path, value)
            made += not reason
            if reason:
                (refused if has_place(document.data, path) else others).append(f"{row['name']}: {reason}")
        removals = [removed_or_refused(document, tuple(keys)) for keys in row.get("delete") or []]
        others += [f"{row['name']}: {reason}" for reason in removals if reason]

    reported(f"jsonc corpus: {made} edits made; refused without need:", refused)
    reported("jsonc corpus: files, edits and removals rightly refused:", others)
    share = share_to_succeed(pytestconfig, "jsonc", SHARE_OF_EDITS_TO_SUCCEED)
    assert made >= share * (made + len(refused))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # room for the oracle is made once a test
@given(st.data())
def test_corpus_texts_damaged_are_read_as_the_oracle_reads_them_or_refused(
    pytestconfig: pytest.Config, data: st.DataObject
) -> None:
    files = [raw(row) for row in corpus_rows(pytestconfig, "jsonc")]
    texts = [file.decode() for file in files if len(file) < SHORT and oracle.is_text(file)]
    check_damaged(damaged(data.draw(st.sampled_from(texts or ["{}"])), data), data)
