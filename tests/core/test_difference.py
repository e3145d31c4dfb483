"""Diffs: what changes can be read, and no secret can, whoever's it is and wherever it stands."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.world import KEY, World, row
from toolsync.difference import shown_value, unified
from toolsync.document import MISSING, Item, KeyPath, Value
from toolsync.document.keypath import parse as parse_path
from toolsync.masking import fingerprint
from toolsync.overlay import ABSENT, Edit
from toolsync.plan import Change

SECRET = "zq7.Correct-Horse_42"
"""A key of no known shape: only its place gives it away."""
SHAPED = "sk-or-v1-0123456789abcdef0123"
OLD, NEW = f"{SECRET}-old", f"{SECRET}-new"


def stars(secret: str) -> str:
    return f"***{fingerprint(secret, KEY)}***"


def diff(text: str | None, *edits: Edit, format: str = "jsonc", context: int = 99) -> list[str]:
    world = World(text, format)
    return unified(world.plan(row("t", edits, start="{}" if format != "toml" else "")), "~/f", KEY, context=context)


MARK = Edit(("marked",), "x")


def edit(path: str, value: Any, *, secret: bool = False, harmless: bool = True) -> Edit:
    return Edit(parse_path(path), value, secret=secret, harmless=harmless)


# What is seen


def test_a_change_is_a_unified_diff() -> None:
    text = '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'
    assert diff(text, edit("b", 5), context=1) == [
        "--- ~/f",
        "+++ ~/f",
        "@@ -2,3 +2,3 @@",
        '   "a": 1,',
        '-  "b": 2,',
        '+  "b": 5,',
        '   "c": 3',
    ]


def test_of_a_long_file_the_lines_are_numbered_as_they_stand_there_and_no_secret_is_cut() -> None:
    lines = [f'  "n{number}": {number},' for number in range(300)]
    lines[40] = f'  "apiKey": "{SECRET}",'
    text = "\n".join(["{", *lines, '  "b": 2', "}", ""])
    shown = diff(text, edit("n250", 5), context=1)
    assert shown[2:] == ["@@ -251,3 +251,3 @@", " " + lines[249], "-" + lines[250], '+  "n250": 5,', " " + lines[251]]
    assert SECRET not in "\n".join(diff(text, edit("n100", 5), context=99))


@pytest.mark.parametrize("context", range(5))
def test_a_secret_that_takes_several_lines_is_not_cut(context: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolsync.difference._MORE", 0)
    text = f'n = 1\napi_key = """\n{SECRET}\n{SECRET}"""\nm = 1\n'
    assert SECRET not in "\n".join(diff(text, edit("m", 5), format="toml", context=context))


def test_a_new_file_comes_from_nothing() -> None:
    assert diff(None, edit("a", 1)) == [
        "--- /dev/null",
        "+++ ~/f",
        "@@ -0,0 +1,3 @@",
        "+{",
        '+  "a": 1',
        "+}\n\\ No newline at end of file",
    ]


def test_no_change_is_no_diff() -> None:
    assert diff('{"a": 1}', edit("a", 1)) == []


def test_line_ends_are_not_shown() -> None:
    assert [line for line in diff('{\r\n  "a": 1\r\n}\r\n', edit("a", 2)) if "\r" in line] == []


def test_our_own_harmless_value_is_readable_when_it_goes_too() -> None:
    world = World('{\n  "a": 1\n}\n')
    world.run(row("t", [edit("apiKeyHelper", "toolsync key print w", secret=True)]))
    lines = unified(world.plan(row("t")), "~/f", KEY)
    assert lines[3:] == [" {", '-  "a": 1,', '-  "apiKeyHelper": "toolsync key print w"', '+  "a": 1', " }"]


def test_our_own_harmless_value_is_readable_and_the_users_old_key_is_not() -> None:
    lines = diff(f'{{\n"apiKeyHelper": "{OLD}"\n}}\n', edit("apiKeyHelper", "toolsync key print w", secret=True))
    assert lines[3:] == [" {", f'-"apiKeyHelper": "{stars(OLD)}"', '+"apiKeyHelper": "toolsync key print w"', " }"]


def test_a_rotated_key_is_seen_to_change() -> None:
    lines = diff(f'{{\n"apiKey": "{OLD}"\n}}\n', edit("apiKey", NEW, secret=True, harmless=False))
    assert lines[3:] == [" {", f'-"apiKey": "{stars(OLD)}"', f'+"apiKey": "{stars(NEW)}"', " }"]
    assert stars(OLD) != stars(NEW)


REFERENCES = ["$API_KEY", "${API_KEY}", "{env:API_KEY}", "{file:~/key}", "${{ secrets.API_KEY }}"]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_to_a_key_is_readable(reference: str) -> None:
    text = json.dumps(
        {"apiKey": reference, "token": reference, "env": [{"name": "X_KEY", "value": reference}]}, indent=1
    )
    assert [line.count(reference) for line in diff(text, MARK)[3:]].count(1) == 3
    change = Change("t", ("apiKey",), reference, MISSING, secret=True)
    assert shown_value(change, reference, KEY, is_ours=False) == reference


@pytest.mark.parametrize("value", ["", True, False, None, 4096], ids=repr)
def test_what_is_no_key_is_readable_beside_a_secret_name(value: Value) -> None:
    text = json.dumps({"maxTokens": value}, indent=1)
    assert f' "maxTokens": {json.dumps(value)}' in "\n".join(diff(text, MARK))


# What is not seen

HIDDEN: dict[str, tuple[str, str, tuple[Edit, ...]]] = {
    # format, text with `@` for the secret, edits
    "by name": ("jsonc", '{"api_key": "@"}', (MARK,)),
    "by name, deeper": ("jsonc", '{"auth": {"deep": ["@", {"x": "@"}]}}', (MARK,)),
    "by a list of names and values": ("jsonc", '{"env": [{"name": "MY_TOKEN", "value": "@"}]}', (MARK,)),
    "by a list of keys and values": ("jsonc", '{"headers_": [{"key": "Authorization", "value": "@"}]}', (MARK,)),
    "headers": ("jsonc", '{"headers": {"X-Any": "@"}}', (MARK,)),
    "spelled with escapes": ("jsonc", '{"password": "\\u007a@"}', (MARK,)),
    "a duplicate that does not count": ("jsonc", '{"token": "@", "token": true}', (MARK,)),
    "a duplicate of our own": ("jsonc", '{"k": "@", "k": "ours"}', (edit("k", "ours", secret=True), MARK)),
    "a duplicate table": ("jsonc", '{"token": "@", "token": {"a": 1}}', (MARK,)),
    "the value that goes": ("jsonc", '{"x": "@"}', (edit("x", ABSENT, secret=True),)),
    "the table that goes": ("jsonc", '{"x": {"y": ["@"]}}', (edit("x", ABSENT, secret=True),)),
    "the value beneath ours": ("jsonc", '{"x": "@"}', (edit("x", "", secret=True),)),
    "a number at a secret place": ("jsonc", '{"x": 12345678901234}', (edit("x", "", secret=True),)),
    "an item's value": (
        "jsonc",
        '{"l": [{"id": "a", "u": 1}, {"id": "b", "u": "@"}]}',
        (edit("l[id=b].u", "new", secret=True),),
    ),
    "in a comment, as a setting": ("jsonc", '{\n  // "ANTHROPIC_AUTH_TOKEN": "@",\n  "a": 1\n}', (MARK,)),
    "in a comment, after a value": ("jsonc", '{\n  "a": 1 // "apiKey": "@"\n}', (MARK,)),
    "in a block comment": ("jsonc", "{\n  /*\n   * api_key: '@'\n   */\n  \"a\": 1\n}", (MARK,)),
    "in a comment, bare": ("toml", "# API_KEY=@\na = 1\n", (MARK,)),
    "TOML by name": ("toml", "[api]\nkey = '@'\n", (MARK,)),
    "TOML in one line": ("toml", 'p = { auth = { token = "@" } }\n', (MARK,)),
    "TOML of several lines": ("toml", 'secret = """\n@\n@"""\n', (MARK,)),
    "TOML dotted": ("toml", 'a."my.token".x = "@"\n', (MARK,)),
}


@pytest.mark.parametrize(("format", "text", "edits"), HIDDEN.values(), ids=HIDDEN)
def test_a_secret_is_not_seen(format: str, text: str, edits: tuple[Edit, ...]) -> None:
    lines = "\n".join(diff(text.replace("@", SECRET), *edits, format=format))
    assert lines
    assert [one for one in (SECRET, SECRET[:10], "12345678901234") if one in lines] == []


@pytest.mark.parametrize("text", ['{{\n  // was {}\n  "a": 1\n}}', '{{"anything": "{}"}}', '{{"l": ["x {} y"]}}'])
def test_what_has_the_shape_of_a_key_is_seen_nowhere(text: str) -> None:
    lines = "\n".join(diff(text.format(SHAPED), MARK))
    assert "marked" in lines
    assert SHAPED not in lines


def test_a_key_of_a_tool_that_is_not_in_question_is_not_seen_in_the_context() -> None:
    world = World("{\n}\n")
    world.run(row("other", [edit("odd", SECRET, secret=True, harmless=False)]))
    lines = unified(world.plan(row("t", [MARK])), "~/f", KEY)
    assert stars(SECRET) in "\n".join(lines)
    assert SECRET not in "\n".join(lines)


NAMES = ["apiKey", "api_key", "AUTH_TOKEN", "clientSecret", "password", "Authorization", "bearer", "credentials", "key"]
secrets = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=16).map(
    "Zz9{}".format
)
plain = st.sampled_from(["text", "https://gw.example/api", 1, True, "", "${API_KEY}"])


def places(secret: str) -> st.SearchStrategy[Any]:
    named = st.sampled_from(NAMES).map(lambda name: {name: secret})
    listed = st.sampled_from(NAMES).map(lambda name: {"env": [{"name": name, "value": secret}]})
    return named | listed | st.just({"headers": {"X-Any": secret}}) | named.map(lambda inner: {"server": [inner]})


@st.composite
def settings(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """Settings of a user's, with secrets where people keep them; and the secrets."""
    found = draw(st.lists(secrets, min_size=1, max_size=4, unique=True))
    data: dict[str, Any] = {}
    for index, secret in enumerate(found):
        data[f"t{index}"] = {"plain": draw(plain), **draw(places(secret))}
    return data, found


