"""Values: equal, hashed and shown by their fields, as frozen dataclasses are."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields, is_dataclass, replace
from functools import partial
from threading import Barrier
from types import FrameType
from typing import Any

import pytest

from toolsync.value import frozen


@frozen
class Point:
    x: int
    y: int = 0
    note: str = field(default="", repr=False, compare=False)
    tags: tuple[str, ...] = field(default=(), kw_only=True)


@frozen
class Pixel(Point):
    colour: str = "black"


@frozen
class Named:
    name: str

    def __repr__(self) -> str:
        return "hidden"


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        pytest.param(Point(1), Point(1, 0), True, id="a default"),
        pytest.param(Point(1), Point(2), False, id="a field"),
        pytest.param(Point(1, note="a"), Point(1, note="b"), True, id="a field that is not compared"),
        pytest.param(Point(1, tags=("a",)), Point(1), False, id="a field by keyword only"),
        pytest.param(Pixel(1), Point(1), False, id="a class below"),
        pytest.param(Pixel(1, colour="red"), Pixel(1), False, id="a field of a class below"),
        pytest.param(Point(1), (1, 0), False, id="another type"),
    ],
)
def test_values_are_equal_by_their_fields(one: object, other: object, *, is_equal: bool) -> None:
    assert (one == other) is is_equal
    assert (len({one, other}) == 1) is is_equal


def test_a_value_is_shown_by_its_fields() -> None:
    assert repr(Pixel(1, note="secret")) == "Pixel(x=1, y=0, tags=(), colour='black')"
    assert repr(Named("x")) == "hidden"


def test_a_class_is_a_dataclass_before_it_has_a_value() -> None:
    @frozen
    class Unused:
        x: int

    assert is_dataclass(Unused)
    assert [one.name for one in fields(Unused)] == ["x"]


def test_a_value_is_a_dataclass() -> None:
    assert replace(Point(1), y=2) == Point(1, 2)
    assert {one.name for one in fields(Pixel)} == {"x", "y", "note", "colour", "tags"}


def test_that_nobody_sets_a_field_is_seen_to_by_the_checker_of_types() -> None:
    point = Point(1)
    point.x = 2  # type: ignore[misc]  # unused, and so an error there, if it were allowed
    assert point.x == 2


def test_ctrl_c_while_a_class_becomes_one_leaves_a_class_that_can() -> None:
    """Else the way out, which makes values of it too, would end in a recursion."""
    for line in itertools.count():

        @frozen
        class Fresh:
            x: int
            tags: list[str] = field(default_factory=list)
            note: str = field(default="", repr=False)

        if not _interrupted(line, partial(Fresh, 1)):
            break
        assert repr(Fresh(1)) == f"{Fresh.__qualname__}(x=1, tags=[])"
        assert replace(Fresh(1), x=2) == Fresh(2, [], "")
    assert line > 100


def _interrupted(line: int, act: Callable[[], object]) -> bool:
    """Whether so many lines were run, and Ctrl-C came then."""
    left = itertools.count(line, -1)

    def traced(_frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line" and next(left) == 0:
            raise KeyboardInterrupt
        return traced

    usual = sys.gettrace()
    sys.settrace(traced)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(usual)
    return False


def test_many_threads_may_make_the_first_value_at_once() -> None:
    for _ in range(20):

        @frozen
        class Fresh:
            x: int
            tags: list[str] = field(default_factory=list)

        start = Barrier(8)
        with ThreadPoolExecutor(8) as threads:
            made = list(
                threads.map(lambda number, start=start, fresh=Fresh: (start.wait(), fresh(number))[1], range(8))
            )
        assert [one.x for one in made] == [*range(8)]
        assert all(one.tags == [] for one in made)
