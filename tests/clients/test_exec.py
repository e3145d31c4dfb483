"""The real `claude` by `toolsync exec`, in a home that nothing was applied to, with stale exports in the shell."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.clients import process
from tests.clients.client import CLIENTS
from tests.clients.inside import MODEL
from tests.clients.stage import REPOSITORY, needs_client, stage

pytestmark = pytest.mark.client


def test_it_asks_the_profiles_gateway_with_its_key(tmp_path: Path) -> None:
    client = next(client for client in CLIENTS if client.name == "claude")
    needs_client(client)
    argv = stage(sys.executable, "-m", "tests.clients.inside_exec", client.name, str(tmp_path))
    played = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=120)
    assert played.code == 0, played.err
    seen = json.loads(played.out)
    assert (seen["code"], "pong" in seen["out"]) == (0, True)
    assert seen["asked"] == [{"to": client.posts_to, "model": MODEL, "keys": {"authorization": "first"}}]
    assert not (tmp_path / ".claude" / "settings.json").exists()
