"""How JSON documents are edited, place by place."""

from __future__ import annotations

import datetime as dt
import json
import math
import sys
from typing import Any

import pytest

from toolsync.document import MISSING, Document, Fault, Item, KeyPath, Source, parse
from toolsync.document.splice import apply, inverse
from toolsync.errors import DocumentError, EditRefusedError

NEW: KeyPath = ("new",)


def jsonc(text: str) -> Document:
    return parse(text.encode(), "jsonc")


def strict(text: str) -> Document:
    return parse(text.encode(), "json")


INSERTS = {
    "behind the last": ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "new": 0\n}\n'),
    "comment beside the last stays its own": ('{\n  "a": 1 // a\n}', '{\n  "a": 1, // a\n  "new": 0\n}'),
    "block comment beside the last": ('{\n  "a": 1 /* a */\n}', '{\n  "a": 1, /* a */\n  "new": 0\n}'),
    "block comment over lines": ('{\n  "a": 1 /* a\n b */\n}', '{\n  "a": 1 /* a\n b */,\n  "new": 0\n}'),
    "a block comment over lines, then a line comment": (
        '{\n  "a": 1 /* a\n b */ // c\n}',
        '{\n  "a": 1, /* a\n b */ // c\n  "new": 0\n}',
    ),
    "blanks at the end of the line stay there": ('{\n  "a": 1  \n}', '{\n  "a": 1,  \n  "new": 0\n}'),
    "comment below the last is nobody's": ('{\n  "a": 1\n  // z\n}', '{\n  "a": 1,\n  "new": 0\n  // z\n}'),
    "commented-out alternative": (
        '{\n  "a": 1\n  // , "old": true\n}',
        '{\n  "a": 1,\n  "new": 0\n  // , "old": true\n}',
    ),
    "trailing comma kept": ('{\n  "a": 1, // a\n  // z\n}', '{\n  "a": 1, // a\n  "new": 0,\n  // z\n}'),
    "trailing comma on one line": ('{"a": 1,}', '{"a": 1, "new": 0,}'),
    "leading commas": (
        '{\n    "a": 1 // a\n  , "b": 2 // b\n}',
        '{\n    "a": 1 // a\n  , "b": 2 // b\n  , "new": 0\n}',
    ),
    "tabs": ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"new": 0\n}'),
    "brace on the last line": ('{ "a": 1,\n  "b": 2 }', '{ "a": 1,\n  "b": 2,\n  "new": 0 }'),
    "one line": ('{ "a": 1 }', '{ "a": 1, "new": 0 }'),
    "minified": ('{"a":1}', '{"a":1,"new":0}'),
    "one line ends in a line comment": ('{ "a": 1 // a\n}', '{ "a": 1, // a\n  "new": 0\n}'),
    "colon with a space before it": ('{\n "a" : 1\n}', '{\n "a" : 1,\n "new" : 0\n}'),
    "aligned colons are not copied": ('{\n "a"    : 1\n}', '{\n "a"    : 1,\n "new": 0\n}'),
    "CRLF": ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "new": 0\r\n}\r\n'),
    "CR": ('{\r  "a": 1\r}', '{\r  "a": 1,\r  "new": 0\r}'),
    "blank line before the brace": ('{\n\n  "a": 1\n\n}', '{\n\n  "a": 1,\n  "new": 0\n\n}'),
    "empty object": ("{}", '{\n  "new": 0\n}'),
    "empty object with a space": ("{ }\n", '{\n  "new": 0\n}\n'),
    "empty object over two lines": ("{\n}\n", '{\n  "new": 0\n}\n'),
    "only a comment": ("{ // c\n}", '{ // c\n  "new": 0\n}'),
    "only a block comment": ("{ /* c */ }", '{ /* c */\n  "new": 0\n}'),
    "only comments, oddly indented": ("{\n      // a\n      // b\n}", '{\n      // a\n      // b\n      "new": 0\n}'),
    "empty file": ("", '{\n  "new": 0\n}\n'),
    "byte-order mark only": ("\ufeff", '\ufeff{\n  "new": 0\n}\n'),
    "comment only": ("// c\r\n", '// c\r\n{\r\n  "new": 0\r\n}\r\n'),
    "comment only, no line end": ("// c", '// c\n{\n  "new": 0\n}\n'),
    "duplicates stay": ('{"a": 1, "a": 2}', '{"a": 1, "a": 2, "new": 0}'),
}


