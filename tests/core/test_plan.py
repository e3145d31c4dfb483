"""Plans, one story each: give back, files that toolsync made, origins, time stamps, secrets, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.core import NOW, facts_of
from tests.core.world import SECRET, World, row
from toolsync.document import MISSING, Value
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import EditRefusedError, PlanRefusedError
from toolsync.overlay import ABSENT, TABLE, Edit, edits, filled
from toolsync.plan import Left, Row
from toolsync.registry import tools

SHIPPED = tools(Path("/nonexistent"))


def edit(path: str, value: Any, **more: Any) -> Edit:
    return Edit(parse_path(path), value, **more)


def wants(*pairs: tuple[str, Any], tool: str = "t", **more: Any) -> Row:
    return row(tool, [edit(path, value) for path, value in pairs], **more)


def nothing(tool: str = "t", **more: Any) -> Row:
    return row(tool, **more)


def reasons(left: tuple[Left, ...]) -> dict[str, str]:
    return {spell(one.path): one.reason for one in left}


CHANGED = "stays as it is, for it was changed after toolsync wrote it"


# Files that toolsync made


def test_a_file_that_toolsync_made_goes_again() -> None:
    world = World(None)
    world.run(wants(("a", 1), start='{\n  // ours\n  "a": 1\n}\n'))
    made = world.text
    world.run(nothing())
    assert (made, world.text, world.memory) == ('{\n  // ours\n  "a": 1\n}\n', None, None)


def test_a_file_that_toolsync_made_is_made_anew_for_another_profile() -> None:
    world = World(None)
    world.run(wants(("a", 1), start='{ "a": 1 } // one\n'))
    world.run(wants(("b", 2), start='{ "b": 2 } // two\n'))
    assert world.text == '{ "b": 2 } // two\n'


def test_a_start_of_its_own_gets_the_edits_laid_over_it_and_goes_when_it_is_all_that_is_left() -> None:
    start: dict[str, Any] = {"start": '{ "schema": "v1" }\n', "start_is_filled": False}
    world = World(None)
    world.run(wants(("a", 1), **start))
    assert world.document.data == {"schema": "v1", "a": 1}
    world.edit(("mine",), "x")
    world.edit(("mine",), ABSENT)
    world.text = f"\n{world.text}"  # touched: value by value
    world.run(nothing(**start))
    assert world.text is None


SKELETON = """# what it is for
[api]
base_url = ""
timeout = 120   # long answers

[api.more]
list = [1]

