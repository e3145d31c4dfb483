"""JSON documents over a corpus of nasty files, and over what real users' files do.

`pytest -k corpus --corpus jsonc=FILE --corpus real=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import corpus_rows, raw
from tests.document import oracle
from tests.document.damage import check_damaged, damaged
from toolsync.document import MISSING, Document, Item, KeyPath, Value, parse
from toolsync.document.splice import apply, inverse
from toolsync.errors import DocumentError, EditRefusedError

Row = dict[str, Any]
SHARE_OF_EDITS_TO_SUCCEED = 0.95


@pytest.fixture(autouse=True)
def _room_for_the_oracle() -> Iterator[None]:
    with oracle.room():
        yield


def is_whole(row: Row) -> bool:
    """Whether a row's file can be read at all, by the oracle's word."""
    try:
        oracle.read(raw(row).decode())
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def is_broken(row: Row) -> bool:
    return not is_whole(row)


def is_object(row: Row) -> bool:
    return is_whole(row) and oracle.read(raw(row).decode()).value[:1] == ("{",)


def undone(document: Document, text: str) -> str:
    return apply(document.text, inverse(text, document.log))


def edits_of(row: Row) -> list[tuple[KeyPath, Any]]:
    """Each set and insert that a row asks for: path and new value."""
    edits: list[tuple[KeyPath, Any]] = []
    if row.get("set"):
        edits.append((tuple(row["set"]), "https://gateway.example/v1"))
    if row.get("insert"):
        edits.append((("toolsync_new",), "value"))
        edits.append((("toolsync_new", "nested", "key"), {"list": [1, {"x": None}], "empty": {}}))
    if row.get("insert_under"):
        edits.append(((*row["insert_under"], "toolsync_new"), 1))
    return edits


def faithful(row: Row, path: KeyPath, value: Value) -> str:
    """Makes an edit; the reason if it was refused, else nothing.

    Raises:
        AssertionError: it was made, but not faithfully.
    """
    document = parse(raw(row), "jsonc")
    try:
        edited = document.set(path, value)
    except EditRefusedError as error:
        return error.reason
    before, after = oracle.read(document.text), oracle.read(edited.text)
    plain_path = tuple(step for step in path if not isinstance(step, Item))
    assert after.value == oracle.put(before.value, plain_path, value)
    assert after.comments == before.comments
    assert len(oracle.lines_gone(document.text, edited.text)) <= 1
    assert undone(edited, document.text) == document.text
    return ""


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
    for path, value in edits_of(row):
        faithful(row, path, value)


@pytest.mark.corpus("jsonc", where=is_whole)
def test_corpus_removal_keeps_foreign_comments(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    for keys in row.get("delete") or []:
        path = tuple(keys)
        edited = document.remove(path)
        before, after = oracle.read(document.text), oracle.read(edited.text)
        assert edited.get(path) is MISSING
        assert after.value == oracle.drop(before.value, path)
        assert not oracle.foreign_comments(document.text, path) - Counter(after.comments)
        assert not Counter(after.comments) - Counter(before.comments)
        assert undone(edited, document.text) == document.text


@pytest.mark.corpus("jsonc", where=is_object)
def test_corpus_insertion_can_be_taken_back(row: Row) -> None:
    document = parse(raw(row), "jsonc")
    back = document.set(("toolsync_new",), 1).remove(("toolsync_new",))
    assert oracle.read(back.text).value == oracle.read(document.text).value
    assert oracle.read(back.text).comments == oracle.read(document.text).comments


def test_corpus_as_a_whole(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """At least 95 % of sets and inserts succeed; every refusal is listed with its reason.

    A file that holds no object has no place for a member: that refusal is right, listed, and not counted.
    """
    made = 0
    refused: list[tuple[str, str]] = []
    broken: list[tuple[str, str]] = []
    for row in corpus_rows(request.config, "jsonc"):
        if is_broken(row):
            broken.append((row["name"], reason_of(row)))
            continue
        for path, value in edits_of(row):
            reason = faithful(row, path, value)
            made += not reason
            if reason:
                (refused if is_object(row) else broken).append((row["name"], reason))

    lines = [f"jsonc corpus: {made} edits made, {len(refused)} refused; files broken, or no object: {len(broken)}"]
    lines += [f"  {name}: {reason}" for name, reason in [*refused, *broken]]
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201  what a reader of the test's output asks for
    record_property("refused", refused)
    assert made >= SHARE_OF_EDITS_TO_SUCCEED * (made + len(refused))


def reason_of(row: Row) -> str:
    with pytest.raises(DocumentError) as caught:
        parse(raw(row), "jsonc")
    return caught.value.message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # room for the oracle is made once a test
@given(st.data())
def test_corpus_texts_damaged_are_read_as_the_oracle_reads_them_or_refused(
    pytestconfig: pytest.Config, data: st.DataObject
) -> None:
    texts = [row["text"] for row in corpus_rows(pytestconfig, "jsonc") if len(row.get("text", "x" * 9999)) < 2000]
    check_damaged(damaged(data.draw(st.sampled_from(texts)), data), data)


CLAUDE: list[tuple[KeyPath, Any]] = [
    (("apiKeyHelper",), "/usr/bin/python3 -I -m toolsync key print work"),
    (("env", "ANTHROPIC_BASE_URL"), "https://gateway.example"),
    (("env", "ANTHROPIC_API_KEY"), ""),
    (("env", "ANTHROPIC_MODEL"), "some-model"),
]
VSCODE: list[tuple[KeyPath, Any]] = [
    (("claudeCode.environmentVariables", Item("name", "ANTHROPIC_BASE_URL"), "value"), "https://gateway.example"),
]
ZED: list[tuple[KeyPath, Any]] = [
    (("language_models", "openai_compatible", "toolsync", "api_url"), "https://gateway.example/v1"),
    (
        ("language_models", "openai_compatible", "toolsync", "available_models"),
        [{"name": "some-model", "max_tokens": 200_000}],
    ),
]


@pytest.mark.corpus("real", format=["json", "jsonc"])
def test_corpus_of_real_files_is_edited_and_undone(row: Row) -> None:
    edits = next(
        edits for name, edits in {"claude": CLAUDE, "vscode": VSCODE, "zed": ZED}.items() if name in row["edit"]
    )
    document = parse(raw(row), row["format"])

    edited = document
    for path, value in edits:
        edited = edited.set(path, value)

    before, after = oracle.read(document.text), oracle.read(edited.text)
    assert [edited.get(path) for path, _ in edits] == [value for _, value in edits]
    assert after.comments == before.comments
    assert len(oracle.lines_gone(document.text, edited.text)) <= 2
    assert undone(edited, document.text) == document.text


@pytest.mark.corpus("real", format=["json", "jsonc"])
def test_corpus_of_real_files_is_cleared_value_by_value(row: Row) -> None:
    """Undo after a user's own edit: no splice fits any more, each value goes by itself, and the rest is as it was."""
    edits = next(
        edits for name, edits in {"claude": CLAUDE, "vscode": VSCODE, "zed": ZED}.items() if name in row["edit"]
    )
    document = parse(raw(row), row["format"])
    back = document
    for path, value in edits:
        back = back.set(path, value)
    for path in {made_first(document, path): None for path, _ in reversed(edits)}:
        back = back.remove(path)

    assert back.text in (document.text, "{}\n" if document.text == "" else document.text)


def made_first(document: Document, path: KeyPath) -> KeyPath:
    """The outermost of what an edit made on the way to `path`."""
    return next(path[: end + 1] for end in range(len(path)) if document.get(path[: end + 1]) is MISSING)


@pytest.mark.corpus("real", format=["json", "jsonc"])
def test_corpus_file_that_claude_code_would_ignore_is_reported(row: Row) -> None:
    reading = oracle.read(raw(row).decode())
    fault = parse(raw(row), "json").fault
    assert (fault is not None) == (bool(reading.comments) or has_trailing_comma(reading))


def has_trailing_comma(reading: oracle.Reading) -> bool:
    texts = [token.text for token in reading.tokens if not token.is_comment]
    return any(one == "," and other in "}]" for one, other in pairwise(texts))