@pytest.mark.parametrize(("before", "after"), INSERTS.values(), ids=INSERTS)
def test_a_new_member_goes_where_a_person_would_put_it(before: str, after: str) -> None:
    assert jsonc(before).set(NEW, 0).text == after


NESTED = {
    "parents are made": ('{\n  "a": 1\n}', ("env", "K"), "v", '{\n  "a": 1,\n  "env": {\n    "K": "v"\n  }\n}'),
    "empty table is opened": ('{\n\t"env": {}\n}', ("env", "K"), "v", '{\n\t"env": {\n\t\t"K": "v"\n\t}\n}'),
    "minified stays minified": ('{"env":{}}', ("env", "K"), {"a": [1, 2]}, '{"env":{"K":{"a":[1,2]}}}'),
    "indentation of the nearest": (
        '{\n  "a": {\n      "b": {\n          "c": 1\n      }\n  }\n}',
        ("a", "d"),
        {"e": 1},
        '{\n  "a": {\n      "b": {\n          "c": 1\n      },\n      "d": {\n          "e": 1\n      }\n  }\n}',
    ),
    "table on one line stays so": (
        '{\n  "m": { "p": "x" }\n}',
        ("m", "q"),
        {"r": 1},
        '{\n  "m": { "p": "x", "q": {"r": 1} }\n}',
    ),
    "empty values": (
        '{\n  "a": 1\n}',
        NEW,
        {"l": [], "t": {}},
        '{\n  "a": 1,\n  "new": {\n    "l": [],\n    "t": {}\n  }\n}',
    ),
}


@pytest.mark.parametrize(("before", "path", "value", "after"), NESTED.values(), ids=NESTED)
def test_a_new_table_is_laid_out_like_its_surroundings(before: str, path: KeyPath, value: Any, after: str) -> None:
    assert jsonc(before).set(path, value).text == after


A = '{ "name": "A" }'
LISTS = {
    "behind comments and trailing commas": (
        '{\n  "l": [\n    {\n      "name": "A", // keep\n    },\n  ],\n}',
        """{\n  "l": [\n    {\n      "name": "A", // keep\n    },\n    {
      "name": "B",\n      "v": 1\n    },\n  ],\n}""",
    ),
    "siblings on one line each": (
        f'{{\n  "l": [\n    {A}, // a\n    {A}\n  ]\n}}',
        f'{{\n  "l": [\n    {A}, // a\n    {A},\n    {{ "name": "B", "v": 1 }}\n  ]\n}}',
    ),
    "all on one line": (f'{{"l": [{A}]}}', f'{{"l": [{A}, {{ "name": "B", "v": 1 }}]}}'),
    "bracket and brace together": (
        '{\n  "l": [{\n    "name": "A"\n  }]\n}',
        '{\n  "l": [{\n    "name": "A"\n  }, {\n    "name": "B",\n    "v": 1\n  }]\n}',
    ),
    "empty list": (
        '{\n  "l": []\n}',
        '{\n  "l": [\n    {\n      "name": "B",\n      "v": 1\n    }\n  ]\n}',
    ),
    "no list yet": (
        '{\n  "a": 1\n}',
        '{\n  "a": 1,\n  "l": [\n    {\n      "name": "B",\n      "v": 1\n    }\n  ]\n}',
    ),
    "minified": ('{"l":[{"name":"A"}]}', '{"l":[{"name":"A"},{"name":"B","v":1}]}'),
}
B: KeyPath = ("l", Item("name", "B"))


@pytest.mark.parametrize(("before", "after"), LISTS.values(), ids=LISTS)
def test_a_new_item_looks_like_its_siblings_and_can_go_again(before: str, after: str) -> None:
    edited = jsonc(before).set((*B, "v"), 1)

    assert edited.text == after
    back = edited.remove(B) if jsonc(before).get(("l",)) is not MISSING else edited.remove(("l",))
    assert back.text == before


