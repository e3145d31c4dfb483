"""The figures: of one request out of its time stamps, and of a rung out of its requests; pure.

Definitions: t0 is when the request's bytes were handed to an open connection. TTFT ends at the first token, a thought
included. TPOT is the time from the first to the last token event, over the tokens behind the first chunk. ITL are the
gaps between token events. System tokens/s are all completion tokens over the time from the first t0 to the last token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from toolsync.bench.record import Fault, Request, Rung, TokenSource
from toolsync.bench.tokens import Reply
from toolsync.value import frozen

_DIGITS = 4
"""Of milliseconds: a tenth of a microsecond, which no clock here has."""


@frozen
class Timing:
    """When a request should have started, and did, by `perf_counter_ns`; `status` is None where no answer came."""

    origin_ns: int
    intended_ns: int
    t0_ns: int | None
    status: int | None


def request(timing: Timing, reply: Reply, fault: Fault, source: TokenSource) -> Request:
    """The figures of one request.

    Args:
        timing: of it; `origin_ns` is the start of its rung.
        reply: what came.
        fault: what is known to be wrong beside what the reply says.
        source: who counts the tokens of this run; another one's count is not taken.
    """
    intended_ms = _ms(timing.intended_ns - timing.origin_ns)
    if timing.t0_ns is None:
        return Request(intended_ms, status=timing.status, fault=fault or "unsent")
    t0_ns, at_ns = timing.t0_ns, reply.at_ns
    tokens = completion(reply, source)
    return Request(
        intended_ms=intended_ms,
        t0_ms=_ms(t0_ns - timing.origin_ns),
        ttft_ms=_ms(at_ns[0] - t0_ns) if at_ns else None,
        ttfo_ms=_ms(reply.answer_ns - t0_ns) if reply.answer_ns is not None else None,
        tpot_ms=_tpot_ms(reply, tokens, source),
        e2e_ms=_ms(at_ns[-1] - t0_ns) if at_ns else None,
        itl_ms=tuple(_ms(later - earlier) for earlier, later in pairwise(at_ns)),
        chunks=len(at_ns),
        prompt_tokens=reply.usage.prompt,
        completion_tokens=tokens,
        cached_tokens=reply.usage.cached,
        finish_reason=reply.finish_reason,
        status=timing.status,
        fault=fault or fault_of(reply),
    )


def fault_of(reply: Reply) -> Fault:
    """What is wrong with a reply of success that HTTP ended as it should."""
    if reply.error is not None:
        return "event"
    if not reply.at_ns:
        return "empty"
    return "" if reply.is_ended else "cut"


def source_of(reply: Reply) -> TokenSource:
    """Who counts the tokens of a server that answers so."""
    if reply.usage.completion is None:
        return "events"
    return "continuous-usage" if reply.first_usage is not None else "usage"


def completion(reply: Reply, source: TokenSource) -> int | None:
    """How many tokens came, by the run's source; None where that is silent."""
    if source == "events":
        return len(reply.at_ns)
    return None if reply.usage.completion is None else reply.usage.completion - unsent(reply)


def unsent(reply: Reply) -> int:
    """Tokens of thoughts that the server counts and keeps to itself; they came before the first that it sent."""
    told, is_thought_sent = reply.usage, bool(reply.at_ns) and reply.answer_ns != reply.at_ns[0]
    if not told.thoughts or told.completion is None or is_thought_sent:
        return 0
    return told.thoughts if told.completion - told.thoughts >= len(reply.at_ns) else 0


def _tpot_ms(reply: Reply, tokens: int | None, source: TokenSource) -> float | None:
    first = reply.first_usage if source == "continuous-usage" and reply.first_usage is not None else 1
    if tokens is None or len(reply.at_ns) < 2 or tokens <= first:  # noqa: PLR2004  a time between two
        return None
    return _ms((reply.at_ns[-1] - reply.at_ns[0]) / (tokens - first))


def _ms(nanoseconds: float) -> float:
    return round(nanoseconds / 1e6, _DIGITS)


# Of a rung.


@frozen
class Spread:
    """A figure over requests: how many have it, and where it lies; None where none has it.

    Attributes:
        n: how many.
        p99: None below a hundred, where it would be little else than the largest.
    """

    n: int
    p50: float | None
    p90: float | None
    p99: float | None
    mean: float | None


@frozen
class Summary:
    """A rung in figures.

    Attributes:
        ttft_ms: to the first token.
        ttfo_ms: to the first token that is no thought.
        tpot_ms: per token.
        itl_ms: between chunks, over all gaps of all requests.
        e2e_ms: to the last token.
        dispatch_ms: how much later than intended requests were sent.
        system_tokens_per_s: all together; None where nobody counts.
        steady_tokens_per_s: while all streams were under way; None where they never were.
        request_tokens_per_s: one over TPOT.
        tokens_per_chunk: over 1.05, gaps between chunks are no gaps between tokens.
        prompt_tokens: the median.
        cached_share: of the prompts' tokens; None where nobody says.
        bunched_share: of the chunks behind the first, those that came at one moment with the one before.
        ok: requests that went well.
        failed: those that did not.
        short: those that went well, and were not as long as asked.
        long: those that went well, and were longer.
        uncounted: those that went well, and of which nobody says how long they were.
    """

    ttft_ms: Spread
    ttfo_ms: Spread
    tpot_ms: Spread
    itl_ms: Spread
    e2e_ms: Spread
    dispatch_ms: Spread
    system_tokens_per_s: float | None
    steady_tokens_per_s: float | None
    request_tokens_per_s: float | None
    tokens_per_chunk: float | None
    prompt_tokens: float | None
    cached_share: float | None
    bunched_share: float | None
    ok: int
    failed: int
    short: int
    long: int
    uncounted: int


