"""Values: equal, hashed and shown by their fields, as frozen dataclasses are."""

from __future__ import annotations

from dataclasses import field, fields, replace
from threading import Barrier, Thread

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


def test_fields_are_known_before_there_is_an_instance() -> None:
    @frozen
    class Above:
        one: int

    @frozen
    class Below(Above):
        other: int = 2

    class Own(Below):
        pass

    assert [each.name for each in fields(Own)] == ["one", "other"]
    assert Own(1).other == 2


def test_a_default_is_made_anew_for_each_instance() -> None:
    @frozen
    class Listed:
        rows: list[int] = field(default_factory=list)

    first, second = Listed(), Listed()
    first.rows.append(1)
    assert second.rows == []


def test_what_a_constructor_lacks_is_said_with_its_name() -> None:
    @frozen
    class Pair:
        one: int
        other: int

    for _ in range(2):
        with pytest.raises(TypeError, match=r"Pair\.__init__\(\) missing 1 required positional argument: 'other'"):
            Pair(1)  # type: ignore[call-arg]


def test_instances_can_be_taken_apart_by_position() -> None:
    @frozen
    class Pair:
        one: int
        other: int

    match Pair(1, 2):
        case Pair(one, other):
            assert (one, other) == (1, 2)


def test_several_threads_may_make_the_first_instance() -> None:
    @frozen
    class Pair:
        one: int
        other: list[int] = field(default_factory=list)

    barrier = Barrier(8)
    made: list[Pair] = []

    def make() -> None:
        barrier.wait(10)
        made.append(Pair(1))

    threads = [Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert made == [Pair(1)] * 8


@pytest.mark.parametrize("name", ["_compared", "__match_args__", "__init__", "__dataclass_fields__"])
def test_a_first_instance_that_was_cut_off_is_made_the_next_time(name: str) -> None:
    cuts: list[str] = []

    class Cut(type):
        def __setattr__(cls, attribute: str, value: object) -> None:
            if attribute == name and cuts.count(name) == 0 and "made" in cuts:
                cuts.append(name)
                raise KeyboardInterrupt
            super().__setattr__(attribute, value)

    @frozen
    class Listed(metaclass=Cut):
        one: int
        rows: list[int] = field(default_factory=list)

    cuts.append("made")
    with pytest.raises(KeyboardInterrupt):
        Listed(1)
    assert Listed(1) == Listed(1, [])
    assert [each.name for each in fields(Listed)] == ["one", "rows"]
