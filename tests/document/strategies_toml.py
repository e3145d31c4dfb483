"""Generated TOML files: commented, oddly spaced, with every way that TOML has to say the same."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.document import oracle_toml as oracle

BLANKS = st.sampled_from(["", "", " ", "  ", "\t"])
NAMES = st.sampled_from(["a", "b", "c", "p", "a-b", "1", '"q r"', "'C:\\x'", '"a.b"', '""', '"\\u00e9"'])
COMMENTS = st.sampled_from(["# one", "#", '#two # "x"', "# [a]", "# k = 1", "# 'it's {", "#注释", "# é \U0001f600"])
SCALARS = st.sampled_from(
    [
        "1",
        "+1_000",
        "0xDEAD_beef",
        "1e3",
        "-0.0",
        "inf",
        "nan",
        "true",
        "false",
        "1979-05-27 07:32:00.5-07:00",
        "1979-05-27",
        "07:32:00",
        '""',
        "''",
        '"a # b"',
        "'[x]'",
        '"\\"q\\" \\\\"',
        '"""\n[a]\n# no\nk = "1" \\\n  x"""',
        "'''\n'' ]} # no\n'''",
        '""""q""""',
        '"\\e \\x41"',
        "07:32",
        '"é"',
    ]
)


def _spaced(item: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(BLANKS, item, BLANKS).map("".join)


GAPS = st.one_of(BLANKS, st.tuples(COMMENTS, BLANKS).map(lambda pair: f" {pair[0]}\n{pair[1]}"), st.just("\n  "))
"""What may stand between the pieces of an array or, since TOML 1.1, of an inline table."""

KEYS = st.lists(NAMES, min_size=1, max_size=3).flatmap(
    lambda names: st.sampled_from([".", " . ", "."]).map(lambda dot: dot.join(names))
)


def _array(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(GAPS, items, GAPS), max_size=4).flatmap(_bracketed("[", "]"))


def _table(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(KEYS, st.sampled_from(["=", " = ", "\t=  "]), items).map("".join)
    return st.lists(st.tuples(GAPS, pair, GAPS), max_size=3).flatmap(_bracketed("{", "}"))


def _bracketed(opening: str, closing: str) -> Any:
    def join(pieces: list[tuple[str, str, str]]) -> st.SearchStrategy[str]:
        text = ",".join("".join(piece) for piece in pieces)
        ends = GAPS if not pieces else st.sampled_from(["", ",", " ,\n", ", # last\n"])
        return ends.map(lambda end: opening + text + end + closing)

    return join


VALUES = st.recursive(SCALARS, lambda items: _array(items) | _table(items), max_leaves=6).filter(
    lambda text: _is_valid(f"x = {text}")
)
TAILS = st.one_of(BLANKS, st.tuples(BLANKS, COMMENTS).map("".join))
_PAIRS = st.tuples(BLANKS, KEYS, st.sampled_from(["=", " = ", "\t =\t"]), VALUES, TAILS).map("".join)
_HEADERS = st.tuples(BLANKS, st.just("["), _spaced(KEYS), st.just("]"), TAILS).map("".join)
_LISTS = st.tuples(BLANKS, st.just("[["), _spaced(KEYS), st.just("]]"), TAILS).map("".join)
_NOTES = st.one_of(st.tuples(BLANKS, COMMENTS).map("".join), BLANKS)
_LINES = st.one_of(_PAIRS, _PAIRS, _HEADERS, _LISTS, _NOTES)


def _is_valid(text: str) -> bool:
    try:
        oracle.data(text)
    except ValueError:
        return False
    return True


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A valid file: of the lines drawn, those that leave it so."""
    text = ""
    for line in draw(st.lists(_LINES, max_size=14)):
        if _is_valid(text + line + "\n"):
            text += line + "\n"
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    eol = draw(st.sampled_from(["\n", "\n", "\r\n", "mixed"]))
    if eol == "mixed":
        text = "".join(line.replace("\n", "\r\n") if n % 3 else line for n, line in enumerate(oracle.lines(text)))
    if eol == "\r\n":
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


@st.composite
def tidy_documents(draw: st.DrawFn) -> str:
    """A file as people write it: comments above tables and beside keys, blank lines between them, lists over lines."""
    parts = [draw(_tidy_keys)]
    for header in draw(st.lists(_TIDY_HEADERS, max_size=5)):
        part = (
            draw(st.sampled_from(["", "", "# of this table\n", "# --- x ---\n\n"])) + header + "\n" + draw(_tidy_keys)
        )
        if _is_valid("\n".join([*parts, part])):
            parts.append(part)
    return "\n".join(parts).replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


_TIDY_VALUES = st.sampled_from(
    [
        '"x"',
        "true",
        "20_000",
        '["-y", "x"]',
        '[\n  "-y", # yes\n  "x",\n]',
        "[\n  # none\n]",
        '{ a = "1", b.c = 2 }',
        "{}",
        "[[1], [2]]",
        '[{ name = "a" }, { name = "ours", x = 1 }]',
        '"""\ntwo\nlines\n"""',
    ]
)
_TIDY_PAIRS = st.tuples(
    st.sampled_from(["", "", "# above\n"]), NAMES, st.just(" = "), _TIDY_VALUES, st.sampled_from(["", "", " # beside"])
).map("".join)
_TIDY_HEADERS = st.tuples(
    st.sampled_from(["[{}]", "[{}]", "[[{}]]"]), st.sampled_from(["a", "b", "a.b", "b.c", 'p."q r"'])
).map(lambda pair: pair[0].format(pair[1]))
_tidy_keys = (
    st.lists(_TIDY_PAIRS, max_size=4, unique_by=lambda line: line.removeprefix("# above\n").partition(" = ")[0])
    .map(lambda lines: "".join(line + "\n" for line in lines))
    .filter(_is_valid)
)


@st.composite
def deep_documents(draw: st.DrawFn) -> str:
    """A value nested far down under a table with a long name."""
    text = draw(SCALARS)
    for _ in range(draw(st.integers(5, 40))):
        text = draw(
            st.sampled_from([f"[{text}]", f"{{a={text}}}", f'{{ a.b = {text}, c = "d" }}', f"[ {text}, # c\n 0 ]"])
        )
    name = ".".join(["a"] * draw(st.integers(1, 30)))
    return draw(
        st.sampled_from([f"[{name}]\nx = {text}\n", f"{name} = {text}", f"[[{name}]]\nx = {text}\n[[{name}]]\n"])
    )


DOCUMENTS = documents() | tidy_documents() | deep_documents()

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NEW_SCALARS = st.one_of(
    _TEXT,
    st.booleans(),
    st.integers(),
    st.floats(),
    st.dates(),
    st.times().map(lambda time: time.replace(fold=0)),
    st.sampled_from(["a\nb", "\x1b\x7f", '"""']),
)
NEW_VALUES = st.recursive(
    NEW_SCALARS, lambda items: st.lists(items, max_size=3) | st.dictionaries(_TEXT, items, max_size=3), max_leaves=5
)
NEW_NAMES = st.sampled_from(["new", "new key", "é", "", "a.b", '"', "k\n"])
