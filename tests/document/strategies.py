"""Texts as nobody would write them, and as people do: commented, oddly spaced JSON documents."""

from __future__ import annotations

import json
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
COMMENTS = st.sampled_from(
    [
        "// c",
        "//",
        '// "old": true,',
        "// , }",
        "/* b */",
        "/**/",
        "/* two\n lines */",
        '/* "k": { // */',
        "/* \u2028 */",
    ]
)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def trivia(draw: st.DrawFn, *, comments: bool) -> str:
    """White space and comments, a line comment always with its line end."""
    parts = []
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 3]))):
        part = draw(st.sampled_from([" ", "  ", "\t"]) | LINE_ENDS | (COMMENTS if comments else st.just(" ")))
        parts.append(part + (draw(LINE_ENDS) if part.startswith("//") else ""))
    return "".join(parts)


@st.composite
def odd_values(draw: st.DrawFn, *, comments: bool, trailing: bool, depth: int = 3) -> str:
    """A value with trivia in every gap."""
    kind = draw(st.sampled_from(["scalar", "scalar", "object", "object", "list"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(SCALARS)
    gap = trivia(comments=comments)
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        key = f"{json.dumps(draw(KEYS))}{draw(gap)}:{draw(gap)}" if kind == "object" else ""
        parts.append(
            draw(gap) + key + draw(odd_values(comments=comments, trailing=trailing, depth=depth - 1)) + draw(gap)
        )
    text = ",".join(parts) + (f",{draw(gap)}" if parts and trailing and draw(st.booleans()) else draw(gap))
    return f"{{{text}}}" if kind == "object" else f"[{text}]"


@st.composite
def odd_documents(draw: st.DrawFn, *, comments: bool = True, trailing: bool = True) -> str:
    """A document with an object as its root, and trivia in every gap."""
    gap = trivia(comments=comments)
    root = odd_values(comments=comments, trailing=trailing).filter(lambda text: text.startswith("{"))
    return draw(st.sampled_from(["", "", "\ufeff"])) + draw(gap) + draw(root) + draw(gap)


@st.composite
def tidy_documents(draw: st.DrawFn) -> str:
    """A document as people write it: one indentation, comments above and beside members, alternatives commented out."""
    eol, unit = draw(LINE_ENDS), draw(st.sampled_from(["  ", "    ", "\t"]))
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


DOCUMENTS = odd_documents() | tidy_documents()
STRICT_DOCUMENTS = odd_documents(comments=False, trailing=False)
