"""The real `claude` and `codex`, with the settings that `toolsync apply` wrote, against a gateway on loopback.

Each client's story is played once, in a network namespace with nothing but loopback, a home folder of its own, a
Secret Service of its own, and an environment without a bus address; what was seen there is judged here. The newest
native Claude Code takes part where `TOOLSYNC_CLIENTS=all`. `tests/clients/install.sh` installs them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from tests.clients import process
from tests.clients.client import CLIENTS, Client
from tests.clients.connection import unknown
from tests.clients.inside import MODEL
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.clients.story import Asked, Story

pytestmark = pytest.mark.client

_STORY_SECONDS = 420.0

_CHOSEN = [
    client for client in CLIENTS if client.name != "claude-native" or os.environ.get("TOOLSYNC_CLIENTS") == "all"
]


@pytest.fixture(scope="module", params=_CHOSEN, ids=lambda client: f"{client.name}-{client.version}")
def client(request: pytest.FixtureRequest) -> Client:
    chosen: Client = request.param
    needs_client(chosen)
    return chosen


@pytest.fixture(scope="module")
def story(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Story:
    home = tmp_path_factory.mktemp(client.name)
    argv = stage(sys.executable, "-m", "tests.clients.inside", client.name, str(home))
    played = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=_STORY_SECONDS)
    assert played.code == 0, played.err
    return Story.from_json(played.out)


def test_apply_prepares_it(story: Story) -> None:
    assert {name: run.code for name, run in story.commands.items()} == {
        "init": 0,
        "key set": 0,
        "apply": 0,
        "status": 0,
        "undo": 0,
    }


@pytest.mark.parametrize(
    ("run", "key"), [("first", "first"), ("stale exports", "first"), ("new key", "second")], ids=lambda value: value
)
def test_it_asks_once_the_right_model_with_the_right_key(client: Client, story: Story, run: str, key: str) -> None:
    expected = Asked(client.posts_to, MODEL, dict.fromkeys(client.key_headers, key))
    ran = story.runs[run]
    said = client.said(ran.code, ran.out, ran.err)
    assert (ran.asked, said.state, said.words) == ((expected,), "answered", "pong")


def test_a_wrong_key_in_the_keyring_is_refused(client: Client, story: Story) -> None:
    refused = story.runs["wrong key"]
    expected = Asked(client.posts_to, MODEL, dict.fromkeys(client.key_headers, "wrong"))
    others = [one for one in refused.asked if one != expected]
    said = client.said(refused.code, refused.out, refused.err)
    assert (refused.code, len(refused.asked) > 0, others) == (1, True, [])
    assert (said.state, said.status) == ("refused", 401)


def test_a_new_key_is_used_with_no_file_changed(story: Story) -> None:
    assert (story.runs["new key"].code, story.changed) == (0, ())


@pytest.mark.parametrize("run", ["first", "stale exports", "wrong key", "new key"])
def test_it_connects_nowhere_else(client: Client, story: Story, run: str) -> None:
    seen = story.runs[run]
    assert f"inet {story.gateway}" in seen.connected
    assert (unknown(seen.connected, story.gateway), set(seen.names) - set(client.looks_up)) == ([], set())


def test_what_the_user_had_stays(client: Client, story: Story) -> None:
    if client.settings.endswith(".json"):
        assert _without(json.loads(client.foreign_text), json.loads(story.settings)) == {}
        return
    before, after = client.foreign_text.splitlines(), story.settings.splitlines()
    assert [line for line in before if line not in after] == ['model = "gpt-5-codex"   # what the boss pays for']


def test_the_users_hook_still_runs(client: Client, story: Story) -> None:
    assert story.hooked == (len(story.runs) if "hooks" in client.foreign_text else 0)


def test_undo_gives_the_file_back(client: Client, story: Story) -> None:
    assert story.undone == client.foreign_text


def _without(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What of `before` is missing in `after`, or another value there."""
    missing: dict[str, Any] = {}
    for name, value in before.items():
        now = after.get(name)
        lost = _without(value, now) if isinstance(value, Mapping) and isinstance(now, Mapping) else value
        if now != value and lost:
            missing[name] = lost
    return missing
