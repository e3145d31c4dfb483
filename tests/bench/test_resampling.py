"""The bootstrap against what is known: drawing resamples in full, and distributions whose intervals are known."""

from __future__ import annotations

from math import exp, log
from random import Random
from statistics import NormalDist, fmean, mean, stdev

import pytest

from toolsync.bench.metrics import percentile
from toolsync.bench.resampling import independent, interval, quantiles, rates, ratios

COUNT = 4000


def drawn_in_full(values: list[float], share: float, random: Random) -> list[float]:
    return [percentile(sorted(random.choices(values, k=len(values))), share * 100) for _ in range(COUNT)]


def lognormal(size: int) -> list[float]:
    random = Random(7)
    return [random.lognormvariate(0, 0.5) for _ in range(size)]


@pytest.mark.parametrize(("size", "share"), [(5, 0.5), (11, 0.5), (11, 0.9), (95, 0.5)])
def test_one_draw_per_resample_is_as_likely_as_among_whole_resamples(size: int, share: float) -> None:
    values = lognormal(size)
    quick, full = quantiles(values, share, Random(1), count=COUNT), drawn_in_full(values, share, Random(2))
    for value in values:
        assert quick.count(value) / COUNT == pytest.approx(full.count(value) / COUNT, abs=0.035)


@pytest.mark.parametrize(("size", "share"), [(4, 0.5), (10, 0.5), (96, 0.5), (24, 0.9)])
def test_between_two_values_a_draw_is_as_high_and_at_least_as_unsure(size: int, share: float) -> None:
    values = lognormal(size)
    quick, full = quantiles(values, share, Random(1), count=COUNT), drawn_in_full(values, share, Random(2))
    assert mean(quick) == pytest.approx(mean(full), abs=0.01 * (max(values) - min(values)))
    assert 0.97 < stdev(quick) / stdev(full) < 1.35


def test_the_median_of_many_normal_values_is_as_sure_as_theory_says() -> None:
    values = NormalDist(100, 10).samples(2000, seed=3)
    low, high = interval(quantiles(values, 0.5, Random(1)), 0.05)
    expected = 1.96 * 10 * 1.2533 / 2000**0.5  # the median's standard error is 1.2533 times the mean's
    assert (high - low) / 2 == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        pytest.param([3.0], 0.5, {3.0}, id="one"),
        pytest.param([3.0] * 50, 0.9, {3.0}, id="all-equal"),
        pytest.param([1.0, 1.0, 2.0, 2.0], 0.5, {1.0, 2.0}, id="ties"),
        pytest.param([1.0, 2.0], 1.0, {1.0, 2.0}, id="the-largest"),
    ],
)
def test_few_values_give_themselves(values: list[float], share: float, expected: set[float]) -> None:
    assert set(quantiles(values, share, Random(1))) == expected


def test_the_same_seed_gives_the_same_figures() -> None:
    values = [float(one) for one in range(30)]
    assert quantiles(values, 0.5, Random("a")) == quantiles(values, 0.5, Random("a"))
    assert quantiles(values, 0.5, Random("a")) != quantiles(values, 0.5, Random("b"))


def test_a_rate_of_few_waves_is_as_unsure_as_students_distribution_says() -> None:
    draws = rates([(50.0, 100.0), (50.0, 102.0), (50.0, 98.0)], Random(1), 40_000)
    low, high = interval(draws, 0.05)
    error = 0.5 * 0.02 / 3**0.5  # of the mean of three that vary by 2 %
    assert (low + high) / 2 == pytest.approx(0.5, rel=0.01)
    assert (high - low) / 2 == pytest.approx(4.303 * error, rel=0.1)  # two degrees of freedom, 95 %


def test_how_often_waves_of_equal_runs_are_told_apart_is_what_students_distribution_says() -> None:
    random = Random(3)
    beyond = 0
    for _ in range(400):
        sides = [[random.lognormvariate(3, 0.1) for _ in range(5)] for _ in range(2)]
        middle = exp(fmean(map(log, sides[1])) - fmean(map(log, sides[0])))
        low, high = interval([middle * one for one in ratios(sides[0], sides[1], random, 400)], 0.1)
        beyond += not low <= 1 <= high
    assert 20 <= beyond <= 62  # of 400 at 10 %: 40, and 3.6 standard deviations to either side


def test_equal_waves_leave_no_doubt() -> None:
    assert set(rates([(50.0, 100.0)] * 3, Random(1))) == {0.5}


@pytest.mark.parametrize(
    ("waves", "least", "most"),
    [
        pytest.param([[float(one)] for one in range(10)], 10, 10, id="one-by-one"),
        pytest.param([[1.0, 2.0, 3.0, 4.0]] * 6, 24, 24, id="waves-that-are-alike"),
        pytest.param([[1.0] * 20 + [1.1] * 12, [1.0] * 19 + [1.1] * 13, [5.0] * 32], 1, 9, id="one-wave-is-slow"),
        pytest.param([[3.0] * 8] * 3, 24, 24, id="all-equal"),
        pytest.param([[3.0] * 8] * 2 + [[2.0] * 8] * 3, 5, 5, id="two-speeds"),
        pytest.param([[1.0, 2.0]], 2, 2, id="one-wave"),
    ],
)
def test_requests_that_are_slow_together_tell_less_than_their_number(
    waves: list[list[float]], least: int, most: int
) -> None:
    assert least <= independent(waves, 0.5) <= most


@pytest.mark.parametrize(
    ("error", "expected"),
    [(0.0, (0.0, 99.0)), (0.1, (5.0, 94.0)), (1.0, (49.0, 50.0))],
)
def test_an_interval_leaves_its_error_in_both_tails(error: float, expected: tuple[float, float]) -> None:
    assert interval([float(one) for one in range(99, -1, -1)], error) == expected
