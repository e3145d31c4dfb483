"""Nasty TOML files: every edit is faithful by an oracle that knows nothing of the editor, or is refused.

`pytest -k corpus --corpus toml=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import corpus_rows, raw
from tests.document import oracle_toml as oracle
from tests.document.conftest import Reported
from tests.document.corpus import Row, is_no_toml, is_toml, refusal, share_to_succeed
from tests.document.faithful import has_place, undone
from tests.document.faithful_toml import edited, faults
from toolsync.document import KeyPath, parse
from toolsync.errors import EditRefusedError

Operation = tuple[str, KeyPath, Any]
SHARE_OF_EDITS_TO_SUCCEED = 0.95


def operations(row: Row) -> list[Operation]:
    """What a row asks for: a value changed to each kind there is, keys and tables added, paths removed."""
    found: list[Operation] = []
    if row.get("set") is not None:
        found += [("set", tuple(row["set"]), value) for value in ("new", 7, True, ["a", "b"], {"x": "y"})]
    if row.get("insert_under") is not None:
        under = tuple(row["insert_under"])
        found += [("insert", (*under, "toolsync_new"), value) for value in ("v", {"l": ["v"]})]
        if under and under not in oracle.paths(oracle.data(raw(row).decode())):
            found.append(("insert", under, {"k": "v"}))
    return found + [("delete", tuple(path), None) for path in row.get("delete") or []]


@pytest.mark.corpus("toml", where=is_toml)
def test_corpus_valid_file_is_unchanged_when_nothing_is_edited(row: Row) -> None:
    document = parse(raw(row), "toml")

    assert document.text.encode() == raw(row)
    assert oracle.same(document.data, oracle.data(document.text))


@pytest.mark.corpus("toml", where=is_no_toml)
def test_corpus_invalid_file_is_refused_with_its_place(row: Row) -> None:
    error = refusal(row, "toml")

    assert error.hint or "UTF" in error.reason


@pytest.mark.corpus("toml", where=is_toml)
def test_corpus_edits_are_faithful_or_refused(row: Row) -> None:
    document = parse(raw(row), "toml")
    for kind, path, value in operations(row):
        try:
            after = edited(document, kind, path, value)
        except EditRefusedError:
            continue

        assert faults(document.text, kind, path, value, after.text) == [], f"{kind} {path}:\n{after.text}"
        assert undone(after, document) == document.text


def test_corpus_as_a_whole(pytestconfig: pytest.Config, reported: Reported) -> None:
    """At least 95 % of sets and inserts succeed (of our own rows: all); every refusal is listed with its reason.

    Where a value stands in the way of a table, a refusal is right, listed, and not counted.
    """
    made = 0
    refused: list[str] = []
    others: list[str] = []
    for row in corpus_rows(pytestconfig, "toml"):
        if is_no_toml(row):
            others.append(f"{row['name']}: {refusal(row, 'toml').message}")
            continue
        document = parse(raw(row), "toml")
        for kind, path, value in operations(row):
            try:
                edited(document, kind, path, value)
            except EditRefusedError as error:
                is_right = kind == "delete" or not has_place(document.data, path)
                (others if is_right else refused).append(f"{row['name']}: {kind} {error.reason}")
            else:
                made += kind != "delete"

    reported(f"toml corpus: {made} edits made; refused without need:", refused)
    reported("toml corpus: files, edits and removals rightly refused:", others)
    share = share_to_succeed(pytestconfig, "toml", SHARE_OF_EDITS_TO_SUCCEED)
    assert made >= share * (made + len(refused))


WRONG = {
    "a comment is gone": ("a = 1 # c\n", "a = 1\nb.k = 1\n"),
    "a comment is another key's": ("a = 1 # c\n", "a = 1\nb.k = 1 # c\n"),
    "a comment is above another key": ("# c\n[t]\n", "# c\nb.k = 1\n[t]\n"),
    "a line is spaced anew": ("a=1\nc=2\n", "a = 1\nc = 2\nb.k = 1\n"),
    "a key is gone": ("a = 1\nc = 2\n", "a = 1\nb.k = 1\n"),
    "lines change places": ("a = 1\nc = 2\n", "c = 2\na = 1\nb.k = 1\nd = 1\n"),
    "a line end is another": ("a = 1\r\nc = 1\r\n", "a = 1\r\nc = 1\nb.k = 1\r\n"),
    "a key belongs to another table": ("a.x = 1\nz = 2\n", "a.x = 1\n[b]\nk = 1\nz = 2\n"),
    "blank lines come": ("a = 1\n", "a = 1\n\n\n\n\n\n[b]\nk = 1\n"),
}


@pytest.mark.parametrize(("before", "after"), WRONG.values(), ids=WRONG)
def test_the_oracle_sees_what_an_editor_can_do_wrong(before: str, after: str) -> None:
    assert faults(before, "insert", ("b", "k"), 1, after) != []
