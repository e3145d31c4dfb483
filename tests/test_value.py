"""Values: equal, hashed and shown by their fields, as frozen dataclasses are."""

from __future__ import annotations

from dataclasses import field, fields, replace

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


def test_a_value_is_a_dataclass() -> None:
    assert replace(Point(1), y=2) == Point(1, 2)
    assert {one.name for one in fields(Pixel)} == {"x", "y", "note", "colour", "tags"}


def test_that_nobody_sets_a_field_is_seen_to_by_the_checker_of_types() -> None:
    point = Point(1)
    point.x = 2  # type: ignore[misc]  # unused, and so an error there, if it were allowed
    assert point.x == 2
