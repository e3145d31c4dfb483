"""Texts as nobody would write them, and as people do: commented, oddly spaced JSON documents."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(["a", "b", "c", "env", "a.b", "ключ", "", "//", "}", "ab\n"])
SCALARS = st.one_of(
    st.sampled_from(
        ["0", "-1", "1.50", "1e400", "123456789012345678901234567890", "true", "false", "null", '""', '"\\u0061\\/"']
    ),
    st.sampled_from(['"// no comment"', '"/* nor this */"', '"{,}"', '"\\"\\\\"', '"\u2028"', '"x"', '"日本 😀"']),
    st.text(max_size=5).map(json.dumps),
)
_COMMENTS = [
    "// c",
    "// ends in blanks \t",
    "//",
    '// "old": true,',
    "// , }",
    "/* b */",
    "/**/",
    "/* two\n lines */",
    '/* "k": { // */',
    "/* \u2028 */",
]
_NAMES = st.lists(st.sampled_from(['"a"', '"ours"', '"\\u0061"', "1"]), max_size=3)
_LINE_ENDS = ["\n", "\r\n", "\r"]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def trivia(*, comments: bool) -> st.SearchStrategy[str]:
    """White space and comments, a line comment always with its line end."""
    return st.sampled_from(_COMMENTED_GAPS if comments else _BLANK_GAPS)


def _gaps(pieces: list[str]) -> list[str]:
    """As many empty ones as others. They are made beforehand: many small draws cost hypothesis far more than one."""
    chance = random.Random(1)
    return [""] * 150 + ["".join(chance.choices(pieces, k=chance.choice([1, 1, 2, 3]))) for _ in range(150)]


_BLANK_PIECES = [" ", "  ", "\t", *_LINE_ENDS]
_NOTES = [note + (end if note.startswith("//") else "") for note in _COMMENTS for end in _LINE_ENDS]
_BLANK_GAPS = _gaps(_BLANK_PIECES)
_COMMENTED_GAPS = _gaps([*_BLANK_PIECES * 3, *_NOTES])


@st.composite
def odd_values(draw: st.DrawFn, *, comments: bool, trailing: bool, depth: int = 3) -> str:
    """A value with trivia in every gap."""
    kinds = ["scalar", "scalar", "object", "object", "list", "named"] if depth else ["scalar"]
    return draw(_odd_value(draw(st.sampled_from(kinds)), comments=comments, trailing=trailing, depth=depth))


@st.composite
def _odd_value(draw: st.DrawFn, kind: str, *, comments: bool, trailing: bool, depth: int) -> str:
    if kind == "scalar":
        return draw(SCALARS)
    gap = trivia(comments=comments)
    if kind == "named":
        items = [f'{draw(gap)}{{{draw(gap)}"name":{draw(gap)}{name}}}{draw(gap)}' for name in draw(_NAMES)]
        return f"[{','.join(items)}{',' if items and trailing and draw(st.booleans()) else ''}]"
    inner = odd_values(comments=comments, trailing=trailing, depth=depth - 1)
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        key = f"{json.dumps(draw(KEYS))}{draw(gap)}:{draw(gap)}" if kind == "object" else ""
        parts.append(draw(gap) + key + draw(inner) + draw(gap))
    text = ",".join(parts) + (f",{draw(gap)}" if parts and trailing and draw(st.booleans()) else draw(gap))
    return f"{{{text}}}" if kind == "object" else f"[{text}]"


@st.composite
def odd_documents(draw: st.DrawFn, *, comments: bool = True, trailing: bool = True) -> str:
    """A document with an object as its root, and trivia in every gap."""
    gap = trivia(comments=comments)
    root = _odd_value("object", comments=comments, trailing=trailing, depth=3)
    return draw(st.sampled_from(["", "", "\ufeff"])) + draw(gap) + draw(root) + draw(gap)


@st.composite
def tidy_documents(draw: st.DrawFn) -> str:
    """A document as people write it: one indentation, comments above and beside members, alternatives commented out."""
    eol, unit = draw(st.sampled_from(_LINE_ENDS)), draw(st.sampled_from(["  ", "    ", "\t"]))
    trailing = draw(st.booleans())
    body = draw(_tidy_object(eol=eol, unit=unit, indent="", trailing=trailing, depth=3))
    return (
        draw(st.sampled_from(["", f"// head{eol}", f"{eol}/* head */{eol}"])) + body + draw(st.sampled_from(["", eol]))
    )


@st.composite
def _tidy_object(  # noqa: PLR0913  what a document keeps to throughout
    draw: st.DrawFn, *, eol: str, unit: str, indent: str, trailing: bool, depth: int
) -> str:
    members = draw(st.lists(KEYS, max_size=4, unique=True))
    lines = []
    for number, key in enumerate(members, 1):
        value = draw(SCALARS)
        if depth and draw(st.booleans()):
            value = draw(_tidy_object(eol=eol, unit=unit, indent=indent + unit, trailing=trailing, depth=depth - 1))
        if draw(st.integers(0, 3)) == 0:
            lines.append(draw(st.sampled_from(["// above", "/* above */", ""])))
        comma = "," if trailing or number < len(members) else ""
        lines.append(
            f"{json.dumps(key)}: {value}{comma}{draw(st.sampled_from(['', '', ' // beside', ' /* beside */']))}"
        )
    if draw(st.integers(0, 3)) == 0:
        lines.append(draw(st.sampled_from(['// "old": 1,', '// , "old": 1', "/* tail */", ""])))
    if not lines:
        return "{}"
    inside = "".join(f"{eol}{indent}{unit}{line}" if line else eol for line in lines)
    return f"{{{inside}{eol}{indent}}}"


@st.composite
def deep_documents(draw: st.DrawFn, *, comments: bool = True) -> str:
    """A document with an object as its root that is nested far down, with something beside the way here and there."""
    text = draw(SCALARS)
    for around in draw(st.lists(st.sampled_from(_COMMENTED_AROUND if comments else _AROUND), min_size=5, max_size=60)):
        text = around.replace("_", text, 1)
    return f'{{"a":{text}}}'


_AROUND = ["[_]", '{"a":_}', '{"b": 1,"a": _\n}', "[_, 0]", '[ {"b":2}, _ ]', '{\r\n\t"a":[],"a":_\r\n}']
_COMMENTED_AROUND = [*_AROUND, "[_,]", '{ // c\n"a":_ /* d */}', "[_, // c\n0]", '{\r\n/* , */ "a": _,\r\n}']


DOCUMENTS = odd_documents() | tidy_documents() | deep_documents()
STRICT_DOCUMENTS = odd_documents(comments=False, trailing=False) | deep_documents(comments=False)
