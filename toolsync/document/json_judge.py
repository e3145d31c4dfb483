"""What a JSON or JSONC text means, by the standard library's parser: the judge, which knows nothing of spans.

A text is read as it is written: the order of members, duplicates and the spelling of numbers count. Whatever an edit
does elsewhere than it should, and be it to a duplicate that does not count, makes another reading.
"""

from __future__ import annotations

import json
import re
from functools import cached_property

from toolsync.document.data import Value
from toolsync.document.json_scan import DEEPEST
from toolsync.document.json_written import Written, number
from toolsync.pattern import late
from toolsync.value import frozen


@frozen
class Reading:
    """What one text means.

    Attributes:
        plain: the text with spaces for all that strict JSON does not know, so that every offset stays.
        written: what stands in it, as it is written; an empty object if nothing does.
        is_strict: whether a strict reader takes it, a byte-order mark aside: no comment, no trailing comma.
    """

    plain: str
    written: Written
    is_strict: bool

    @cached_property
    def data(self) -> Value:
        """As plain data; of duplicate members the last one counts."""
        if _BLANK.match(self.plain):
            return {}
        try:
            return json.loads(self.plain)
        except ValueError:  # an integer of more digits than Python reads
            return json.loads(self.plain, parse_int=number)


def read(text: str, *, is_shallow: bool = False) -> Reading:
    """The meaning of `text`.

    Args:
        text: a whole file.
        is_shallow: whether it is known to be nested no deeper than `DEEPEST` levels.

    Raises:
        ValueError: it is no JSON, comments and trailing commas aside.
        RecursionError: it is nested deeper than `DEEPEST` levels, or than the parser can go here.
    """
    text = " " + text[1:] if text.startswith("\ufeff") else text
    try:
        return Reading(text, _parsed(text, is_shallow=is_shallow), is_strict=True)
    except ValueError:
        plain = _without_trailing_commas(_without_comments(text))
    return Reading(plain, _parsed(plain, is_shallow=is_shallow), is_strict=False)


def is_strict(text: str) -> bool:
    """Whether a strict reader takes `text`: no comment, no trailing comma, and JSON at all."""
    try:
        return read(text).is_strict
    except (ValueError, RecursionError):
        return False


def written(value: Value) -> Written:
    """Plain data as they would be read.

    Raises:
        ValueError: JSON has no such value.
    """
    try:
        return _parsed(json.dumps(value, allow_nan=False, default=_refused))
    except TypeError as error:  # a key that is no text
        raise ValueError(str(error)) from error


_BLANK = late(r"[ \t\r\n]*\Z")


def _parsed(plain: str, *, is_shallow: bool = False) -> Written:
    if _BLANK.match(plain):
        return ()
    found = json.loads(
        plain, object_pairs_hook=tuple, parse_int=str.encode, parse_float=str.encode, parse_constant=_no_constant
    )
    if not is_shallow and _is_too_deep(plain):  # later Pythons parse deeper than earlier ones; the limit is ours
        raise RecursionError
    return found


def _is_too_deep(plain: str) -> bool:
    """Whether containers stand inside one another too deeply; pairs of brackets go, from the innermost outwards."""
    marks = _masked(plain).encode(errors="surrogatepass").translate(_ONE_PAIR, _NO_MARK)
    brackets = b"".join(marks.replace(b'""', b"").split(b'"')[::2])
    for _ in range(DEEPEST):
        if not brackets:
            return False
        brackets = brackets.replace(b"{}", b"")
    return bool(brackets)


_ONE_PAIR = bytes.maketrans(b"[]", b"{}")
_NO_MARK = bytes(set(range(256)) - set(b'"{}[]'))


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _refused(value: object) -> None:
    raise ValueError(f"JSON cannot hold a {type(value).__name__} here")


_COMMENT_OPENING = late(r"/[/*]")
_LINE_END = late(r"[\r\n]|\Z")
_LAST_COMMA = late(r",[ \t\r\n]*[}\]]")


def _without_comments(text: str) -> str:
    """`text` with spaces for comments. What has an odd number of quotation marks before it stands in a string."""
    masked = _masked(text)
    kept, copied, at, is_quoted = [], 0, 0, False
    while match := _COMMENT_OPENING.search(masked, at):
        start = match.start()
        is_quoted ^= masked.count('"', at, start) % 2 == 1
        at = match.end() if is_quoted else _comment_end(masked, match)
        if not is_quoted:
            kept += [text[copied:start], " " * (at - start)]
            copied = at
    return "".join([*kept, text[copied:]])


def _comment_end(text: str, opening: re.Match[str]) -> int:
    if opening[0] == "/*":
        end = text.find("*/", opening.end())
        if end < 0:
            raise ValueError("a comment is never closed")
        return end + 2
    match = _LINE_END.search(text, opening.end())
    return match.start() if match else len(text)


def _without_trailing_commas(text: str) -> str:
    """`text`, which has no comments, with spaces for commas that have something before and a bracket behind them."""
    masked = _masked(text)
    kept, copied, at, is_quoted = [], 0, 0, False
    for match in _LAST_COMMA.finditer(masked):
        comma = match.start()
        is_quoted ^= masked.count('"', at, comma) % 2 == 1
        is_first = masked[at:comma].rstrip(" \t\r\n").endswith(("{", "["))
        at = match.end()
        if not is_quoted and not is_first:
            kept += [text[copied:comma], " "]
            copied = comma + 1
    return "".join([*kept, text[copied:]])


def _masked(text: str) -> str:
    """`text` without escaped quotation marks, every offset as it was."""
    return text.replace("\\\\", "__").replace('\\"', "__") if "\\" in text else text
