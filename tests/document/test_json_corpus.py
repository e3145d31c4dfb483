"""JSON documents over a corpus of nasty files.

`pytest -k corpus --corpus jsonc=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import corpus_rows, is_own_corpus, raw
from tests.document import oracle
from tests.document.damage import check_damaged, damaged
from tests.document.faithful import has_place, removed_or_refused, set_or_refused
from toolsync.document import KeyPath, parse
from toolsync.errors import DocumentError

Row = dict[str, Any]
SHARE_OF_EDITS_TO_SUCCEED = 0.95
SHORT = 2000
"""Bytes of a file that is small enough to be damaged and read again some hundred times."""


@pytest.fixture(autouse=True)
def _room_for_the_oracle() -> Iterator[None]:
    with oracle.room():
        yield


def is_whole(row: Row) -> bool:
    """Whether a row's file can be read at all, by the oracle's word."""
    return oracle.is_whole(raw(row))


def is_broken(row: Row) -> bool:
    return not is_whole(row)


def is_object(row: Row) -> bool:
    value = oracle.read(raw(row).decode()).value if is_whole(row) else None
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


@pytest.mark.corpus("jsonc", where=is_whole)
def test_corpus_file_is_byte_identical_when_nothing_is_edited(row: Row) -> None:
    assert parse(raw(row), "jsonc").text.encode() == raw(row)


@pytest.mark.corpus("jsonc", where=is_broken)
def test_corpus_file_that_is_broken_is_refused_with_its_place(row: Row) -> None:
    for format_ in ("json", "jsonc"):
        with pytest.raises(DocumentError) as caught:
            parse(raw(row), format_)
        assert (caught.value.line or 0) >= 1
        assert (caught.value.column or 0) >= 1
        assert caught.value.reason


@pytest.mark.corpus("jsonc", where=is_whole)
def test_corpus_edit_is_faithful_or_refused(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    for path, value in edits_of(row):
        set_or_refused(document, path, value)


@pytest.mark.corpus("jsonc", where=is_whole)
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


def test_corpus_as_a_whole(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """At least 95 % of sets and inserts succeed (of our own rows: all); every refusal is listed with its reason.

    Where no object is to hold a member, or a scalar stands in the way, a refusal is right, listed, and not counted.
    """
    made = 0
    refused: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for row in corpus_rows(request.config, "jsonc"):
        if is_broken(row):
            others.append((row["name"], reason_of(row)))
            continue
        document = parse(raw(row), "jsonc")
        for path, value in edits_of(row):
            _, reason = set_or_refused(document, path, value)
            made += not reason
            if reason:
                (refused if has_place(document.data, path) else others).append((row["name"], reason))
        removals = [removed_or_refused(document, tuple(keys)) for keys in row.get("delete") or []]
        others += [(row["name"], reason) for reason in removals if reason]

    lines = [f"jsonc corpus: {made} edits made, {len(refused)} refused; files and removals refused: {len(others)}"]
    lines += [f"  {name}: {reason}" for name, reason in [*refused, *others]]
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  what a reader of the test's output asks for
    record_property("refused", refused)
    share = 1 if is_own_corpus(request.config, "jsonc") else SHARE_OF_EDITS_TO_SUCCEED
    assert made >= share * (made + len(refused))


def reason_of(row: Row) -> str:
    with pytest.raises(DocumentError) as caught:
        parse(raw(row), "jsonc")
    return caught.value.message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # room for the oracle is made once a test
@given(st.data())
def test_corpus_texts_damaged_are_read_as_the_oracle_reads_them_or_refused(
    pytestconfig: pytest.Config, data: st.DataObject
) -> None:
    files = [raw(row) for row in corpus_rows(pytestconfig, "jsonc")]
    texts = [file.decode() for file in files if len(file) < SHORT and oracle.is_text(file)]
    check_damaged(damaged(data.draw(st.sampled_from(texts or ["{}"])), data), data)
