"""How far a figure may be off: what other requests of the same kind would have given (the bootstrap)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from statistics import fmean, variance

RESAMPLES = 4000


def quantiles(
    values: Sequence[float], share: float, random: Random, size: int | None = None, count: int = RESAMPLES
) -> list[float]:
    """That quantile of `count` resamples.

    None is drawn in full: which of the ordered values becomes the k-th of a resample follows the binomial distribution,
    so that one draw per resample gives the same, whatever their number. Where the quantile lies between two values, a
    resample takes one of them, the nearer one more often.

    Args:
        values: at least one.
        share: 0 to 1.
        random: seeded, for the same figures at every reading of the same records.
        size: of a resample; None: as large as the values.
        count: of resamples.
    """
    ordered = sorted(values)
    size = size or len(ordered)
    place = (size - 1) * share
    below = math.floor(place)
    weights = _weights(len(ordered), size, below + 1)
    if place > below:
        above = _weights(len(ordered), size, below + 2)
        weights = [one + (other - one) * (place - below) for one, other in zip(weights, above, strict=True)]
    return random.choices(ordered, cum_weights=list(accumulate(weights)), k=count)


def _weights(values: int, size: int, rank: int) -> list[float]:
    """How likely each of the ordered values is the one of that rank in a resample of that size."""
    reached = [_at_least(rank, size, (index + 1) / values) for index in range(values)]
    return [later - earlier for earlier, later in zip([0.0, *reached], reached, strict=False)]


_FAR = 9.0
"""Standard deviations, beyond which nothing is worth counting."""


def _at_least(wanted: int, tries: int, chance: float) -> float:
    """How likely at least `wanted` of the tries succeed."""
    expected, spread = tries * chance, math.sqrt(tries * chance * (1 - chance))
    if chance >= 1 or wanted < expected - _FAR * spread:
        return 1.0
    if wanted > expected + _FAR * spread + _FAR:
        return 0.0
    log_choose = math.lgamma(tries + 1) - math.lgamma(wanted + 1) - math.lgamma(tries - wanted + 1)
    term = math.exp(log_choose + wanted * math.log(chance) + (tries - wanted) * math.log1p(-chance))
    total, odds = term, chance / (1 - chance)
    for hits in range(wanted, tries):
        term *= odds * (tries - hits) / (hits + 1)
        total += term
        if hits > expected and term < total * 1e-12:
            break
    return min(total, 1.0)


def independent(waves: Sequence[Sequence[float]], share: float) -> int:
    """How many values that know nothing of each other tell as much of that quantile as these do.

    Requests that run side by side are slow or fast together: then they tell less than their number says. How much less
    is how much more the waves differ than chance would have it: by the share below the quantile, or by all their ranks,
    which see two speeds where the quantile lies in the midst of one.

    Args:
        waves: the values, those of one wave together.
        share: of the quantile, 0 to 1.
    """
    waves = [wave for wave in waves if wave]
    size, count = sum(map(len, waves)), len(waves)
    if count < _FEWEST_WAVES or size == count:
        return size
    return max(1, math.floor(size / max(1.0, _excess_below(waves, share), min(_excess_of_ranks(waves), size / count))))


def _excess_below(waves: Sequence[Sequence[float]], share: float) -> float:
    """How much more the number below the quantile varies from wave to wave than it would by chance."""
    values = sorted(value for wave in waves for value in wave)
    size, count = len(values), len(waves)
    limit = values[math.ceil((size - 1) * share)]
    below = sum(value < limit for value in values) / size
    off = sum((sum(value < limit for value in wave) - below * len(wave)) ** 2 for wave in waves) * count / (count - 1)
    expected = size * below * (1 - below)
    return off / expected if expected else 1.0


def _excess_of_ranks(waves: Sequence[Sequence[float]]) -> float:
    """The same of their mean ranks (the F of an analysis of variance)."""
    values = sorted(value for wave in waves for value in wave)
    ranked = [[(bisect_left(values, one) + bisect_right(values, one)) / 2 for one in wave] for wave in waves]
    means = [fmean(wave) for wave in ranked]
    between = sum(len(wave) * (mean - len(values) / 2) ** 2 for wave, mean in zip(ranked, means, strict=True))
    within = sum((one - mean) ** 2 for wave, mean in zip(ranked, means, strict=True) for one in wave)
    if not between:
        return 1.0
    between, within = between / (len(waves) - 1), within / (len(values) - len(waves))
    return between / within if within else math.inf


_FEWEST_WAVES = 2


def rates(pairs: Sequence[tuple[float, float]], random: Random, count: int = RESAMPLES) -> list[float]:
    """What the sum of the first over the sum of the second may be.

    By Student's distribution, which knows that few waves tell little, where resamples of three would be too sure.

    Args:
        pairs: of each wave; at least two; the second is above 0.
        random: seeded.
        count: of draws.
    """
    total, waves = sum(other for _, other in pairs), len(pairs)
    rate = sum(one for one, _ in pairs) / total
    squares = sum((one - rate * other) ** 2 for one, other in pairs)
    error = math.sqrt(squares * waves / (waves - 1)) / total
    return [rate + error * _student(random, waves - 1) for _ in range(count)]


def ratios(before: Sequence[float], after: Sequence[float], random: Random, count: int = RESAMPLES) -> list[float]:
    """By how much the second may differ from the first, as factors of what their means say: 1 is in the midst.

    By Student's distribution, of the logarithms, with what both vary by held to be the same, as it is where nothing
    changed.

    Args:
        before: figures of waves; at least two, all above 0.
        after: likewise.
        random: seeded.
        count: of draws.
    """
    sides = [[math.log(one) for one in side] for side in (before, after)]
    freedom = sum(len(side) - 1 for side in sides)
    spread = sum((len(side) - 1) * variance(side) for side in sides) / freedom
    error = math.sqrt(spread * sum(1 / len(side) for side in sides))
    return [math.exp(error * _student(random, freedom)) for _ in range(count)]


def _student(random: Random, freedom: int) -> float:
    return random.gauss(0, 1) / math.sqrt(random.gammavariate(freedom / 2, 2) / freedom)


def interval(draws: Sequence[float], error: float) -> tuple[float, float]:
    """What lies between the two tails, which hold `error` of the draws together."""
    ordered = sorted(draws)
    cut = min(math.floor(len(ordered) * error / 2), (len(ordered) - 1) // 2)
    return ordered[cut], ordered[-1 - cut]
