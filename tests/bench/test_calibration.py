"""What is asked: prompts of one length, none like another, and only parameters that the server takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.bench.server import Scripted, serving, streamed
from tests.bench.test_exact import DONE, LAST, TEXT, typed, usage
from toolsync.address import Dialect
from toolsync.bench.calibration import Calibrated, UnmeasurableError, calibrate
from toolsync.bench.exchange import Sender
from toolsync.bench.transport import StampingTransport
from toolsync.bench.workload import Workload, is_near, prompt


def test_prompts_differ_from_their_first_word_on() -> None:
    firsts = [prompt(20, 7, number).split()[0] for number in range(300)]
    assert len(set(firsts)) == 300
    assert prompt(20, 7, 1) == prompt(20, 7, 1)
    assert prompt(20, 7, 1) != prompt(20, 8, 1)
    assert len({prompt(20, 7, number) for number in range(2000)}) == 2000


@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        ("openai-chat", {"messages", "max_tokens"}),
        ("openai-responses", {"input", "store", "max_output_tokens"}),
        ("anthropic-messages", {"messages", "max_tokens"}),
    ],
)
def test_a_request_is_as_the_dialect_has_it(dialect: Dialect, told: set[str]) -> None:
    limit = next(name for name in told if name.startswith("max_"))
    body = json.loads(Workload(dialect, "m", 256, 100, 7, {limit: 256}).body(3))
    assert body.keys() == {"model", "stream", *told}
    assert (body["model"], body["stream"], body[limit]) == ("m", True, 256)


class _Server:
    """Takes some parameters and no others, and counts tokens its own way."""

    def __init__(self, refuses: Sequence[str], *, names: bool, per_word: float = 1.0, more: int = 10) -> None:
        self._refuses, self._names, self._per_word, self._more = refuses, names, per_word, more
        self.asked: list[dict[str, Any]] = []

    def answer(self, raw: bytes) -> list[bytes]:
        body = json.loads(raw)
        self.asked.append(body)
        wrong = [name for name in self._refuses if name in body]
        if wrong:
            said = f"Unknown parameter: '{wrong[0]}'." if self._names else "invalid request"
            text = json.dumps({"error": {"message": said}}).encode()
            return [b"HTTP/1.1 %d No\r\ncontent-length: %d\r\n\r\n%s" % (422 if self._names else 400, len(text), text)]
        words = len(body["messages"][0]["content"].split())
        counted = round(words * self._per_word) + self._more
        told = [usage(3, prompt=counted)] if "stream_options" in body else []
        return streamed(TEXT, TEXT, LAST, *told, DONE)


def _calibrated(server: _Server, lengths: tuple[int, int] = (512, 256)) -> Calibrated:
    async def run() -> Calibrated:
        async with serving(Scripted(server.answer, 0.0)) as base:
            sender = Sender(f"{base}/v1", {}, StampingTransport(None, 5, 5), 5)
            try:
                return await calibrate(sender, "openai-chat", "m", lengths, 7)
            finally:
                await sender.close()

    return asyncio.run(run())


_ALL = {"max_tokens", "min_tokens", "ignore_eos", "stream_options"}


@pytest.mark.parametrize("names", [True, False], ids=["named", "not named"])
@pytest.mark.parametrize(
    ("refuses", "held"),
    [
        ([], _ALL),
        (["ignore_eos"], _ALL - {"ignore_eos"}),
        (["min_tokens"], _ALL - {"min_tokens"}),
        (["ignore_eos", "min_tokens"], _ALL - {"ignore_eos", "min_tokens"}),
        (["stream_options"], _ALL - {"stream_options"}),
        (["max_tokens"], _ALL - {"max_tokens"} | {"max_completion_tokens"}),
        (["max_tokens", "ignore_eos", "min_tokens"], {"max_completion_tokens", "stream_options"}),
    ],
    ids=["takes all", "ignore_eos", "min_tokens", "both", "stream_options", "max_tokens", "as OpenAI's newer models"],
)
def test_what_the_server_refuses_is_left_out_and_nothing_else(refuses: list[str], held: set[str], names: bool) -> None:
    server = _Server(refuses, names=names)
    found = _calibrated(server)
    assert (set(found.workload.held), set(found.refused)) == (held, set(refuses))
    assert found.source == ("usage" if "stream_options" in held else "events")
    assert len(server.asked) <= 10


@pytest.mark.parametrize(("per_word", "more"), [(1.0, 0), (1.0, 60), (1.35, 12), (0.75, 30), (3.0, 300), (0.9, 0)])
@pytest.mark.parametrize("length", [128, 512, 4000])
def test_prompts_are_as_long_as_the_server_says(per_word: float, more: int, length: int) -> None:
    if more >= length:
        length = more * 2
    server = _Server([], names=True, per_word=per_word, more=more)
    found = _calibrated(server, (length, 256))
    assert found.prompt_tokens is not None
    assert is_near(length, found.prompt_tokens)
    assert len(server.asked) <= 3


def _refused(said: object) -> list[bytes]:
    text = json.dumps(said).encode()
    return [b"HTTP/1.1 400 No\r\ncontent-length: %d\r\n\r\n%s" % (len(text), text)]


@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        ([b"HTTP/1.1 401 No\r\ncontent-length: 3\r\n\r\nbad"], "answered the first request of the bench with 401: bad"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"], "no stream of this dialect"),
        (streamed(typed("error", error={"message": "overloaded"})), "holds an error: overloaded"),
        ([b"HTTP/1.1 400 No\r\ncontent-length: 3\r\n\r\nbad"], "with 400: bad"),
        (
            [b"HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow"],
            r"with 429 \(Retry-After: 7\): slow",
        ),
        (_refused({"error": {"message": "too long", "code": "context"}}), "with 400: too long$"),
        (_refused({"code": 7}), '400: {"code": 7}$'),
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], "broke off before its end: what the server answered is no HTTP"),
    ],
    ids=[
        "the key",
        "no stream",
        "an error",
        "refused whatever is left out",
        "too many",
        "words",
        "no words",
        "no HTTP",
    ],
)
def test_what_cannot_be_measured_is_said(pieces: list[bytes], says: str) -> None:
    class Stubborn(_Server):
        def answer(self, raw: bytes) -> list[bytes]:  # noqa: ARG002  whatever is asked
            return pieces

    with pytest.raises(UnmeasurableError, match=says):
        _calibrated(Stubborn([], names=True))
