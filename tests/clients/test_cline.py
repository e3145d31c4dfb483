"""The real Cline, newer and older, with the files that `toolsync apply` wrote, against a gateway on loopback.

One home folder for both: the newer one reads `providers.json`, the older one `globalState.json` and `secrets.json` as
the extension for VS Code does, and each writes its files between two applies. Then the newer one is started over
variants of its file, and must take those, and only those, that our schema takes.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.clients import process
from tests.clients.client import Client
from tests.clients.cline import FOREIGN, NEWER, OLDER, VARIANTS, Seen
from tests.clients.connection import unknown
from tests.clients.inside import KEYS, MODEL
from tests.clients.stage import REPOSITORY, needs_client, stage
from tests.clients.story import Asked
from tests.conftest import needs
from toolsync.document import parse
from toolsync.plan import Row
from toolsync.plan.meeting import complaint
from toolsync.registry import tools
from toolsync.tool.breach import check_of

pytestmark = pytest.mark.client

_SECONDS = 600.0
_CLIENTS = [NEWER, OLDER]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    needs(platform.machine() == "x86_64", "needs the processor that this Cline is made for")
    for client in _CLIENTS:
        needs_client(client)
    home = tmp_path_factory.mktemp("cline")
    argv = stage(sys.executable, "-m", "tests.clients.cline_inside", str(home))
    played = process.run(argv, environ=os.environ, folder=REPOSITORY, timeout_seconds=_SECONDS)
    assert played.code == 0, played.err
    return Seen.from_json(played.out)


def test_every_command_ends_well(seen: Seen) -> None:
    assert {name: (run.code, run.err) for name, run in seen.commands.items()} == dict.fromkeys(seen.commands, (0, ""))


@pytest.mark.parametrize("client", _CLIENTS, ids=lambda client: client.name)
@pytest.mark.parametrize(("run", "key"), [("first", "first"), ("new key", "second")], ids=["first", "new key"])
def test_it_asks_once_the_right_model_with_the_right_key(seen: Seen, client: Client, run: str, key: str) -> None:
    played = seen.runs[f"{client.name}: {run}"]
    expected = Asked(client.posts_to, MODEL, dict.fromkeys(client.key_headers, key))
    said = client.said(played.code, played.out, played.err)
    assert (played.asked, said.state, "pong" in said.words) == ((expected,), "answered", True)


@pytest.mark.parametrize("client", _CLIENTS, ids=lambda client: client.name)
def test_a_wrong_key_is_refused(seen: Seen, client: Client) -> None:
    played = seen.runs[f"{client.name}: wrong key"]
    assert {one.keys["authorization"] for one in played.asked} == {"wrong"}
    assert client.said(played.code, played.out, played.err).state == "refused"


def test_the_newer_one_takes_the_key_from_its_environment_too(seen: Seen) -> None:
    played = seen.runs["cline: environment"]
    assert played.asked == (Asked("/api/v1/chat/completions", MODEL, {"authorization": "second"}),)
    held = "".join(seen.files["apply env"].values())
    assert [name for name, key in KEYS.items() if key.reveal() in held] == []


def test_a_hub_goes_on_with_the_environment_of_its_start_until_it_is_ended_as_doctor_says(seen: Seen) -> None:
    runs = {name: run for name, run in seen.runs.items() if name.startswith("hub: ")}
    keys = [{one.keys["authorization"] for one in run.asked} for name, run in runs.items() if name != "hub: doctor"]
    assert keys == [{"first"}, {"first"}, {"second"}]
    (cli,) = [one for one in json.loads(runs["hub: doctor"].out)["data"]["tools"] if one["reader"] == "cli"]
    (found,) = cli["findings"]
    assert (cli["state"], found["cause"]) == ("warning", "env_not_refreshed")
    assert found["evidence"][0].endswith("still has another value of OPENAI_API_KEY")
    assert found["fix"].startswith("Run `cline hub stop`, ")
    assert "pong" in NEWER.said(runs["hub: ended"].code, runs["hub: ended"].out, runs["hub: ended"].err).words


def test_each_connects_to_the_gateway_and_nowhere_else(seen: Seen) -> None:
    found = {name: unknown(run.connected, seen.gateway) for name, run in seen.runs.items()}
    assert {name: targets for name, targets in found.items() if targets} == {}
    assert {name for run in seen.runs.values() for name in run.names} <= NEWER.looks_up.keys()


def test_what_they_write_themselves_is_no_drift_and_leaves_nothing_to_apply(seen: Seen) -> None:
    assert seen.files["status"] != seen.files["apply"]  # they wrote
    assert seen.files["apply again"] == seen.files["status"]
    assert "as applied" in seen.commands["status"].out


@pytest.mark.parametrize("moment", ["apply", "status", "apply new", "undo", "apply env", "undo env"])
def test_other_providers_stay_whole(seen: Seen, moment: str) -> None:
    files = {name: json.loads(text) for name, text in seen.files[moment].items()}
    assert files["providers.json"]["providers"]["deepseek"] == _foreign("providers.json")["providers"]["deepseek"]
    assert files["secrets.json"]["openRouterApiKey"] == _foreign("secrets.json")["openRouterApiKey"]
    assert files["globalState.json"]["favoritedModelIds"] == _foreign("globalState.json")["favoritedModelIds"]


def test_undo_gives_the_users_values_back_although_both_wrote_in_between(seen: Seen) -> None:
    after = {name: json.loads(text) for name, text in seen.files["undo"].items()}
    stored, before = after["providers.json"], _foreign("providers.json")
    ours = "openai-compatible"
    assert stored["providers"][ours]["settings"] == before["providers"][ours]["settings"]
    assert stored["lastUsedProvider"] == before["lastUsedProvider"]
    assert after["secrets.json"] == _foreign("secrets.json")
    state = after["globalState.json"]
    assert {name: state.get(name) for name in _foreign("globalState.json")} == _foreign("globalState.json")
    assert "openAiBaseUrl" not in state


def test_nothing_that_was_written_is_what_cline_overwrites(seen: Seen) -> None:
    written = [text for files in seen.files.values() if (text := files["providers.json"])]
    assert [_complaint(text) for text in written] == [None] * len(written)


@pytest.mark.parametrize("name", VARIANTS)
def test_our_schema_takes_what_cline_takes_and_nothing_else(seen: Seen, name: str) -> None:
    assert (_complaint(VARIANTS[name].replace("@ADDRESS@", "http://127.0.0.1/v1")) is None) is seen.kept[name]


def test_the_five_kinds_that_cost_every_key_are_among_them(seen: Seen) -> None:
    assert [seen.kept[name] for name in list(VARIANTS)[:5]] == [False] * 5


def _foreign(name: str) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads((FOREIGN / name).read_text(encoding="utf-8"))
    return data


def _complaint(text: str) -> str | None:
    row = next(file for file in tools(Path("/nowhere"))["cline"].files if file.overlay == "providers.json")
    return complaint(Row("cline", row.overlay, check=check_of(row)), parse(text.encode(), row.format))
