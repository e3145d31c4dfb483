"""Whether two runs may be held against each other, and each reason why not; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from toolsync.bench.metrics import summary
from toolsync.bench.record import Parameters, Record
from toolsync.value import frozen

_LENGTH_SHARE = 0.02
"""By how much the lengths that the servers counted may differ."""
_CACHED_SHARE = 0.05
"""By how much the share of prompts that came out of a cache may differ."""


@frozen
class Difference:
    """What two runs do not have in common.

    Attributes:
        what: in words.
        before: of the baseline, for people.
        after: of the candidate.
        why: what it does to the figures.
    """

    what: str
    before: str
    after: str
    why: str


def differences(before: Record, after: Record) -> tuple[Difference, ...]:
    """Each reason why the two are no before and after; none where they are."""
    return tuple(
        one for one in (*_targets(before, after), *_asked(before, after), *_measured(before, after)) if one is not None
    )


Reason = Difference | None


def _unless_same(what: str, before: Any, after: Any, why: str) -> Reason:
    return None if before == after else Difference(what, _shown(before), _shown(after), why)


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_shown(inner)}" for name, inner in sorted(value.items())) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value)) or "none"
    return str(value) or "none"


def _targets(before: Record, after: Record) -> Iterator[Reason]:
    if before.id == after.id:
        yield Difference("run", before.id, after.id, "held against itself, it shows nothing")
    one, other = before.target, after.target
    yield _unless_same("model", one.model, other.model, "another model is another speed")
    if one.answered_model and other.answered_model and one.model == other.model:
        yield _unless_same(
            "model that answered", one.answered_model, other.answered_model, "another model is another speed"
        )
    yield _unless_same("dialect", one.dialect, other.dialect, "servers treat dialects differently")


def _asked(before: Record, after: Record) -> Iterator[Reason]:
    one, other = before.parameters, after.parameters
    yield _unless_same("lengths", _lengths(one), _lengths(other), "longer prompts and replies take longer")
    yield _unless_same("ladder", before.ladder, after.ladder, "rungs warm each other up, and are compared one by one")
    yield _unless_same("load", _load(before), _load(after), "how requests are started decides how they queue")
    yield _unless_same("accepted parameters", one.accepted, other.accepted, "they decide how long replies are")


def _lengths(asked: Parameters) -> str:
    return f"{asked.prompt_tokens} in, {asked.output_tokens} out"


def _load(record: Record) -> str:
    asked = record.parameters
    loop = "a closed loop" if asked.rate is None else f"{asked.rate:g} requests/s"
    warm_up = "one per stream" if asked.warm_up < 0 else str(asked.warm_up)
    return f"{loop}, warm-up {warm_up}"


def _measured(before: Record, after: Record) -> Iterator[Reason]:
    yield _unless_same("token source", before.token_source, after.token_source, "they count differently")
    yield _gpus(before, after)
    yield _counted("prompt tokens that were counted", _prompts(before), _prompts(after))
    yield _counted("completion tokens that came", _replies(before), _replies(after))
    yield _cached(before, after)
    one, other = _client(before), _client(after)
    yield _unless_same("client", one, other, "another client measures its own overhead, too")


def _gpus(before: Record, after: Record) -> Reason:
    one, other = (" ".join(filter(None, (run.gpu.source, run.gpu.way))) for run in (before, after))
    if not before.gpu.source or not after.gpu.source:  # then there is no memory to compare, and the rest stands
        return None
    return _unless_same("GPU source", one, other, "they count memory differently")


def _counted(what: str, before: float | None, after: float | None) -> Reason:
    if before is None or after is None or abs(after - before) <= _LENGTH_SHARE * before:
        return None
    return Difference(what, f"{before:.0f}", f"{after:.0f}", "longer prompts and replies take longer")


def _prompts(record: Record) -> float | None:
    told = [one.prompt_tokens for rung in record.rungs for one in rung.requests if one.is_ok]
    return _median([float(one) for one in told if one is not None])


def _replies(record: Record) -> float | None:
    """The mean: that some replies are short is what must be seen."""
    told = [one.completion_tokens for rung in record.rungs for one in rung.requests if one.is_ok]
    known = [one for one in told if one is not None]
    return sum(known) / len(known) if known else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _cached(before: Record, after: Record) -> Reason:
    one, other = _cached_share(before), _cached_share(after)
    if abs((one or 0.0) - (other or 0.0)) <= _CACHED_SHARE:
        return None
    why = "a prompt out of a cache costs no time"
    return Difference("cached share of the prompts", _percent(one), _percent(other), why)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.0%}"


def _cached_share(record: Record) -> float | None:
    shares = [summary(rung, record.parameters.output_tokens).cached_share for rung in record.rungs]
    return max((share for share in shares if share is not None), default=None)


def _client(record: Record) -> str:
    own = record.environment
    transport = "own transport" if own.transport == "own" else "httpx's transport"
    proxied = " through a proxy" if own.is_proxied else ""
    machine = f"{own.system} {own.machine}, {own.processors} processors"
    return f"toolsync {record.toolsync}, {transport}{proxied}, {own.loop}, Python {_minor(own.python)}, {machine}"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
