"""Real clients over all their layers: whom they ask, for which model, with which keys; and doctor says the same."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.clients import process
from tests.clients.layering import KEYS, TABLE, Arranged
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.conftest import needs, takes

pytestmark = pytest.mark.client

ROWS = pytest.mark.parametrize("row", TABLE, ids=[f"{row.client.name}: {row.name}" for row in TABLE])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Mapping[str, Any]]:
    takes("asks the real clients fifteen times")
    needs(platform.machine() == "x86_64", "needs the processor that Cline is made for")
    for client in {row.client.name: row.client for row in TABLE}.values():
        needs_client(client)
    argv = stage(sys.executable, "-m", "tests.clients.inside_layers", str(tmp_path_factory.mktemp("layers")))
    ended = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=400)
    assert ended.code == 0, ended.err
    assert [key for key in KEYS.values() if key in ended.out] == []
    return list(json.loads(ended.out))


@ROWS
def test_the_client_asks_as_its_layers_say(played: Sequence[Mapping[str, Any]], row: Arranged) -> None:
    one = played[TABLE.index(row)]
    assert one["asked"] == [[*row.asks]], one["said"]


@ROWS
def test_doctor_says_the_same(played: Sequence[Mapping[str, Any]], row: Arranged) -> None:
    assert played[TABLE.index(row)]["told"] == [*row.asks]
