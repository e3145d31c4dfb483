"""The overlay language, rule by rule: what each overlay wants of a file, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core import NOW, document, facts_of
from toolsync.document import Item, Value
from toolsync.errors import MissingFactError, TemplateError
from toolsync.overlay import ABSENT, TABLE, Edit, check, edited, edits, filled, variables

HEADERS = {"X-Team": "tools"}
FACTS = facts_of(model="m-1", max_tokens=4096, temperature=0.5, stream=True, headers=HEADERS, paths=["/a", "/b"])


def wanted(overlay: Value, **more: Any) -> dict[Any, Any]:
    """Path to value, in order; a path of one step stands as that step."""
    found = edits(overlay, {**FACTS, **facts_of(**more)}, now=NOW)
    return {edit.path[0] if len(edit.path) == 1 else edit.path: edit.value for edit in found}


PROVIDER = Item("name", "toolsync")

ROWS: dict[str, tuple[Value, dict[Any, Any]]] = {
    # A string that is exactly one placeholder takes the fact as it is.
    "text": ({"a": "<model>"}, {"a": "m-1"}),
    "whole number": ({"a": "<max_tokens>"}, {"a": 4096}),
    "number": ({"a": "<temperature>"}, {"a": 0.5}),
    "truth": ({"a": "<stream>"}, {"a": True}),
    "table, set whole": ({"a": "<headers>"}, {"a": HEADERS}),
    "list, set whole": ({"a": "<paths>"}, {"a": ["/a", "/b"]}),
    "now": ({"a": "<now>"}, {"a": NOW}),
    # Among other text it is spelled.
    "in a text": ({"a": "x/<model>/y"}, {"a": "x/m-1/y"}),
    "two in a text": ({"a": "<model>:<max_tokens>"}, {"a": "m-1:4096"}),
    "truth in a text": ({"a": "stream=<stream>"}, {"a": "stream=true"}),
    "now in a text": ({"a": "at <now>"}, {"a": f"at {NOW}"}),
    # What is no placeholder is itself.
    "plain text": ({"a": "text"}, {"a": "text"}),
    "empty text": ({"a": ""}, {"a": ""}),
    "plain number": ({"a": 1}, {"a": 1}),
    "plain truth": ({"a": False}, {"a": False}),
    "null": ({"a": None}, {"a": None}),
    "no placeholder": ({"a": "<|end|>", "b": "a < b > c"}, {"a": "<|end|>", "b": "a < b > c"}),
    "no placeholder, capital": ({"a": "<Model>"}, {"a": "<Model>"}),
    # <fact?>
    "set ?": ({"a": "<model?>"}, {"a": "m-1"}),
    "unset ?": ({"a": "<site?>", "b": 1}, {"b": 1}),
    "unset ? in a text": ({"a": "x <site?>", "b": 1}, {"b": 1}),
    # <fact|text>, in the fact's type
    "set |": ({"a": "<max_tokens|1>"}, {"a": 4096}),
    "unset | text": ({"a": "<site|none>"}, {"a": "none"}),
    "unset | nothing": ({"a": "<key_plaintext|>"}, {"a": ""}),
    "unset | whole number": ({"a": "<max_retries|3>"}, {"a": 3}),
    "unset | number written whole": ({"a": "<timeout_seconds|120>"}, {"a": 120}),
    "unset | number": ({"a": "<timeout_seconds|0.5>"}, {"a": 0.5}),
    "unset | true": ({"a": "<log_latency|true>"}, {"a": True}),
    "unset | false": ({"a": "<log_latency|false>"}, {"a": False}),
    "unset | digits of a text": ({"a": "<timeout_ms_text|120>"}, {"a": "120"}),
    "unset | in a text": ({"a": "n=<max_retries|3>"}, {"a": "n=3"}),
    # <fact|absent>, <absent>
    "set |absent": ({"a": "<model|absent>"}, {"a": "m-1"}),
    "unset |absent": ({"a": "<site|absent>"}, {"a": ABSENT}),
    "unset |absent in a text": ({"a": "x <site|absent>"}, {"a": ABSENT}),
    "absent": ({"a": "<absent>"}, {"a": ABSENT}),
    "absent beats hands off": ({"a": "<site?><absent>"}, {"a": ABSENT}),
    # Keys
    "key": ({"m/<model>": 1}, {"m/m-1": 1}),
    "key of a table": ({"<model>": {"n": "<model>"}}, {("m-1", "n"): "m-1"}),
    "key unset": ({"<site?>": {"n": 1}, "b": 1}, {"b": 1}),
    "key absent": ({"<site|absent>": 1, "b": 1}, {"b": 1}),
    "keys become equal, and are": ({"<model>": {"n": 1}, "<model?>": {"n": 1}}, {("m-1", "n"): 1}),
    "keys become equal, other entries": ({"<model>": {"n": 1}, "m-1": {"o": 2}}, {("m-1", "n"): 1, ("m-1", "o"): 2}),
    "number in a key": ({"n<max_tokens>": 1}, {"n4096": 1}),
    # Tables merge, and one with nothing left is left out; {} means that one must exist.
    "table": ({"t": {"a": 1, "b": 2}}, {("t", "a"): 1, ("t", "b"): 2}),
    "table left with nothing": ({"t": {"a": "<site?>"}, "b": 1}, {"b": 1}),
    "table of what must not be": ({"t": {"a": "<absent>"}}, {("t", "a"): ABSENT}),
    "empty table": ({"t": {}}, {"t": TABLE}),
    "empty table, deeper": ({"t": {"u": {}}}, {("t", "u"): TABLE}),
    # A list of tables merges by each item's first key.
    "item": ({"l": [{"name": "toolsync", "a": 1}]}, {("l", PROVIDER, "a"): 1}),
    "item, filled": ({"l": [{"name": "<model>", "a": "<model>"}]}, {("l", Item("name", "m-1"), "a"): "m-1"}),
    "item unset": ({"l": [{"name": "<site?>", "a": 1}]}, {}),
    "item left with nothing": ({"l": [{"name": "toolsync", "a": "<site?>"}]}, {}),
    "item that is its name only": ({"l": [{"name": "toolsync"}]}, {("l", PROVIDER): TABLE}),
    "item, deeper": ({"l": [{"name": "toolsync", "t": {"a": 1}}]}, {("l", PROVIDER, "t", "a"): 1}),
    "item, without": ({"l": [{"name": "toolsync", "a": "<absent>"}]}, {("l", PROVIDER, "a"): ABSENT}),
    "list in an item": (
        {"l": [{"name": "toolsync", "m": [{"id": "<model>", "x": 1}]}]},
        {("l", PROVIDER, "m", Item("id", "m-1"), "x"): 1},
    ),
    # Any other list is set whole.
    "list": ({"l": ["<model>", "x", 1]}, {"l": ["m-1", "x", 1]}),
    "list, some unset": ({"l": ["<site?>", "<site|absent>", "x"]}, {"l": ["x"]}),
    "list left with nothing": ({"l": ["<site?>"], "b": 1}, {"b": 1}),
    "empty list": ({"l": []}, {"l": []}),
    "list of mixed": (
        {"l": ["x", {"n": "<model>", "s": "<site?>", "<model>": 1}]},
        {"l": ["x", {"n": "m-1", "m-1": 1}]},
    ),
    "list of lists": ({"l": [["<model>", "<site?>"]]}, {"l": [["m-1"]]}),
}


@pytest.mark.parametrize(("overlay", "expected"), ROWS.values(), ids=ROWS)
def test_what_an_overlay_wants(overlay: Value, expected: dict[Any, Any]) -> None:
    found = wanted(overlay)
    assert expected == found
    assert list(expected) == list(found)


@pytest.mark.parametrize(
    ("overlay", "fact"),
    [
        ({"a": "<site>"}, "site"),
        ({"a": "x<site>"}, "site"),
        ({"<site>": 1}, "site"),
        ({"l": ["<site>"]}, "site"),
        ({"l": [{"name": "<site>"}]}, "site"),
        ({"a": "<key_command>"}, "key_command"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_required_fact_that_is_unset_is_named(overlay: Value, fact: str) -> None:
    with pytest.raises(MissingFactError) as error:
        edits(overlay, FACTS, now=NOW)
    assert (error.value.fact, error.value.message) == (fact, f"needs '{fact}', which the profile leaves unset")


REFUSED: dict[str, tuple[Value, str]] = {
    "unknown fact": ({"a": "<modell>"}, "'<modell>' is no fact"),
    "unknown fact, optional": ({"a": "<modell?>"}, "'<modell>' is no fact"),
    "unknown fact in a text": ({"a": "x <modell>"}, "'<modell>' is no fact"),
    "unknown fact in a key": ({"<modell?>": 1}, "'<modell>' is no fact"),
    "raw key fact": ({"a": "<key_line>"}, "'<key_line>' is no fact"),
    "the key itself": ({"a": "<key>"}, "'<key>' is no fact"),
    "no whole number": ({"a": "<max_retries|few>"}, "'<max_retries|few>': 'few' is no whole number"),
    "no number": ({"a": "<temperature|warm>"}, "'<temperature|warm>': 'warm' is no number"),
    "nothing for a number": ({"a": "<max_retries|>"}, "'<max_retries|>': '' is no whole number"),
    "no truth": ({"a": "<stream|yes>"}, "'<stream|yes>': 'yes' is no true or false"),
    "text for a table": ({"a": "<headers|none>"}, "'<headers|none>': 'none' is no table"),
    "text for a list": ({"a": "<paths|none>"}, "'<paths|none>': 'none' is no list"),
}


@pytest.mark.parametrize(("overlay", "message"), REFUSED.values(), ids=REFUSED)
def test_what_no_overlay_may_say_is_seen_filled_or_not(overlay: Value, message: str) -> None:
    full = {**FACTS, **facts_of(max_retries=1)}
    for look in (lambda: check(overlay), lambda: edits(overlay, full, now=NOW)):
        with pytest.raises(TemplateError) as error:
            look()
        assert error.value.message == message


REFUSED_FILLED: dict[str, tuple[Value, str]] = {
    "table in a text": ({"a": "x <headers>"}, "'<headers>' is a table or a list, and stands where only text can"),
    "list in a text": ({"a": "x <paths>"}, "'<paths>' is a table or a list, and stands where only text can"),
    "table as a key": ({"<headers>": 1}, "'<headers>' is a table or a list, and stands where only text can"),
    "keys become equal": (
        {"<model>": {"n": 1}, "m-1": {"n": 2}},
        "two entries of the overlay become 'm-1.n', with different values",
    ),
    "keys become equal, but not in type": (
        {"<model>": {"n": 1}, "m-1": {"n": True}},
        "two entries of the overlay become 'm-1.n', with different values",
    ),
    "items become equal": (
        {"l": [{"name": "<model>", "a": 1}, {"name": "m-1", "a": 2}]},
        "two entries of the overlay become 'l[name=m-1].a', with different values",
    ),
    "item without a name": (
        {"l": [{}]},
        "'l': the first value of each item in a list of tables must be a text",
    ),
    "item named by a number": (
        {"l": [{"port": 80, "a": 1}]},
        "'l': the first value of each item in a list of tables must be a text",
    ),
}


@pytest.mark.parametrize(("overlay", "message"), REFUSED_FILLED.values(), ids=REFUSED_FILLED)
def test_what_cannot_be_filled_is_refused(overlay: Value, message: str) -> None:
    with pytest.raises(TemplateError) as error:
        edits(overlay, FACTS, now=NOW)
    assert error.value.message == message


SECRECY: dict[str, tuple[str, dict[str, Any], tuple[bool, bool]]] = {
    "address": ("<model>", {}, (False, True)),
    "command": ("<key_command>", {"key_command": "toolsync key print w"}, (True, True)),
    "no command": ("<key_command|absent>", {}, (True, True)),
    "plaintext": ("<key_plaintext>", {"key_plaintext": "sk-1"}, (True, False)),
    "no plaintext": ("<key_plaintext|>", {}, (True, True)),
    "plaintext must not be there": ("<key_plaintext|absent>", {}, (True, True)),
    "variable": ("<key_env>", {"key_env": "X_KEY"}, (True, True)),
    "variable in a text": ("${<key_variable>}", {"key_variable": "X_KEY"}, (True, True)),
    "reference by variable": ("<key_ref>", {"key_ref": "${X}", "key_env": "${X}"}, (True, True)),
    "reference that is the key": ("<key_ref>", {"key_ref": "sk-1", "key_plaintext": "sk-1"}, (True, False)),
    "headers": ("<headers>", {}, (True, False)),
    "headers unset": ("<headers_lines|absent>", {}, (True, True)),
}


@pytest.mark.parametrize(("text", "more", "expected"), SECRECY.values(), ids=SECRECY)
def test_what_may_be_a_key_is_secret_and_only_a_key_gives_itself_away(
    text: str, more: dict[str, Any], expected: tuple[bool, bool]
) -> None:
    (edit,) = edits({"a": text}, {**FACTS, **facts_of(**more)}, now=NOW)
    assert (edit.secret, edit.harmless) == expected


def test_an_edit_names_its_facts_and_knows_a_time_stamp() -> None:
    stamped, other = edits({"a": "<now>", "b": ["<model>", "<site?>"]}, FACTS, now=NOW)
    assert stamped == Edit(("a",), NOW, facts=frozenset({"now"}), stamp=True)
    assert other == Edit(("b",), ["m-1"], facts=frozenset({"model", "site"}))


def test_the_places_that_an_overlay_names_facts_at() -> None:
    overlay = {"a": "<model>:<site?>", "t": {}, "l": [{"name": "x", "u": "<openai_url>"}], "n": 1, "p": "plain"}
    assert list(variables(overlay)) == [
        (("a",), frozenset({"model", "site"})),
        (("l", Item("name", "x"), "name"), frozenset()),
        (("l", Item("name", "x"), "u"), frozenset({"openai_url"})),
        (("p",), frozenset()),
    ]


# A new file is the overlay's own text.

JSONC = """{
  // the model
  "model": "<model>", // beside it
  "gone": "<site?>",
  "never": "<absent>",
  "n": "<max_retries|3>",
  "empty": {},
  "left": { "out": "<site?>" },
  "<model>": { "name": "<model>" },
  "<site?>": { "name": 1 },
  "list": [
    { "name": "<model>", "a": 1 },
    { "name": "<site?>", "a": 2 },
    { "name": "bare", "a": "<site?>" },
    { "name": "only" }
  ],
  "whole": ["<site?>", "x"]
}
"""

TOML = """\
# head
model = "<model>" # beside it
gone = "<site?>"