[log]
latency = true
"""


def test_of_a_start_that_its_user_edited_only_their_own_stays() -> None:
    start: dict[str, Any] = {"start": SKELETON, "start_is_filled": False}
    world = World(None, "toml")
    world.run(wants(("api.base_url", "ours"), **start))
    world.edit(("api", "timeout"), 7)
    world.edit(("mine",), "x")
    world.run(wants(("api.base_url", "ours, again"), **start))
    plan = world.run(nothing(**start))
    assert world.document.data == {"mine": "x", "api": {"timeout": 7}}
    assert (world.memory, plan.is_change) == (None, True)


def test_of_a_start_stays_what_its_tool_needs() -> None:
    start: dict[str, Any] = {"start": '{ "version": 1, "providers": {} }', "start_is_filled": False}
    start |= {"check": lambda data: None if "version" in data else "'version' is missing"}
    world = World(None)
    world.run(wants(("providers.ours", 1), **start))
    world.edit(("providers", "theirs"), 2)
    world.run(nothing(**start))
    assert world.document.data == {"version": 1, "providers": {"theirs": 2}}


def test_what_a_user_put_into_a_file_that_toolsync_made_stays() -> None:
    world = World(None)
    world.run(wants(("a", 1), ("t.b", 2), start='{ "a": 1, "t": { "b": 2 } }\n'))
    world.edit(("mine",), "x")
    world.run(nothing())
    assert world.document.data == {"mine": "x"}


def test_what_a_user_put_into_a_file_that_toolsync_made_stays_after_another_apply_too() -> None:
    world = World(None)
    world.run(wants(("a", 1), start='{ "a": 1 }\n'))
    world.edit(("mine",), "x")
    world.run(wants(("a", 2), start='{ "a": 2 }\n'))
    plan = world.run(nothing())
    assert (world.document.data, plan.after is None) == ({"mine": "x"}, False)


def test_a_row_that_makes_no_file_makes_none() -> None:
    world = World(None)
    assert world.run(wants(("a", 1))).is_nothing


def test_a_file_that_the_user_took_away_is_made_again_and_forgotten_by_undo() -> None:
    world = World('{ "a": 0 }\n')
    world.run(wants(("a", 1), start='{ "a": 1 }\n'))
    gone, anew = World(None, "jsonc", world.memory), World(None, "jsonc", world.memory)
    anew.run(wants(("a", 1), start='{ "a": 1 }\n'))
    assert anew.text == '{ "a": 1 }\n'
    plan = gone.run(nothing())
    assert (gone.text, gone.memory, plan.left) == (None, None, ())


def test_an_empty_file_of_the_users_stays_an_empty_file() -> None:
    world = World("")
    world.run(wants(("a", 1)))
    world.run(nothing())
    assert (world.text, world.memory) == ("", None)


@pytest.mark.parametrize("empty", ["", "\n", "{}\n"], ids=repr)
@pytest.mark.parametrize("again", [(), (("a", 2),)], ids=["undo", "another apply, undo"])
def test_what_a_user_put_into_a_file_that_was_empty_stays_alone(empty: str, again: Sequence[tuple[str, int]]) -> None:
    start: dict[str, Any] = {"start": '{ "a": "", "t": { "default": 1 }, "n": 1 }\n', "start_is_filled": False}
    world = World(empty)
    world.run(wants(("a", 1), **start))
    world.edit(("mine",), "x")
    if again:
        world.run(wants(*again, **start))
    assert world.document.get(("t", "default")) == 1  # it stays for as long as the file is ours
    plan = world.run(nothing(**start))
    assert (world.document.data, world.memory, plan.left) == ({"mine": "x"}, None, ())


@pytest.mark.parametrize("before", [None, ""], ids=["made", "begun"])
@pytest.mark.parametrize(
    ("mine", "after"),
    [
        pytest.param("{}mine = 1\n", "mine = 1\n", id="a value"),
        pytest.param("# mine\n{}mine = 1\n", "# mine\nmine = 1\n", id="a comment above ours"),
        pytest.param("{}# mine\nmine = 1\n", "# mine\nmine = 1\n", id="a comment below ours"),
    ],
)
def test_the_comment_that_a_file_of_ours_begins_with_goes_too(before: str | None, mine: str, after: str) -> None:
    start: dict[str, Any] = {"start": '# Ours.\n\na = ""\nn = 1   # note\n', "start_is_filled": False}
    world = World(before, "toml")
    world.run(wants(("a", 1), **start))
    world.text = mine.format(world.text)
    world.run(nothing(**start))
    assert (world.text, world.memory) == (after, None)


def test_an_empty_file_stays_an_empty_one_where_an_apply_came_between() -> None:
    start: dict[str, Any] = {"start": '{ "a": "", "n": 1 }\n', "start_is_filled": False}
    world = World("")
    world.run(wants(("a", 1), **start))
    world.edit(("a",), 5)
    world.run(wants(("a", 2), **start))
    world.run(nothing(**start))
    assert (world.document.data, world.memory) == ({"a": 5}, None)


# Origins


def test_the_origin_stays_while_the_value_overwritten_is_ours() -> None:
    world = World('{ "a": /* mine */ "first", "b": 1 }')
    world.run(wants(("a", "one")))
    world.edit(("b",), 2)
    world.run(wants(("a", "two")))
    world.run(wants(("a", "three")))
    world.run(nothing())
    assert world.text == '{ "a": /* mine */ "first", "b": 2 }'


def test_the_origin_is_the_users_last_value() -> None:
    world = World('{ "a": "first" }')
    world.run(wants(("a", "one")))
    world.edit(("a",), "second")
    world.run(wants(("a", "one")))
    world.run(nothing())
    assert world.text == '{ "a": "second" }'


def test_a_value_that_the_user_took_out_does_not_come_back() -> None:
    world = World('{ "a": "first" }')
    world.run(wants(("a", "one")))
    world.edit(("a",), ABSENT)
    plan = world.run(nothing())
    assert (world.document.data, plan.left) == ({}, ())


def test_what_must_not_be_there_comes_back_with_its_comments() -> None:
    text = '{\n  // above\n  "a": { "x": 1 /* in */ }, // beside\n  "b": 1\n}\n'
    world = World(text)
    world.run(wants(("a", ABSENT), ("b", 2)))
    assert world.document.data == {"b": 2}
    world.run(nothing())
    assert world.text == text


def test_a_later_edit_of_the_users_is_named_and_kept() -> None:
    world = World("{}")
    world.run(wants(("a", 1), ("t.b", 2), ("gone", ABSENT)))
    world.edit(("t", "b"), 3)
    world.edit(("gone",), "back")
    plan = world.run(nothing())
    assert world.document.data == {"t": {"b": 3}, "gone": "back"}
    assert reasons(plan.left) == {"t.b": CHANGED, "gone": CHANGED}


@pytest.mark.parametrize(("ours", "theirs"), [(1, True), (1, 1.0), ("1", 1), (0, False)], ids=repr)
def test_a_value_of_another_type_is_not_ours(ours: Value, theirs: Value) -> None:
    world = World("{}")
    world.run(wants(("a", ours)))
    world.edit(("a",), theirs)
    assert reasons(world.run(nothing()).left) == {"a": CHANGED}


def test_what_cannot_be_put_back_is_named_and_the_rest_is_given_back() -> None:
    world = World('{ "t": { "a": 1 }, "b": 1 }')
    world.run(wants(("t.a", ABSENT), ("b", 2)))
    world.edit(("t",), "no table any more")
    plan = world.run(nothing())
    assert world.document.data == {"t": "no table any more", "b": 1}
    assert reasons(plan.left) == {"t.a": "was not given back: no table to hold 'a'; text stands there"}


# What is wanted no more


def test_what_is_wanted_no_more_is_given_back_without_leftovers() -> None:
    text = '{\n  "b": "mine"\n}\n'
    world = World(text)
    world.run(wants(("a", 1), ("b", 2), ("t.u.c", 3), ("l[id=x].v", 4)))
    world.text = f"{world.text}\n"  # touched: value by value
    world.run(wants(("a", 1)))
    assert world.document.data == {"b": "mine", "a": 1}
    world.run(nothing())
    assert world.document.data == {"b": "mine"}


def test_a_container_that_we_made_stays_while_something_of_the_users_is_in_it() -> None:
    world = World("{}")
    world.run(wants(("t.a", 1), ("l[id=x].v", 1)))
    world.edit(("t", "mine"), 1)
    world.edit(parse_path("l[id=y].v"), 1)
    world.run(nothing())
    assert world.document.data == {"t": {"mine": 1}, "l": [{"id": "y", "v": 1}]}


def test_an_empty_container_of_the_users_stays() -> None:
    world = World('{ "t": {}, "l": [] }')
    world.run(wants(("t.a", 1), ("l[id=x].v", 1), ("u", TABLE)))
    world.text = f"{world.text}\n"
    world.run(nothing())
    assert world.document.data == {"t": {}, "l": []}


def test_a_container_of_two_tools_goes_with_the_last_of_them() -> None:
    world = World("{}")
    one, two = wants(("env.a", 1), tool="one"), wants(("env.b", 1), tool="two")
    world.run(one)
    world.run(two)
    world.edit(("mine",), 1)
    world.run(nothing("one"))
    world.run(nothing("two"))
    assert world.document.data == {"mine": 1}


def test_a_container_that_two_tools_emptied_together_goes() -> None:
    world = World("{}")
    world.run(wants(("env.a", 1), ("x", 1), tool="one"), wants(("env.b", 1), ("y", 1), tool="two"))
    world.edit(("mine",), 1)
    world.run(wants(("x", 1), tool="one"), wants(("y", 1), tool="two"))
    assert world.document.data == {"x": 1, "y": 1, "mine": 1}


CODEX_WAYS: dict[str, dict[str, Any]] = {
    "command": {"key_command": {"command": "toolsync", "args": ["key", "print", "w"]}},
    "env": {"key_env": "GW_KEY"},
    "plaintext": {"key_plaintext": SECRET},
}
CODEX_FACTS = {"model": "m-1", "provider_name": "work", "openai_url": "https://gw.example/v1"}
CODEX_FILE = '# mine\nmodel = "o3" # best\n\n[model_providers.mine]\nname = "mine"\n'


def codex(way: str, **more: Any) -> Row:
    document = SHIPPED["codex"].files[0].document
    given = facts_of(**{**CODEX_FACTS, **CODEX_WAYS[way], **more})
    start = filled(document, given, now=NOW).text
    return row("codex", edits(document.data, given, now=NOW), start=start)


@pytest.mark.parametrize("last", CODEX_WAYS)
@pytest.mark.parametrize("first", CODEX_WAYS)
@pytest.mark.parametrize("touched", [False, True], ids=["untouched", "touched"])
@pytest.mark.parametrize("text", [CODEX_FILE, None], ids=["the user's", "ours"])
def test_a_change_of_key_way_leaves_nothing_of_the_way_before(
    first: str, last: str, text: str | None, *, touched: bool
) -> None:
    world, fresh = World(text, "toml"), World(text, "toml")
    world.run(codex(first, headers={"X-A": "1"}, max_retries=3))
    if touched:
        world.text = f"# mine too\n{world.text}"
    world.run(codex(last))
    fresh.run(codex(last))
    assert world.document.data == fresh.document.data
    assert (SECRET in (world.text or "")) is (last == "plaintext")
    assert world.plan(codex(last)).is_nothing
    world.run(nothing("codex"))
    assert world.text == ("# mine too\n" * touched + (text or "") or None)


# Two tools, one file


def test_two_tools_that_want_the_same_agree() -> None:
    world = World('{ "m": "mine" }')
    one, two = wants(("m", "x"), tool="one"), wants(("m", "x"), tool="two")
    world.run(one, two)
    assert world.document.data == {"m": "x"}
    world.run(nothing("one"))
    assert world.document.data == {"m": "x"}
    world.run(nothing("two"))
    assert world.text == '{ "m": "mine" }'


ODDS: dict[str, tuple[Edit, Edit, bool]] = {
    "another value": (edit("a", 1), edit("a", 2), True),
    "another type": (edit("a", 1), edit("a", 1.0), True),
    "a value and nothing": (edit("a", 1), edit("a", ABSENT), True),
    "a value inside another's": (edit("a", {"b": 1}), edit("a.b", 2), True),
    "a value inside what must not be there": (edit("a", ABSENT), edit("a.b", 2), True),
    "a value inside another's item": (edit("l", []), edit("l[id=x].v", 2), True),
    "a value inside a table that must be there": (edit("a", TABLE), edit("a.b", 2), False),
    "side by side": (edit("a.b", 1), edit("a.c", 2), False),
    "two stamps": (edit("a", "1", stamp=True), edit("a", "2", stamp=True), False),
    "nothing, twice": (edit("a", ABSENT), edit("a", ABSENT), False),
}


@pytest.mark.parametrize(("one", "two", "refused"), ODDS.values(), ids=ODDS)
def test_two_tools_that_want_different_things_are_refused(one: Edit, two: Edit, *, refused: bool) -> None:
    rows = row("one", [one]), row("two", [two])
    if not refused:
        World("{}").run(*rows)
        return
    with pytest.raises(PlanRefusedError) as error:
        World("{}").plan(*rows)
    where = max(spell(one.path), spell(two.path), key=len)
    assert error.value.message == f"/home/u/f: one and two want different values at {where}"


# Time stamps


def stamped(clock: str, value: Value, **more: Any) -> Row:
    return row("t", [edit("a", value), edit("at", clock, stamp=True)], **more)


def test_a_time_stamp_changes_only_with_something_else() -> None:
    world = World('{ "a": 0 }')
    world.run(stamped("10:00", 1))
    assert world.run(stamped("11:00", 1)).is_nothing
    assert world.document.data == {"a": 1, "at": "10:00"}
    world.run(stamped("12:00", 2))
    assert world.document.data == {"a": 2, "at": "12:00"}


def test_a_time_stamp_that_went_missing_is_set() -> None:
    world = World("{}")
    world.run(stamped("10:00", 1))
    world.edit(("at",), ABSENT)
    world.run(stamped("11:00", 1))
    assert world.document.data == {"a": 1, "at": "11:00"}


def test_a_time_stamp_that_the_tool_wrote_since_counts_as_ours() -> None:
    world = World("{}")
    world.run(stamped("10:00", 1))
    world.edit(("at",), "the tool's own")
    assert world.run(stamped("11:00", 1)).is_change is False
    plan = world.run(nothing())
    assert (world.document.data, plan.left) == ({}, ())


def test_a_time_stamp_that_the_schema_refuses_is_replaced() -> None:
    def check(data: Value) -> str | None:
        return None if data["at"] != "not a time" else "at: is no time"

    world = World('{ "a": 1, "at": "not a time" }')
    world.run(stamped("10:00", 1, check=check))
    assert world.document.data == {"a": 1, "at": "10:00"}
    world.edit(("at",), "not a time")
    world.run(stamped("11:00", 1, check=check))
    assert world.document.data == {"a": 1, "at": "11:00"}


# Refusals


def test_what_the_tool_would_not_accept_is_refused() -> None:
    with pytest.raises(PlanRefusedError) as error:
        World('{ "a": 0 }').plan(wants(("a", 1), check=lambda data: f"a: {data['a']} is too much"))
    assert error.value.message == "/home/u/f: t would not accept it: a: 1 is too much"


NO_ITEM = "the list holds something that is no table with 'id'"
REFUSED: dict[str, tuple[str, Edit, str]] = {
    "a table where a text stands": ('{ "t": "x" }', edit("t.a", 1), "t.a: no table to hold 'a'"),
    "an empty table where a text stands": ('{\n"t": "x" }', edit("t", TABLE), "2:6: t: a table must stand here"),
    "an item among texts": ('{ "l": ["x"] }', edit("l[id=a].v", 1), NO_ITEM),
    "an item among others": ('{ "l": [{}] }', edit("l[id=a].v", 1), NO_ITEM),
    "an item where a table stands": ('{ "l": {} }', edit("l[id=a].v", 1), "no list"),
}


@pytest.mark.parametrize(("text", "wanted", "message"), REFUSED.values(), ids=REFUSED)
def test_an_edit_that_has_no_place_is_refused(text: str, wanted: Edit, message: str) -> None:
    with pytest.raises(EditRefusedError) as error:
        World(text).plan(row("t", [wanted]))
    assert message in error.value.message


def test_an_item_that_must_merely_be_there_is_made_with_its_name_and_goes_again() -> None:
    world = World('{ "mine": 1 }')
    world.run(wants(("l[id=x]", TABLE), ("t", TABLE)))
    assert world.document.data == {"mine": 1, "l": [{"id": "x"}], "t": {}}
    world.text = f"{world.text}\n"
    world.run(nothing())
    assert world.document.data == {"mine": 1}


# Secrets


def secret(path: str, value: Any, **more: Any) -> Row:
    return row("t", [edit(path, value, secret=True, **more)])


def test_the_users_old_key_lies_in_the_keyring_and_comes_back_from_there() -> None:
    text = f'{{ "k": "{SECRET}", "a": 1 }}'
    world = World(text)
    world.run(secret("k", ""))
    assert SECRET not in world.memory_json
    assert list(world.vault.values()) == [f'"{SECRET}"']
    world.run(nothing())
    assert (world.text, world.vault) == (text, {})


def test_the_users_old_key_comes_back_into_a_file_that_was_touched() -> None:
    world = World(f'{{ "k": "{SECRET}" }}')
    world.run(secret("k", ""))
    world.edit(("a",), 1)
    world.run(secret("k", "other"))
    world.run(nothing())
    assert (world.document.data, world.vault) == ({"k": SECRET, "a": 1}, {})


def test_a_key_by_its_shape_is_kept_from_memory_wherever_it_stands() -> None:
    shaped = "sk-ant-api03-0123456789abcdefghij"
    text = f'{{ "url": "https://gw.example/?key={shaped}", "t": {{ "a": "{shaped}" }} }}'
    world = World(text)
    world.run(wants(("url", "https://gw.example"), ("t", ABSENT)))
    assert shaped not in world.memory_json
    world.run(nothing())
    assert world.text == text


def test_a_place_that_becomes_secret_moves_its_origin_to_the_keyring() -> None:
    world = World(f'{{ "k": "{SECRET}" }}')
    world.run(wants(("k", "")))
    world.edit(("a",), 1)
    world.run(secret("k", "new"))
    assert SECRET not in world.memory_json
    assert world.vault.keys() == world.entries
    world.run(nothing())
    assert world.document.data == {"k": SECRET, "a": 1}


def test_what_the_keyring_lost_is_not_given_back_and_said() -> None:
    world = World(f'{{ "k": "{SECRET}", "a": 1 }}')
    world.run(secret("k", "ours"))
    empty = World(world.text, "jsonc", world.memory)
    plan = empty.plan(nothing())
    assert plan.after == '{ "a": 1 }'
    assert reasons(plan.left) == {"k": "what stood there before could not be kept, and is lost"}


HOLDS: dict[str, tuple[Edit, bool]] = {
    "a key": (edit("k", SECRET, secret=True, harmless=False), True),
    "a key in a table": (edit("k", {"a": SECRET}, secret=True, harmless=False), True),
    "no key": (edit("k", "", secret=True, harmless=False), False),
    "a key that must not be there": (edit("k", ABSENT, secret=True, harmless=False), False),
    "a command that prints the key": (edit("k", "toolsync key print", secret=True), False),
    "a model": (edit("k", "m-1"), False),
}


@pytest.mark.parametrize(("wanted", "expected"), HOLDS.values(), ids=HOLDS)
def test_whether_a_file_holds_a_key_of_ours(wanted: Edit, *, expected: bool) -> None:
    world = World("{}")
    assert world.run(row("t", [wanted])).holds_key is expected
    assert world.plan(nothing()).holds_key is False


def test_a_key_of_a_tool_that_is_not_in_question_still_counts() -> None:
    world = World("{}")
    world.run(row("other", [edit("k", SECRET, secret=True, harmless=False)]))
    assert world.run(wants(("a", 1))).holds_key is True
    assert world.plan(nothing()).holds_key is True
    assert world.plan(nothing("other")).holds_key is False


# What a plan says


def test_a_plan_lists_what_changes_in_order() -> None:
    world = World('{ "a": 0, "same": 1, "gone": 2 }')
    plan = world.plan(wants(("new", 1), ("same", 1), ("a", 9), ("gone", ABSENT)))
    assert [(one.tool, spell(one.path), one.before, one.after) for one in plan.changes] == [
        ("t", "new", MISSING, 1),
        ("t", "a", 0, 9),
        ("t", "gone", 2, MISSING),
    ]


def test_a_plan_of_a_strict_file_with_comments_says_what_its_tool_chokes_on() -> None:
    plan = World('{ "a": 0 // no\n}', "json").plan(wants(("a", 1)))
    assert plan.after == '{ "a": 1 // no\n}'
    assert plan.fault is not None
    assert (plan.fault.line, plan.fault.column) == (1, 10)


def test_planning_asks_the_keyring_for_what_memory_names_and_changes_nothing() -> None:
    text = f'{{ "k": "{SECRET}" }}'
    world = World(text)
    world.run(secret("k", ""))
    before = World(world.text, "jsonc", world.memory, dict(world.vault))
    assert world.plan(nothing()).after == text
    assert world == World(before.text, "jsonc", before.memory, before.vault, world.clock)
