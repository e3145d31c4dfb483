"""What shows a cause, sentence by sentence: each is said, in both languages the same, and filled where it is said."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolsync
from toolsync import document, sentence
from toolsync.address import normal
from toolsync.errors import DocumentError, ProfileError
from toolsync.sentence import reported, say, tell

ROWS = sentence.rows()
NAMED_BY_DATA = re.compile(
    r"certificate_|spelling_of_|set_for_new_|white_|late_|waits_hours|clock_|variable_(un|em)|git_"
)
"""Families of rows that code names by the data at hand."""


def _calls() -> Iterator[tuple[str, frozenset[str]]]:
    """Each `say("name", …)` in the code, and what it fills."""
    for file in Path(toolsync.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    yield str(first.value), frozenset(word.arg for word in node.keywords if word.arg)


CALLS = sorted(set(_calls()), key=str)


def _open(text: str) -> set[str]:
    return set(re.findall(r"\{([a-z_]+)\}", text))


@pytest.mark.parametrize(("name", "filled"), CALLS, ids=[name for name, _ in CALLS])
def test_what_is_said_has_all_that_its_sentence_needs(name: str, filled: frozenset[str]) -> None:
    assert _open(ROWS[name]["en"]) | _open(ROWS[name]["zh"]) <= filled


def test_every_sentence_is_said() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in Path(toolsync.__file__).parent.rglob("*.py"))
    assert [name for name in ROWS if f'"{name}"' not in code and not NAMED_BY_DATA.match(name)] == []


@pytest.mark.parametrize("name", ROWS)
def test_both_languages_say_the_same(name: str) -> None:
    row = ROWS[name]
    if name not in ("reload", "odd_character"):  # what a tool's author, and Unicode, have in English only
        assert _open(row["en"]) == _open(row["zh"])
    assert re.search("[\u4e00-\u9fff]", row["zh"]) or not re.search("[a-z]{2}", re.sub(r"\{\w+\}", "", row["en"]))


def test_sentences_lie_in_sentences() -> None:
    text = say("passed_over", place=say("variable_of_environment", slot="$KEY {slot}"))
    assert tell(text) == str(text) == "passed over: $KEY {slot} of the environment"
    assert tell(text, "zh") == "被略过：环境变量 $KEY {slot}"  # noqa: RUF001  Chinese has its own colon


def test_what_others_say_is_quoted_where_nobody_translated_it() -> None:
    known, unknown = reported("the address is empty"), reported("expected a value")
    assert (tell(known), tell(known, "zh")) == ("the address is empty", "地址为空")
    assert (tell(unknown), tell(unknown, "zh")) == ("expected a value", "expected a value")


REFUSED = {
    "jsonc": ["{", "[1", "{'a':1}", '{"a" 1}', '{"a":1 "b":2}', '{"a":1}}', "{a:1}", '{"a":NaN}', '{"a":True}', "/* x"],
    "toml": [
        "a = 1\na = 2",
        "[a]\n[a]",
        "a",
        "[a",
        "a = ",
        'a = "\\x"',
        'a = "',
        "a = [1",
        "a = {b=1",
        "= 1",
        "a = 1 2",
    ],
}
FAULTS = {
    "json": ['{"a":1,}', "// x\n{}"],
    "json-no-bom": ["\ufeff{}"],
}


def _reasons() -> Iterator[str]:
    for format, texts in REFUSED.items():
        for text in texts:
            with pytest.raises(DocumentError) as caught:
                document.parse(text.encode(), format)
            yield caught.value.reason
    for format, texts in FAULTS.items():
        for text in texts:
            fault = document.parse(text.encode(), format).fault
            assert fault is not None, text
            yield fault.reason


def test_what_the_readers_of_files_say_is_known_in_chinese() -> None:
    assert [reason for reason in _reasons() if not re.search("[\u4e00-\u9fff]", tell(reported(reason), "zh"))] == []


def test_what_is_wrong_with_an_address_is_known_in_chinese() -> None:
    for base in ("", "gw.example", "http://a b", "http://gw:x", "http://u:p@gw", "http://gw/?a=1", "http://gw/../x"):
        with pytest.raises(ProfileError) as caught:
            normal(base)
        assert re.search("[\u4e00-\u9fff]", tell(reported(caught.value.message), "zh")), caught.value.message
