"""Faults in the real clients' own settings: diagnosed, mended with the very command that was printed, and proven.

Each tool's row of faults is played in a home folder of its own, with nothing but loopback to reach: the fault is
made, `toolsync doctor TOOL --json` is asked, what it prints is typed at a terminal, and `doctor TOOL --client --json`
asks the client itself, which the gateway's record must bear out.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from tests.clients import process
from tests.clients.client import Client
from tests.clients.cline import NEWER, OLDER
from tests.clients.fault import CLAUDE, CODEX, FAULTS, IMPOSSIBLE, TABLE, WRONG, Fault
from tests.clients.inside import KEYS, MODEL
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.clients.story import Mended
from tests.conftest import needs

pytestmark = pytest.mark.client

_SECONDS = 500.0
_CLIENTS = (CLAUDE, CODEX, NEWER, OLDER)

ROWS = pytest.mark.parametrize("fault", TABLE, ids=[f"{fault.client.name}: {fault.name}" for fault in TABLE])


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], Mended]:
    needs(platform.machine() == "x86_64", "needs the processor that Cline is made for")
    for client in _CLIENTS:
        needs_client(client)
    home = tmp_path_factory.mktemp("mending")
    argv = stage(sys.executable, "-m", "tests.clients.inside_mending", str(home))
    played = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=_SECONDS)
    assert played.code == 0, played.err
    known = [WRONG, *(key.reveal() for key in KEYS.values())]
    assert [key for key in known if key in played.out] == []
    found = [Mended(**row) for row in json.loads(played.out)]
    return {(fault.client.name, fault.name): one for fault, one in zip(TABLE, found, strict=True)}


def test_every_cell_of_the_table_is_played_or_cannot_be() -> None:
    cells = {(client.name, fault) for client in _CLIENTS for fault in FAULTS}
    assert sorted(cells) == sorted([*((fault.client.name, fault.name) for fault in TABLE), *IMPOSSIBLE])


@ROWS
def test_doctor_names_the_cause(seen: Mapping[tuple[str, str], Mended], fault: Fault) -> None:
    assert _of(seen, fault).cause == fault.cause


@ROWS
def test_doctor_prints_the_command_that_mends_it(seen: Mapping[tuple[str, str], Mended], fault: Fault) -> None:
    one = _of(seen, fault)
    assert one.fix == fault.fix
    assert fault.line in one.typed  # the line that doctor names is the one at fault


@ROWS
def test_then_the_client_itself_works(seen: Mapping[tuple[str, str], Mended], fault: Fault) -> None:
    one = _of(seen, fault)
    if fault.is_in_project:
        assert (one.state_before, one.state_after) == ("refused", "answered")
        return
    after = one.after or {}
    assert (one.findings, after.get("state"), after.get("verdict")) == ([], "answered", "proven")
    assert "pong" in after["words"]


@ROWS
def test_the_gateway_was_asked_the_right_way_with_the_right_key(
    seen: Mapping[tuple[str, str], Mended], fault: Fault
) -> None:
    client = fault.client
    expected = {"to": client.posts_to, "model": MODEL, "keys": dict.fromkeys(client.key_headers, "first")}
    assert _of(seen, fault).asked == [expected]


@ROWS
def test_before_it_the_client_fails_as_the_probe_does(seen: Mapping[tuple[str, str], Mended], fault: Fault) -> None:
    before = _of(seen, fault).before
    assert (before is not None) == fault.is_asked_before
    if before is not None:
        assert (before["state"], before["verdict"]) == ("refused", "same")


@pytest.mark.parametrize("client", _CLIENTS[:3], ids=lambda client: client.name)
def test_each_client_is_asked_before_one_of_its_faults_is_mended(client: Client) -> None:
    assert any(fault.is_asked_before for fault in TABLE if fault.client is client)


@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=lambda client: client.name)
def test_a_refusals_status_is_read(seen: Mapping[tuple[str, str], Mended], client: Client) -> None:
    before: dict[str, Any] = seen[client.name, "a wrong key"].before or {}
    assert (before["status"], bool(re.search("401", before["says"]))) == (401, True)


def _of(seen: Mapping[tuple[str, str], Mended], fault: Fault) -> Mended:
    return seen[fault.client.name, fault.name]
