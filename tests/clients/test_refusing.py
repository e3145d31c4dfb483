"""Real clients with a field that they do not take ask nobody, and doctor names it; what they pass over is not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.clients import process
from tests.clients.refusing import TABLE, Refused
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.conftest import takes

pytestmark = pytest.mark.client

ROWS = pytest.mark.parametrize("row", TABLE, ids=[f"{row.client.name}: {row.name}" for row in TABLE])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Mapping[str, Any]]:
    takes("asks real clients some twenty times")
    for client in {row.client.name: row.client for row in TABLE}.values():
        needs_client(client)
    argv = stage(sys.executable, "-m", "tests.clients.inside_refusing", str(tmp_path_factory.mktemp("refusing")))
    ended = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=400)
    assert ended.code == 0, ended.err
    return list(json.loads(ended.out))


@ROWS
def test_the_client_asks_where_it_takes_its_settings_alone(played: Sequence[Mapping[str, Any]], row: Refused) -> None:
    one = played[TABLE.index(row)]
    assert one["asked"] == ([] if row.told else ["m"]), one["said"]


@ROWS
def test_doctor_names_what_it_does_not_take(played: Sequence[Mapping[str, Any]], row: Refused) -> None:
    told = played[TABLE.index(row)]["told"]
    assert len(told) == (1 if row.told else 0)
    assert all(row.told in line and line.startswith("sure ") for line in told)