@given(settings(), st.sampled_from(["jsonc", "json", "toml"]), st.integers(0, 3))
def test_no_secret_of_the_users_is_in_any_diff(made: tuple[dict[str, Any], list[str]], format: str, gone: int) -> None:
    data, found = made
    world = World("{}" if format != "toml" else "", format)
    for name, value in data.items():
        world.edit((name,), value)
    doomed: KeyPath = (f"t{gone}",)
    plan = world.plan(row("t", [MARK, Edit(doomed, ABSENT)]))
    lines = "\n".join(unified(plan, "~/f", KEY, context=99))
    shown = json.dumps([shown_value(one, one.before, KEY, is_ours=False) for one in plan.changes])
    assert [secret for secret in found if secret in lines or secret in shown] == []
    prints = set(re.findall(r"\*\*\*([0-9a-f]{6})\*\*\*", lines))
    assert prints == {fingerprint(secret, KEY) for secret in found}


# As data

SHOWN: dict[str, tuple[Value, dict[str, Any], Any]] = {
    "nothing": (MISSING, {}, None),
    "plain": ("x", {}, "x"),
    "number": (1, {}, 1),
    "secret": (SECRET, {"secret": True}, stars(SECRET)),
    "secret, ours": ("toolsync key print", {"secret": True, "ours": True}, "toolsync key print"),
    "secret, empty": ("", {"secret": True}, ""),
    "secret table": ({"a": SECRET}, {"secret": True}, stars(json.dumps({"a": SECRET}))),
    "shaped": (SHAPED, {}, stars(SHAPED)),
    "shaped, ours": (SHAPED, {"ours": True}, stars(SHAPED)),
    "table with a secret": ({"url": "u", "api_key": SECRET}, {}, {"url": "u", "api_key": stars(SECRET)}),
    "list with a secret": ([{"name": "MY_KEY", "value": SECRET}], {}, [{"name": "MY_KEY", "value": stars(SECRET)}]),
    "lone surrogate": ("\ud800", {"secret": True}, stars("\ud800")),
}


@pytest.mark.parametrize(("value", "more", "expected"), SHOWN.values(), ids=SHOWN)
def test_a_value_as_data_that_may_be_shown(value: Value, more: dict[str, Any], expected: Any) -> None:
    change = Change("t", ("a", Item("id", "b")), value, MISSING, secret=more.get("secret", False))
    assert shown_value(change, value, KEY, is_ours=more.get("ours", False)) == expected


def test_numbers_and_neighbourhoods_give_nothing_away_and_counts_stay() -> None:
    numbers = '"api_pin_token": 12345678,\n  "maxTokens": 4096'
    text = f'{{\n  {numbers},\n  "tokenSource": "manual",\n  "notify": ["-H", "X: Bearer f99-k"]\n}}\n'
    assert diff(text, MARK) == [
        "--- ~/f",
        "+++ ~/f",
        "@@ -1,6 +1,7 @@",
        " {",
        f'   "api_pin_token": "{stars("12345678")}",',
        '   "maxTokens": 4096,',
        '   "tokenSource": "manual",',
        '-  "notify": ["-H", "X: Bearer ***"]',
        '+  "notify": ["-H", "X: Bearer ***"],',
        '+  "marked": "x"',
        " }",
    ]
