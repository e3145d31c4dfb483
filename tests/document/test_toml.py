"""TOML documents: what an edit makes of a text, line by line; what is refused, and in which words."""

from __future__ import annotations

import subprocess
import sys
import time
from textwrap import dedent
from typing import Any

import pytest

from toolsync.document import Document, Item, KeyPath, Source, parse
from toolsync.errors import DocumentError, EditRefusedError

REMOVED = object()
MODEL = (("model",), "m")
NAME = (("model_providers", "toolsync", "name"), "T")
AUTH = (("model_providers", "toolsync", "auth"), {"command": "x", "args": ["a", "b"]})


def toml(text: str) -> Document:
    return parse(text.encode(), "toml")


def after(text: str, edits: list[tuple[KeyPath, Any]]) -> str:
    document = toml(text)
    for path, value in edits:
        document = document.remove(path) if value is REMOVED else document.set(path, value)
    return document.text


EDITS: dict[str, tuple[str, list[tuple[KeyPath, Any]], str]] = {
    "a value keeps the comment on its line": ("a = 1   # c\n", [(("a",), 2)], "a = 2   # c\n"),
    "an equal value is left alone": ("a = 0x01 # c\n", [(("a",), 1)], "a = 0x01 # c\n"),
    "true is not 1": ("a = 1\n", [(("a",), True)], "a = true\n"),
    "a new key goes after the last one, whose comment stays": (
        "a = 1 # c\n\n[t]\n",
        [(("b",), 2)],
        "a = 1 # c\nb = 2\n\n[t]\n",
    ),
    "a new key has the style of the one before it": (
        "[t]\n\ta=1\n# b=2\n",
        [(("t", "c"), 3)],
        "[t]\n\ta=1\n\tc=3\n# b=2\n",
    ),
    "no final newline stays none": ("[t]\na = 1", [(("t", "b"), 2)], "[t]\na = 1\nb = 2"),
    "the first root key goes above the comment of the first header": (
        "# file\n\n# about x\n[x]\n",
        [MODEL],
        '# file\n\nmodel = "m"\n\n# about x\n[x]\n',
    ),
    "above a block of another tool at the very top goes no blank line": (
        "# BEGIN x\na = 1\n[t]\n# END x\n",
        [MODEL],
        'model = "m"\n# BEGIN x\na = 1\n[t]\n# END x\n',
    ),
    "line ends are taken from inside a value if nowhere else": (
        "a = [\r\n  1\r\n]",
        [MODEL],
        'a = [\r\n  1\r\n]\r\nmodel = "m"',
    ),
    "a schema line stays the first": (
        "#:schema s\n[x]\n",
        [MODEL],
        '#:schema s\n\nmodel = "m"\n\n[x]\n',
    ),
    "in a file of comments a key goes below them": (
        "# c",
        [MODEL, NAME],
        '# c\n\nmodel = "m"\n\n[model_providers.toolsync]\nname = "T"',
    ),
    "an empty file": ("", [MODEL, NAME], 'model = "m"\n\n[model_providers.toolsync]\nname = "T"\n'),
    "a byte-order mark stays first": ("\ufeff", [MODEL], '\ufeffmodel = "m"\n'),
    "CRLF": ("a = 1\r\n", [(("b", "c"), 1)], "a = 1\r\n\r\n[b]\r\nc = 1\r\n"),
    "CRLF on lines that all go": ("[a]\r\nb = 1", [(("a",), "x")], 'a = "x"\r\n'),
    "CRLF on the only item that goes": ("[[a]]\r\n", [(("a", 0), REMOVED)], "a = []\r\n"),
    "line ends are those of the neighbours": (
        "a = 1\n[t]\r\nb = 1\r\n",
        [(("t", "c"), 1), (("d",), 1)],
        "a = 1\nd = 1\n[t]\r\nb = 1\r\nc = 1\r\n",
    ),
    "a new table goes to the end, after the last comment": (
        "[t]\na = 1\n\n# note\n",
        [NAME, AUTH],
        (
            "[t]\na = 1\n\n# note\n\n[model_providers.toolsync]\n"
            'name = "T"\nauth = { command = "x", args = ["a", "b"] }\n'
        ),
    ),
    "a table of dotted keys grows by dotted keys": (
        'model_providers . "o p".name = 1\nz = 2\n',
        [NAME],
        'model_providers . "o p".name = 1\nmodel_providers.toolsync.name = "T"\nz = 2\n',
    ),
    "an inline table grows inside": (
        "model_providers = { o = { n = 1 } } # c\n",
        [NAME],
        'model_providers = { o = { n = 1 }, toolsync = { name = "T" } } # c\n',
    ),
    "an inline table over lines keeps its form": (
        "t = {\n\ta = 1, # a\n\tb = 2 # b\n}\n",
        [(("t", "c"), 3), (("t", "a"), REMOVED)],
        "t = {\n\tb = 2, # b\n\tc = 3\n}\n",
    ),
    "an empty inline table opens": ("t = {}\n", [(("t", "a"), 1)], "t = { a = 1 }\n"),
    "and closes again": ("t = { a = 1 }\n", [(("t", "a"), REMOVED)], "t = {}\n"),
    "a list of tables grows at the end": (
        '[[p]]\nname = "a"\n\n[q]\n',
        [(("p", Item("name", "b"), "u"), 1)],
        '[[p]]\nname = "a"\n\n[q]\n\n[[p]]\nname = "b"\nu = 1\n',
    ),
    "a table in a list item stays in that item": (
        '[[p]]\nname = "a"\n\n# b\n[[p]]\nname = "b"\n',
        [(("p", Item("name", "a"), "t", "u"), 1)],
        '[[p]]\nname = "a"\n\n[p.t]\nu = 1\n\n# b\n[[p]]\nname = "b"\n',
    ),
    "a list of inline tables grows inside": (
        'p = [{ name = "a" }]\n',
        [(("p", Item("name", "b"), "u"), 1)],
        'p = [{ name = "a" }, { name = "b", u = 1 }]\n',
    ),
    "a list over lines grows in its form": (
        "a = [\n  1, # one\n  2, # two\n]\n",
        [(("a",), [1, 2, 3])],
        "a = [\n  1, # one\n  2, # two\n  3,\n]\n",
    ),
    "what stays in a list keeps its comment": (
        "a = [\n  1, # one\n  2, # two\n  3 # three\n]\n",
        [(("a",), [2, 3, 4])],
        "a = [\n  2, # two\n  3, # three\n  4\n]\n",
    ),
    "a removed key takes the comment on its line only": (
        "# about a\na = 1 # a\n# about b\nb = 2\n",
        [(("a",), REMOVED)],
        "# about a\n# about b\nb = 2\n",
    ),
    "a removed table takes its sub-tables wherever they are": (
        "[t]\na = 1\n\n[u]\nb = 1\n\n[t.s]\nc = 1\n",
        [(("t",), REMOVED)],
        "[u]\nb = 1\n",
    ),
    "a parent that stays empty keeps a header": ("[a.b.c] # c\nk = 1\n", [(("a", "b", "c"), REMOVED)], "[a.b]\n"),
    "a parent that stays empty keeps a dotted key": ("a.b = 1\nc = 2\n", [(("a", "b"), REMOVED)], "a = {}\nc = 2\n"),
    "a list of tables that stays empty is a list": ("[[a.b]]\nk = 1\n", [(("a", "b", 0), REMOVED)], "[a]\nb = []\n"),
    "root keys stay out of another tool's block": (
        "# >>> t >>>\n[t]\n# <<< t <<<\n",
        [MODEL],
        'model = "m"\n\n# >>> t >>>\n[t]\n# <<< t <<<\n',
    ),
    "and go after it when it holds the last root key": (
        "# BEGIN t (generated)\na = 1\n# END t\n[x]\n",
        [MODEL],
        '# BEGIN t (generated)\na = 1\n# END t\n\nmodel = "m"\n[x]\n',
    ),
    "and before it when it goes on": (
        "b = 1\n# t: start\na = 1\n[x]\n# t: end\n",
        [MODEL],
        'b = 1\nmodel = "m"\n# t: start\na = 1\n[x]\n# t: end\n',
    ),
    "a decoy in a text is no header": (
        's = """\n[t]\nmodel = 1\n"""\n[t]\n',
        [MODEL, (("t", "a"), 1)],
        's = """\n[t]\nmodel = 1\n"""\nmodel = "m"\n[t]\na = 1\n',
    ),
    "a table set whole over one with comments goes key by key": (
        "[t] # t\na = 1 # a\n# about b\nb = 2\n",
        [(("t",), {"a": 5, "c": 6})],
        "[t] # t\na = 5 # a\n# about b\nc = 6\n",
    ),
    "a source is written as it was": ("a = 1\n", [(("a",), Source("0x_F".replace("_", "")))], "a = 0xF\n"),
    "keys are quoted where they must be": (
        "",
        [(("projects", "/home/u", "a b"), 'C:\\x "y"\n')],
        '[projects."/home/u"]\n"a b" = "C:\\\\x \\"y\\"\\n"\n',
    ),
}


