"""Cases of trouble, each realised on this machine: doctor names the cause, and nothing else.

`pytest -k doctor_cases --doctor-cases FILE` runs another file of the same form.
"""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.doctor.cases import Diagnosed, diagnosed, examined, realised

_MOST_REQUESTS = 6
_MOST_BILLABLE = 2


@pytest.mark.corpus("doctor")
def test_doctor_cases_name_the_cause(tmp_path: Path, row: dict[str, Any]) -> None:
    names_the_cause(tmp_path, row)


@pytest.mark.corpus("doctor", where=lambda row: bool(row.get("fixed")))
def test_doctor_cases_are_healthy_once_mended(tmp_path: Path, row: dict[str, Any]) -> None:
    is_healthy_once_mended(tmp_path, row)


def names_the_cause(tmp_path: Path, row: dict[str, Any], *options: str) -> Diagnosed:
    """The expected cause comes first, none that must not, with few requests, and without the key."""
    with realised(tmp_path, row) as stage:
        said = examined(stage, *options)
        told = stage.case
        key = str(stage.filled(told["config"])["key"].get("value") or "")
    assert said.code in (0, 1, 3), said.err
    assert next(iter(said.causes), "none") in (told["expected_cause"], *told["also_acceptable"]), said.causes
    assert set(said.causes) & {*told["must_not_diagnose"]} == set()
    assert spent(said) == []
    assert leaks(said, key) == []
    return said


def is_healthy_once_mended(tmp_path: Path, row: dict[str, Any]) -> None:
    """With the case's change nothing is found."""
    with realised(tmp_path, row, fixed=True) as stage:
        said = diagnosed(stage)
    assert (said.code, said.causes) == (0, []), said.err


def spent(said: Diagnosed) -> list[str]:
    """What was asked too often: of one listener, with one key."""
    asked = Counter((one.listener, *sorted(one.keys.items())) for one in said.asked)
    billable = Counter(one.listener for one in said.asked if one.method == "POST" and one.json.get("model"))
    return [
        *(f"{what}: {count} requests" for what, count in asked.items() if count > _MOST_REQUESTS),
        *(f"{what}: {count} billable requests" for what, count in billable.items() if count > _MOST_BILLABLE),
    ]


def leaks(said: Diagnosed, key: str) -> list[str]:
    """The forms in which the key stands in what was said."""
    if len(key.strip()) < 16:
        return []
    bare = key.strip()
    forms = {bare, quote(bare, safe=""), quote_plus(bare), base64.b64encode(bare.encode()).decode().rstrip("=")}
    return [form for form in forms if form in said.out or form in said.err]
