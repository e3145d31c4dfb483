"""Why a request is not answered, where it takes a second one to tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.keys import invented
from tests.probe.gateway import Put, Reply, slow
from toolsync.address import PATHS, Dialect
from toolsync.causes import named
from toolsync.masking import Secret
from toolsync.probe import network
from toolsync.probe.inquiry import inquire
from toolsync.probe.line import Line
from toolsync.probe.network import Network
from toolsync.probe.request import Request, queried
from toolsync.sentence import say, tell

KEY = Secret(invented("inquiry"))
CHAT: Dialect = "openai-chat"
RESPONSES: Dialect = "openai-responses"
MESSAGES: Dialect = "anthropic-messages"

UNSEEN = Reply({"error": {"message": "No auth credentials found", "code": 401}}, 401)
LOGIN = Reply("<html><title>401 Authorization Required</title></html>", 401, headers={"WWW-Authenticate": "Basic"})
LIST = Reply({"object": "list", "data": [{"id": "m"}]})
NOTHING = Reply({"error": {"message": "Invalid URL"}}, 404)
EMPTY = Reply("", headers={"Content-Type": "text/plain"})
SIGN_IN = Reply("<html><title>Sign in</title><form><input type=password></form></html>")
LACKING = Reply({"error": {"message": "model is required"}}, 400)


PONG = Reply({"object": "chat.completion", "model": "m", "choices": [{"message": {"content": "pong"}}]})
UNKNOWN = Reply({"error": {"message": "no such model", "code": "model_not_found"}}, 404)
WRONG = Reply({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, 401)
OTHERS = Reply({"object": "list", "data": [{"id": "n"}]})


def leads(place: str) -> Reply:
    return Reply("", 307, headers={"Location": place})


def at(path: str, reply: Reply, *, listed: Reply = LIST) -> Callable[[Put], Reply]:
    """A list at the usual place, one route that answers, and no other."""
    return lambda put: listed if put.path in _LISTS else reply if put.path == path else NOTHING


_LISTS = ("/v1/models", "/anthropic/v1/models")


def asked_and(question: Reply, *, listed: Reply = LIST) -> Callable[[Put], Reply]:
    return lambda put: question if put.method == "POST" else listed


def unseen(_put: Put) -> Reply:
    return UNSEEN


def by_api_key(put: Put) -> Reply:
    return LIST if "api-key" in put.headers else UNSEEN


def as_kong(put: Put) -> Reply:
    return LIST if "apikey" in put.headers else Reply({"message": "No API key found in request"}, 401)


def beside_a_login(put: Put) -> Reply:
    return WRONG if not put.path.startswith("/v1/") else PONG if put.method == "POST" else LIST


def without_responses(put: Put) -> Reply:
    return LIST if put.method == "GET" else NOTHING if put.path.endswith("/responses") else LACKING


def below_v1(put: Put) -> Reply:
    return UNSEEN if put.path.startswith("/v1/") else NOTHING


CLOSED = Reply({"error": {"message": "Access denied"}}, 403)
REFUSED = Reply({"error": {"message": "Unauthorized"}}, 401)


def closed_to_the_key(put: Put) -> Reply:
    return CLOSED if "authorization" in put.headers else UNSEEN


def without_list(put: Put) -> Reply:
    return UNSEEN if put.method == "POST" or put.path.startswith("/v1/") else NOTHING


NOWHERE = {
    "a word": Reply("404 page not found\n", 404, headers={"Content-Type": "text/plain"}),
    "FastAPI's word": Reply({"detail": "Not Found"}, 404),
    "a relay's word": Reply({"error": {"message": "Invalid URL (POST /v1/x)", "type": "invalid_request_error"}}, 404),
    "nothing": Reply("", 404, headers={"Content-Type": "text/plain"}),
    "Express's page": Reply("<html><pre>Cannot POST /v1/x</pre></html>", 404),
    "nginx's page": Reply("<html><head><title>404 Not Found</title></head></html>", 404),
}
"""What a server says to whatever it is asked, where no API is."""


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

APART: Mapping[str, Any] = {"dialect": MESSAGES, "path": ""}

ROWS = {
    "no key is seen, whichever header brings it": Row(unseen, "key_invalid", "likely"),
    "refused whoever asks": Row(
        lambda _: CLOSED,
        *("", "open"),
        asked=("GET /v1/models", "POST /v1/chat/completions", "GET /v1/models", "GET /v1/models"),
    ),
    "refused whoever asks, and a list for everybody": Row(
        asked_and(CLOSED, listed=LIST),
        *("", "open"),
        asked=("GET /v1/models", *["POST /v1/chat/completions"] * 4),
    ),
    "refused whoever asks for a stream": Row(asked_and(CLOSED, listed=LIST), *("", "open"), more={"streams": True}),
    "refused who has the key": Row(closed_to_the_key, "key_invalid", "open"),
    "refused who has the key, and a list for everybody": Row(
        lambda put: LIST if put.method == "GET" else closed_to_the_key(put), "key_invalid", "open"
    ),
    "a login refused whoever asks, and a list for everybody": Row(
        asked_and(REFUSED, listed=LIST), "key_invalid", "likely"
    ),
    "a login refused whoever asks": Row(lambda _: REFUSED, "key_invalid", "likely"),
    "the key is seen in another header": Row(by_api_key, "key_wrong_header", "sure", {"read_header": "api-key"}),
    "parameters that every address has": Row(
        lambda put: NOTHING if not put.path.endswith("?v=1") else LIST if put.method == "GET" else UNSEEN,
        *("key_invalid", "likely"),
        more={"query": "v=1"},
    ),
    "the key is seen in a header that few read": Row(as_kong, "key_wrong_header", "sure", {"read_header": "apikey"}),
    "a login beside the API": Row(beside_a_login, "path_missing_v1", "sure", {"address": "{origin}/v1"}, path=""),
    "a key that nobody knows, below a version neither": Row(lambda _: WRONG, "key_invalid", "sure", path=""),
    "a server's own login": Row(lambda _: LOGIN, "key_wrong_header", "likely"),
    "the APIs that are there": Row(
        *(without_responses, "wire_api_unsupported", "sure"),
        {"api": "`/chat/completions`, `/v1/messages`"},
        dialect=RESPONSES,
    ),
    "an API that is kept apart": Row(
        at("/anthropic/v1/messages", LACKING),
        *("path_missing_prefix", "sure", {"address": "{origin}/anthropic"}),
        ("GET /v1/models", "POST /v1/messages", "POST /anthropic/v1/messages"),
        **APART,
    ),
    "an API that is kept further apart": Row(
        at("/api/anthropic/v1/messages", UNKNOWN),
        *("path_missing_prefix", "sure", {"address": "{origin}/api/anthropic"}),
        **APART,
    ),
    "an API that is kept apart, and nobody lists anything": Row(
        at("/api/anthropic/v1/messages", LACKING, listed=NOTHING),
        *("path_missing_prefix", "sure", {"address": "{origin}/api/anthropic"}),
        **APART,
    ),
    "another API, and nobody lists anything": Row(
        at("/v1/chat/completions", LACKING, listed=NOTHING),
        *("wire_api_unsupported", "likely", {"api": "`/chat/completions`"}),
        dialect=RESPONSES,
    ),
    "a list that is kept from this key wherever it is asked for": Row(
        lambda put: WRONG if put.method == "GET" or put.path == "/v1/chat/completions" else NOTHING,
        *("wire_api_unsupported", "likely", {"api": "`/chat/completions`"}),
        dialect=RESPONSES,
    ),
    "the same, and the version is missing": Row(
        lambda put: WRONG if put.method == "GET" or put.path.startswith("/v1/") else NOTHING,
        *("path_missing_v1", "sure", {"address": "{origin}/v1"}),
        path="",
    ),
    "a website beside the list": Row(asked_and(Reply("<html><title>Home</title>")), "wire_api_unsupported", "likely"),
    "nothing is said to anything": Row(lambda _: EMPTY, "empty_response", "open"),
    "nothing is said to anything but below a version": Row(
        lambda put: EMPTY if not put.path.startswith("/v1/") else PONG if put.method == "POST" else LIST,
        *("path_missing_v1", "sure", {"address": "{origin}/v1"}),
        path="",
    ),
    "the same is said to everything": Row(lambda _: Reply({"status": "ok"}), "gateway_bug", "open"),
    "a login page for every path": Row(lambda _: SIGN_IN, "captive_portal", "likely"),
    "another's API that is kept apart": Row(
        at("/v1/chat/completions", LACKING),
        *("path_extra_segment", "sure", {"address": "{origin}/v1"}),
        path="/anthropic/v1",
    ),
    "an API that is there, and has no such model": Row(
        at("/v1/chat/completions", UNKNOWN),
        *("wire_api_unsupported", "sure", {"api": "`/chat/completions`"}),
        **APART,
    ),
    "a list, and nothing else": Row(at("", NOTHING), "wire_api_unsupported", "likely"),
    "the list with a slash": Row(asked_and(PONG, listed=leads("/v1/models/")), "", "sure"),
    "the list's redirect": Row(asked_and(PONG, listed=leads("/docs")), "", "sure"),
    "the list behind a login": Row(asked_and(PONG, listed=leads("https://sso.corp.example/login")), "", "sure"),
    "the list's redirect, and a refusal": Row(
        asked_and(WRONG, listed=leads("https://new.example/v1/models")),
        *("key_invalid", "sure"),
    ),
    "all redirected": Row(
        lambda put: leads(f"https://new.example{put.path}"),
        *("url_redirect", "sure", {"address": "https://new.example/v1"}),
    ),
    "all redirected to what is no address": Row(lambda _: leads("http://[::1/v1/models"), "url_redirect", "sure"),
    "the list redirected, the rest not there": Row(
        asked_and(NOTHING, listed=leads("https://new.example/v1/models")),
        *("url_redirect", "sure", {"address": "https://new.example/v1"}),
    ),
    "all behind a portal": Row(lambda _: leads("http://10.0.0.1/guest/splash?url=x"), "captive_portal", "likely"),
    "out of service, and the list lacks the model": Row(
        asked_and(Reply({"error": "service temporarily failing"}, 503), listed=OTHERS), "model_not_found", "likely"
    ),
    "out of service, and the list has the model": Row(
        asked_and(Reply({"error": "service temporarily failing"}, 503)), "upstream_overloaded", "likely"
    ),
    "overloaded by its own word, and the list lacks the model": Row(
        asked_and(Reply({"error": {"message": "The server is overloaded"}}, 503), listed=OTHERS),
        *("upstream_overloaded", "sure"),
    ),
    "nobody serves what the list lacks": Row(
        asked_and(Reply({"error": {"message": "Model m is not registered here"}}, 503), listed=OTHERS),
        *("model_not_found", "likely"),
    ),
    "without the key: the list's redirect": Row(
        asked_and(UNSEEN, listed=leads("/docs")),
        *("", "open"),
        asked=("GET /v1/models", "POST /v1/chat/completions"),
        more=STRANGE,
    ),
    "without the key: a redirect of what a project's file names": Row(
        asked_and(UNSEEN, listed=leads("/docs")),
        *("url_redirect", "likely"),
        asked=("GET /v1/models",),
        more={**STRANGE, "is_users": False},
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
        asks = {"credentials": keys, "network": Network(connect_seconds=5, read_seconds=5), **row.more}
        url = queried(base + PATHS[row.dialect], row.more.get("query", ""))
        found = inquire(Request(row.dialect, base, url, "m", **asks))
    assert (found.cause, found.certainty) == (row.cause, row.certainty)
    told = {name: tell(found.values[name]) for name in row.values}
    assert told == {name: value.format(origin=gateway.origin) for name, value in row.values.items()}
    if row.asked is not None:
        assert tuple(f"{put.method} {put.path}" for put in seen) == row.asked
    if not row.more.get("is_trusted", True):
        assert not any("authorization" in put.headers for put in seen)
    assert len(seen) <= 6
    assert not any(KEY.reveal() in tell(exchange.line) for exchange in found.exchanges)


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES, MESSAGES])
@pytest.mark.parametrize("said", NOWHERE.values(), ids=NOWHERE)
def test_another_api_is_spoken_of_only_where_one_answers(said: Reply, dialect: Dialect) -> None:
    with slow(lambda _: said) as gateway:
        base = f"{gateway.origin}/llm" + ("" if dialect == MESSAGES else "/v1")
        found = inquire(Request(dialect, base, base + PATHS[dialect], "m", {"authorization": KEY}))
        assert len(gateway.asked) <= 6
    assert (found.cause, found.certainty) == ("path_missing_prefix", "open")


def test_which_other_headers_were_tried_is_told() -> None:
    with slow(by_api_key) as gateway:
        base = f"{gateway.origin}/v1"
        found = inquire(Request(CHAT, base, f"{base}/chat/completions", "m", {"authorization": KEY}))
    tried = [tell(exchange.line) for exchange in found.exchanges if exchange.what == "other header"]
    assert [line.partition("(")[2].partition(")")[0] for line in tried] == [
        "the key in x-api-key, api-key, apikey instead",
        *("the key in x-api-key instead", "the key in api-key instead"),
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_how_an_answer_is_packed_that_nobody_asked_to_be_packed_is_told(streams: bool) -> None:
    packed = Reply(b"\x1b\x01\xf8\x8d", headers={"Content-Encoding": "br"})
    with slow(asked_and(packed)) as gateway:
        found = inquire(replace(asking(gateway.origin), streams=streams))
    assert (found.cause, found.certainty) == ("encoding_mismatch", "open")
    assert "it is packed as br, which was not asked for" in tell(found.exchanges[-1].line)


def test_a_login_page_is_opened_by_its_whole_address() -> None:
    page = "<html><title>Sign in to the guest network</title><form action=/login><input type=password></form></html>"
    with slow(lambda _: Reply(page)) as gateway:
        base = f"{gateway.origin}/v1"
        found = inquire(Request(CHAT, base, f"{base}/chat/completions", "m", {"authorization": KEY}))
    values = {name: tell(value) for name, value in found.values.items()}
    assert f"Open {gateway.origin}/ in a browser" in named("captive_portal").filled(values).remedy


LONG = {"object": "list", "data": [*({"id": f"m-{n}", "about": "y" * 300} for n in range(6000)), {"id": "m"}]}
NO_LIST = "models_list_unsupported"
LISTS = {
    "not there": (NOTHING, [NO_LIST]),
    "with a slash": (leads("/v1/models/"), []),
    "behind a login": (leads("https://sso.corp.example/login"), []),
    "elsewhere": (leads("/docs"), [NO_LIST]),
    "a page": (Reply("<html><title>Docs</title></html>"), [NO_LIST]),
    "not made": (Reply("", 501), [NO_LIST]),
    "for others": (Reply({"error": {"message": "Admin only"}}, 403), []),
    "for another key": (UNSEEN, []),
    "too often": (Reply({"error": {"message": "slow down"}}, 429), []),
    "broken": (Reply({"error": {"message": "oops"}}, 500), []),
    "of two megabytes": (Reply(LONG), []),
}


@pytest.mark.parametrize(("listed", "notes"), LISTS.values(), ids=LISTS)
def test_a_gateway_that_answers_is_said_to_have_no_list_only_where_it_has_none(listed: Reply, notes: list[str]) -> None:
    with slow(asked_and(PONG, listed=listed)) as gateway:
        found = inquire(asking(gateway.origin))
    assert (found.cause, [note[0] for note in found.notes]) == ("", notes)
    assert len(found.models) == (6001 if listed.data is LONG else 0)


def test_what_another_api_says_to_a_question_without_a_model_is_told_as_such() -> None:
    unnamed = Reply({"error": {"message": "The model `None` does not exist", "code": "model_not_found"}}, 404)
    with slow(lambda put: unnamed if put.path == "/v1/chat/completions" else without_responses(put)) as gateway:
        base = f"{gateway.origin}/v1"
        found = inquire(Request(RESPONSES, base, f"{base}/responses", "m", {"authorization": KEY}))
    said = f"POST {base}/chat/completions (an empty question in another API) → 404 application/json"
    assert any(tell(exchange.line).startswith(said) for exchange in found.exchanges)
    assert found.cause == "wire_api_unsupported"


def test_a_list_longer_than_anybody_reads_is_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "LONGEST_BODY", 1000)
    with slow(asked_and(PONG, listed=Reply(LONG))) as gateway:
        found = inquire(asking(gateway.origin))
    assert (found.cause, found.notes, found.models) == ("", (), ())


def test_that_everybody_is_refused_is_told_and_holds_for_the_next_program_too() -> None:
    line = Line()
    with slow(lambda _: CLOSED) as gateway:
        first, second = (inquire(asking(gateway.origin), line=line) for _ in range(2))
        assert len(gateway.asked) == 4
    assert first.said == second.said == say("refused_everybody")


def asking(origin: str) -> Request:
    return Request(CHAT, f"{origin}/v1", f"{origin}/v1/chat/completions", "m", {"authorization": KEY})
