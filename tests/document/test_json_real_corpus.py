"""JSON documents over what real users' files do: the edits that the shipped tools make, and their undo.

`pytest -k corpus --corpus real=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.conftest import corpus_rows, raw
from tests.document import oracle
from tests.document.conftest import Reported
from tests.document.corpus import Row, is_json, is_no_json, refusal, share_to_succeed
from tests.document.faithful import has_place, set_or_refused, undone
from toolsync.document import MISSING, Document, Item, KeyPath, parse

pytestmark = pytest.mark.usefixtures("room_for_the_oracle")

Edits = list[tuple[KeyPath, Any]]
JSON = ["json", "jsonc"]
SHARE_TO_COME_BACK = 0.9
"""Of files that nobody here has seen; of our own, all."""

OF_TOOLS: dict[str, Edits] = {
    "claude": [
        (("apiKeyHelper",), "/usr/bin/python3 -I -m toolsync key print work"),
        (("env", "ANTHROPIC_BASE_URL"), "https://gateway.example"),
        (("env", "ANTHROPIC_API_KEY"), ""),
        (("env", "ANTHROPIC_MODEL"), "some-model"),
    ],
    "vscode": [
        (("claudeCode.environmentVariables", Item("name", "ANTHROPIC_BASE_URL"), "value"), "https://gateway.example"),
    ],
    "zed": [
        (("language_models", "openai_compatible", "toolsync", "api_url"), "https://gateway.example/v1"),
        (
            ("language_models", "openai_compatible", "toolsync", "available_models"),
            [{"name": "some-model", "max_tokens": 200_000}],
        ),
    ],
}
OF_ANY_OTHER: Edits = [
    (("provider", "toolsync", "options", "baseURL"), "https://gateway.example/v1"),
    (("provider", "toolsync", "models"), {"some-model": {"name": "some-model"}}),
    (("model",), "toolsync/some-model"),
]


def edits_of(row: Row) -> Edits:
    """What the tool that a row names would write; a row that names none of ours gets an edit all the same."""
    return next((edits for name, edits in OF_TOOLS.items() if name in row.get("edit", "")), OF_ANY_OTHER)


def edited(document: Document, row: Row) -> Document:
    """The document after all edits for which it has a place; the others must have been refused.

    Raises:
        AssertionError: one was not made faithfully, or was refused without need, or made where nothing can hold it.
    """
    for path, value in edits_of(row):
        possible = has_place(document.data, path)
        document, reason = set_or_refused(document, path, value)
        assert (reason == "") == possible, reason
    return document


@pytest.mark.corpus("real", format=JSON, where=is_no_json)
def test_corpus_of_real_files_that_are_broken_is_refused_with_its_place(row: Row) -> None:
    assert refusal(row, row["format"]).reason


@pytest.mark.corpus("real", format=JSON, where=is_json)
def test_corpus_of_real_files_is_edited_and_undone(row: Row) -> None:
    document = parse(raw(row), row["format"])

    after = edited(document, row)

    assert undone(after, document) == document.text


@pytest.mark.corpus("real", format=JSON, where=is_json)
def test_corpus_of_real_files_is_given_back_value_by_value(row: Row) -> None:
    """Undo after a user's own edit: no splice fits any more, each value goes by itself, and the rest is as it was."""
    before = oracle.read(raw(row).decode())
    after = oracle.read(given_back(row))

    assert after.value == before.value
    assert after.comments == before.comments


def test_corpus_of_real_files_given_back_value_by_value_is_byte_identical(
    pytestconfig: pytest.Config, reported: Reported
) -> None:
    """White space may differ in a few; an empty file became an object, and stays one."""
    rows = [row for row in corpus_rows(pytestconfig, "real") if row.get("format") in JSON and is_json(row)]
    other = [row["name"] for row in rows if given_back(row) not in (raw(row).decode(), "{}\n")]

    reported(f"{len(rows)} real JSON files given back, {len(other)} not to the byte:", other)
    assert len(rows) - len(other) >= share_to_succeed(pytestconfig, "real", SHARE_TO_COME_BACK) * len(rows)


def given_back(row: Row) -> str:
    """The text after the edits, and after each of its values got back what stood there."""
    origin = parse(raw(row), row["format"])
    back = edited(origin, row)
    for path, _ in reversed(edits_of(row)):
        source = origin.source(path)
        back = back.remove(made_first(origin, path)) if source is None else back.set(path, source)
    return back.text


def made_first(document: Document, path: KeyPath) -> KeyPath:
    """The outermost of what an edit made on the way to `path`."""
    return next(path[: end + 1] for end in range(len(path)) if document.get(path[: end + 1]) is MISSING)


@pytest.mark.corpus("real", format=JSON, where=is_json)
def test_corpus_file_that_claude_code_would_ignore_is_reported(row: Row) -> None:
    reading = oracle.read(raw(row).decode())
    fault = parse(raw(row), "json").fault
    assert (fault is not None) == (bool(reading.comments) or has_trailing_comma(reading))


def has_trailing_comma(reading: oracle.Reading) -> bool:
    texts = [token.text for token in reading.tokens if not token.is_comment]
    return any(one == "," and other in "}]" for one, other in pairwise(texts))
