"""TOML documents over what real users' files do: the edit that Codex needs, and its undo.

`pytest -k corpus --corpus real=FILE` runs other rows of the same form.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import corpus_rows, raw
from tests.document import oracle_toml as oracle
from tests.document.conftest import Reported
from tests.document.corpus import Row, is_no_toml, is_toml, refusal, share_to_succeed
from tests.document.faithful import has_place, undone
from tests.document.faithful_toml import faults
from toolsync.document import Document, KeyPath, parse
from toolsync.errors import EditRefusedError

TOML = ["toml"]
SHARE_TO_COME_BACK = 0.9
"""Of files that nobody here has seen; of our own, all."""

CODEX: dict[KeyPath, Any] = {
    ("model",): "gpt-invented",
    ("model_provider",): "toolsync",
    ("model_providers", "toolsync", "name"): "toolsync",
    ("model_providers", "toolsync", "base_url"): "https://gateway.example/api/v1",
    ("model_providers", "toolsync", "wire_api"): "responses",
    ("model_providers", "toolsync", "auth"): {"command": "/usr/bin/python3", "args": ["-I", "-m", "toolsync"]},
}


def variants(text: str) -> dict[str, str]:
    """The same file as other machines hold it."""
    return {
        "as it is": text,
        "CRLF": text.replace("\r\n", "\n").replace("\n", "\r\n"),
        "byte-order mark": "\ufeff" + text.removeprefix("\ufeff"),
        "no final newline": text.rstrip("\r\n"),
        "blank line at the end": text + "\n",
    }


@pytest.mark.corpus("real", format=TOML, where=is_no_toml)
def test_corpus_of_real_files_that_are_broken_is_refused_with_its_place(row: Row) -> None:
    assert refusal(row, "toml").reason


@pytest.mark.corpus("real", format=TOML, where=is_toml)
def test_corpus_real_files_take_the_codex_edit_and_give_it_back(row: Row) -> None:
    for name, text in variants(raw(row).decode()).items():
        origin = parse(text.encode(), "toml")
        document = origin
        for path, value in CODEX.items():
            after = set_or_refused(document, path, value)
            if after is not document:
                assert faults(document.text, "set", path, value, after.text) == [], f"{name}, {path}:\n{after.text}"
            document = after

        assert undone(document, origin) == text, name
        assert oracle.same(given_back(document, origin).data, oracle.data(text)), name


def test_corpus_real_files_given_back_value_by_value_are_byte_identical(
    pytestconfig: pytest.Config, reported: Reported
) -> None:
    """All but few: a table that had to give way to a text has lost its form."""
    other = []
    rows = [row for row in corpus_rows(pytestconfig, "real") if row.get("format") in TOML and is_toml(row)]
    for row in rows:
        document = origin = parse(raw(row), "toml")
        for path, value in CODEX.items():
            document = set_or_refused(document, path, value)
        if given_back(document, origin).text != origin.text:
            other.append(row["name"])

    reported(f"{len(rows)} real TOML files given back, {len(other)} not to the byte:", other)
    assert len(rows) - len(other) >= share_to_succeed(pytestconfig, "real", SHARE_TO_COME_BACK) * len(rows)


def set_or_refused(document: Document, path: KeyPath, value: Any) -> Document:
    """The document with `value` at `path`; itself where it has no place for that, or only in a block not ours.

    Raises:
        EditRefusedError: and there was no need to refuse.
    """
    try:
        return document.set(path, value)
    except EditRefusedError as error:
        if has_place(document.data, path) and "in a block of another tool" not in error.reason:
            raise
        return document


def given_back(document: Document, origin: Document) -> Document:
    """`document` with every value given back to what `origin` held, as an undo years later does it."""
    for path in reversed(list(CODEX)):
        source = origin.source(path)
        document = document.remove(path) if source is None else document.set(path, source)
    for container in [("model_providers", "toolsync"), ("model_providers",)]:
        if not document.get(container) and origin.source(container) is None:
            document = document.remove(container)
    return document
