"""How a JSON text is laid out around a place: its lines, indentation, colons and commas."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence

from toolsync.document.json_scan import Entry, Node
from toolsync.document.json_write import Style
from toolsync.pattern import late

_BREAK = late(r"\r\n|\n|\r")
_BLANK = " \t"
_COLONS = {":", ": ", " : ", " :"}


def style_at(text: str, chain: Sequence[Node], *, spread: bool, indent: str) -> Style:
    """The style for a new value inside the last container of `chain`, which leads there from the root."""
    at = chain[-1].end - 1 if chain else len(text)
    colon = _colon(text, chain)
    return Style(spread, indent, _unit(text, chain), eol_before(text, at), colon, ", " if colon.endswith(" ") else ",")


def is_spread(text: str, chain: Sequence[Node]) -> bool:
    """Whether the last container of `chain` has one member a line (an empty one: whether it is to have)."""
    container = chain[-1]
    if container.entries:
        return on_own_line(text, container, len(container.entries) - 1)
    if breaks(text, container.start, container.end) or len(chain) == 1:
        return True
    parent = chain[-2]
    return on_own_line(text, parent, next(i for i, entry in enumerate(parent.entries) if entry.value is container))


def on_own_line(text: str, container: Node, index: int) -> bool:
    """Whether an entry begins on another line than what stands before it."""
    before = container.entries[index - 1].end if index else container.start + 1
    return breaks(text, before, container.entries[index].start)


def leads_with_comma(text: str, container: Node, index: int) -> bool:
    """Whether the comma that parts an entry from the one before stands at the head of the entry's own line."""
    if index == 0:
        return False
    before = container.entries[index - 1]
    comma = before.comma
    assert comma is not None  # noqa: S101  something follows it
    return breaks(text, before.end, comma) and not breaks(text, comma, container.entries[index].start)


def breaks(text: str, start: int, end: int) -> bool:
    """Whether a line ends between two offsets."""
    return _BREAK.search(text, start, end) is not None


def line_start(text: str, at: int) -> int:
    """The offset at which the line of `at` begins."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return 1 if start == 0 and text.startswith("\ufeff") else start


def line_end(text: str, at: int) -> int:
    """The offset at which the line of `at` ends, before its line break."""
    match = _BREAK.search(text, at)
    return match.start() if match else len(text)


def next_line(text: str, at: int) -> int:
    """The offset behind the line break that ends the line of `at`."""
    match = _BREAK.search(text, at)
    return match.end() if match else len(text)


def indent_of(text: str, at: int) -> str:
    """The white space at the head of the line of `at`."""
    start = line_start(text, at)
    return text[start : skip_blank(text, start, at)]


def skip_blank(text: str, at: int, limit: int | None = None) -> int:
    """The offset behind the spaces and tabs at `at`."""
    limit = len(text) if limit is None else limit
    while at < limit and text[at] in _BLANK:
        at += 1
    return at


def skip_blank_back(text: str, at: int) -> int:
    """The offset before the spaces and tabs in front of `at`."""
    while at > 0 and text[at - 1] in _BLANK:
        at -= 1
    return at


def eol_before(text: str, at: int) -> str:
    """The line break nearest before `at`, else the first behind it, else a line feed."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))
    if start > 0 and text[start - 1 : start + 1] == "\r\n":
        return "\r\n"
    if start >= 0:
        return text[start]
    match = _BREAK.search(text, at)
    return match[0] if match else "\n"


def comma_gap(text: str, container: Node) -> str | None:
    """What parts the last two entries of a container on one line, from the comma on, if that is white space only."""
    if len(container.entries) < 2:  # noqa: PLR2004  two entries have one gap
        return None
    gap = text[container.entries[-2].comma : container.entries[-1].start]
    return gap if not gap[1:].strip(_BLANK) else None


def _colon(text: str, chain: Sequence[Node]) -> str:
    for entry in _nearest_members(chain):
        colon = text[entry.key_end : entry.value.start]
        if colon in _COLONS:
            return colon
    return ": "


def _nearest_members(chain: Sequence[Node]) -> Iterator[Entry]:
    """Members to take as models: the last of each object, from the innermost out, and of a list's last item first."""
    for node in reversed(chain):
        for model in (node.entries[-1].value, node) if node.entries else ():
            if model.bracket == "{" and model.entries:
                yield model.entries[-1]


def _unit(text: str, chain: Sequence[Node]) -> str:
    if chain and not breaks(text, chain[0].start, chain[0].end):
        return "  "  # all on one line, however long
    for node in itertools.chain(reversed(chain), _containers(chain[:1])):
        if node.entries and on_own_line(text, node, len(node.entries) - 1):
            outer, inner = indent_of(text, node.start), indent_of(text, node.entries[-1].start)
            if inner.startswith(outer) and inner != outer:
                return inner.removeprefix(outer)
    return "  "


def _containers(nodes: Sequence[Node]) -> Iterator[Node]:
    """All containers below `nodes`, without recursion."""
    waiting = deque(nodes)
    while waiting:
        node = waiting.popleft()
        if node.bracket:
            yield node
            waiting.extend(entry.value for entry in node.entries)
