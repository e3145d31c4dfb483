"""Causes that the published cases leave out, and other shapes of those in them, in the same form; told in Chinese."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import thorough
from tests.doctor.cases import Diagnosed
from tests.doctor.test_doctor_cases import is_healthy_once_mended, names_the_cause


def _is_tried(row: Mapping[str, Any]) -> bool:
    """All in CI; elsewhere every fourth, for a newcomer waits."""
    return int(row["id"][1:]) % thorough(1, 4) == 0


@pytest.mark.corpus("doctor-more", where=_is_tried)
def test_further_cases_of_the_corpus_name_the_cause(tmp_path: Path, row: dict[str, Any]) -> None:
    said = names_the_cause(tmp_path, row, "--lang", "zh")
    assert list(_english(said, row)) == []


def _english(said: Diagnosed, row: Mapping[str, Any]) -> Iterator[str]:
    """Three English words or more in a row that nobody said but we: no server, no file, no command to be typed."""
    theirs = " ".join(json.dumps(row, ensure_ascii=False).lower().split())
    for finding in said.findings:
        ours = [finding["title"], finding["meaning"], finding["remedy"], finding["fix"], *finding["evidence"]]
        for text in (re.sub("`[^`]*`|“[^”]*”|^toolsync .*", "`", text) for text in ours):
            for words in re.findall(r"[A-Za-z][a-z']+(?:,? [A-Za-z']+){2,}", text):
                if words.lower() not in theirs and words not in _NAMES:
                    yield text


_NAMES = {
    "Demo Inspection Root",
    *("Unable to initialize SecretService", "Environment variable DBUS"),
}
"""The authority of our listeners, and what a library of the keyring's says."""


@pytest.mark.corpus("doctor-more", where=lambda row: bool(row["fixed"]) and _is_tried(row))
def test_further_cases_of_the_corpus_are_healthy_once_mended(tmp_path: Path, row: dict[str, Any]) -> None:
    is_healthy_once_mended(tmp_path, row)