@pytest.mark.parametrize(("before", "edits", "expected"), EDITS.values(), ids=EDITS)
def test_an_edit(before: str, edits: list[tuple[KeyPath, Any]], expected: str) -> None:
    assert after(before, edits) == expected


REFUSED: dict[str, tuple[str, KeyPath, Any, str]] = {
    "null": ("", ("a",), None, "a: TOML has no null"),
    "a lone surrogate": ("", ("a",), "\ud800", "a: not Unicode text"),
    "a table where a number stands": ("a=1\n", ("a", "b"), 1, "a.b: no table to hold 'b'; a number stands there"),
    "an item where a number stands": ("a = 1\n", ("a", Item("n", "x"), "b"), 1, "a[n=x].b: no list"),
    "a position that is not there": ("a = [1]\n", ("a", 3), 1, "a[3]: no item 3"),
    "the whole file": ("a = 1\n", (), {}, ": the whole file is not one value"),
    "two values": ("", ("a",), Source("1\nb = 2"), "what should be set is more than one TOML value"),
    "no value": ("", ("a",), Source("x y"), "what should be set is no TOML value"),
    "a table in a block of another tool": (
        "# BEGIN t\n[t]\na = 1\n# END t\n",
        ("t", "b"),
        1,
        "t.b: its table lies in a block of another tool, which begins on line 1",
    ),
}