REMOVALS = {
    "first": ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    "last": ('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}'),
    "last, with a trailing comma": ('{\n  "a": 1,\n  "b": 2,\n}', ("b",), '{\n  "a": 1,\n}'),
    "with its own comment": ('{\n  "a": 1, // a\n  "b": 2 // b\n}', ("b",), '{\n  "a": 1 // a\n}'),
    "not the comment above": ('{\n  // a\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  // a\n  "b": 2\n}'),
    "not the comment below": ('{\n  "a": 1,\n  "b": 2\n  // z\n}', ("b",), '{\n  "a": 1\n  // z\n}'),
    "not the comment before the next": ('{ "a": 1, /* b */ "b": 2 }', ("a",), '{ /* b */ "b": 2 }'),
    "comma on a line of its own": ('{\n  "a": 1 // a\n  ,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    "leading commas, first": ('{\n    "a": 1 // a\n  , "b": 2\n}', ("a",), '{\n    "b": 2\n}'),
    "leading commas at the margin": ('{\n  "a": 1\n,  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    "leading commas, last": ('{\n    "a": 1\n  , "b": 2 // b\n}', ("b",), '{\n    "a": 1\n}'),
    "one line, first": ('{"a": 1, "b": 2}', ("a",), '{"b": 2}'),
    "one line, last": ('{ "a": 1, "b": 2 }', ("b",), '{ "a": 1 }'),
    "minified": ('{"a":1,"b":2,"c":3}', ("b",), '{"a":1,"c":3}'),
    "shared line": ('{\n  "a": 1, "b": 2,\n  "c": 3\n}', ("b",), '{\n  "a": 1,\n  "c": 3\n}'),
    "brace on the same line": ('{ "a": 1,\n  "b": 2 }', ("b",), '{ "a": 1 }'),
    "brace on the same line, a comment between": ('{ "a": 1, // a\n  "b": 2 }', ("b",), '{ "a": 1 // a\n  }'),
    "the only one closes the table": ('{\n  "a": {\n    "b": 1\n  }\n}', ("a", "b"), '{\n  "a": {}\n}'),
    "the only one beside a comment": ('{\n  // c\n  "a": 1\n}', ("a",), "{\n  // c\n}"),
    "below a comment that ends in blanks": ('{// c \n"a": 1,}', ("a",), "{// c \n}"),
    "every duplicate": ('{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}', ("a",), '{\n  "b": 2\n}'),
    "every duplicate, a comment kept": ('{ // c\n"c":0,"c":0,\n"c":0}', ("c",), "{ // c\n}"),
    "comma on a line of its own before the last": ('{"a":1\n,\n"c":0}', ("c",), '{"a":1\n}'),
    "item of a list": (
        '{\n  "l": [\n    1, // one\n    2 // two\n  ]\n}',
        ("l", 0),
        '{\n  "l": [\n    2 // two\n  ]\n}',
    ),
    "CRLF": ('{\r\n  "a": 1,\r\n  "b": 2\r\n}', ("b",), '{\r\n  "a": 1\r\n}'),
    "comment before the comma": ('{"a": 1 /* a */, "b": 2}', ("a",), '{"b": 2}'),
    "nothing there": ('{"a": 1}', ("b",), '{"a": 1}'),
}


@pytest.mark.parametrize(("before", "path", "after"), REMOVALS.values(), ids=REMOVALS)
def test_a_member_goes_with_its_comma_and_its_own_comment(before: str, path: KeyPath, after: str) -> None:
    edited = jsonc(before).remove(path)

    assert edited.text == after
    assert apply(edited.text, inverse(before, edited.log)) == before


SETS = {
    "only the value": ('{ "a" : 1e400 , "b":\t2 }', ("b",), 3, '{ "a" : 1e400 , "b":\t3 }'),
    "equal is nothing to do": ('{"a": 1.0}', ("a",), 1.0, '{"a": 1.0}'),
    "true is not 1": ('{"a": 1}', ("a",), True, '{"a": true}'),
    "the last duplicate counts": ('{"a": 1, "a": 2}', ("a",), 3, '{"a": 1, "a": 3}'),
    "in the last duplicate": ('{"a": {"b": 1}, "a": {"b": 2}}', ("a", "b"), 3, '{"a": {"b": 1}, "a": {"b": 3}}'),
    "escaped key": ('{"\\u0061": 1}', ("a",), 2, '{"\\u0061": 2}'),
    "list item by number": ('{"l": [1, {"x": null}]}', ("l", 1, "x"), 0, '{"l": [1, {"x": 0}]}'),
    "table instead of a scalar": ('{\n  "a": 1\n}', ("a",), {"b": 2}, '{\n  "a": {\n    "b": 2\n  }\n}'),
    "table keeps its one line": ('{\n  "a": {"b": 1}\n}', ("a",), {"b": 2}, '{\n  "a": {"b": 2}\n}'),
    "table keeps the comments in it": (
        '{\n  "a": {\n    // why\n    "b": 1,\n    "c": 2\n  }\n}',
        ("a",),
        {"b": 3},
        '{\n  "a": {\n    // why\n    "b": 3\n  }\n}',
    ),
    "root": ('// c\n{"a": 1}\n', (), [1], "// c\n[\n  1\n]\n"),
}


@pytest.mark.parametrize(("before", "path", "value", "after"), SETS.values(), ids=SETS)
def test_a_value_is_set_where_it_stands(before: str, path: KeyPath, value: Any, after: str) -> None:
    assert jsonc(before).set(path, value).text == after


SPELLINGS = {
    "letters stay": ("日本 é 😀", '"日本 é 😀"'),
    "JavaScript's line ends": ("\u2028\u2029", '"\\u2028\\u2029"'),
    "controls": ("\x00\x1b\x7f\x85\n", '"\\u0000\\u001b\\u007f\\u0085\\n"'),
    "byte-order mark": ("\ufeff", '"\\ufeff"'),
    "half a surrogate": ("\ud800", '"\\ud800"'),
    "backslash and quote": ('C:\\x "y"', '"C:\\\\x \\"y\\""'),
}


@pytest.mark.parametrize(("value", "spelled"), SPELLINGS.values(), ids=SPELLINGS)
def test_new_text_is_spelled_so_that_every_reader_takes_it(value: str, spelled: str) -> None:
    edited = strict("{}").set(NEW, value)
    assert edited.text == f'{{\n  "new": {spelled}\n}}'
    assert json.loads(edited.text.encode()) == {"new": value}


FAULTS = {
    "clean": ('{"a": 1}', None),
    "empty file": ("", None),
    "white space": (" \n", None),
    "byte-order mark and CRLF": ('\ufeff{\r\n"a": 1}\r\n', None),
    "comment": ('{\n  // c\n  "a": 1,\n}', Fault(2, 3, "a comment, which strict JSON does not know")),
    "trailing comma first": (
        '{\n  "a": [1,], // c\n}',
        Fault(2, 10, "a trailing comma, which strict JSON does not know"),
    ),
    "comment only": ("\ufeff/* c */", Fault(1, 1, "a comment, which strict JSON does not know")),
    "looks like a comment": ('{"a": "// c ,}"}', None),
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_strict_file_says_what_its_reader_chokes_on(text: str, fault: Fault | None) -> None:
    assert strict(text).fault == fault
    assert jsonc(text).fault is None


def test_a_strict_file_with_a_fault_is_edited_faithfully_all_the_same() -> None:
    document = strict('{\n  // note\n  "model": "opus",\n}\n').set(("env", "K"), "v")
    assert document.text == '{\n  // note\n  "model": "opus",\n  "env": {\n    "K": "v"\n  }\n}\n'
    assert document.fault == Fault(2, 3, "a comment, which strict JSON does not know")


def test_no_comment_is_ever_written_into_a_strict_file() -> None:
    with pytest.raises(EditRefusedError, match="comment"):
        strict('{"a": 1}').set(NEW, Source("{ // c\n}"))
    with pytest.raises(EditRefusedError, match="trailing comma"):
        strict('{"a": 1}').set(NEW, Source("[1,]"))


def test_a_source_keeps_white_space_and_comments() -> None:
    text = '{\n  "a": [ 1, /* c */ 0x ],\n  "b": 1\n}'.replace("0x", "2.50")
    document = jsonc(text)
    source = document.source(("a",))

    assert source == Source("[ 1, /* c */ 2.50 ]")
    assert document.set(("a",), 1).set(("a",), source).text == text


@pytest.mark.parametrize("text", ["", "  ", "// c", '1, "b": 2', "[", "1 2", "'a'", "NaN"])
def test_a_source_that_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        jsonc('{"a": 1}').set(NEW, Source(text))


REFUSED = {
    "no object": ("[]", NEW, 1, "no table to hold 'new'; a list stands there"),
    "a scalar": ("5", NEW, 1, "no table to hold 'new'; a number stands there"),
    "scalar on the way": ('{"a": "sk-x"}', ("a", "b"), 1, "no table to hold 'b'; text stands there"),
    "null on the way": ('{"a": null}', ("a", "b"), 1, "no table to hold 'b'; null stands there"),
    "no list": ('{"l": {}}', B, 1, "no list"),
    "no such item": ('{"l": []}', ("l", 3), 1, "no item 3"),
    "a date": ("{}", NEW, dt.date(2025, 1, 1), "JSON cannot hold a date here"),
    "not a number": ("{}", NEW, math.nan, "Out of range float values are not JSON compliant"),
    "infinity": ("{}", NEW, {"a": [math.inf]}, "Out of range float values are not JSON compliant"),
    "a key that is no text": ("{}", NEW, {1: 2}, "JSON cannot hold a int here"),
}


@pytest.mark.parametrize(("text", "path", "value", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_held_is_refused_with_the_reason(text: str, path: KeyPath, value: Any, reason: str) -> None:
    with pytest.raises(EditRefusedError) as caught:
        jsonc(text).set(path, value)
    assert reason in caught.value.reason


NO_VALUE = "a value is missing here, or is no JSON value (a string wants double quotes)"
BROKEN = {
    "missing comma": ('{\n  "a": 1\n  "b": 2\n}', 3, 3, 'missing comma before "b"'),
    "missing comma in a list": ("[1 2]", 1, 4, "missing comma before this"),
    "missing comma, no key quoted": ('{"apiKey": "x" "sk-invented"}', 1, 16, "missing comma before this"),
    "missing colon": ('{"a" 1}', 1, 6, "missing ':' after a key"),
    "missing value": ('{"a": }', 1, 7, NO_VALUE),
    "comma twice": ('{"a": 1,, "b": 2}', 1, 9, "a comma with nothing before it"),
    "comma first": ("[,1]", 1, 2, "a comma with nothing before it"),
    "comma alone": ("{,}", 1, 2, "a comma with nothing before it"),
    "unquoted key": ("{a: 1}", 1, 2, "the key a has no quotes"),
    "unquoted value": (
        '{"a": sk-invented}',
        1,
        7,
        NO_VALUE,
    ),
    "single quotes": ("{'a': 1}", 1, 2, "single quotes; JSON wants double quotes"),
    "single quotes, value": ("{\"a\": 'x'}", 1, 7, "single quotes; JSON wants double quotes"),
    "NaN": ('{"a": NaN}', 1, 7, "NaN is no JSON value"),
    "-Infinity": ('{"a": -Infinity}', 1, 7, "-Infinity is no JSON value"),
    "Python": ('{"a": True}', 1, 7, "True is no JSON value; it is spelled true"),
    "leading zero": ('{"a": 01}', 1, 7, "this is no JSON number"),
    "plus": ('{"a": +1}', 1, 7, "this is no JSON number"),
    "point first": ('{"a": .5}', 1, 7, "this is no JSON number"),
    "hexadecimal": ('{"a": 0xFF}', 1, 7, "this is no JSON number"),
    "other digits": ('{"a": \u0661}', 1, 7, NO_VALUE),
    "truncated": ('{\n  "a": {\n    "b": 1', 2, 8, "unclosed '{'"),
    "truncated behind a key": ('{\n  "a"', 1, 1, "unclosed '{'"),
    "truncated string": ('{"a": "x', 1, 7, "this string is not closed on its line"),
    "line end in a string": ('{"a": "x\ny"}', 1, 7, "this string is not closed on its line"),
    "tab in a string": ('{"a": "x\ty"}', 1, 9, "a string holds a raw tab; it is spelled \\t"),
    "control in a string": ('{"a": "\x1b"}', 1, 8, "a string holds a raw control character U+001B"),
    "wrong escape": (
        '{"a": "C:\\x"}',
        1,
        10,
        "a backslash that starts no JSON escape; a backslash itself is spelled \\\\",
    ),
    "short escape": (
        '{"a": "\\u12"}',
        1,
        8,
        "a backslash that starts no JSON escape; a backslash itself is spelled \\\\",
    ),
    "no-break space": ('{\u00a0"a": 1}', 1, 2, "stray character U+00A0 (NO-BREAK SPACE)"),
    "second byte-order mark": ('\ufeff\ufeff{"a": 1}', 1, 1, "stray character U+FEFF (ZERO WIDTH NO-BREAK SPACE)"),
    "comment never closed": ('{"a": 1 /* c }', 1, 9, "the comment that opens here with '/*' is never closed"),
    "lone slash": ('{"a": 1 / 2}', 1, 9, "stray '/'"),
    "hash": ('{\n  # c\n  "a": 1}', 2, 3, "'#' starts no comment here"),
    "wrong closer": ('{"a": [1}', 1, 9, "'}' cannot close the '[' of line 1"),
    "closer too many": ("{}}", 1, 3, "something stands behind the end of the document"),
    "two documents": ("{}\r\n{}", 2, 1, "something stands behind the end of the document"),
    "template": ('{{ .chezmoi.os }}\n{"a": 1}', 1, 2, "a key must be a string in double quotes"),
    "CR line ends": ('{\r"a": 1\r"b": 2}', 3, 1, 'missing comma before "b"'),
}


@pytest.mark.parametrize(("text", "line", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_in_plain_words(text: str, line: int, column: int, reason: str) -> None:
    for format_ in ("json", "jsonc"):
        with pytest.raises(DocumentError) as caught:
            parse(text.encode(), format_)
        assert (caught.value.line, caught.value.column, caught.value.reason) == (line, column, reason)
        assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{\n  "a": {{ .chezmoi.hostname | quote }}\n}\n', "template"),
        ('{{ if eq .os "linux" }}\n{}\n{{ end }}\n', "template"),
        ("#!/bin/sh\necho {}\n", "script"),
        ('{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> theirs\n}\n', "merge"),
        ('{\n  "a": "{{ not outside of a text }}"\n  "b": 1\n}\n', "by hand"),
    ],
)
def test_the_hint_knows_what_is_no_settings_file_yet(text: str, word: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        parse(text.encode(), "jsonc")
    assert word in refusal.value.hint


@pytest.mark.parametrize(
    ("raw", "line", "column"),
    [(b'{\n  "a": "\xff"}', 2, 9), ('{"a": 1}'.encode("utf-16"), 1, 1), (b'\xef\xbb\xbf{"\xe9": 1}', 1, 3)],
    ids=["bad UTF-8", "UTF-16", "Latin-1 behind a byte-order mark"],
)
def test_text_in_another_encoding_is_refused_with_its_place(raw: bytes, line: int, column: int) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(raw, "jsonc")
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_number_longer_than_python_reads_stays_as_it_is() -> None:
    text = '{"a": %s, "b": 1}' % ("9" * (sys.get_int_max_str_digits() + 1))
    assert jsonc(text).set(("b",), 2).text == text.replace('"b": 1', '"b": 2')


def test_leaves_give_the_place_of_every_scalar_duplicates_too() -> None:
    text = '{"a": [1, {"b": "x"}], "a": [], "c": null} // end'
    assert [(path, text[start:end]) for path, (start, end) in jsonc(text).leaves()] == [
        (("a", 0), "1"),
        (("a", 1, "b"), '"x"'),
        (("c",), "null"),
    ]


def test_position_is_line_and_column_of_the_value() -> None:
    document = jsonc('\ufeff{\r\n  "l": [\r\n    {"name": "A", "v": 1}]}')
    assert document.position(("l", Item("name", "A"), "v")) == (3, 24)
    assert document.position(("l", 1)) is None


def test_the_document_as_a_whole_is_not_removed() -> None:
    with pytest.raises(EditRefusedError, match="as a whole"):
        jsonc("{}").remove(())
