"""Before the first rung: which parameters the server takes, who counts the tokens, and how many words make a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolsync.address import Dialect
from toolsync.bench import exchange as exchanges
from toolsync.bench import metrics, workload
from toolsync.bench.exchange import Exchange, Sender
from toolsync.bench.record import TokenSource
from toolsync.bench.tokens import Reply
from toolsync.bench.workload import Workload
from toolsync.errors import ToolsyncError
from toolsync.probe.body import shown
from toolsync.value import frozen

_REFUSALS = (400, 422)
_MOST_PROBES = 2
"""Of the prompt's length, besides those that a refusal costs."""


@frozen
class Calibrated:
    """What a server was found to be like.

    Attributes:
        workload: what it is asked.
        refused: parameters that it does not take.
        source: who counts the tokens.
        prompt_tokens: of the last probe, by the server's count; None where it does not count.
        model: that answered, in the server's words.
    """

    workload: Workload
    refused: tuple[str, ...]
    source: TokenSource
    prompt_tokens: int | None
    model: str | None


class UnmeasurableError(ToolsyncError):
    """The server does not answer the requests that would measure it."""


async def calibrate(sender: Sender, dialect: Dialect, model: str, lengths: tuple[int, int], seed: int) -> Calibrated:
    """Find out with a few requests, whose figures count for nothing.

    Args:
        sender: by which way.
        dialect: of the requests.
        model: whom to ask.
        lengths: tokens in and out.
        seed: of the prompts.

    Raises:
        UnmeasurableError: it refuses them, or sends no stream of this dialect.
    """
    prompt_tokens, output_tokens = lengths
    wanted = workload.held(dialect, output_tokens)
    first = Workload(dialect, model, output_tokens, workload.first_guess(prompt_tokens), seed, wanted)
    talk = _Talk(sender)
    load, reply, refused = await _accepted(talk, first)
    seen: dict[int, int] = {}
    for _ in range(_MOST_PROBES):
        counted = reply.usage.prompt
        if counted is None or workload.is_near(prompt_tokens, counted):
            break
        seen[load.words] = counted
        load = replace(load, words=workload.better_guess(prompt_tokens, seen))
        reply = await talk.asked(load)
    return Calibrated(load, tuple(refused), metrics.source_of(reply), reply.usage.prompt, reply.model)


class _Talk:
    """Asks, each time with a prompt of its own."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._number = 0

    async def sent(self, load: Workload) -> Exchange:
        self._number -= 1  # the rungs' own are counted up
        return await self._sender.send(load.body(self._number))

    async def asked(self, load: Workload) -> Reply:
        """The reply, which must be one.

        Raises:
            UnmeasurableError: it is none.
        """
        return _whole(await self.sent(load), load.dialect)


async def _accepted(talk: _Talk, load: Workload) -> tuple[Workload, Reply, list[str]]:
    """Take out what the server refuses, one after the other; put back what was taken out for nothing."""
    taken: dict[str, bool] = {}
    one = await talk.sent(load)
    while one.status in _REFUSALS:
        left = workload.without_refused(load.held, one.body.decode(errors="replace"))
        if left is None:
            break
        held, name, is_named = left
        taken[name] = is_named
        load = replace(load, held=held)
        one = await talk.sent(load)
    reply = _whole(one, load.dialect)
    guessed = [name for name, is_named in taken.items() if not is_named]
    for name in guessed[:-1]:  # the last one that was taken out was in the way
        tried = replace(load, held=_with(load, name))
        one = await talk.sent(tried)
        if one.status not in _REFUSALS:
            load, reply = tried, _whole(one, load.dialect)
            del taken[name]
    return load, reply, list(taken)


def _with(load: Workload, name: str) -> Mapping[str, object]:
    """The parameters with the one put back, under the name that it had."""
    whole = workload.held(load.dialect, load.output_tokens)
    other = {other: old for old, other in workload.OTHER_NAME.items()}
    kept = {key: value for key, value in load.held.items() if other.get(key) != name}
    return {**kept, name: whole[name]}


def _whole(one: Exchange, dialect: Dialect) -> Reply:
    reply, fault = exchanges.read(one, dialect)
    if not fault:
        return reply
    said = shown(exchanges.words(one, reply))
    problem = _FAULTS[fault].format(refusal=shown(exchanges.refusal(one)))
    hint = _TOO_MANY_HINT if one.status == _TOO_MANY else _HINTS.get(fault, _HINT)
    raise UnmeasurableError(f"{problem}{f': {said}' if said else ''}", hint=hint)


_FAULTS = {
    "unsent": "the request could not be sent",
    "status": "the gateway answered the first request of the bench with {refusal}",
    "timeout": "the reply did not go on, or did not end, in time",
    "cut": "the reply broke off before its end",
    "event": "the reply holds an error",
    "empty": "the reply holds not one token",
    "odd": "the reply is no stream of this dialect",
}
_HINT = "A short question was answered before it; this one asks for a stream, as long as `--tokens` says."
_HINTS: Mapping[str, str] = {
    "timeout": "`request.timeout_seconds` in the profile is how long nothing may come; `--tokens` asks for less.",
}
_TOO_MANY = 429
_TOO_MANY_HINT = "The gateway allows no more for now: wait as long as it says, or measure with a key of a higher limit."