@pytest.mark.parametrize(("text", "path", "value", "message"), REFUSED.values(), ids=REFUSED)
def test_an_edit_is_refused(text: str, path: KeyPath, value: Any, message: str) -> None:
    with pytest.raises(EditRefusedError) as refusal:
        toml(text).set(path, value)

    assert refusal.value.message == message


INVALID = {
    "a key twice": ("a = 1\na = 2\n", "2:6: this key is defined twice, or is a value and a table at once"),
    "a table twice": ("[a.b]\n[x]\n[a.b]\n", "3:5: the table [a.b] is declared twice, or was complete before"),
    "a key twice in an inline table": (
        "a = { b = 1, b = 2 }\n",
        "1:19: the key 'b' is defined twice in this inline table",
    ),
    "an inline table grown from outside": (
        "a = {}\n[a.b]\n",
        "2:5: the table [a.b] is declared twice, or was complete before",
    ),
    "a header without end": ("[a\n", "1:3: this header lacks its closing ']'"),
    "a text without end": ('a = "x\n', "1:7: a text in quotes is not closed"),
    "a long text without end": ("a = '''x\n", "2:1: a text in quotes is not closed"),
    "a value without quotes": (
        "a = b\n",
        "1:5: this is no value: text needs quotes, and true and false are written small",
    ),
    "no value": ("a =\n", "1:4: this is no value: text needs quotes, and true and false are written small"),
    "no equals sign": ("a: 1\n", "1:2: '=' is missing after this key"),
    "a comma at the end of the line": ("a = 1,\n", "1:6: this does not belong to the value before it"),
    "a Windows path": (
        'a = "C:\\Users"\n',
        "1:10: a backslash between \"…\" is written twice, or the text stands between '…'",
    ),
    "a list without end": ("a = [1\n", "2:1: a list lacks a comma or its closing ']'"),
    "JSON": ('{ "a": 1 }\n', "1:1: neither a key, a [table] nor a # comment"),
    "a control character": ("a = '\x1b'\n", "1:6: the control character '\\x1b' cannot stand here"),
    "an escape character in a name": (
        '["\\u001b[31m"]\n["\\u001b[31m"]\n',
        '2:14: the table ["�[31m"] is declared twice, or was complete before',
    ),
    "a byte-order mark has no column": ("\ufeffa a\n", "1:3: '=' is missing after this key"),
    "CRLF": ("a = 1\r\nb b\r\n", "2:3: '=' is missing after this key"),
    "a number longer than can be read": ("b = 1\na = " + "1" * 5000, "2:5: this number is too long to be read"),
    "lists too deep": ("b = 1\na = " + "[" * 300 + "]" * 300, "2:205: nested more than 200 levels deep"),
    "lists that no parser reads": ("a = " + "[" * 100_000, "1:205: nested more than 200 levels deep"),
    "tables too deep": ("b = 1\n[" + ".".join("a" * 300) + "]\n", "2:1: nested more than 200 levels deep"),
    "a key that no parser reads": (
        "b = 1\n" + ".".join("a" * 5000) + " = 1\n",
        "2:1: nested more than 200 levels deep",
    ),
}