def summary(rung: Rung, output_tokens: int, source: TokenSource = "usage") -> Summary:
    """The rung in figures; those of failed requests are in none of them.

    Args:
        rung: raw.
        output_tokens: how long replies should have been.
        source: who counted the tokens.
    """
    good = [one for one in rung.requests if one.is_ok]
    tpot = _spread(good, lambda one: one.tpot_ms)
    return Summary(
        ttft_ms=_spread(good, lambda one: one.ttft_ms),
        ttfo_ms=_spread(good, lambda one: one.ttfo_ms),
        tpot_ms=tpot,
        itl_ms=spread([gap for one in good for gap in one.itl_ms]),
        e2e_ms=_spread(good, lambda one: one.e2e_ms),
        dispatch_ms=_spread(rung.requests, lambda one: one.dispatch_delay_ms),
        system_tokens_per_s=_system_rate(good),
        steady_tokens_per_s=_steady_rate(good, rung.concurrency),
        request_tokens_per_s=1000 / tpot.p50 if tpot.p50 else None,
        tokens_per_chunk=_per_chunk(good),
        prompt_tokens=_spread(good, lambda one: one.prompt_tokens).p50,
        cached_share=_cached_share(good),
        bunched_share=_bunched_share(good),
        ok=len(good),
        failed=len(rung.requests) - len(good),
        short=sum(_is_short(one, output_tokens, source) for one in good),
        long=sum((one.completion_tokens or 0) > output_tokens for one in good),
        uncounted=sum(one.completion_tokens is None for one in good),
    )


_FULL = frozenset({"length", "max_tokens", "max_output_tokens"})
"""How the dialects call the end at the limit."""


def _is_short(one: Request, output_tokens: int, source: TokenSource) -> bool:
    """Chunks are no tokens: where nobody counts those, the reason for which it ended must do."""
    if source == "events":
        return one.finish_reason is not None and one.finish_reason not in _FULL
    return one.completion_tokens is not None and one.completion_tokens < output_tokens


def _spread(requests: Iterable[Request], figure: Callable[[Request], float | None]) -> Spread:
    return spread([value for value in map(figure, requests) if value is not None])


_FEW = 100


def spread(values: Sequence[float]) -> Spread:
    """Where values lie."""
    if not values:
        return Spread(0, None, None, None, None)
    ordered = sorted(values)
    p99 = percentile(ordered, 99) if len(ordered) >= _FEW else None
    mean = sum(ordered) / len(ordered)
    return Spread(len(ordered), percentile(ordered, 50), percentile(ordered, 90), p99, mean)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Between the two values that are nearest, in proportion, as numpy does by default.

    Args:
        ordered: ascending, not empty.
        percent: 0 to 100.
    """
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _system_rate(good: Sequence[Request]) -> float | None:
    """All tokens from the first start to the last token."""
    counted = [one for one in good if one.t0_ms is not None and one.e2e_ms is not None]
    if not counted or any(one.completion_tokens is None for one in counted):
        return None
    starts, ends = zip(*_spans(counted), strict=True)
    took_ms = max(ends) - min(starts)
    return 1000 * sum(one.completion_tokens or 0 for one in counted) / took_ms if took_ms > 0 else None


def _spans(requests: Iterable[Request]) -> Iterator[tuple[float, float]]:
    for one in requests:
        if one.t0_ms is not None and one.e2e_ms is not None:
            yield one.t0_ms, one.t0_ms + one.e2e_ms


def _steady_rate(good: Sequence[Request], concurrency: int) -> float | None:
    """Tokens while all streams were under way: from the last start of the first wave to the first end of the last."""
    spans = sorted(_spans(good))
    if len(spans) < 2 * concurrency or any(one.completion_tokens is None or not _has_gaps(one) for one in good):
        return None
    begin = spans[concurrency - 1][0]
    end = sorted(end for _, end in spans)[-concurrency]
    if end <= begin or sum(start <= begin < last for start, last in spans) < concurrency:
        return None
    tokens = sum(_tokens_between(one, begin, end) for one in good)
    return 1000 * tokens / (end - begin)


def _has_gaps(one: Request) -> bool:
    """Whether it is known when each chunk came: of a very long run that is not kept."""
    return len(one.itl_ms) == max(0, one.chunks - 1)


def _tokens_between(one: Request, begin: float, end: float) -> float:
    """How many of its tokens came in a stretch of time, each chunk taken to hold as many as the others."""
    if one.t0_ms is None or one.ttft_ms is None or not one.chunks or one.completion_tokens is None:
        return 0
    at, inside = one.t0_ms + one.ttft_ms, 0
    for gap in (0.0, *one.itl_ms):
        at += gap
        inside += begin < at <= end
    return inside * one.completion_tokens / one.chunks


def _per_chunk(good: Sequence[Request]) -> float | None:
    chunks = sum(one.chunks for one in good)
    if not chunks or any(one.completion_tokens is None for one in good):
        return None
    return sum(one.completion_tokens or 0 for one in good) / chunks


def _cached_share(good: Sequence[Request]) -> float | None:
    told = [(one.cached_tokens, one.prompt_tokens) for one in good if one.cached_tokens is not None]
    prompts = sum(prompt or 0 for _, prompt in told)
    return sum(cached for cached, _ in told) / prompts if prompts else None


def _bunched_share(good: Sequence[Request]) -> float | None:
    gaps = sum(len(one.itl_ms) for one in good)
    return sum(one.itl_ms.count(0) for one in good) / gaps if gaps else None
