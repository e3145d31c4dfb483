"""How much of a change is chance: the changes that other requests of the same kind would have shown; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import median

from toolsync.bench import objection, resampling
from toolsync.bench.objection import TOO_FEW
from toolsync.bench.record import Request, Rung
from toolsync.bench.yardstick import SHARES, Metric

_FEWEST = 8
"""Of fewer, chance alone sets all of one run's beyond all of the other's too often for many rows."""
_FEWEST_WAVES, _MOST_WAVES = 2, 40
_FEWEST_ALIKE = 5
"""Waves whose requests are slow or fast together, and so tell of a median no more than one request each would."""
_MEDIAN = 0.5
_BEYOND = 2
"""So many requests must lie beyond a percentile, or else it is little more than the slowest of them."""

Changes = tuple[Sequence[float] | None, str]
"""Each as a share of what was before, or None; and why there are none."""


def draws(metric: Metric, before: Rung, after: Rung, random: Random, *, is_closed: bool) -> Changes:
    """Changes that other requests of the same kind would have shown; or why nobody can say.

    Args:
        metric: of which figure.
        before: the baseline's rung.
        after: the candidate's.
        random: what draws.
        is_closed: whether each stream sent its next request when the last was answered; else at a rate.
    """
    if metric.name == "peak_memory":
        return None, objection.other_gpus(before, after)
    if metric.name == "tokens_per_s" and not is_closed:
        return None, "at a rate the load decides it, not the server"
    pair = [_waves(rung) for rung in (before, after)]
    return _rates(pair, random) if metric.name == "tokens_per_s" else _quantiles(metric, pair, random)


def _quantiles(metric: Metric, pair: Sequence[Sequence[Sequence[Request]]], random: Random) -> Changes:
    figure, share = SHARES[metric.name]
    told = [[[value for value in map(figure, wave) if value is not None] for wave in waves] for waves in pair]
    counts = [resampling.independent(waves, share) for waves in told]
    values = [[value for wave in waves for value in wave] for waves in told]
    if min(counts) < _FEWEST <= min(map(len, values)) and share == _MEDIAN:
        by_wave = [[median(wave) for wave in waves if wave] for waves in told]
        if min(map(len, by_wave)) >= _FEWEST_ALIKE and min(map(min, by_wave)) > 0:
            middle = median(values[1]) / median(values[0])
            return [middle * one - 1 for one in resampling.ratios(by_wave[0], by_wave[1], random)], ""
    for count, several in zip(counts, values, strict=True):
        if count < _FEWEST or round(count * (1 - share), 6) < _BEYOND:
            together = f", alike in each wave: worth {count}" if count < len(several) else ""
            return None, f"{TOO_FEW} requests ({len(several)}{together})"
    return _changes(
        [resampling.quantiles(one, share, random, count) for one, count in zip(values, counts, strict=True)]
    )


def _rates(pair: Sequence[Sequence[Sequence[Request]]], random: Random) -> Changes:
    """By waves: a wave lasts until the next one starts, so that together they last as long as the rung."""
    drawn = []
    for waves in pair:
        starts = [wave[0].t0_ms or 0.0 for wave in waves]
        end = max((one.t0_ms or 0.0) + (one.e2e_ms or 0.0) for wave in waves for one in wave)
        lasted = [later - earlier for earlier, later in pairwise([*starts, end])]
        tokens = [float(sum(one.completion_tokens or 0 for one in wave)) for wave in waves]
        if len(waves) < _FEWEST_WAVES or min(lasted) <= 0:
            return None, f"{TOO_FEW} waves of requests ({len(waves)})"
        drawn.append(resampling.rates(list(zip(tokens, lasted, strict=True)), random))
    return _changes(drawn)


def _changes(drawn: Sequence[Sequence[float]]) -> Changes:
    if min(drawn[0]) <= 0:
        return None, "it was 0 before" if min(map(min, drawn)) == 0 else "too uneven to tell"
    return [later / earlier - 1 for earlier, later in zip(*drawn, strict=True)], ""


def _waves(rung: Rung) -> list[list[Request]]:
    """The requests that went well, as many together as there are streams; what is left over belongs to the last."""
    good = sorted(
        (one for one in rung.requests if one.is_ok and one.t0_ms is not None), key=lambda one: one.t0_ms or 0.0
    )
    size = max(rung.concurrency, math.ceil(len(good) / _MOST_WAVES))
    count = min(len(good), max(1, len(good) // size))
    return [good[index * size : (index + 1) * size if index + 1 < count else None] for index in range(count)]
