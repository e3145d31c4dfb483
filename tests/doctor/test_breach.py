"""A file of which the tool does not take one field counts for nothing: doctor says so before it is written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.home import KEY, Home
from toolsync.doctor.checks import findings

PLACE = ".cline/data/settings/providers.json"


def _file(**change: Any) -> str:
    settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "m", "baseUrl": "https://gw.example/api/v1"}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", **change}
    data = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": entry}}
    return json.dumps(data, indent=2)


BREACHES = {
    "a time that Cline does not read": (_file(updatedAt="2026-01-01T00:00:00+00:00"), "updatedAt"),
    "no time": (_file(updatedAt=None), "updatedAt"),
    "an address without a scheme": (
        _file(settings={"provider": "openai-compatible", "baseUrl": "127.0.0.1:8080/v1"}),
        "baseUrl",
    ),
}


@pytest.mark.parametrize(("text", "field"), BREACHES.values(), ids=BREACHES)
def test_the_field_is_named_and_nothing_of_the_file_counts(tmp_path: Path, text: str, field: str) -> None:
    home = Home(tmp_path)
    home.write({PLACE: text})
    look = home.look("cline", "cli")
    first = findings(look)[0]
    assert (first.cause, first.certainty, look.effective.base_url) == ("config_parse_error", "sure", "")
    assert field in str(first.evidence[0])
    assert KEY not in "".join(map(str, first.evidence))


@pytest.mark.parametrize("text", [_file(), _file(later=True), "{}"], ids=["whole", "a field of a later Cline", "empty"])
def test_what_cline_takes_is_no_finding(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    home.write({PLACE: text})
    assert "config_parse_error" not in [one.cause for one in findings(home.look("cline", "cli"))]
