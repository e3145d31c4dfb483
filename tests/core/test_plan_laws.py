"""The laws of plans, over generated files, overlays and histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from tests.core.world import ELSEWHERE, KEY, ONE, OURS, SECRET, TWO, World, overlays, row, with_users_keys
from tests.document import strategies, strategies_toml
from toolsync.document import MISSING, Item, KeyPath, Missing, equal, parse
from toolsync.errors import EditRefusedError, PlanRefusedError
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.plan import Row
from toolsync.remembered import ANYTHING, NOTHING, mark

TEXTS = {"json": strategies.STRICT_DOCUMENTS, "jsonc": strategies.DOCUMENTS, "toml": strategies_toml.DOCUMENTS}


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A user's file in one of the formats, sometimes with keys of their own in it."""
    format = draw(st.sampled_from(list(TEXTS)))
    return World(with_users_keys(draw(TEXTS[format]), format, draw), format)


def law(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `given`: a whole plan takes long, so where other laws have many examples, these have a fifth of that."""
    few = settings(max_examples=max(25, settings().max_examples // 5))
    return lambda test: few(given(*strategies)(test))


def run(world: World, *rows: Row) -> Any:
    """The plan carried out; a refusal ends the example, and changes nothing."""
    try:
        return world.run(*rows)
    except (EditRefusedError, PlanRefusedError) as error:
        note(str(error))
        assume(False)
        raise


@law(worlds(), overlays(ONE))
def test_undo_of_an_untouched_file_is_byte_identical(world: World, edits: tuple[Edit, ...]) -> None:
    before = world.text
    run(world, row(ONE, edits))
    note(str(world.text))
    plan = run(world, row(ONE))
    assert (world.text, world.memory, world.vault, plan.left) == (before, None, {}, ())


@law(worlds(), overlays(ONE))
def test_after_apply_everything_wanted_stands(world: World, edits: tuple[Edit, ...]) -> None:
    run(world, row(ONE, edits))
    for edit in edits:
        now = world.document.get(edit.path)
        if edit.value is ABSENT:
            assert now is MISSING
        elif edit.value is TABLE:
            assert isinstance(now, dict)
        else:
            assert equal(now, edit.value)


@law(worlds(), overlays(ONE))
def test_the_second_apply_plans_nothing(world: World, edits: tuple[Edit, ...]) -> None:
    run(world, row(ONE, edits))
    again = world.plan(row(ONE, edits))
    assert (again.is_change, again.is_nothing, again.changes, again.forgotten) == (False, True, (), frozenset())


@law(worlds(), overlays(ONE), overlays(ONE))
def test_what_is_applied_depends_on_the_users_text_and_not_on_what_was_applied_before(
    world: World, first: tuple[Edit, ...], second: tuple[Edit, ...]
) -> None:
    other = World(world.text, world.format)
    run(world, row(ONE, first))
    run(world, row(ONE, second))
    run(other, row(ONE, second))
    assert (world.text, world.vault) == (other.text, other.vault)


@law(worlds(), overlays(ONE), overlays(TWO), st.permutations([ONE, TWO]))
def test_two_tools_leave_an_untouched_file_in_any_order(
    world: World, one: tuple[Edit, ...], two: tuple[Edit, ...], order: list[str]
) -> None:
    before = world.text
    run(world, row(ONE, one))
    run(world, row(TWO, two))
    for tool in order:
        note(str(world.text))
        plan = run(world, row(tool))
        assert plan.left == ()
    assert (world.text, world.memory, world.vault) == (before, None, {})


@law(worlds(), overlays(ONE), overlays(TWO))
def test_two_tools_at_once_are_the_same_as_one_after_the_other(
    world: World, one: tuple[Edit, ...], two: tuple[Edit, ...]
) -> None:
    other = World(world.text, world.format)
    run(world, row(ONE, one))
    run(world, row(TWO, two))
    run(other, row(ONE, one), row(TWO, two))
    assert world.text == other.text
    assert world.plan(row(ONE, one), row(TWO, two)).is_nothing
    before = World(world.text, world.format, world.memory, dict(world.vault))
    run(world, row(ONE), row(TWO))
    run(other, row(TWO), row(ONE))
    assert (world.text, world.memory, world.vault) == (other.text, other.memory, other.vault), before


@law(worlds(), overlays(ONE), overlays(TWO), st.lists(overlays(ONE), min_size=1, max_size=3), st.data())
def test_what_was_put_into_the_keyring_and_never_committed_spoils_no_undo(
    world: World, one: tuple[Edit, ...], two: tuple[Edit, ...], killed: list[tuple[Edit, ...]], data: st.DataObject
) -> None:
    before = world.text
    run(world, row(ONE, one))
    run(world, row(TWO, two))
    for edits in killed:
        try:
            kept = list(world.plan(row(ONE, edits)).kept.items())
        except (EditRefusedError, PlanRefusedError):
            continue
        world.vault.update(kept[: data.draw(st.integers(0, len(kept)))])
    plan = run(world, row(ONE), row(TWO))
    assert (world.text, plan.left, world.memory) == (before, (), None)


STEPS = st.one_of(
    st.tuples(st.just("apply"), st.sampled_from([ONE, TWO]), st.integers(0, 1)),
    st.tuples(st.just("undo"), st.sampled_from([ONE, TWO]), st.just(0)),
    st.tuples(st.just("both"), st.just(ONE), st.integers(0, 1)),
    st.tuples(st.just("elsewhere"), st.sampled_from(ELSEWHERE), st.sampled_from(["mine", "too", ABSENT])),
    st.tuples(st.just("ours"), st.sampled_from(OURS), st.sampled_from(["changed", "again", ABSENT])),
)


def wanting(tool: str, edits: tuple[Edit, ...]) -> Row:
    return row(tool, edits, start="", start_is_filled=False)


def taken(world: World, step: tuple[str, Any, Any], overlays: dict[str, list[tuple[Edit, ...]]]) -> Any:
    """One step; the plan, if it was one of ours and not refused."""
    what, where, which = step
    try:
        if what == "apply":
            return world.run(wanting(where, overlays[where][which]))
        if what == "both":
            return world.run(wanting(ONE, overlays[ONE][which]), wanting(TWO, overlays[TWO][which]))
        if what == "undo":
            return world.run(row(where))
        if world.text is not None:
            world.edit(where, which)
    except (EditRefusedError, PlanRefusedError) as error:
        note(f"refused: {error}")
    return None


WORLDS = worlds() | st.builds(World, st.none(), st.sampled_from(list(TEXTS)))
PROFILES = st.fixed_dictionaries(
    {ONE: st.tuples(overlays(ONE), overlays(ONE)), TWO: st.tuples(overlays(TWO), overlays(TWO))}
)


@law(WORLDS, PROFILES, st.lists(STEPS, max_size=8))
def test_through_any_history_memory_and_keyring_are_of_one_mind_and_no_secret_lies_in_memory(
    world: World, overlays: Any, steps: list[tuple[str, Any, Any]]
) -> None:
    for step in steps:
        note(f"{step}\n{world.text!r}")
        plan = taken(world, step, overlays)
        assert world.vault.keys() == world.entries
        assert SECRET not in world.memory_json
        if plan is not None:
            again = [wanting(tool, edits) for tool, edits in wanted_of(plan)]
            assert world.plan(*again).is_nothing
    undone = taken(world, ("undo", ONE, 0), overlays), taken(world, ("undo", TWO, 0), overlays)
    if None not in undone:
        assert (world.memory, world.vault) == (None, {})


@law(WORLDS, PROFILES, st.lists(STEPS.filter(lambda step: step[0] in ("apply", "undo", "both")), max_size=8))
def test_through_any_history_of_ours_alone_the_way_back_is_byte_identical(
    world: World, overlays: Any, steps: list[tuple[str, Any, Any]]
) -> None:
    before = world.text
    for step in steps:
        note(f"{step}\n{world.text!r}")
        taken(world, step, overlays)
    run(world, row(ONE), row(TWO))
    assert (world.text, world.memory, world.vault) == (before, None, {})


def wanted_of(plan: Any) -> list[tuple[str, tuple[Edit, ...]]]:
    return [(tool, edits) for (tool, _), edits in plan.edits.items()]


@law(worlds(), overlays(ONE), st.lists(st.tuples(st.sampled_from(ELSEWHERE), st.sampled_from(["mine", 2])), max_size=3))
def test_what_the_user_wrote_elsewhere_meanwhile_survives_undo(
    world: World, edits: tuple[Edit, ...], changes: list[tuple[KeyPath, Any]]
) -> None:
    before = world.document.data
    run(world, row(ONE, edits))
    made: list[tuple[KeyPath, Any]] = []
    for path, value in changes:
        try:
            world.edit(path, value)
        except EditRefusedError:
            continue
        made = [*[one for one in made if one[0] != path], (path, value)]
    note(str(world.text))
    plan = run(world, row(ONE))
    assert [left for left in plan.left if "changed after" in left.reason] == []
    for path, value in made:
        assert equal(world.document.get(path), value)
    for edit in edits:
        was = parse(b"", world.format).get(edit.path) if before in ({}, None) else _get(before, edit.path)
        if not plan.left and not isinstance(edit.value, dict) and edit.value is not TABLE:
            assert equal(world.document.get(edit.path), was)


def _get(data: Any, path: KeyPath) -> Any:
    from toolsync.document import data as values

    return values.get(data, path)


@law(worlds(), overlays(ONE), st.data())
def test_a_users_later_edit_of_our_value_survives_undo_and_is_named(
    world: World, edits: tuple[Edit, ...], data: st.DataObject
) -> None:
    ours = [edit.path for edit in edits if edit.path in OURS]
    assume(ours)
    path = data.draw(st.sampled_from(ours))
    run(world, row(ONE, edits))
    assume(not equal(world.document.get(path), "theirs"))
    parents = [world.document.get(path[:length]) for length in range(1, len(path))]
    assume(all(isinstance(parent, dict | list | Missing) for parent in parents))  # else nobody can write there
    world.edit(path, "theirs")
    plan = run(world, row(ONE))
    assert world.document.get(path) == "theirs"
    assert [left.path for left in plan.left] == [path]


@law(worlds(), overlays(ONE), overlays(ONE))
def test_without_memory_apply_still_works(world: World, first: tuple[Edit, ...], second: tuple[Edit, ...]) -> None:
    run(world, row(ONE, first))
    forgetful = World(world.text, world.format)
    run(forgetful, row(ONE, second))
    run(forgetful, row(ONE))
    assert (forgetful.text, forgetful.vault) == (world.text, {})


@law(strategies.VALUES)
def test_no_value_has_the_mark_of_nothing_or_of_anything(value: Any) -> None:
    assert {mark(value), mark(value, KEY)} & {NOTHING, ANYTHING} == set()


def _id(path: KeyPath) -> str:
    return ".".join(step.value if isinstance(step, Item) else str(step) for step in path)


@pytest.mark.parametrize("format", list(TEXTS))
def test_the_worlds_are_not_all_refused(format: str) -> None:
    world = World("" if format == "toml" else "{}", format)
    edits = [Edit(path, "v") for path in OURS]
    world.run(row(ONE, edits))
    assert [_id(path) for path in OURS if world.document.get(path) != "v"] == []
