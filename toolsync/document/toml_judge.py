"""What a TOML text means, by `tomli` (1.1), which knows nothing of spans; or in plain words why it means nothing."""

from __future__ import annotations

import ast
import re

import tomli

from toolsync.document.base import how_to_mend, place
from toolsync.document.data import Value
from toolsync.document.keypath import spell
from toolsync.errors import DocumentError
from toolsync.masking import printable
from toolsync.pattern import late

MAX_DEPTH = 200
"""Deeper nesting is refused: no settings file has it, and recursion over parsed data would not survive it."""

_REASONS = (
    (r"Cannot overwrite a value", "this key is defined twice, or is a value and a table at once"),
    (r"Duplicate inline table key (.*)", "the key {} is defined twice in this inline table"),
    (r"Cannot declare (\(.*\)) twice", "the table [{}] is declared twice, or was complete before"),
    (r"Cannot redefine namespace (\(.*\))", "the table [{}] has a header elsewhere, so dotted keys cannot add to it"),
    (r"Cannot mutate immutable namespace (\(.*\))", "{} is complete where it was first written; nothing can add to it"),
    (r"Expected ']' at the end of a table declaration", "this header lacks its closing ']'"),
    (r"Expected ']]' at the end of an array declaration", "this header lacks its closing ']]'"),
    (r"Expected '=' after a key.*", "'=' is missing after this key"),
    (r"Expected newline or end of document after a statement", "this does not belong to the value before it"),
    (r"Invalid statement", "neither a key, a [table] nor a # comment"),
    (r"Invalid initial character for a key part", "a key is missing, or begins with a character that needs quotes"),
    (r"Invalid value", "this is no value: text needs quotes, and true and false are written small"),
    (r"Illegal character '\\n'|Unterminated string|Expected \"'+\"", "a text in quotes is not closed"),
    (r"(?:Illegal|Found invalid) character ('.*')", "the control character {} cannot stand here"),
    (
        r"Unescaped '\\' in a string|Invalid hex value|Escaped character is not .*",
        "a backslash between \"…\" is written twice, or the text stands between '…'",
    ),
    (r"Unclosed array", "a list lacks a comma or its closing ']'"),
    (r"Unclosed inline table", "an inline table lacks a comma or its closing '}'"),
)
"""What `tomli` says, and what it means to a person who edits settings."""


def data_of(text: str) -> Value:
    """The meaning of `text`, whose byte-order mark does not count.

    Raises:
        DocumentError: it is no TOML 1.1, or is nested deeper than `MAX_DEPTH`; with line and column.
    """
    body = text.removeprefix("\ufeff")
    try:
        data = tomli.loads(body)
    except tomli.TOMLDecodeError as error:
        raise DocumentError(_plain(error.msg), line=error.lineno, column=error.colno, hint=how_to_mend(body)) from error
    except RecursionError as error:
        raise _too_deep(body) from error
    except ValueError as error:  # an integer of more digits than Python reads
        line, column = _found(r"\d[\d_]{4000,}", body)
        raise DocumentError(
            "this number is too long to be read", line=line, column=column, hint="TOML's integers end at 19 digits."
        ) from error
    if _is_deep(data):
        raise _too_deep(body)
    return data


def _plain(message: str) -> str:
    for pattern, words in _REASONS:
        match = re.fullmatch(pattern, message)
        if match:
            return words.format(_named(match[1])) if match.lastindex else words
    return message[:1].lower() + message[1:]


def _named(literal: str) -> str:
    return printable(spell(ast.literal_eval(literal)), limit=100) if literal.startswith("(") else literal


def _is_deep(data: Value) -> bool:
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(parent: Value) -> list[Value]:
    if isinstance(parent, dict):
        return list(parent.values())
    return parent if isinstance(parent, list) else []


def _too_deep(body: str) -> DocumentError:
    line, column = _place_of_depth(body)
    return DocumentError(
        f"nested more than {MAX_DEPTH} levels deep", line=line, column=column, hint="No tool needs that."
    )


_TOKEN = late(
    r'''"""(?:[^"\\]++|\\.|"(?!""))*"{3,5}|\'\'\'(?:[^']++|'(?!\'\'))*'{3,5}|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|#[^\n]*+|[][{}]''',
    re.DOTALL,
)


def _place_of_depth(body: str) -> tuple[int, int]:
    depth = 0
    for token in _TOKEN.finditer(body):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            return place(body, token.start())
    lines = body.split("\n")
    return max(range(len(lines)), key=lambda n: lines[n].count(".")) + 1, 1


def _found(pattern: str, body: str) -> tuple[int, int]:
    match = re.search(pattern, body)
    return place(body, match.start() if match else 0)
