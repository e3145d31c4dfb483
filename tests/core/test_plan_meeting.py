"""Files that must meet a schema, Cline's above all: what is planned and what is given back leaves one that does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core import NOW, facts_of
from tests.core.world import World, row
from toolsync.document.keypath import spell
from toolsync.errors import PlanRefusedError
from toolsync.overlay import Edit, edits
from toolsync.plan import Row
from toolsync.registry import tools
from toolsync.tool.breach import check_of

PROVIDERS = next(file for file in tools(Path("/nonexistent"))["cline"].files if file.overlay == "providers.json")
CHECK = check_of(PROVIDERS)
OURS = "openai-compatible"
OLD = "2026-01-01T00:00:00.000Z"


def entry(provider: str, **settings: Any) -> dict[str, Any]:
    return {"settings": {"provider": provider, **settings}, "updatedAt": OLD, "tokenSource": "manual"}


def store(**providers: Any) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in providers.items()}
    return {"version": 1, "lastUsedProvider": "deepseek", "modes": {}, "providers": named}


DEEPSEEK = entry("deepseek", apiKey="theirs", model="d")
USERS_OWN = entry(OURS, apiKey="mine", model="m", baseUrl="https://old.example/v1", headers={"X": "1"})


def wanted(**facts: Any) -> Row:
    given = {"model": "m-1", "openai_url": "https://gw.example/v1", "key_plaintext": "ours", **facts}
    filled = edits(PROVIDERS.document.data, facts_of(**given), now=NOW)
    return row("cline", filled, start=PROVIDERS.new, start_is_filled=False, check=CHECK)


UNDO = row("cline", start=PROVIDERS.new, start_is_filled=False, check=CHECK)


def world(data: object = None) -> World:
    return World(None if data is None else json.dumps(data, indent=2), "json-no-bom")


def rewritten(cline: World, change: Any = lambda _: None) -> None:
    """As Cline writes its file: parsed, changed, and laid out anew with a field of its own."""
    data = cline.document.data
    change(data)
    cline.text = json.dumps({**data, "modes": data.get("modes", {})}, indent=2) + "\n"


def undone(cline: World) -> tuple[Any, dict[str, str]]:
    plan = cline.run(UNDO)
    data = None if cline.text is None else cline.document.data
    return data, {spell(one.path): one.reason for one in plan.left}


WHOLE = "went whole, with what was added to it: it cannot stand without what toolsync wrote there"
CHANGES: dict[str, Any] = {
    "something was added": lambda data: data["providers"][OURS]["settings"].update(reasoning={"enabled": True}),
    "the model was changed": lambda data: data["providers"][OURS]["settings"].update(model="another"),
    "something was added beside the settings": lambda data: data["providers"][OURS].update(later=True),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_entry_of_ours_that_cannot_stand_in_part_goes_whole(change: Any) -> None:
    cline = world(store(deepseek=DEEPSEEK))
    cline.run(wanted())
    rewritten(cline, change)
    assert undone(cline) == (store(deepseek=DEEPSEEK), {f"providers.{OURS}": WHOLE})


def test_an_entry_of_the_users_gets_its_values_back_and_keeps_what_was_added() -> None:
    cline = world(store(openai_compatible=USERS_OWN))
    cline.run(wanted())
    rewritten(cline, lambda data: data["providers"][OURS]["settings"].update(maxTokens=4096))
    data, left = undone(cline)
    expected = {**USERS_OWN, "settings": {**USERS_OWN["settings"], "maxTokens": 4096}}
    assert (data["providers"][OURS] | {"updatedAt": OLD}, left) == (expected, {})


def test_an_entry_that_the_user_took_out_is_not_made_again_for_a_part_of_it() -> None:
    cline = world(store(deepseek=DEEPSEEK, openai_compatible=USERS_OWN))
    cline.run(wanted())
    rewritten(cline, lambda data: data["providers"].pop(OURS))
    data, left = undone(cline)
    assert data == store(deepseek=DEEPSEEK)
    assert left == {f"providers.{OURS}": "was not given back: what it stood in is gone"}


def test_a_file_that_we_made_goes_although_cline_wrote_it_anew() -> None:
    cline = world()
    cline.run(wanted())
    rewritten(cline)
    assert undone(cline) == (None, {})


def test_a_file_that_we_made_stays_whole_for_what_was_added() -> None:
    cline = world()
    cline.run(wanted())
    rewritten(cline, lambda data: data["providers"].update(deepseek=DEEPSEEK))
    assert undone(cline) == ({"version": 1, "modes": {}, "providers": {"deepseek": DEEPSEEK}}, {})


@pytest.mark.parametrize("text", ["", "\n"], ids=repr)
def test_an_untouched_file_goes_back_to_what_it_was_though_that_meets_nothing(text: str) -> None:
    cline = World(text, "json-no-bom")
    cline.run(wanted())
    assert CHECK is not None
    assert CHECK(cline.document.data) is None
    cline.run(UNDO)
    assert cline.text == text


def test_what_was_broken_before_is_given_back_all_the_same() -> None:
    cline = world(store(deepseek=DEEPSEEK))
    cline.run(wanted())
    rewritten(cline, lambda data: data["providers"]["deepseek"].pop("updatedAt"))
    data, _ = undone(cline)
    assert data["providers"] == {"deepseek": {name: DEEPSEEK[name] for name in ("settings", "tokenSource")}}


def test_undo_is_refused_where_nothing_of_ours_can_go_alone() -> None:
    needs_a: Any = {"check": lambda data: None if "a" in data else "'a' is missing"}
    own = World("{}")
    own.run(row("t", [Edit(("a",), 1)], **needs_a))
    own.edit(("b",), 1)
    with pytest.raises(PlanRefusedError, match="t would not accept it: 'a' is missing") as refused:
        own.plan(row("t", **needs_a))
    assert refused.value.hint.startswith("Put a value of your own there first, which stays: ")
    own.edit(("a",), 2)
    own.run(row("t", **needs_a))
    assert (own.document.data, own.memory) == ({"a": 2, "b": 1}, None)


REFUSED: dict[str, tuple[str, str]] = {
    "a byte-order mark": ("\ufeff" + json.dumps(store(deepseek=DEEPSEEK)), "line 1, column 1: a byte-order mark"),
    "a comment": ("{ // mine\n" + json.dumps(store(deepseek=DEEPSEEK))[1:], "line 1, column 3: a comment"),
    "a trailing comma": (json.dumps(store(deepseek=DEEPSEEK))[:-1] + ",}", "a trailing comma"),
    "an entry without its time": (json.dumps(store(x={"settings": {"provider": "x"}})), "'providers.x.updatedAt' is"),
    "no version": ('{"modes": {}}', "'version' is missing"),
    "another version": (json.dumps(store() | {"version": 2}), "version: breaks the rule 'const'"),
    "a null": (json.dumps(store(x=entry("x", model=None))), "providers.x.settings.model: breaks the rule 'type'"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_its_tool_would_not_accept_is_not_written(text: str, said: str) -> None:
    with pytest.raises(PlanRefusedError) as refused:
        World(text, "json-no-bom").plan(wanted())
    assert said in refused.value.message


@pytest.mark.parametrize("url", ["gw.example/v1", "http://", "http://gw.example:99999/v1", "http://1.2.3.400/v1"])
def test_an_address_that_is_none_is_not_written(url: str) -> None:
    with pytest.raises(PlanRefusedError, match=r"settings\.baseUrl"):
        world(store()).plan(wanted(openai_url=url))


_SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["m", "another"]),
        "apiKey": st.just("theirs"),
        "timeout": st.integers(1, 9),
        "headers": st.dictionaries(st.sampled_from("XY"), st.just("1"), max_size=2),
        "reasoning": st.just({"effort": "low"}),
    },
)
_FOREIGN = st.dictionaries(st.sampled_from(["deepseek", "anthropic", "ollama"]), _SETTINGS, max_size=2)


@given(
    before=st.none() | st.tuples(_FOREIGN, st.none() | _SETTINGS),
    later=_FOREIGN,
    inside=st.none() | _SETTINGS,
    is_taken_out=st.booleans(),
    is_keyed=st.booleans(),
)
def test_what_undo_leaves_meets_the_schema_and_holds_every_other_provider(
    before: Any, later: Any, inside: Any, *, is_taken_out: bool, is_keyed: bool
) -> None:
    foreign, own = before or ({}, None)
    data = store(**{name: entry(name, **settings) for name, settings in foreign.items()})
    if own is not None:
        data["providers"][OURS] = entry(OURS, **own)
    cline = world(data if before is not None else None)
    first = cline.text
    cline.run(wanted(**({} if is_keyed else {"key_plaintext": "other"})))
    untouched = cline.text

    def change(now: Any) -> None:
        now["providers"] |= {name: entry(name, **settings) for name, settings in later.items()}
        if inside is not None:
            now["providers"][OURS]["settings"] |= inside
        if is_taken_out:
            now["providers"].pop(OURS)

    if later or inside is not None or is_taken_out:
        rewritten(cline, change)
    others = {name: value for name, value in cline.document.data["providers"].items() if name != OURS}
    is_untouched = cline.text == untouched
    after, _ = undone(cline)
    if is_untouched:
        assert cline.text == first
    assert CHECK is not None
    assert after is None or CHECK(after) is None
    assert {name: value for name, value in (after or store())["providers"].items() if name != OURS} == others
    assert cline.memory is None
    assert not cline.vault
