"""Undo, where somebody took the way to a value of ours out: it goes if it is ours for certain, else it is named."""

from __future__ import annotations

import json
import re

import pytest

from tests.core.test_plan import nothing, reasons, wants
from tests.core.world import SECRET, World
from toolsync.document import Value, parse_path

MODEL = "vars[name=MODEL].value"
KEY = "vars[name=KEY].value"
NAME = r'"name": "MODEL",\s*'
ITEM = "stands in an item without 'name' now, and stays, for that is no longer only what toolsync wrote"


def applied(before: Value, *more: tuple[str, Value]) -> World:
    world = World(json.dumps(before, indent=1))
    world.run(wants((MODEL, "m-1"), *more))
    return world


def rewritten(world: World, old: str, new: str) -> World:
    assert world.text is not None
    text = re.sub(old, new, world.text)
    assert text != world.text
    world.text = text
    return world


MINE = {"name": "MINE", "value": "1"}


@pytest.mark.parametrize("before", [{}, {"vars": []}, {"vars": [MINE]}], ids=["no list", "an empty one", "their own"])
def test_an_item_of_ours_that_lost_its_name_goes(before: Value) -> None:
    world = rewritten(applied(before), NAME, "")
    plan = world.run(nothing())
    assert (world.document.data, reasons(plan.left), world.memory) == (before, {}, None)


def test_one_that_lost_its_name_goes_before_it_is_made_again() -> None:
    world = rewritten(applied({"vars": [MINE]}), NAME, "")
    plan = world.run(wants((MODEL, "m-1")))
    assert (world.document.data, reasons(plan.left)) == (
        {"vars": [MINE, {"name": "MODEL", "value": "m-1"}]},
        {},
    )
    world.run(nothing())
    assert world.document.data == {"vars": [MINE]}


@pytest.mark.parametrize(
    ("new", "there"),
    [
        ('"names": "MODEL", ', {"names": "MODEL", "value": "m-1"}),
        ('"more": {"a": 1}, ', {"more": {"a": 1}, "value": "m-1"}),
    ],
    ids=["misspelt", "with more in it"],
)
def test_one_that_holds_more_stays_and_is_named(new: str, there: Value) -> None:
    world = rewritten(applied({"vars": [MINE]}), NAME, new)
    plan = world.run(nothing())
    assert (world.document.data, reasons(plan.left)) == ({"vars": [MINE, there]}, {"vars[name=MODEL]": ITEM})


def test_one_that_was_theirs_before_stays_and_is_named() -> None:
    """Its old value comes back nowhere: nobody can tell which item it belongs to."""
    world = rewritten(applied({"vars": [{"name": "MODEL", "value": "old"}]}), NAME, "")
    plan = world.run(nothing())
    assert (world.document.data, reasons(plan.left)) == ({"vars": [{"value": "m-1"}]}, {"vars[name=MODEL]": ITEM})


@pytest.mark.parametrize(
    "there",
    [[], [MINE], [{"name": "MINE", "value": "m-1"}], [{"value": "m-2"}], [{"name": "THEIRS", "value": "m-1"}], ["m-1"]],
    ids=["gone", "theirs is left", "of the same value", "nameless, another value", "renamed", "no table"],
)
def test_one_that_was_removed_or_made_theirs_is_no_leftover(there: Value) -> None:
    world = applied({"vars": [MINE]})
    world.text = json.dumps({"vars": there})
    plan = world.run(nothing())
    assert (world.document.data, reasons(plan.left)) == ({"vars": there}, {})


def test_a_key_in_an_item_without_its_name_goes_too() -> None:
    world = World('{"vars": []}')
    world.run(wants((MODEL, "m-1")), wants((KEY, SECRET), tool="other"))
    rewritten(world, NAME.replace("MODEL", "KEY"), "")
    world.run(nothing(), nothing(tool="other"))
    assert world.document.data == {"vars": []}


BEFORE = '[mcp.x]\ncommand = "c"\n'
HEADER = "[providers.ours]\n"
LEFT = {
    "providers.ours": "is not where toolsync wrote it, and the same stands under 'mcp.x': see whether that is a "
    "leftover"
}


def _toml() -> World:
    world = World(BEFORE, format="toml")
    world.run(
        wants(("providers.ours.url", "https://g.example"), ("providers.ours.wire", "chat"), ("providers.ours.n", 1))
    )
    assert world.text is not None
    assert HEADER in world.text
    return world


def test_lines_whose_header_was_commented_out_are_named_with_where_they_stand() -> None:
    world = rewritten(_toml(), re.escape(HEADER), f"# {HEADER}")
    plan = world.run(nothing())
    assert reasons(plan.left) == LEFT
    assert world.document.get(parse_path("mcp.x.url")) == "https://g.example"


def test_so_they_are_when_they_are_written_again() -> None:
    world = rewritten(_toml(), re.escape(HEADER), f"# {HEADER}")
    plan = world.run(wants(("providers.ours.url", "https://g.example"), ("providers.ours.wire", "chat")))
    assert reasons(plan.left) == LEFT
    assert world.document.get(parse_path("providers.ours.url")) == "https://g.example"
    assert reasons(world.run(nothing()).left) == {}


@pytest.mark.parametrize(
    "text",
    [BEFORE, f"{BEFORE}n = 1\n", f'{BEFORE}wire = "chat"\n', f'{BEFORE}url = "https://h.example"\nn = 1\n'],
    ids=["gone", "a number", "a short word", "another address"],
)
def test_a_table_that_was_removed_is_no_leftover(text: str) -> None:
    world = _toml()
    world.text = text
    plan = world.run(nothing())
    assert (world.text, reasons(plan.left), world.memory) == (text, {}, None)
