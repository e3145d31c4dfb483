"""Paths as text: what is read, what is refused, and that every path comes back from its spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync.document import Item, KeyPath
from toolsync.document.keypath import parse, spell
from toolsync.errors import TemplateError

ROWS: dict[str, KeyPath] = {
    "a": ("a",),
    "a.b": ("a", "b"),
    'a."dotted.key".b': ("a", "dotted.key", "b"),
    '""': ("",),
    r'"q\"b\\"': ('q"b\\',),
    "a[0].b": ("a", 0, "b"),
    "a[name=x y].b": ("a", Item("name", "x y"), "b"),
    "a[name=]": ("a", Item("name", "")),
    "a[name=https://h/v1?x=1]": ("a", Item("name", "https://h/v1?x=1")),
    'a[name="m[1m]"].b': ("a", Item("name", "m[1m]"), "b"),
    r'a["k=\"]"="\"v"]': ("a", Item('k="]', '"v')),
    "state.<mode>ModeApiProvider": ("state", "<mode>ModeApiProvider"),
    "models[alias=<alias>].name": ("models", Item("alias", "<alias>"), "name"),
}


@pytest.mark.parametrize(("text", "path"), ROWS.items(), ids=ROWS)
def test_a_path_is_read_and_spelled(text: str, path: KeyPath) -> None:
    assert (parse(text), spell(path)) == (path, text)


@pytest.mark.parametrize(
    ("text", "at"), [(".a", 1), ("a..b", 2), ("a b", 2), ('a."b', 2), ("a[", 2), ("a]", 2), ("[x", 1)]
)
def test_what_is_no_path_says_where(text: str, at: int) -> None:
    with pytest.raises(TemplateError) as error:
        parse(text)
    assert error.value.message == f"'{text}' is no path: cannot read on at character {at}"


steps = st.text(max_size=8) | st.integers(0, 99) | st.builds(Item, st.text(min_size=1, max_size=6), st.text(max_size=8))


@given(st.lists(steps, min_size=1, max_size=4))
def test_every_path_comes_back(path: list[str | int | Item]) -> None:
    assert parse(spell(tuple(path))) == tuple(path)
