"""Nasty TOML files: every edit is faithful by an oracle that knows nothing of the editor, or is refused."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.conftest import corpus_rows, raw
from tests.document import oracle_toml as oracle
from toolsync.document import Document, KeyPath, parse
from toolsync.document.splice import apply, inverse
from toolsync.errors import DocumentError, EditRefusedError

CODEX: dict[KeyPath, Any] = {
    ("model",): "gpt-invented",
    ("model_provider",): "toolsync",
    ("model_providers", "toolsync", "name"): "toolsync",
    ("model_providers", "toolsync", "base_url"): "https://gateway.example/api/v1",
    ("model_providers", "toolsync", "wire_api"): "responses",
    ("model_providers", "toolsync", "auth"): {"command": "/usr/bin/python3", "args": ["-I", "-m", "toolsync"]},
}

EXPECTED_REFUSALS: dict[tuple[str, str], str] = {}
"""(row, operation) to reason, for the rows of our own corpus: none."""


def is_valid(row: dict[str, Any]) -> bool:
    try:
        oracle.data(raw(row).decode())
    except (ValueError, RecursionError):
        return False
    return True


def operations(row: dict[str, Any]) -> list[tuple[str, KeyPath, Any]]:
    """What a row asks for: a value changed to each kind there is, keys and tables added, paths removed."""
    found: list[tuple[str, KeyPath, Any]] = []
    if row.get("set"):
        found += [("set", tuple(row["set"]), value) for value in ("new", 7, True, ["a", "b"], {"x": "y"})]
    if row.get("insert_under"):
        under = tuple(row["insert_under"])
        found += [
            ("insert", (*under, "k"), "v"),
            ("insert", under, {"k": "v"}),
            ("insert", (*under, "k"), {"l": ["v"]}),
        ]
    found += [("delete", tuple(path), None) for path in row.get("delete", [])]
    return found


def edited(document: Document, kind: str, path: KeyPath, value: Any) -> Document:
    return document.remove(path) if kind == "delete" else document.set(path, value)


def faults(before: str, kind: str, path: Any, value: Any, after: str) -> list[str]:
    """What the oracle has against an edit."""
    wanted = (
        oracle.drop(oracle.data(before), path) if kind == "delete" else oracle.put(oracle.data(before), path, value)
    )
    found = [] if oracle.same(oracle.data(after), wanted) else ["the data are not what was intended"]
    lost, new = oracle.gone(before, after), oracle.new(before, after)
    was_there = path in oracle.paths(oracle.data(before))
    if kind == "insert" and not was_there:
        ends_open = not before.endswith("\n") and len(oracle.lines(before)) - 1 in lost
        if len(lost) - ends_open > 1 or len(new) > len(lost) + 4:
            found.append(f"lines {lost} gave way to {new}")
        found += oracle.comments_displaced(before, after)
    if kind == "set" and not isinstance(oracle.at(oracle.data(before), path), dict | list):
        if len(lost) != len(new):
            found.append(f"lines {lost} gave way to {new}")
        found += oracle.comments_lost(before, after)
    if kind == "delete":
        found += oracle.comments_lost_by_removal(before, after)
    if "\r\n" in before and "\n" not in before.replace("\r\n", "") and "\n" in after.replace("\r\n", ""):
        found.append("line ends are mixed now")
    return found


def undone(document: Document, text: str) -> str:
    return apply(document.text, inverse(text, document.log))


@pytest.mark.corpus("toml")
def test_corpus_valid_is_unchanged_and_invalid_is_refused_with_its_place(row: dict[str, Any]) -> None:
    if is_valid(row):
        document = parse(raw(row), "toml")

        assert document.text == raw(row).decode()
        assert oracle.same(document.data, oracle.data(document.text))
        return
    with pytest.raises(DocumentError) as refusal:
        parse(raw(row), "toml")

    assert (refusal.value.line or 0) >= 1
    assert (refusal.value.column or 0) >= 1
    assert refusal.value.hint or "UTF" in refusal.value.reason


@pytest.mark.corpus("toml")
def test_corpus_edits_are_faithful_or_refused(row: dict[str, Any]) -> None:
    if not is_valid(row):
        return
    document = parse(raw(row), "toml")
    for kind, path, value in operations(row):
        try:
            after = edited(document, kind, path, value)
        except EditRefusedError:
            continue

        assert faults(document.text, kind, path, value, after.text) == [], f"{kind} {path}:\n{after.text}"
        assert undone(after, document.text) == document.text


def test_corpus_refusals_are_few_and_known(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    tried, refused = 0, {}
    for row in filter(is_valid, corpus_rows(request.config, "toml")):
        document = parse(raw(row), "toml")
        for kind, path, value in operations(row):
            tried += 1
            try:
                edited(document, kind, path, value)
            except EditRefusedError as error:
                refused[row["name"], f"{kind} {path}"] = error.reason
    with capsys.disabled():
        listing = [f"{tried} TOML operations, {len(refused)} refused", *map(str, refused.items())]
        sys.stdout.write("\n" + "\n".join(listing) + "\n")

    is_ours = not request.config.getoption("--corpus")
    assert refused == EXPECTED_REFUSALS if is_ours else len(refused) <= tried * 0.05


def variants(text: str) -> dict[str, str]:
    """The same file as other machines hold it."""
    return {
        "as it is": text,
        "CRLF": text.replace("\r\n", "\n").replace("\n", "\r\n"),
        "byte-order mark": "\ufeff" + text.removeprefix("\ufeff"),
        "no final newline": text.rstrip("\r\n"),
        "blank line at the end": text + "\n",
    }


@pytest.mark.corpus("real", format=["toml"])
def test_corpus_real_files_take_the_codex_edit_and_give_it_back(row: dict[str, Any]) -> None:
    if not is_valid(row):
        with pytest.raises(DocumentError) as refusal:
            parse(raw(row), "toml")
        assert (refusal.value.line or 0) >= 1
        return
    for name, text in variants(raw(row).decode()).items():
        document = parse(text.encode(), "toml")
        for path, value in CODEX.items():
            before = document.text
            document = document.set(path, value)

            assert faults(before, "insert", path, value, document.text) == [], f"{name}, {path}:\n{document.text}"
        assert undone(document, text) == text, name
        assert value_wise(document, parse(text.encode(), "toml")).data == oracle.data(text), name


def value_wise(document: Document, origin: Document) -> Document:
    """`document` with every value given back to what `origin` held, as an undo years later does it."""
    for path in reversed(list(CODEX)):
        source = origin.source(path)
        document = document.remove(path) if source is None else document.set(path, source)
    for container in [("model_providers", "toolsync"), ("model_providers",)]:
        if not document.get(container) and origin.source(container) is None:
            document = document.remove(container)
    return document


@pytest.mark.corpus("real", format=["toml"])
def test_corpus_real_files_come_back_byte_identical_value_by_value(row: dict[str, Any]) -> None:
    if not is_valid(row):
        return
    text = raw(row).decode()
    origin = parse(text.encode(), "toml")
    document = origin
    for path, value in CODEX.items():
        document = document.set(path, value)

    assert value_wise(document, origin).text == text


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
