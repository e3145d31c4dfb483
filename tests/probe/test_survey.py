"""Several programs asked about at once: who is silent costs the time of one, and nobody is judged by our own crowd."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.keys import invented
from tests.probe.gateway import Put, Reply, Slow, slow
from tests.probe.timeless import Timeless, World
from toolsync.address import PATHS, Dialect
from toolsync.masking import Secret
from toolsync.probe import Ping, PingRequest, pings, survey, talk
from toolsync.probe.inquiry import Inquiry
from toolsync.probe.line import Line
from toolsync.probe.line import asked as lines
from toolsync.probe.network import Network
from toolsync.probe.request import Request
from toolsync.probe.survey import Survey
from toolsync.probe.way import Way, way
from toolsync.sentence import tell

KEY = Secret(invented("survey"))
CHAT: Dialect = "openai-chat"
MESSAGES: Dialect = "anthropic-messages"

PATIENCE = Network().read_seconds
BEAT = PATIENCE / 6
"""After one a list is late, after two an origin is silent."""
SILENCE = 4 * PATIENCE
"""Longer than anybody here waits."""
LIST = {"object": "list", "data": [{"id": name} for name in ("m0", "m1", "m2", "m3")]}
BUSY = {"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}}
MESSAGE = {"type": "message", "model": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": "pong"}]}
PONG = {"object": "chat.completion", "model": "m", "choices": [{"message": {"role": "assistant", "content": "pong"}}]}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def request(origin: str, model: str, dialect: Dialect = CHAT, timeout_seconds: float | None = None) -> Request:
    base = origin if dialect == MESSAGES else f"{origin}/v1"
    keys = {"authorization": KEY}
    return Request(dialect, base, base + PATHS[dialect], model, keys, timeout_seconds=timeout_seconds)


def asked(*requests: Request) -> list[Inquiry]:
    """What each came to."""
    return [one.inquiry for one in Survey().of(requests) if one.inquiry is not None]


def silent(_put: Put) -> Reply:
    return Reply({}, seconds=SILENCE)


def well(put: Put) -> Reply:
    return Reply(LIST if put.method == "GET" else PONG)


@pytest.fixture
def mute(world: World) -> Iterator[tuple[Timeless, Timeless]]:
    with world.gateway(silent) as one, world.gateway(silent) as other:
        yield one, other


@pytest.mark.parametrize("count", [1, 2], ids=["one gateway", "two gateways"])
def test_four_programs_on_silent_gateways_take_the_time_of_one(
    world: World, mute: tuple[Timeless, Timeless], count: int
) -> None:
    inquiries = asked(*(request(mute[number % count].origin, f"m{number}") for number in range(4)))
    assert [(one.cause, one.certainty) for one in inquiries] == [("", "open")] * 4
    assert all("needs longer" in tell(one.said) for one in inquiries)
    assert [[exchange.status for exchange in one.exchanges] for one in inquiries] == [[None, None]] * 4
    assert world.clock.now < 2 * PATIENCE  # one after the other they take eight times that of a request
    assert [one.asked.count(("/v1/models", "")) for one in mute[:count]] == [1] * count
    assert sum(len(one.asked) for one in mute) == 2 * count  # who shares a key with a silent one is as silent


def test_each_has_its_whole_patience_where_one_way_of_asking_is_silent(world: World) -> None:
    def reply(put: Put) -> Reply:
        return Reply(MESSAGE, seconds=PATIENCE * 0.8) if put.path == "/v1/messages" else silent(put)

    with world.gateway(reply) as gateway:
        mute, _, slowly = asked(
            request(gateway.origin, "m0"), request(gateway.origin, "m1"), request(gateway.origin, "m", MESSAGES)
        )
    assert (slowly.cause, slowly.certainty, slowly.exchanges[-1].is_ok) == ("", "sure", True)
    assert slowly.exchanges[-1].elapsed_ms >= PATIENCE * 800
    assert (mute.cause, mute.certainty) == ("", "open")
    # one is asked again alone, and is as silent: it is not for the others that it was
    chats = [model for path, model in gateway.asked if path == "/v1/chat/completions"]
    assert chats == ["m0", "m0"]


def test_who_lists_its_models_and_answers_no_question_says_what_to_try(world: World) -> None:
    with world.gateway(lambda put: Reply(LIST) if put.method == "GET" else silent(put)) as gateway:
        (told,) = asked(request(gateway.origin, "m0"))
    assert (told.cause, told.certainty, told.exchanges[-1].status) == ("", "open", None)
    assert "needs longer" in tell(told.said)


def test_who_answers_is_asked_one_thing_at_a_time_however_slow_it_is(world: World) -> None:
    def reply(put: Put) -> Reply:
        return Reply(LIST) if put.method == "GET" else Reply(PONG, seconds=4 * BEAT)

    with world.gateway(reply) as gateway:
        inquiries = asked(*(request(gateway.origin, f"m{number}") for number in range(3)))
    assert gateway.most == 1
    # one list for all who ask it with one key, and two questions; the third's model is in the list
    assert gateway.asked == [("/v1/models", ""), *(("/v1/chat/completions", f"m{number}") for number in range(2))]
    assert [(one.cause, one.certainty) for one in inquiries] == [("", "sure"), ("", "sure"), ("", "likely")]


def test_a_key_that_is_refused_is_asked_about_once_for_all() -> None:
    refusal = {"error": {"message": "Invalid token", "code": "invalid_api_key"}}
    with slow(lambda _: Reply(refusal, 401)) as gateway:
        inquiries = asked(*(request(gateway.origin, f"m{number}") for number in range(3)))
    assert [one.cause for one in inquiries] == ["key_invalid"] * 3
    assert len({tuple(exchange.what for exchange in one.exchanges) for one in inquiries}) == 1
    paths = [path for path, _ in gateway.asked]
    # the list, in another header, and without a key; and one question
    assert (paths.count("/v1/models"), paths.count("/v1/chat/completions")) == (3, 1)
    assert [tell(one.values["model"]) for one in inquiries] == ["m0", "m1", "m2"]


def test_another_key_has_another_list() -> None:
    with slow(well) as gateway:
        first = request(gateway.origin, "m0")
        other = replace(first, credentials={"authorization": Secret(invented("survey-other"))})
        asked(first, other)
    assert [path for path, _ in gateway.asked].count("/v1/models") == 2


def test_who_was_silent_at_first_and_refuses_a_crowd_is_asked_again_alone(world: World) -> None:
    refused: set[str] = set()

    def reply(put: Put) -> Reply:
        if put.method == "GET":
            return Reply(LIST, seconds=4 * BEAT)
        is_crowd = put.now > 1 or put.model not in refused  # the first time there is one, but where we are held up
        refused.add(put.model)
        answer = MESSAGE if put.path == "/v1/messages" else PONG
        return Reply(BUSY, 429, seconds=4 * BEAT) if is_crowd else Reply(answer)

    with world.gateway(reply) as gateway:
        inquiries = asked(request(gateway.origin, "m0"), request(gateway.origin, "m1", MESSAGES))
    assert [(one.cause, one.exchanges[-1].status) for one in inquiries] == [("", 200)] * 2
    assert sorted(model for path, model in gateway.asked if path != "/v1/models") == ["m0", "m0", "m1", "m1"]


WRONG = Reply({"error": {"message": "Invalid token", "code": "invalid_api_key"}}, 401)
NOTHING = Reply({"error": {"message": "Invalid URL"}}, 404)
BROKE = Reply({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, 429)
PATHS_WRONG = ("/v1", "/v1/v1", "/oops/v1", "/x/y/v1")
MODELS = ("m0", "m1", "m2", "m0")


def by_path(put: Put) -> Reply:
    return well(put) if put.path in ("/v1/models", "/v1/chat/completions") else NOTHING


SHARED = {
    "well": (well, "m0", ["", "", "", ""]),
    "nobody may": (lambda _: WRONG, "m0", ["key_invalid"] * 4),
    "anybody may list": (lambda put: Reply(LIST) if put.method == "GET" else WRONG, "m0", ["key_invalid"] * 4),
    "no money": (lambda put: Reply(LIST) if put.method == "GET" else BROKE, "m0", ["quota_exhausted"] * 4),
    "wrong models": (
        lambda put: (
            Reply(LIST) if put.method == "GET" else Reply({"error": {"message": "?", "code": "model_not_found"}}, 404)
        ),
        *("n", ["model_not_found", "model_not_found", "", "model_not_found"]),  # the third is not asked, and listed
    ),
    "no such path": (lambda _: NOTHING, "m0", ["path_missing_prefix"] * 4),
}


@pytest.mark.parametrize(("reply", "model", "causes"), SHARED.values(), ids=SHARED)
def test_one_key_pays_for_no_more_however_many_programs_ask(
    reply: Callable[[Put], Reply], model: str, causes: list[str]
) -> None:
    with slow(reply) as gateway:
        inquiries = asked(*(request(gateway.origin, name.replace("m0", model)) for name in MODELS))
    assert [one.cause for one in inquiries] == causes
    assert is_within(gateway)


def test_one_key_pays_for_no_more_on_several_paths() -> None:
    with slow(by_path) as gateway:
        bases = [gateway.origin + path for path in PATHS_WRONG]
        own = [replace(request(gateway.origin, "m0"), base=one, url=one + PATHS[CHAT]) for one in bases]
        inquiries = asked(*own)
    assert [one.cause for one in inquiries] == ["", "path_duplicate_v1", "path_extra_segment", ""]
    assert is_within(gateway)
    assert "no more is asked" in tell(inquiries[-1].said)


def is_within(gateway: Slow) -> bool:
    billed = [model for _, model in gateway.asked if model]
    return len(gateway.asked) <= talk.MOST_REQUESTS and len(billed) <= talk.MOST_BILLABLE


def test_who_asks_the_same_and_waits_less_is_told_so(world: World) -> None:
    def reply(put: Put) -> Reply:
        return Reply(LIST) if put.method == "GET" else Reply(PONG, seconds=4 * BEAT)

    with world.gateway(reply) as gateway:
        waits = (600, 2 * BEAT, 600)
        inquiries = asked(*(request(gateway.origin, "m0", timeout_seconds=one) for one in waits))
    assert [one.cause for one in inquiries] == ["", "tool_timeout_too_short", ""]
    assert tell(inquiries[1].values["seconds"]) == "10"
    assert len(gateway.asked) == 2


def test_a_list_that_comes_late_lets_the_question_wait_as_the_tool_does(world: World) -> None:
    def reply(put: Put) -> Reply:
        return Reply(LIST, seconds=4 * BEAT) if put.method == "GET" else Reply(PONG, seconds=PATIENCE * 1.6)

    with world.gateway(reply) as gateway:
        (slowly,) = asked(request(gateway.origin, "m0", timeout_seconds=600))
    assert (slowly.cause, slowly.certainty, slowly.exchanges[-1].is_ok) == ("", "sure", True)
    assert [path for path, _ in gateway.asked] == ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]


def test_more_patience_than_usual_is_had_once_where_it_was_in_vain(world: World) -> None:
    with world.gateway(lambda put: Reply(LIST) if put.method == "GET" else silent(put)) as gateway:
        first, second = asked(*(request(gateway.origin, f"m{number}", timeout_seconds=600) for number in range(2)))
    assert [one.exchanges[-1].elapsed_ms for one in (first, second)] == [2000 * PATIENCE, 1000 * PATIENCE]


def of_key(asks: Request, name: str) -> Request:
    return replace(asks, credentials={"authorization": Secret(invented(name))})


@pytest.mark.parametrize(("payers", "expected"), [((0, 1), 3), ((0, 0), 1)], ids=["two keys", "one key"])
def test_all_others_are_asked_at_once_after_two_keys_that_hang(payers: Sequence[int], expected: int) -> None:
    together = Barrier(3)
    again: list[int] = []

    def ask(number: int, line: Line) -> int:
        line.hears()
        if number < len(payers):
            line.leaves(payers[number])
            return 1
        if not line.is_crowded:
            return 1
        together.wait(10)
        return 3

    def asks_again(number: int, _line: Line, before: int) -> int:
        again.append(number)
        return before

    came = lines(["gw"] * 5, ask, asks_again, 10.0)
    assert came == [1, 1, expected, expected, expected]
    assert again == ([2, 3, 4] if expected > 1 else [])  # who was asked alone is not asked again


def test_who_is_asked_at_once_after_two_that_hang_is_told_what_it_alone_would_be(world: World) -> None:
    busy: list[str] = []

    def reply(put: Put) -> Reply:
        if put.method == "GET":
            return Reply(LIST)
        if put.path != "/v1/messages":
            return silent(put)
        if put.model == "m3" and not busy:
            busy.append(put.model)
            return Reply(BUSY, 429)
        return Reply(MESSAGE)

    with world.gateway(reply) as gateway:
        dialects = (CHAT, CHAT, MESSAGES, MESSAGES, CHAT)
        requests = [request(gateway.origin, f"m{number}", dialect) for number, dialect in enumerate(dialects)]
        inquiries = asked(*(of_key(one, f"survey-{one.model}") for one in requests))
    told = {CHAT: (("", "open"), None), MESSAGES: (("", "sure"), 200)}
    assert [((one.cause, one.certainty), one.exchanges[-1].status) for one in inquiries] == [told[d] for d in dialects]
    assert sorted(model for _, model in gateway.asked if model) == ["m0", "m1", "m2", "m3", "m3", "m4"]


def test_the_way_to_one_origin_is_gone_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gone: list[str] = []

    def counted(url: str, *others: Any) -> Way:
        gone.append(url)
        return way(url, *others)

    monkeypatch.setattr(survey, "way", counted)
    with slow(well) as gateway:
        requests = [
            request(gateway.origin, "m0"),
            request(gateway.origin, "m1"),
            request(gateway.origin, "m", MESSAGES),
        ]
        came = Survey().of(requests)
    assert gone == [requests[0].url]
    assert [one.way.url for one in came] == [one.url for one in requests]


def test_what_came_stands_in_the_order_of_what_was_asked() -> None:
    with (
        slow(well) as one,
        slow(well) as other,
    ):
        origins = [one.origin, other.origin, one.origin, other.origin]
        inquiries = asked(*(request(origin, f"m{number}") for number, origin in enumerate(origins)))
    assert [exchange.url for inquiry in inquiries for exchange in inquiry.exchanges[-1:]] == [
        f"{origin}/v1/chat/completions" for origin in origins
    ]


def pinged(*asked: Request) -> list[Ping]:
    """What pings of the same come to."""
    return pings([PingRequest(one.dialect, one.base, one.model, KEY) for one in asked])


def test_pings_of_silent_gateways_take_the_time_of_one_and_what_tells_that_they_are(
    world: World, mute: tuple[Timeless, Timeless]
) -> None:
    came = pinged(*(request(mute[number % 2].origin, f"m{number}") for number in range(6)))
    assert [(one.outcome, one.asked) for one in came] == [("timeout", f"m{number}") for number in range(6)]
    assert world.clock.now == PATIENCE + 2 * BEAT  # one after the other they take six times that of a request
    assert [len(one.asked) for one in mute] == [3, 3]


def test_pings_follow_one_another_where_somebody_answers(world: World) -> None:
    def reply(_put: Put) -> Reply:
        return Reply(PONG, seconds=BEAT)

    with world.gateway(reply) as gateway:
        came = pinged(*(request(gateway.origin, f"m{number}") for number in range(3)))
    assert [one.is_ok for one in came] == [True] * 3
    assert gateway.most == 1


def test_a_ping_that_a_crowd_was_too_much_for_is_sent_again_alone(world: World) -> None:
    def reply(put: Put) -> Reply:
        if put.model == "m0":
            return Reply({}, seconds=PATIENCE * 1.5)
        return Reply(BUSY, 429, seconds=2 * BEAT) if put.now > 2 else Reply(PONG, seconds=2 * BEAT)

    with world.gateway(reply) as gateway:
        came = pinged(*(request(gateway.origin, f"m{number}") for number in range(4)))
    assert [one.outcome for one in came] == ["timeout", "ok", "ok", "ok"]


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to a process of one's own")
def test_who_interrupts_does_not_wait_for_the_silent() -> None:
    def press() -> None:
        until = time.monotonic() + SILENCE
        while not mute.asked and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def waits() -> None:
        presses.start()
        asked(*(request(mute.origin, f"m{number}") for number in range(4)))
        presses.join()

    presses, began = Thread(target=press), time.monotonic()
    with slow(silent) as mute, pytest.raises(KeyboardInterrupt):
        waits()
    presses.join()
    assert time.monotonic() - began < Network().read_seconds / 3
