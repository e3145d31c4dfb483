"""Causes that the published cases leave out, and other shapes of those in them, in the same form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import thorough
from tests.doctor.test_doctor_cases import is_healthy_once_mended, names_the_cause


def _is_tried(row: Mapping[str, Any]) -> bool:
    """All in CI; elsewhere every fourth, for a newcomer waits."""
    return int(row["id"][1:]) % thorough(1, 4) == 0


@pytest.mark.corpus("doctor-more", where=_is_tried)
def test_further_cases_of_the_corpus_name_the_cause(tmp_path: Path, row: dict[str, Any]) -> None:
    names_the_cause(tmp_path, row)


@pytest.mark.corpus("doctor-more", where=lambda row: bool(row["fixed"]) and _is_tried(row))
def test_further_cases_of_the_corpus_are_healthy_once_mended(tmp_path: Path, row: dict[str, Any]) -> None:
    is_healthy_once_mended(tmp_path, row)
