"""The ladder: how many requests there are and when, what stops it, and what is kept."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import pytest

from tests.bench.server import Scripted, served, streamed
from tests.bench.test_exact import DONE, LAST, TEXT, usage
from toolsync.address import Dialect
from toolsync.bench.client_watch import ClientWatch
from toolsync.bench.description import target
from toolsync.bench.exchange import Exchange, Sender
from toolsync.bench.load import Load
from toolsync.bench.pacing import Pacing
from toolsync.bench.record import Client, Request
from toolsync.bench.run import Ran, make_room, measure
from toolsync.bench.transport import StampingTransport
from toolsync.bench.wish import Wish
from toolsync.probe.network import Network

_WHOLE = streamed(TEXT, LAST, usage(2), DONE)


def _measured(scripted: Scripted, *ladder: Load, listener: Callable[..., None] = lambda *_: None) -> Ran:
    with served(scripted) as base:
        wish = Wish("openai-chat", f"{base}/v1", "m", {}, Network(read_seconds=5), ladder, 512, 2, "a run")
        return measure(wish, listener, lambda _: None)


def test_a_ladder_has_five_requests_a_stream_ten_at_least_and_a_warm_up_besides() -> None:
    scripted = Scripted(lambda _: _WHOLE, 0.0)
    ran = _measured(scripted, Load(1), Load(4))
    assert [(rung.concurrency, len(rung.requests)) for rung in ran.record.rungs] == [(1, 10), (4, 20)]
    assert len(scripted.requests) == 1 + (1 + 10) + (4 + 20)  # calibration, then warm-up and rung, twice
    assert all(one.is_ok for rung in ran.record.rungs for one in rung.requests)
    assert (ran.record.token_source, ran.record.ladder, ran.failures) == ("usage", (1, 4), {})
    assert scripted.connections == 4


def test_no_prompt_is_asked_twice_and_none_is_in_the_record() -> None:
    from toolsync.bench.record_file import dumped

    scripted = Scripted(lambda _: _WHOLE, 0.0)
    ran = _measured(scripted, Load(1, 3), Load(2, 4))
    prompts = [json.loads(raw.partition(b"\r\n\r\n")[2])["messages"][0]["content"] for raw in scripted.requests]
    assert len({text.split()[0] for text in prompts}) == len(prompts)
    kept = dumped(ran.record).decode()
    assert "127.0.0.1" not in kept
    assert not any(text[:20] in kept for text in prompts)


@pytest.mark.parametrize(
    ("load", "count"),
    [
        (Load(1), 10),
        (Load(8), 40),
        (Load(8, 3), 8),
        (Load(8, 100), 100),
        (Load(8, None, 1.0), 8),
        (Load(8, 1, None, 5.0), 1),
    ],
    ids=["ten at least", "five a stream", "one a stream at least", "as asked", "by time", "at a rate"],
)
def test_how_many_there_are(load: Load, count: int) -> None:
    assert load.count == count


def test_a_rung_by_time_lasts_so_long() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.001), Load(2, None, 0.15))
    (rung,) = ran.record.rungs
    late = [one for one in rung.requests if (one.t0_ms or 0) > 150]
    assert len(late) <= 2 or len(rung.requests) == 10, "a stream begins one that it had in hand; all begin ten at least"
    assert rung.ended_ns - rung.started_ns >= 150_000_000


def test_at_a_rate_requests_start_whatever_comes_back() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.02), Load(16, 6, None, 100.0))
    (rung,) = ran.record.rungs
    assert [one.intended_ms for one in rung.requests] == [0, 10, 20, 30, 40, 50]
    delays = [one.dispatch_delay_ms for one in rung.requests]
    assert min(delay for delay in delays if delay is not None) >= 0
    is_parallel = [(two.t0_ms or 0) < (one.t0_ms or 0) + (one.e2e_ms or 0) for one, two in pairwise(rung.requests)]
    assert any(is_parallel), "one by one none would begin before the one before it has ended"
    assert rung.client.skew_ms is None


def test_at_a_rate_that_is_too_much_the_delay_is_seen() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.01), Load(1, 4, None, 1000.0))
    delays = [one.dispatch_delay_ms or 0 for one in ran.record.rungs[0].requests]
    assert delays == sorted(delays)
    assert delays[-1] > 60, "three replies of 40 ms came first"


def test_a_rate_by_time_ends_in_time_however_slow_the_server_is() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.01), Load(2, None, 0.2, 500.0))  # 40 ms each
    (rung,) = ran.record.rungs
    unsent = 100 - len(rung.requests)
    assert unsent > 50, "100 requests take two seconds"
    told = f"The rate was not kept: {unsent} requests were never sent, for 2 were under way already."
    assert told in ran.record.notes


def test_a_rate_by_time_that_is_kept_leaves_out_nothing() -> None:
    ran = _measured(
        Scripted(lambda _: _WHOLE, 0.0), Load(32, None, 0.2, 100.0)
    )  # room for all at once: a machine that is held up
    assert len(ran.record.rungs[0].requests) == 20
    assert not any("rate was not kept" in note for note in ran.record.notes)


def test_a_rate_by_time_sends_as_many_as_are_asked_for_besides() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.01), Load(2, 12, 0.05, 200.0))  # two at once, 40 ms each
    assert len(ran.record.rungs[0].requests) == 12
    assert not any("never sent" in note for note in ran.record.notes)


def test_what_is_refused_all_along_is_not_asked_for_ever() -> None:
    def answer(_: bytes) -> list[bytes]:
        if len(scripted.requests) == 1:  # the calibration's
            return _WHOLE
        return [b'HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 30\r\n\r\n{"error": {"message": "slow"}}']

    scripted = Scripted(answer, 0.0)
    ran = _measured(scripted, Load(2, None, 60.0))
    assert 10 <= len(ran.record.rungs[0].requests) <= 12
    assert any("nothing went well" in note for note in ran.record.notes)
    assert ran.failures == {"status": "429 (Retry-After: 7) slow"}


def test_a_rung_that_has_all_its_requests_was_not_ended_early() -> None:
    def answer(_: bytes) -> list[bytes]:
        return _WHOLE if len(scripted.requests) == 1 else [b"HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n"]

    scripted = Scripted(answer, 0.0)
    ran = _measured(scripted, Load(2, 10))
    assert len(ran.record.rungs[0].requests) == 10
    assert not any("nothing went well" in note for note in ran.record.notes)


def test_what_is_refused_from_the_middle_on_is_not_asked_for_ever_either() -> None:
    def answer(_: bytes) -> list[bytes]:
        if len(scripted.requests) <= 7:  # the calibration's, the warm-up's, and four of the rung
            return _WHOLE
        return [b"HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow"]

    scripted = Scripted(answer, 0.0)
    ran = _measured(scripted, Load(2, None, 60.0))
    (rung,) = ran.record.rungs
    assert [one.is_ok for one in rung.requests].count(True) == 4
    assert len(rung.requests) <= 4 + 10 + 2 + 2
    assert "At 2 nothing went well any more: the rung was ended before it had all its requests or time." in (
        ran.record.notes
    )


def test_a_run_of_days_keeps_no_more_gaps_than_a_record_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolsync.bench.sweep.MOST_GAPS", 25)
    ran = _measured(Scripted(lambda _: streamed(TEXT, TEXT, LAST, usage(3), DONE)), Load(1, 10), Load(2, 10))
    kept = [[len(one.itl_ms) for one in rung.requests] for rung in ran.record.rungs]
    assert kept == [[2] * 10, [2, 2, *[0] * 8]]
    assert all(one.is_ok and one.chunks == 3 for rung in ran.record.rungs for one in rung.requests)
    assert any(note.endswith("those of later requests are not kept.") for note in ran.record.notes)


class _RoomForThree:
    """A machine that allows three files: a fourth request at once cannot be sent, which is known at once."""

    def __init__(self) -> None:
        self.busy = self.refused = 0

    async def send(self, _: bytes, intended_ns: int | None = None) -> Exchange:
        if self.busy == 3:
            self.refused += 1
            return Exchange(intended_ns or 0, None, fault="unsent")
        self.busy += 1
        await asyncio.sleep(0.15)
        self.busy -= 1
        return Exchange(intended_ns or 0, 0, 200, {}, b"x")


@pytest.mark.parametrize(("seconds", "at_most"), [(0.3, 12), (None, 12)], ids=["by time", "by number"])
def test_a_stream_that_fails_at_once_does_not_ask_in_the_others_place(seconds: float | None, at_most: int) -> None:
    async def ran() -> tuple[_RoomForThree, Pacing]:
        sender = _RoomForThree()
        run = Pacing(Load(4, None, seconds), cast("Sender", sender), lambda: b"", lambda *_: Request(0.0))
        await run.all()
        return sender, run

    sender, run = asyncio.run(ran())
    assert not run.is_given_up, "others were under way all along"
    assert 1 <= sender.refused <= at_most
    assert run.done - sender.refused >= 3


def test_what_fails_now_and_then_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolsync.bench.pacing._PAUSE_SECONDS", 0)

    def answer(_: bytes) -> list[bytes]:
        is_refused = len(scripted.requests) % 8 > 1
        return [b"HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n"] if is_refused else _WHOLE

    scripted = Scripted(answer, 0.0)
    ran = _measured(scripted, Load(1, 60))
    assert len(ran.record.rungs[0].requests) == 60
    assert not any("nothing went well" in note for note in ran.record.notes)


@pytest.mark.parametrize(
    ("load", "count"),
    [
        (Load(8), 8),
        (Load(128, 20, None, 0.5), 1),
        (Load(128, None, 5.0, 40.0), 40),
        (Load(16, 100, None, 40.0), 16),
        (Load(128, 3, None, 40.0), 3),
    ],
    ids=["a stream each", "a slow rate", "a second's", "as many as may be", "no more than follow"],
)
def test_how_many_warm_it_up(load: Load, count: int) -> None:
    assert load.warm_up == count


def test_a_rate_is_warmed_up_by_no_more_than_it_brings() -> None:
    scripted = Scripted(lambda _: _WHOLE, 0.0)
    ran = _measured(scripted, Load(128, 4, None, 500.0))
    assert len(scripted.requests) == 1 + 4 + 4  # calibration, warm-up, rung
    assert ran.record.parameters.warm_up == 4


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_ends_programs_ends_the_ladder_however_often_it_comes(name: str) -> None:
    number = getattr(signal, name, None)
    if number is None:
        pytest.skip(f"there is no {name} here")
    before = signal.getsignal(number)
    if before == signal.SIG_IGN:
        pytest.skip(f"{name} is ignored here, as under nohup")

    def press(concurrency: int, done: int, _: int | None) -> None:
        if concurrency == 2 and not done:
            for _ in range(3):
                signal.raise_signal(number)

    ran = _measured(Scripted(lambda _: _WHOLE, 0.0), Load(1, 2), Load(2, 4), listener=press)
    assert (ran.is_interrupted, [rung.concurrency for rung in ran.record.rungs]) == (True, [1])
    assert signal.getsignal(number) == before


def test_who_was_started_to_ignore_a_signal_ignores_it() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as `nohup` does with another one
    try:
        ran = _measured(Scripted(lambda _: _WHOLE), Load(1, 2), listener=lambda *_: signal.raise_signal(signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not ran.is_interrupted


def test_ctrl_c_keeps_the_rungs_that_are_finished() -> None:
    def press(concurrency: int, done: int, _: int | None) -> None:
        if concurrency == 2 and not done:
            signal.raise_signal(signal.SIGINT)

    ran = _measured(Scripted(lambda _: _WHOLE, 0.0), Load(1, 2), Load(2, 4), Load(4, 4), listener=press)
    assert (ran.is_interrupted, [rung.concurrency for rung in ran.record.rungs], ran.record.ladder) == (
        True,
        [1],
        (1, 2, 4),
    )


def test_ctrl_c_before_a_rung_is_finished_leaves_nothing() -> None:
    def press(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        _measured(Scripted(lambda _: _WHOLE, 0.0), Load(1, 2), listener=press)


def test_a_client_that_is_held_up_says_so() -> None:
    import time

    def dawdle(_: int, done: int, __: int | None) -> None:
        if done:
            time.sleep(0.05)

    ran = _measured(Scripted(lambda _: _WHOLE, 0.01), Load(1, None, 0.6), listener=dawdle)
    client = ran.record.rungs[0].client
    assert client.is_limit
    assert client.loop_lag_p99_ms > 2


def test_a_rung_that_is_shorter_than_a_tick_knows_how_late_it_was() -> None:
    import time

    async def run() -> Client:
        watch = ClientWatch(lambda: None)
        watch.start()
        time.sleep(0.03)  # noqa: ASYNC251  what holds the loop up
        watch.stop()
        return watch.client(30_000_000, None)

    assert asyncio.run(run()).loop_lag_p99_ms >= 15


def test_thoughts_that_are_kept_from_us_are_told_of() -> None:
    hidden = usage(202, completion_tokens_details={"reasoning_tokens": 200})
    ran = _measured(Scripted(lambda _: streamed(TEXT, LAST, hidden, DONE), 0.0), Load(1, 2))
    assert [one.completion_tokens for one in ran.record.rungs[0].requests] == [2, 2]
    assert any(note.startswith("The server counts thoughts that it does not send") for note in ran.record.notes)


@pytest.mark.parametrize(
    ("timer_ms", "lag_ms", "is_limit"),
    [(0.0, 3.0, True), (0.0, 1.0, False), (15.7, 15.0, False), (15.7, 30.0, True)],
    ids=["late", "in time", "a coarse timer", "later than that"],
)
def test_a_coarse_timer_is_not_taken_for_a_busy_client(
    monkeypatch: pytest.MonkeyPatch, timer_ms: float, lag_ms: float, is_limit: bool
) -> None:
    monkeypatch.setattr("toolsync.bench.client_watch._TIMER_MS", timer_ms)
    watch = ClientWatch(lambda: None)
    watch._note(round(lag_ms * 1e6))
    assert watch.client(10**9, None).is_limit is is_limit


def test_the_record_says_what_measured_and_whom() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.0), Load(1, 2))
    found, asked, client = ran.record.target, ran.record.parameters, ran.record.environment
    assert (found.host_kind, found.path, found.dialect, found.model) == (
        "loopback",
        "/v1/chat/completions",
        "openai-chat",
        "m",
    )
    assert (found.answered_model, len(found.origin)) == ("m-1", 12)
    assert asked.accepted == {
        "max_tokens": 2,
        "min_tokens": 2,
        "ignore_eos": True,
        "stream_options": {"include_usage": True},
    }
    assert (client.transport, client.is_proxied, client.is_encrypted) == ("own", False, False)
    assert client.versions.keys() >= {"httpx", "httptools"}
    assert ran.record.connect_ms is not None
    assert any("Closed loop" in note for note in ran.record.notes)


def test_to_open_a_connection_takes_as_long_as_for_the_one_that_waits_for_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[StampingTransport] = []

    def transport(wish: Wish) -> StampingTransport:
        opened.append(StampingTransport(None, wish.network.connect_seconds, wish.network.read_seconds))
        return opened[0]

    monkeypatch.setattr("toolsync.bench.run._transport", transport)
    ran = _measured(Scripted(lambda _: _WHOLE, 0.0), Load(16, 16))
    assert len(opened[0].connects_ms) == 16
    assert ran.record.connect_ms == pytest.approx(min(opened[0].connects_ms), abs=1e-4)


def test_connections_that_the_server_closes_are_told_of() -> None:
    ran = _measured(Scripted(lambda _: _WHOLE, 0.0, is_kept=False), Load(1, 3))
    assert any("closes its connections" in note for note in ran.record.notes)


def test_connections_that_a_rate_opens_one_after_the_other_are_not_laid_to_the_server() -> None:
    scripted = Scripted(lambda _: _WHOLE, 0.02)
    ran = _measured(scripted, Load(16, 6, None, 100.0))
    assert scripted.connections > 3
    assert not any("closes its connections" in note for note in ran.record.notes)


@pytest.mark.parametrize(
    ("limits", "streams", "asked"),
    [((256, 4096), 400, [(500, 4096)]), ((256, 300), 400, [(300, 300)]), ((1024, 4096), 400, [])],
    ids=["more", "as many as there may be", "enough"],
)
def test_there_are_as_many_connections_as_streams(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], streams: int, asked: list[tuple[int, int]]
) -> None:
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: seen.append(wanted))
    make_room(streams)
    assert seen == asked


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        ("http://127.0.0.1:8000", "loopback"),
        ("http://localhost", "loopback"),
        ("http://10.1.2.3:8000/v1", "private"),
        ("http://[fd00::1]", "private"),
        ("http://gpu-7:8000", "private"),
        ("https://llm.corp.internal", "private"),
        ("https://api.example.com", "public"),
        ("https://9.9.9.9", "public"),
    ],
)
def test_where_a_host_lies_is_told_without_its_name(base: str, kind: str) -> None:
    found = target(Wish("openai-chat", base, "m", {}, Network(), (Load(1),)), None)
    assert found.host_kind == kind
    assert found.origin == target(Wish("openai-chat", f"{base}/v1", "m", {}, Network(), (Load(1),)), None).origin


@pytest.mark.parametrize(
    ("dialect", "base", "path"),
    [
        ("openai-chat", "https://api.example.com/v1", "/v1/chat/completions"),
        ("openai-chat", "https://api.example.com/v1/", "/v1/chat/completions"),
        ("openai-responses", "https://api.example.com/api/openai/v1beta", "/api/openai/v1beta/responses"),
        ("anthropic-messages", "https://api.example.com", "/v1/messages"),
        (
            "openai-chat",
            "https://api.example.com/accounts/9f8e7d6c5b4a39281706/v1",
            "/***/***/v1/chat/completions",
        ),
        ("openai-chat", "https://api.example.com/u/anna@corp.example/v1", "/***/***/v1/chat/completions"),
        ("openai-chat", "https://api.example.com/proxy/gpu7.corp.internal/v1", "/***/***/v1/chat/completions"),
    ],
)
def test_a_path_names_neither_account_nor_person_nor_machine(dialect: Dialect, base: str, path: str) -> None:
    assert target(Wish(dialect, base, "m", {}, Network(), (Load(1),)), None).path == path


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("/home/anna/models/llama", "~/models/llama"),
        ("/Users/anna/llama.gguf", "~/llama.gguf"),
        ("C:\\Users\\anna\\llama.gguf", "~\\llama.gguf"),
        ("/srv/models/llama", "/srv/models/llama"),
        ("meta-llama/home-llama", "meta-llama/home-llama"),
    ],
)
def test_a_model_that_is_called_by_its_folder_names_no_person(model: str, kept: str) -> None:
    found = target(Wish("openai-chat", "http://gpu-7", model, {}, Network(), (Load(1),)), model)
    assert (found.model, found.answered_model) == (kept, kept)


def test_whom_an_origin_is_of_cannot_be_found_by_trying() -> None:
    seen = {
        target(Wish("openai-chat", "http://10.0.0.7:8000", "m", {}, Network(), (Load(1),), salt=salt), None).origin
        for salt in (b"one machine's", b"another's")
    }
    assert len(seen) == 2


def test_through_a_proxy_httpx_measures_and_the_record_says_so() -> None:
    scripted = Scripted(lambda _: _WHOLE, 0.0)
    with served(scripted) as proxy:
        way = Network(proxy=proxy, read_seconds=5)
        wish = Wish("openai-chat", "http://gateway.example/v1", "m", {}, way, (Load(2, 4),), 512, 2)
        ran = measure(wish, lambda *_: None, lambda _: None)
    client = ran.record.environment
    assert (client.transport, client.is_proxied, ran.record.connect_ms) == ("httpx", True, None)
    assert "httpcore" in client.versions
    assert any(note.startswith("Through a proxy httpx's own transport measures") for note in ran.record.notes)
    assert all(one.is_ok and one.ttft_ms for one in ran.record.rungs[0].requests)
