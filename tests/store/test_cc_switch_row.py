"""Rows as parts: what nobody edited comes back byte for byte, and nothing is written that CC Switch cannot read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsync import document
from toolsync.errors import StoreError
from toolsync.store.cc_switch_row import APPS, Row, part_names, parts_of, row_of

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def _spelled(draw: st.DrawFn, value: Any) -> str:
    """JSON of a value as somebody may have written it."""
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1, 2, "\t"])))
    slashes = text.replace("/", "\\/") if draw(st.booleans()) else text
    return draw(st.sampled_from(["", " ", "\n"])) + slashes + draw(st.sampled_from(["", "\r\n", "\n"]))


@st.composite
def _rows(draw: st.DrawFn) -> Row:
    """A row for Codex, the app whose settings hold a text."""
    settings = draw(st.dictionaries(_TEXTS, _VALUES, max_size=4))
    settings["auth"] = draw(st.dictionaries(_TEXTS, _TEXTS, max_size=2))
    settings |= draw(st.sampled_from([{}, {"config": None}]) | st.fixed_dictionaries({"config": _TEXTS}))
    order = draw(st.permutations(list(settings)))
    meta = draw(_spelled(draw(st.dictionaries(_TEXTS, _VALUES, max_size=3))))
    whole = draw(_spelled({name: settings[name] for name in order}))
    return Row(draw(_TEXTS), whole, draw(st.none() | _TEXTS), draw(st.none() | _TEXTS), meta)


@given(_rows())
def test_a_row_apart_and_together_is_the_same_row(row: Row) -> None:
    assert row_of("codex", parts_of("codex", row), row) == row


@given(_rows(), _TEXTS)
def test_an_inner_text_takes_its_place_and_no_other(row: Row, config: str) -> None:
    parts = parts_of("codex", row) | {"codex/settings_config/config": config}
    new = row_of("codex", parts, row)
    assert json.loads(new.settings_config) == json.loads(row.settings_config) | {"config": config}
    assert replace(new, settings_config="") == replace(row, settings_config="")


@given(_rows(), _TEXTS)
def test_an_edit_of_a_column_leaves_meta_as_it_is_spelled(row: Row, name: str) -> None:
    parts = parts_of("codex", row)
    columns = document.parse(parts["codex"].encode(), "json").set(("name",), name).text
    assert row_of("codex", parts | {"codex": columns}, row) == replace(row, name=name)


@given(_rows())
def test_parts_do_not_overlap(row: Row) -> None:
    parts = parts_of("codex", row)
    inner = parts.get("codex/settings_config/config")
    outer = json.loads(parts["codex/settings_config"])
    assert outer.get("config") in ("", None)
    assert inner == json.loads(row.settings_config).get("config")


def test_an_inner_text_that_goes_takes_its_member_along() -> None:
    row = Row("n", '{"config": "model = 1", "auth": {}}', None, None, "{}")
    parts = parts_of("codex", row)
    del parts["codex/settings_config/config"]
    assert row_of("codex", parts, row).settings_config == '{"auth": {}}'


_GOOD = Row("n", '{"auth": {}, "npm": "x"}', None, None, "{}")


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("settings_config", ""),
        ("settings_config", "{"),
        ("settings_config", '{"a": 1,}'),
        ("settings_config", '{"a": 1} // mine'),
        ("settings_config", "\ufeff{}"),
        ("meta", "{"),
        ("meta", "// none"),
    ],
)
def test_a_column_that_cc_switch_reads_as_nothing_is_refused(app: str, column: str, text: str) -> None:
    with pytest.raises(StoreError, match=f"{column} of CC Switch's row for {app} is no (strict )?JSON"):
        parts_of(app, replace(_GOOD, **{column: text}))


def test_half_a_surrogate_is_refused() -> None:
    with pytest.raises(StoreError, match="is no text"):
        parts_of("codex", replace(_GOOD, settings_config='{"auth": {}, "config": "\\ud800"}'))


@pytest.mark.parametrize("meta", ["", " "])
def test_an_empty_meta_is_read_as_an_empty_object(meta: str) -> None:
    assert json.loads(parts_of("claude", replace(_GOOD, meta=meta))["claude"]) == {"name": "n", "meta": {}}


@pytest.mark.parametrize(
    ("app", "part", "text", "said"),
    [
        ("claude", "claude", "{}", "needs a name"),
        ("claude", "claude", '{"name": 1}', "needs a name"),
        ("claude", "claude", '{"name": "n", "notes": 1}', "columns are texts"),
        ("claude", "claude", '{"name": "n", "is_current": true}', "only name, website_url, notes and meta"),
        ("claude", "claude", '{"name": "n", "meta": []}', "meta must be an object"),
        ("claude", "claude", "[]", "only name"),
        ("claude", "claude/settings_config", "[]", "must be an object"),
        ("claude", "claude/settings_config", "{} // c", "no strict JSON"),
        ("codex", "codex/settings_config", "{}", "needs an 'auth'"),
        ("codex", "codex/settings_config", '{"auth": null}', "needs an 'auth'"),
        ("codex", "codex/settings_config", '{"auth": {}, "config": {}}', "config must be a text"),
        ("gemini", "gemini/settings_config", '{"env": []}', "env must be an object"),
        ("gemini", "gemini/settings_config", '{"env": {}, "config": "x"}', "config must be an object"),
        ("opencode", "opencode/settings_config", '{"models": {}}', "needs 'npm' or 'options'"),
    ],
)
def test_a_row_that_cc_switch_could_not_use_is_refused(app: str, part: str, text: str, said: str) -> None:
    parts = dict.fromkeys(part_names(app)[:2], "{}") | {app: '{"name": "n"}', part: text}
    with pytest.raises(StoreError, match=said):
        row_of(app, parts, None)


@pytest.mark.parametrize("missing", [0, 1])
def test_a_row_is_whole_or_not_at_all(missing: int) -> None:
    parts = parts_of("claude", _GOOD)
    del parts[part_names("claude")[missing]]
    with pytest.raises(StoreError, match=f"cannot be without '{part_names('claude')[missing]}'"):
        row_of("claude", parts, None)
