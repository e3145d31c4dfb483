"""What shows a cause, sentence by sentence: each is said, in both languages the same, and filled where it is said."""

# ruff: noqa: RUF001  Chinese has its own punctuation

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
from toolsync.profile.problem import schema_problems
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
    assert tell(text, "zh") == "被略过：环境变量 $KEY {slot}"


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


ERRORS: dict[str, tuple[str, ...]] = {
    "causes": (),
    "cli/doctoring": (),
    "planning/choosing": ("fitting",),
    "commands/explain": (),
    "profile/model": (),
    "profile/reader": (),
    "registry": ("named",),
    "secret/backend": (),
    "secret/reference": ("_from_keyring", "_from_variable"),
    "secret/vault": ("unanswered", "_translated"),
    "session": (),
    "sharing": (),
}
"""What doctor, `explain` and `ping` say where they cannot begin: modules; functions, where not all is theirs."""
OPTIONAL = {"meant", "guess", "remedy"}
"""Pieces of a hint that may be empty."""


def _errors() -> Iterator[str]:
    """The sentences of errors and of a profile's problems, with something in each gap."""
    package = Path(toolsync.__file__).parent
    for module, functions in ERRORS.items():
        tree = ast.parse((package / f"{module}.py").read_text(encoding="utf-8"))
        defined = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        roots: list[ast.AST] = [defined[name] for name in functions]
        for root in roots or [tree]:
            for node in ast.walk(root):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                if node.func.id.endswith(("Error", "Problem")):
                    said = [*node.args, *(word.value for word in node.keywords if word.arg == "hint")]
                    yield from filter(None, map(_spelled, said))


def _spelled(node: ast.expr) -> str:
    """A text that stands in the code, gaps filled; "" for what is none, or only joins others' texts."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    pieces = node.values if isinstance(node, ast.JoinedStr) else []
    is_own = any(isinstance(piece, ast.Constant) and len(str(piece.value)) > len(": ") for piece in pieces)
    return "".join(map(_piece, pieces)) if is_own else ""


def _piece(piece: ast.expr) -> str:
    if isinstance(piece, ast.Constant):
        return str(piece.value)
    inner = piece.value if isinstance(piece, ast.FormattedValue) else piece
    return "" if isinstance(inner, ast.Name) and inner.id in OPTIONAL else "x"


def test_what_doctor_says_where_it_cannot_begin_is_known_in_chinese() -> None:
    said = [*_errors()]
    assert len(said) > 30
    assert [text for text in said if not re.search("[\u4e00-\u9fff]", tell(reported(text), "zh"))] == []


def _complaints() -> Iterator[str]:
    """What the profile's schema complains of, each form once."""
    wrong = [
        {
            "active": 3,
            "profiles": {"w": {"base_url": 1, "model": "", "key": "k", "models": [], "network": {"proxy": "x"}}},
        },
        {"profiles": {"w": {"base_url": "https://a", "plaintext": "alow", "colour": 1, "network": {"no_proxy": 1}}}},
        {"profiles": {"w": {"request": {"timeout_seconds": 0, "max_retries": 1.5, "stream": "x", "temperature": 99}}}},
        {
            "profiles": {
                "w": {"request": {"headers": {"a b": "x", "c": "\n"}}, "sha256": "1", "from": "x", "title": "\n"}
            }
        },
        {"profiles": {"w": {"network": {"ca_bundle": "x"}, "urls": {"openai": "x"}}, "a b": {}}},
    ]
    for data in wrong:
        yield from (problem.sentence for problem in schema_problems(data))


def test_what_the_profile_s_schema_complains_of_is_known_in_chinese() -> None:
    said = [*_complaints()]
    assert len(said) > 20
    assert [text for text in said if not re.search("[\u4e00-\u9fff]", tell(reported(text), "zh"))] == []


TOLD = {
    "behind its place": ("p.toml:3: profiles.w.model: the value is empty", "p.toml:3: profiles.w.model: 该值是空的"),
    "line by line": ("p: 'x' is not a number\nnobody knows\nq: there is no such field", None),
    "the closest row, not the widest": (
        "No such option: --x (Possible options: --y)",
        "没有这个选项：--x（可能是：--y）",
    ),
    "a reason in it": ("GNOME Keyring cannot be used: permission denied", "GNOME Keyring 无法使用：没有权限"),
    "nothing known": ("profile.toml:3: nobody knows this", "profile.toml:3: nobody knows this"),
}


@pytest.mark.parametrize(("said", "told"), TOLD.values(), ids=TOLD)
def test_an_error_is_looked_up_by_its_parts(said: str, told: str | None) -> None:
    expected = told or "p: 'x' 不是数字\nnobody knows\nq: 没有这个字段"
    assert tell(reported(said), "zh") == expected
    assert tell(reported(said)) == said
