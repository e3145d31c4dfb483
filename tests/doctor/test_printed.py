"""What doctor prints of the corpus' cases runs as it is printed, with `--yes` and no word more, and mends them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import thorough
from tests.doctor.cases import diagnosed, realised, run

KEY = "sk-test-GOOD0123456789abcdefGOOD"
"""The one that the listeners take: with the profile's own key all is well."""

PUBLISHED = ("D001", "D004", "D007", "D008", "D013", "D014", "D015", "D016", "D017", "D023", "D024", "D026", "D055")
FURTHER = (
    *("E001", "E005", "E006", "E007", "E010", "E021", "E025", "E027", "E028", "E029", "E035", "E036", "E038", "E039"),
    *("E043", "E045", "E091", "E092", "E096", "E102", "E114", "E134", "E203"),
)
"""Cases that a command of ours mends; the others' listeners take nobody's key, or serve no mended request."""


def _is_tried(row: Mapping[str, Any]) -> bool:
    """All in CI; elsewhere every fourth, for a newcomer waits."""
    named = (*PUBLISHED, *FURTHER)
    return row["id"] in named and named.index(row["id"]) % thorough(1, 4) == 0


@pytest.mark.corpus("doctor", where=_is_tried)
def test_a_published_case_is_mended_by_what_is_printed(tmp_path: Path, row: dict[str, Any]) -> None:
    _is_mended(tmp_path, row)


@pytest.mark.corpus("doctor-more", where=_is_tried)
def test_a_further_case_is_mended_by_what_is_printed(tmp_path: Path, row: dict[str, Any]) -> None:
    _is_mended(tmp_path, row)


def _is_mended(tmp_path: Path, row: dict[str, Any]) -> None:
    with realised(tmp_path, row) as stage:
        stage.environ["DOCTOR_CASE_KEY"] = KEY
        finding = diagnosed(stage).findings[0]
        for words in (finding["command"], *finding["then"]):
            code, out, err = run(stage, *words, *(["--yes"] if words[0] == "apply" else []))
            assert code == 0, out + err
        after = diagnosed(stage)
    assert (bool(finding["command"]), after.code, after.causes) == (True, 0, [])
