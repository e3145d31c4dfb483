"""Ping against a gateway that works, and against servers that hang, break off or are not there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import KEY, QUICK, asking, house
from tests.keys import invented
from tests.scripted import HANG, http, scripted
from toolsync.address import Dialect
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.probe import Models, Network, Ping, PingRequest, list_models, ping

WRONG = Secret(invented("wrong"))
DIALECTS: list[Dialect] = ["openai-chat", "openai-responses", "anthropic-messages"]


@pytest.fixture
def gateway() -> Iterator[LoopbackGateway]:
    with house() as running:
        yield running


# Against a gateway that works.


@pytest.mark.parametrize(
    ("dialect", "path", "input_tokens"),
    [
        ("openai-chat", "/api/v1/chat/completions", 15),
        ("openai-responses", "/api/v1/responses", 8),
        ("anthropic-messages", "/api/v1/messages", 15),
    ],
)
def test_a_ping_names_address_model_tokens_and_reply(
    gateway: LoopbackGateway, dialect: Dialect, path: str, input_tokens: int
) -> None:
    came = ping(asking(gateway, dialect))
    assert came == Ping(
        url=gateway.base_url.removesuffix("/api") + path,
        outcome="ok",
        status=200,
        elapsed_ms=came.elapsed_ms,
        dialect=dialect,
        asked="house-model",
        model="house-model",
        input_tokens=input_tokens,
        output_tokens=1,
        reply="pong",
    )
    assert came.is_ok
    assert 0 <= came.elapsed_ms < 5000


@pytest.mark.parametrize(
    ("dialect", "carriers", "limit"),
    [
        ("openai-chat", {"authorization"}, ("max_tokens", 16)),
        ("openai-responses", {"authorization"}, ("max_output_tokens", 16)),
        ("anthropic-messages", {"authorization", "x-api-key"}, ("max_tokens", 16)),
    ],
)
def test_one_request_is_sent_with_the_key_where_the_dialects_clients_put_it(
    gateway: LoopbackGateway, dialect: Dialect, carriers: set[str], limit: tuple[str, int]
) -> None:
    ping(
        asking(
            gateway,
            dialect,
            headers={"X-Team": "blue", "Authorization": "Bearer other", "X-Seal": Secret("s3aled-value")},
        )
    )
    (request,) = gateway.received
    assert dict(request.credentials) == dict.fromkeys(carriers, KEY)
    assert (request.headers["x-team"], request.headers["x-seal"]) == ("blue", "s3aled-value")
    assert request.headers.get("anthropic-version") == ("2023-06-01" if dialect == "anthropic-messages" else None)
    assert request.json is not None
    assert request.json[limit[0]] == limit[1]
    assert request.json.get("stream") is None
    assert len(request.body) < 200


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_a_key_no_credential_is_sent(gateway: LoopbackGateway, dialect: Dialect) -> None:
    came = ping(asking(gateway, dialect, key=None))
    assert (came.outcome, came.status) == ("refused", 401)
    assert dict(gateway.received[0].credentials) == {}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wrong_key_is_refused(gateway: LoopbackGateway, dialect: Dialect) -> None:
    came = ping(asking(gateway, dialect, key=WRONG))
    assert (came.outcome, came.status) == ("refused", 401)
    assert came.problem == "the gateway does not know this key (401): Invalid API key"
    assert came.hint == (
        "Put the key that this gateway gave you in its place, and in every copy of it: `toolsync key rotate NAME`."
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_that_is_not_served_is_not_found(gateway: LoopbackGateway, dialect: Dialect) -> None:
    came = ping(asking(gateway, dialect, model="no-such-model"))
    assert (came.outcome, came.status) == ("not_found", 404)
    assert "no-such-model" in came.problem
    assert came.cause == "model_not_found"
    assert came.hint.startswith("Name a model that this gateway serves to this key, `toolsync models` lists them")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_wrong_path_is_not_found(gateway: LoopbackGateway, dialect: Dialect) -> None:
    base = asking(gateway, dialect).base + "/v1"
    came = ping(asking(gateway, dialect, base=base))
    assert (came.outcome, came.status) == ("not_found", 404)
    assert "Invalid URL (POST /api/v1/v1" in came.problem
    assert came.cause == "path_duplicate_v1"
    assert came.hint.startswith("Take one away: `toolsync profile edit --set base_url=")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_models_are_listed(gateway: LoopbackGateway, dialect: Dialect) -> None:
    came = list_models(asking(gateway, dialect, model=""))
    assert came == Models(
        url=gateway.base_url + "/v1/models",
        outcome="ok",
        status=200,
        elapsed_ms=came.elapsed_ms,
        ids=("house-model", "other-model"),
    )


def test_a_list_of_models_fails_as_a_ping_does(gateway: LoopbackGateway) -> None:
    came = list_models(asking(gateway, "openai-chat", key=WRONG))
    assert (came.outcome, came.ids) == ("refused", ())
    came = list_models(asking(gateway, "openai-chat", base=gateway.base_url))
    assert (came.outcome, came.status) == ("not_found", 404)
    assert came.cause == "path_missing_v1"
    assert came.hint.startswith("Set the address with its version: `toolsync profile edit --set base_url=")


# When no answer comes.


def test_nobody_listens() -> None:
    with scripted([]) as server:
        base, port = server.base_url, server.port
    came = ping(PingRequest("openai-chat", base, "m", KEY))
    assert (came.outcome, came.status) == ("no_connection", None)
    assert came.problem == f"nothing listens at 127.0.0.1:{port}"
    assert came.cause == "connection_refused"
    assert came.hint.startswith("Start the gateway, or correct host and port")


def test_the_name_is_not_known() -> None:
    came = ping(PingRequest("openai-chat", "http://gateway.toolsync-test.invalid/v1", "m", KEY, network=Network()))
    assert (came.outcome, came.problem) == (
        "no_connection",
        "the name of gateway.toolsync-test.invalid:80 is not known",
    )


SILENT = {
    "no-answer": [HANG],
    "half-a-header": [b"HTTP/1.1 200 OK\r\nContent-Le", HANG],
    "half-a-body": [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", HANG],
}


@pytest.mark.parametrize("script", SILENT.values(), ids=SILENT.keys())
def test_an_answer_that_does_not_come_in_time_is_a_timeout(script: list[bytes]) -> None:
    with scripted(script) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY, network=QUICK))
    assert (came.outcome, came.status) == ("timeout", None)
    assert came.problem == "the gateway took the request, and did not answer in time"
    assert 300 < came.elapsed_ms < 15_000


DRIPPING = {
    "head": [b"HTTP/1.1 200 OK\r\n", *([b"x-a: b\r\n"] * 200)],
    "body": [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *([b" "] * 200)],
    "go-on": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 200,
}


@pytest.mark.parametrize("drops", DRIPPING.values(), ids=DRIPPING.keys())
def test_an_answer_drop_by_drop_is_a_timeout_too(drops: list[bytes]) -> None:
    with scripted(drops, pause_seconds=0.1) as server:
        network = Network(connect_seconds=0.2, read_seconds=0.3)
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY, network=network))
    assert came.outcome == "timeout"
    assert came.elapsed_ms < 15_000


BROKEN = {
    "hung-up": ([], "the server broke off, or does not speak HTTP"),
    "no-http": ([b"SSH-2.0-OpenSSH_9.6\r\n"], "the server broke off, or does not speak HTTP"),
    "half-a-body": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
        "the gateway did not answer in this dialect (200): {",
    ),
    "no-gzip": (http(200, b"plain", Content_Encoding="gzip"), "the answer is not compressed as it says"),
}


@pytest.mark.parametrize(("script", "problem"), BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_is_none_is_a_bad_reply(script: list[bytes], problem: str) -> None:
    with scripted(script) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY, network=Network()))
    assert (came.outcome, came.problem) == ("bad_reply", problem)


def test_https_to_a_port_that_speaks_http() -> None:
    with scripted([b"HTTP/1.1 400 Bad Request\r\n\r\n"]) as server:
        base = server.base_url.replace("http://", "https://")
        came = ping(PingRequest("openai-chat", base, "m", KEY, network=Network()))
    assert came.outcome == "no_connection"
    assert came.problem == f"no encrypted connection to 127.0.0.1:{server.port}"


def test_an_endless_answer_is_cut() -> None:
    with scripted(http(200, b"x" * 8 * 2**20, "text/plain")) as server:
        came = ping(PingRequest("openai-chat", server.base_url, "m", KEY))
    assert came.outcome == "bad_reply"
    assert len(came.problem) < 400


UNSENDABLE = {
    "line-break": (Secret("sk-invented-broken-03\n"), "http://127.0.0.1:9/v1", "the key or a header holds a character"),
    "full-width": (
        Secret("sk\uff0dinvented\uff0dwide\uff0d04"),
        "http://127.0.0.1:9/v1",
        "the key or a header holds a character",
    ),
    "no-scheme": (KEY, "gateway.example/v1", "the address does not start with https:// or http://"),
    "query": (KEY, "https://gateway.example/v1?key=sk-invented-pasted-06", "the address has a query or a fragment"),
    "userinfo": (KEY, "https://sk-invented-pasted-05@gateway.example", "the address holds a user name or password"),
}


@pytest.mark.parametrize(("key", "base", "problem"), UNSENDABLE.values(), ids=UNSENDABLE.keys())
def test_what_cannot_be_sent_is_said_without_showing_it(key: Secret, base: str, problem: str) -> None:
    with LoopbackGateway() as gateway:
        came = ping(PingRequest("openai-chat", base.replace("http://127.0.0.1:9", gateway.base_url), "m", key))
    assert came.outcome == "unsendable"
    assert came.problem.startswith(problem)
    assert "invented" not in repr(came)


@pytest.mark.parametrize(
    ("imported", "not_yet"), [("toolsync.probe", "httpx"), ("toolsync.commands.apply", "toolsync.probe")]
)
def test_what_is_needed_to_send_is_imported_only_when_something_is_sent(imported: str, not_yet: str) -> None:
    code = f"import sys, {imported}; sys.exit('{not_yet}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[1]).returncode == 0