@pytest.mark.parametrize(("text", "message"), INVALID.values(), ids=INVALID)
def test_an_invalid_file_is_refused_in_plain_words(text: str, message: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        toml(text)

    assert refusal.value.message == message


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{{ if .work }}\na = 1\n{{ end }}\n", "template"),
        ("a = {{ .model }}\n", "template"),
        ("#!/bin/sh\necho 'a = 1'\n", "script"),
        ("<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> x\n", "merge"),
        ("a = " + "9" * 5000, "19 digits"),
        ("a = b\n", "Mend it by hand"),
    ],
    ids=["template", "template in a value", "script", "merge", "number", "none of these"],
)
def test_the_hint_knows_what_dotfile_managers_keep_under_this_name(text: str, word: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        toml(text)

    assert word in refusal.value.hint


def test_positions_name_values_and_tables_of_every_form() -> None:
    document = toml(
        dedent("""\
            r.s = 1
            i = { a.b = 1, c = [2,
              3] }
            [t.u]
            v = 1
            [[p]]
            name = "x"
            """)
    )
    table: dict[KeyPath, tuple[int, int] | None] = {
        ("r",): (1, 1),
        ("r", "s"): (1, 7),
        ("i", "a"): (2, 7),
        ("i", "a", "b"): (2, 13),
        ("i", "c", 1): (3, 3),
        ("t",): (4, 2),
        ("t", "u"): (4, 2),
        ("t", "u", "v"): (5, 5),
        ("p",): (6, 3),
        ("p", Item("name", "x"), "name"): (7, 8),
        ("p", Item("name", "y")): None,
        ("nothing",): None,
    }

    assert {path: document.position(path) for path in table} == table


def test_a_source_of_a_table_with_a_header_is_an_inline_table() -> None:
    assert toml("[t]\na = 'x'\nb.c = 1\n").source(("t",)) == Source('{ a = "x", b = { c = 1 } }')


def test_a_large_file_is_edited_in_time_that_nobody_notices() -> None:
    tables = "".join(f'# {n}\n[projects."/home/u/p{n}"]\ntrust_level = "trusted"  # yes\n\n' for n in range(3300))
    start = time.process_time()

    document = toml('model = "a"\n\n' + tables)
    for path, value in [MODEL, NAME, AUTH]:
        document = document.set(path, value)

    assert len(document.text) > 206_000
    assert time.process_time() - start < 5  # about 0.5 s; ten times that would be another order of growth


def test_what_is_spelled_in_one_way_only_does_not_import_the_writer() -> None:
    plain = {"text": "https://gateway.example/v1", "on": True, "some": [1, "a"], "/home/me": {}}
    code = f"import sys; from toolsync.document import parse; parse(b'a = 1', 'toml').set(('new',), {plain})"
    code += "; sys.exit('tomlkit' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
