"""Values inside a line: how new ones are spelled, and splices that add to and take from arrays and inline tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from toolsync.document.data import Value
from toolsync.document.splice import Splice
from toolsync.document.toml_scan import Member, Node
from toolsync.pattern import late

_BARE = late(r"[A-Za-z0-9_-]+")
_PLAIN = late(r"[ !#-\[\]-~]*")
"""Text that TOML and JSON spell the same way."""
_LINE_REST = late(r"[ \t]*(?:#[^\n]*)?\r?\n")


def spelled(value: Value) -> str:
    """`value` on one line, in TOML 1.0.

    Raises:
        ValueError: TOML has no such value.
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(pair(key, spelled(item)) for key, item in value.items())} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if value is None:
        raise ValueError("TOML has no null")
    if isinstance(value, int) or (isinstance(value, str) and _PLAIN.fullmatch(value)):
        return json.dumps(value)
    if isinstance(value, str):
        _refuse_surrogates(value)
    import tomlkit  # a twentieth of a second, needed by few documents

    return tomlkit.item(value).as_string()


def spelled_key(parts: Sequence[str]) -> str:
    """A key as people write it, quoted only where it must be."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in parts)


def pair(key: str, text: str, equals: str = " = ") -> str:
    """`key = value` of a single key and a value's text."""
    return f"{spelled_key([key])}{equals}{text}"


def _quoted(part: str) -> str:
    if _PLAIN.fullmatch(part):
        return f'"{part}"'
    _refuse_surrogates(part)
    from tomlkit.items import SingleKey

    return SingleKey(part).as_string()


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("not Unicode text") from error


def entry_inserted(text: str, node: Node, entry: str, after: int) -> list[Splice]:
    """Splices, last first, that put `entry` after member `after` of an array or inline table; -1: before all others."""
    if not node.members:
        return [_first_entry(text, node, entry)]
    if after < 0:
        return [_entry_before_all(text, node, entry)]
    member = node.members[after]
    is_last = after == len(node.members) - 1
    gap_end = node.end - 1 if is_last else node.members[after + 1].start
    line_end = text.find("\n", member.end, gap_end) + 1
    if not line_end:
        lead = ", " if member.comma is None else " "
        return [Splice(member.end, 0, lead + entry + ("" if member.comma is None else ","))]
    new_line = _indent(text, member.start) + entry + ("" if member.comma is None else ",") + _eol(text, line_end)
    comma = [] if member.comma is not None else [Splice(member.value.end, 0, ",")]
    return [Splice(line_end, 0, new_line), *comma]


def _first_entry(text: str, node: Node, entry: str) -> Splice:
    inner_start, inner_end = node.start + 1, node.end - 1
    line_end = text.find("\n", inner_start, inner_end) + 1
    if not line_end:
        return Splice(inner_start, inner_end - inner_start, entry if node.kind == "array" else f" {entry} ")
    comment = text.find("#", line_end, inner_end)
    indent = _indent(text, comment) if comment >= 0 else _indent(text, inner_end) + "  "
    return Splice(line_end, 0, indent + entry + _eol(text, line_end))


def _entry_before_all(text: str, node: Node, entry: str) -> Splice:
    first = node.members[0]
    line_end = text.find("\n", node.start, first.start) + 1
    if not line_end:
        return Splice(first.start, 0, entry + ", ")
    return Splice(line_end, 0, _indent(text, first.start) + entry + "," + _eol(text, line_end))


def entry_removed(text: str, node: Node, index: int) -> list[Splice]:
    """Splices, last first, that take a member, its comma, and the comment that only it has on its line."""
    member = node.members[index]
    is_last = index == len(node.members) - 1
    before = node.start + 1 if index == 0 else node.members[index - 1].end
    own_lines = _own_lines(text, before, member, node.end - 1 if is_last else node.members[index + 1].start)
    if own_lines is None:
        own_lines = _part_of_line(text, node, index, before)
    previous = node.members[index - 1].comma if index > 0 else None
    if not is_last or member.comma is not None or previous is None:
        return [own_lines]
    if own_lines.start <= previous + 1:
        return [Splice(previous, own_lines.end - previous, "")]
    return [own_lines, Splice(previous, 1, "")]


def _own_lines(text: str, before: int, member: Member, after: int) -> Splice | None:
    """The whole lines of a member that shares none with its neighbours or the brackets."""
    start = text.rfind("\n", before, member.start) + 1
    rest = _LINE_REST.match(text, member.end, after)
    if not start or text[start : member.start].strip(" \t") or rest is None:
        return None
    return Splice(start, rest.end() - start, "")


def _part_of_line(text: str, node: Node, index: int, before: int) -> Splice:
    member = node.members[index]
    if index + 1 < len(node.members):
        following = node.members[index + 1].start
        between = text[member.end : following]
        end = following if not between.strip(" \t") else member.end
        return Splice(member.start, end - member.start, "")
    lead = text[before : member.start]
    start = before if not lead.strip(" \t") else member.start
    end = node.end - 1 if index == 0 and not text[member.end : node.end - 1].strip(" \t") else member.end
    return Splice(start, end - start, "")


def entry_emptied(member: Member, names: int) -> Splice:
    """`a.b = 1` made the empty table `a = {}`: the key cut to its first `names`."""
    end = member.key.ends[names - 1] if member.key else member.start
    return Splice(end, member.value.end - end, " = {}")


def _indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    match = re.compile(r"[ \t]*").match(text, start, at)
    return match[0] if match else ""


def _eol(text: str, line_end: int) -> str:
    return "\r\n" if text.endswith("\r\n", 0, line_end) else "\n"
