"""Why a request is not answered, where it takes a second one to tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.keys import invented
from tests.probe.gateway import Put, Reply, slow
from toolsync.address import PATHS, Dialect
from toolsync.causes import named
from toolsync.masking import Secret
from toolsync.probe.inquiry import inquire
from toolsync.probe.network import Network
from toolsync.probe.request import Request
from toolsync.sentence import tell

KEY = Secret(invented("inquiry"))
CHAT: Dialect = "openai-chat"
RESPONSES: Dialect = "openai-responses"

UNSEEN = Reply({"error": {"message": "No auth credentials found", "code": 401}}, 401)
LOGIN = Reply("<html><title>401 Authorization Required</title></html>", 401, headers={"WWW-Authenticate": "Basic"})
LIST = Reply({"object": "list", "data": [{"id": "m"}]})
NOTHING = Reply({"error": {"message": "Invalid URL"}}, 404)
LACKING = Reply({"error": {"message": "model is required"}}, 400)


def unseen(_put: Put) -> Reply:
    return UNSEEN


def by_api_key(put: Put) -> Reply:
    return LIST if "api-key" in put.headers else UNSEEN


def without_responses(put: Put) -> Reply:
    return LIST if put.method == "GET" else NOTHING if put.path.endswith("/responses") else LACKING


def below_v1(put: Put) -> Reply:
    return UNSEEN if put.path.startswith("/v1/") else NOTHING


def without_list(put: Put) -> Reply:
    return UNSEEN if put.method == "POST" or put.path.startswith("/v1/") else NOTHING


@dataclass(frozen=True)
class Row:
    """What is asked of which gateway, and what it comes to."""

    reply: Callable[[Put], Reply]
    cause: str
    certainty: str
    values: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] | None = None
    dialect: Dialect = CHAT
    path: str = "/v1"
    more: Mapping[str, Any] = field(default_factory=dict)


STRANGE: Mapping[str, Any] = {"credentials": {}, "is_trusted": False}
"""An address that the key does not go to."""

ROWS = {
    "no key is seen, whichever header brings it": Row(unseen, "key_invalid", "likely"),
    "the key is seen in another header": Row(by_api_key, "key_wrong_header", "sure", {"read_header": "api-key"}),
    "a server's own login": Row(lambda _: LOGIN, "key_wrong_header", "likely"),
    "the APIs that are there": Row(
        *(without_responses, "wire_api_unsupported", "sure"),
        {"api": "`/chat/completions`, `/v1/messages`"},
        dialect=RESPONSES,
    ),
    "without the key: the path": Row(
        *(below_v1, "path_missing_v1", "likely", {"address": "{origin}/v1"}),
        ("GET /models", "POST /chat/completions", "GET /v1/models"),
        path="",
        more=STRANGE,
    ),
    "without the key: a gateway without a list": Row(
        without_list, "", "open", asked=("GET /models", "POST /chat/completions"), path="", more=STRANGE
    ),
    "without the key: one that asks for it": Row(unseen, "", "open", asked=("GET /v1/models",), more=STRANGE),
    "without the key: nothing is posted to where a project's file leads": Row(
        below_v1, "", "open", asked=("GET /models",), path="", more={**STRANGE, "is_users": False}
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_it_comes_to(row: Row) -> None:
    seen: list[Put] = []

    def reply(put: Put) -> Reply:
        seen.append(put)
        return row.reply(put)

    with slow(reply) as gateway:
        base = gateway.origin + row.path
        keys = {"authorization": KEY}
        network = Network(connect_seconds=5, read_seconds=5)
        asks = {"credentials": keys, "network": network, **row.more}
        found = inquire(Request(row.dialect, base, base + PATHS[row.dialect], "m", **asks))
    assert (found.cause, found.certainty) == (row.cause, row.certainty)
    told = {name: tell(found.values[name]) for name in row.values}
    assert told == {name: value.format(origin=gateway.origin) for name, value in row.values.items()}
    if row.asked is not None:
        assert tuple(f"{put.method} {put.path}" for put in seen) == row.asked
        assert not any("authorization" in put.headers for put in seen)
    assert len(seen) <= 6
    assert not any(KEY.reveal() in tell(exchange.line) for exchange in found.exchanges)


def test_a_login_page_is_opened_by_its_whole_address() -> None:
    page = "<html><title>Sign in to the guest network</title><form action=/login><input type=password></form></html>"
    with slow(lambda _: Reply(page)) as gateway:
        base = f"{gateway.origin}/v1"
        found = inquire(Request(CHAT, base, f"{base}/chat/completions", "m", {"authorization": KEY}))
    values = {name: tell(value) for name, value in found.values.items()}
    assert f"Open {gateway.origin}/ in a browser" in named("captive_portal").filled(values).remedy
