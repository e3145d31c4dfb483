"""How far a figure may be off: what other requests of the same kind would have given (the bootstrap)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random

RESAMPLES = 4000
_MOST_BLOCKS = 40


def quantiles(values: Sequence[float], share: float, random: Random, count: int = RESAMPLES) -> list[float]:
    """That quantile of `count` resamples, each as large as the values.

    None is drawn in full: which of the ordered values becomes the k-th of a resample follows the binomial distribution,
    so that one draw per resample gives the same, whatever their number. Where the quantile lies between two values, a
    resample takes one of them, the nearer one more often.

    Args:
        values: at least one.
        share: 0 to 1.
        random: seeded, for the same figures at every reading of the same records.
        count: of resamples.
    """
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    weights = _weights(len(ordered), below + 1)
    if place > below:
        above = _weights(len(ordered), below + 2)
        weights = [one + (other - one) * (place - below) for one, other in zip(weights, above, strict=True)]
    return random.choices(ordered, cum_weights=list(accumulate(weights)), k=count)


def _weights(size: int, rank: int) -> list[float]:
    """How likely each of the ordered values is the one of that rank in a resample."""
    reached = [_at_least(rank, size, (index + 1) / size) for index in range(size)]
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


def ratios(pairs: Sequence[tuple[float, float]], random: Random, count: int = RESAMPLES) -> list[float]:
    """The sum of the first over the sum of the second, of `count` resamples.

    Neighbours stay together, in at most forty blocks: requests that run side by side are slow or fast together.

    Args:
        pairs: in the order of time; the second is above 0.
        random: seeded.
        count: of resamples.
    """
    blocks = list(_blocks(pairs))
    return [_ratio(random.choices(blocks, k=len(blocks))) for _ in range(count)]


def _blocks(pairs: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    size = math.ceil(len(pairs) / _MOST_BLOCKS)
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        yield sum(one for one, _ in block), sum(other for _, other in block)


def _ratio(blocks: Sequence[tuple[float, float]]) -> float:
    return sum([one for one, _ in blocks]) / sum([other for _, other in blocks])


def interval(draws: Sequence[float], error: float) -> tuple[float, float]:
    """What lies between the two tails, which hold `error` of the draws together."""
    ordered = sorted(draws)
    cut = min(math.floor(len(ordered) * error / 2), (len(ordered) - 1) // 2)
    return ordered[cut], ordered[-1 - cut]


def middle(draws: Sequence[float]) -> float:
    """The draw in the middle."""
    return sorted(draws)[len(draws) // 2]