[api]
# above
n = "<max_retries|3>"
[left]
out = "<site?>"

[[list]]
name = "<model>"
a = 1
[[list]]
name = "<site?>"
[models."<model>"]
name = "<model>"
"""


def test_a_new_jsonc_file_has_the_overlays_comments_and_nothing_of_what_is_unset() -> None:
    assert filled(document(JSONC), FACTS, now=NOW).text == (
        """{
  // the model
  "model": "m-1", // beside it
  "n": 3,
  "empty": {},
  "list": [
    { "name": "m-1", "a": 1 },
    { "name": "only" }
  ],
  "whole": ["x"],
  "m-1": {
    "name": "m-1"
  }
}
"""
    )


def test_a_new_toml_file_has_the_overlays_comments_and_nothing_of_what_is_unset() -> None:
    assert filled(document(TOML, "toml"), FACTS, now=NOW).text == (
        """\
# head
model = "m-1" # beside it

[api]
# above
n = 3

[[list]]
name = "m-1"
a = 1

[models.m-1]
name = "m-1"
"""
    )


TEXTS = st.sampled_from(
    ["text", "<model>", "<site?>", "<site|absent>", "<absent>", "x <model>", "<max_retries|3>", "<headers>", "<paths>"]
)
KEYS = st.sampled_from(["a", "b", "c.d", "<model>", "<site?>", "k <model>"])
LEAVES: st.SearchStrategy[Any] = TEXTS | st.sampled_from([1, True, 1.5]) | st.lists(TEXTS, max_size=3) | st.just({})


def tables(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["one", "two", "<model>", "<site?>"])
    items = st.builds(lambda name, rest: {"name": name, **rest}, names, st.dictionaries(KEYS, inner, max_size=2))
    return st.dictionaries(KEYS, inner, max_size=3) | st.lists(items, max_size=3, unique_by=lambda item: item["name"])


OVERLAYS = st.dictionaries(KEYS, st.recursive(LEAVES, tables, max_leaves=6), max_size=3)


@pytest.mark.parametrize("format", ["json", "jsonc", "toml"])
@given(overlay=OVERLAYS)
def test_a_new_file_holds_what_the_edits_want_and_nothing_else(format: str, overlay: dict[str, Any]) -> None:
    empty = document("" if format == "toml" else "{}", format)
    template = empty
    for key, value in overlay.items():
        template = template.set((key,), value)
    wanted = edits(template.data, FACTS, now=NOW)
    assert in_order(filled(template, FACTS, now=NOW).data) == in_order(edited(empty, wanted).data)


def in_order(value: Value) -> Value:
    """The value with the items of its lists of tables by name: one filled under a filled key only comes last."""
    if isinstance(value, dict):
        return {key: in_order(child) for key, child in value.items()}
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return sorted(map(in_order, value), key=lambda item: str(item.get("name")))
    return value
