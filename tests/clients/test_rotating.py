"""`key rotate` and the real `claude`, `codex` and `cline`: one asks for the key, the others' files hold a copy."""

from __future__ import annotations

import json
import os
import platform
import sys

import pytest

from tests.clients import process
from tests.clients.client import Client
from tests.clients.inside import MODEL
from tests.clients.inside_rotating import ASKED, COPIES, DATABASE, Rotated
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.clients.story import Asked
from tests.conftest import needs

pytestmark = pytest.mark.client

_SECONDS = 300.0


@pytest.fixture(scope="module")
def rotated(tmp_path_factory: pytest.TempPathFactory) -> Rotated:
    needs(platform.machine() == "x86_64", "needs the processor that this Cline is made for")
    for client in ASKED:
        needs_client(client)
    home = tmp_path_factory.mktemp("rotating")
    argv = stage(sys.executable, "-m", "tests.clients.inside_rotating", str(home))
    played = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=_SECONDS)
    assert played.code == 0, played.err
    return Rotated.from_json(played.out)


def test_every_command_ends_well(rotated: Rotated) -> None:
    assert {name: (run.code, run.err) for name, run in rotated.commands.items()} == dict.fromkeys(
        ("init", "key set", "apply", "key rotate", "back"), (0, "")
    )


@pytest.mark.parametrize("client", ASKED, ids=lambda client: client.name)
def test_each_client_asks_with_the_new_key(rotated: Rotated, client: Client) -> None:
    run = rotated.runs[client.name]
    assert run.asked == (Asked(client.posts_to, MODEL, dict.fromkeys(client.key_headers, "second")),)
    assert (run.code, "pong" in run.out) == (0, True)


@pytest.mark.parametrize(("moment", "key"), [("applied", "first"), ("rotated", "second"), ("back", "first")])
def test_every_copy_is_of_one_key(rotated: Rotated, moment: str, key: str) -> None:
    found = {name: tuple(keys) for name, keys in rotated.copies[moment].items()}
    assert found == dict.fromkeys((*COPIES, DATABASE), (key,))


def test_what_asks_for_the_key_stays_as_it_is(rotated: Rotated) -> None:
    assert rotated.kept


def test_the_gateway_was_asked_by_toolsync_before_and_after_with_the_new_key_only(rotated: Rotated) -> None:
    run = rotated.commands["key rotate"]
    assert {key for asked in run.asked for key in asked.keys.values()} == {"second"}
    sent = {one["program"]: one["new_key"] for one in json.loads(run.out)["data"]["sent"]}
    assert sent == dict.fromkeys(
        ["Claude Code", "Cline (cli)", "Cline (vscode)", "Codex CLI", "config.toml", "settings.json"], True
    )
