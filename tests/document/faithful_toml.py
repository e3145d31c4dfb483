"""Edits of TOML documents, and what an oracle that knows nothing of the editor has against them."""

from __future__ import annotations

from typing import Any

from tests.document import oracle_toml as oracle
from toolsync.document import Document, KeyPath

MOST_NEW_LINES = 4
"""A blank line, a header, a key, and a blank line."""


def edited(document: Document, kind: str, path: KeyPath, value: Any) -> Document:
    """The document after a `delete`, or after what else sets `path` to `value`."""
    return document.remove(path) if kind == "delete" else document.set(path, value)


def faults(before: str, kind: str, path: Any, value: Any, after: str) -> list[str]:
    """What the oracle has against an edit."""
    data = oracle.data(before)
    is_there = path in oracle.paths(data)
    if kind == "delete":
        found = _faults_of_removal(before, path, after) if is_there else ["something changed"] * (before != after)
    else:
        found = (
            [] if oracle.same(oracle.data(after), oracle.put(data, path, value)) else ["the data are not as intended"]
        )
        if not is_there:
            found += _faults_of_insertion(before, after)
        elif not isinstance(oracle.at(data, path), dict | list):
            found += _faults_of_change(before, after)
    if "\r\n" in before and "\n" not in before.replace("\r\n", "") and "\n" in after.replace("\r\n", ""):
        found.append("line ends are mixed now")
    return found


def _faults_of_removal(before: str, path: Any, after: str) -> list[str]:
    is_right = oracle.same(oracle.data(after), oracle.drop(oracle.data(before), path))
    return [*([] if is_right else ["the data are not as intended"]), *oracle.comments_lost_by_removal(before, after)]


def _faults_of_insertion(before: str, after: str) -> list[str]:
    lost, new = oracle.gone(before, after), oracle.new(before, after)
    ends_open = not before.endswith("\n") and len(oracle.lines(before)) - 1 in lost
    is_much = len(lost) - ends_open > 1 or len(new) > len(lost) + MOST_NEW_LINES
    return [*([f"lines {lost} gave way to {new}"] if is_much else []), *oracle.comments_displaced(before, after)]


def _faults_of_change(before: str, after: str) -> list[str]:
    lost, new = oracle.gone(before, after), oracle.new(before, after)
    is_right = len(lost) == len(new) or oracle.is_one_value(before, after)
    return [*([] if is_right else [f"lines {lost} gave way to {new}"]), *oracle.comments_lost(before, after)]
