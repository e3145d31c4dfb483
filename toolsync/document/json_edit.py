"""Where a new member goes, and what goes with an old one: the splices of JSON's two edits of a container."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from toolsync.document.json_layout import (
    breaks,
    comma_gap,
    indent_of,
    is_spread,
    leads_with_comma,
    line_end,
    line_start,
    next_line,
    on_own_line,
    skip_blank,
    skip_blank_back,
    style_at,
)
from toolsync.document.json_scan import Entry, Node, Span
from toolsync.document.json_write import Style
from toolsync.document.splice import Splice
from toolsync.value import frozen

Body = Callable[[Style], str]
"""Spells the new member or item in the style of the place."""


@frozen
class Editor:
    """Edits of one text; `keeps_trailing_comma` where its readers take a comma behind the last member."""

    text: str
    keeps_trailing_comma: bool

    def append(self, chain: Sequence[Node], body: Body, *, is_compact: bool) -> list[Splice]:
        """A new last entry in the last container of `chain`.

        `is_compact`: the new item is a scalar or an empty container, for which an empty list is not opened.
        """
        if chain[-1].entries:
            return self._append_behind(chain, body)
        return self._open(chain, body, is_compact=is_compact)

    def _append_behind(self, chain: Sequence[Node], body: Body) -> list[Splice]:
        """Behind the last entry and the comments on its line; comments further down were not its own, and stay last."""
        text, container = self.text, chain[-1]
        last = container.entries[-1]
        anchor = self._end_of_line_comments(last, container)
        ends_line = self._ends_line(anchor, container)
        spread = is_spread(text, chain) or ends_line
        style = self._entry_style(chain, spread=spread)
        if spread and skip_blank(text, anchor) == line_end(text, anchor):
            anchor = line_end(text, anchor)
            style = replace(style, eol=text[anchor : next_line(text, anchor)] or style.eol)
        head = f"{style.eol}{style.indent}" if spread else (comma_gap(text, container) or style.comma)[1:]
        if last.comma is None and leads_with_comma(text, container, len(container.entries) - 1):
            return [Splice(anchor, 0, style.eol + self._comma_head(container, style) + body(style))]
        if last.comma is not None:
            return [Splice(anchor, 0, head + body(style) + ("," if self.keeps_trailing_comma else ""))]
        if not spread:
            return [Splice(anchor, 0, "," + head + body(style))]
        comma = anchor if breaks(text, last.end, anchor) and not ends_line else last.end
        return [Splice(anchor, 0, head + body(style)), Splice(comma, 0, ",")]

    def _entry_style(self, chain: Sequence[Node], *, spread: bool) -> Style:
        """The style of the last entry's neighbour; an item of a list is laid out as its siblings are."""
        text, container = self.text, chain[-1]
        last = container.entries[-1]
        if on_own_line(text, container, len(container.entries) - 1) or not spread:
            indent = indent_of(text, last.start if spread else last.end)
            style = style_at(text, chain, spread=spread, indent=indent)
        else:
            style = style_at(text, chain, spread=spread, indent=indent_of(text, container.start))
            style = style.deeper()
        models = [entry.value for entry in container.entries if entry.value.entries]
        if not models or (container.bracket == "{" and spread):
            return style
        model = models[-1]
        pad = " " if text[model.start + 1 : model.start + 2] == " " else ""
        return replace(style, spread=breaks(text, model.start, model.end), pad=pad)

    def _comma_head(self, container: Node, style: Style) -> str:
        start = line_start(self.text, container.entries[-1].start)
        head = self.text[start : container.entries[-1].start]
        return head if head.strip(" \t") == "," else f"{style.indent}, "

    def _open(self, chain: Sequence[Node], body: Body, *, is_compact: bool) -> list[Splice]:
        """The first entry of an empty container: behind the comments in it, which spoke of nothing else."""
        text, container = self.text, chain[-1]
        start, end = container.start + 1, container.end - 1
        inside = container.comments
        spread = is_spread(text, chain)
        if is_compact and container.bracket == "[" and not inside and not breaks(text, start, end):
            spread = False
        base = indent_of(text, container.start)
        style = style_at(text, chain, spread=spread, indent=base)
        if spread:
            style = style.deeper()
        if inside:
            return self._open_behind(inside[-1], end, style, base, body)
        if not spread:
            pad = text[start:end][:1]
            return [Splice(start, end - start, pad + body(style) + pad)]
        line = style.eol + style.indent + body(style)
        if breaks(text, start, end):
            return [Splice(line_end(text, start), 0, line)]
        return [Splice(start, end - start, line + style.eol + base)]

    def _open_behind(self, comment: Span, end: int, style: Style, base: str, body: Body) -> list[Splice]:
        text, at = self.text, comment[1]
        if not style.spread:
            return [Splice(at, 0, (" " if style.comma == ", " else "") + body(style))]
        if text[line_start(text, comment[0]) : comment[0]].strip(" \t") == "":
            style = replace(style, indent=indent_of(text, comment[0]))
        line = style.eol + style.indent + body(style)
        if breaks(text, at, end):
            return [Splice(at, 0, line)]
        return [Splice(at, end - at, line + style.eol + base)]

    def remove(self, container: Node, index: int) -> list[Splice]:
        """An entry with its comma and the comments on its line; nothing else, but lines that become blank."""
        entry = container.entries[index]
        spans = [(entry.start, entry.end), *self._own_comments(entry, container)]
        if len(container.entries) == 1 and not self._has_foreign_comment(container, spans):
            return [Splice(container.start + 1, container.end - container.start - 2, "")]
        comma, heads = self._comma_to_go(container, index), self._new_heads(container, index)
        if comma is not None and not heads:
            spans.append((comma, comma + 1))
        tidied = [
            self._tidied(span, container, is_comma=span == (comma, (comma or 0) + 1))
            for span in _joined(spans, lambda end, start: skip_blank(self.text, end) >= start)
        ]
        splices = [Splice(start, end - start, "") for start, end in _joined(tidied, lambda end, start: end >= start)]
        return sorted([*splices, *heads], key=lambda splice: splice.start, reverse=True)

    def _comma_to_go(self, container: Node, index: int) -> int | None:
        """The entry's own comma; the one before it if it has none, or if commas stand at the heads of the lines."""
        own = container.entries[index].comma
        before = container.entries[index - 1].comma if index else None
        is_led = 0 < index < len(container.entries) - 1 and leads_with_comma(self.text, container, index + 1)
        return before if is_led or own is None else own

    def _own_comments(self, entry: Entry, container: Node) -> list[Span]:
        """Comments behind the value, on its line: before the comma, or behind it with nothing more on that line."""
        if entry.comma is None:
            return self._line_comments(entry.end, container.end - 1, container)
        before = self._line_comments(entry.end, entry.comma, container)
        if breaks(self.text, before[-1][1] if before else entry.end, entry.comma):
            return before
        return [*before, *self._ending_comments(entry.comma + 1, container)]

    def _end_of_line_comments(self, entry: Entry, container: Node) -> int:
        """The offset behind an entry, its comma, and the comments that end the line there."""
        if entry.comma is None:
            return max([entry.end, *(end for _, end in self._own_comments(entry, container))])
        return max([entry.comma + 1, *(end for _, end in self._ending_comments(entry.comma + 1, container))])

    def _ending_comments(self, at: int, container: Node) -> list[Span]:
        """The comments from `at` on, on its line, if nothing follows them there: then they speak of what was before."""
        limit = container.end - 1
        comments = self._line_comments(at, limit, container)
        rest = skip_blank(self.text, comments[-1][1] if comments else at)
        return comments if rest >= limit or self.text[rest] in "\r\n" else []

    def _line_comments(self, at: int, limit: int, container: Node) -> list[Span]:
        """The comments that follow `at` one after the other, on its line."""
        comments: list[Span] = []
        for comment in container.comments:
            if not at <= comment[0] < limit:
                continue
            if self.text[at : comment[0]].strip(" \t"):
                break
            comments.append(comment)
            at = comment[1]
        return comments

    def _ends_line(self, at: int, container: Node) -> bool:
        """Whether a line comment ends at `at`, or with blanks behind it."""
        return any(start < at <= end and self.text.startswith("//", start) for start, end in container.comments)

    def _has_foreign_comment(self, container: Node, own: Collection[Span]) -> bool:
        return any(comment not in own for comment in container.comments)

    def _tidied(self, span: Span, container: Node, *, is_comma: bool) -> Span:
        """The span with the white space that only it needed."""
        text, (start, end) = self.text, span
        head, tail = skip_blank_back(text, start), skip_blank(text, end)
        begins_line = head <= line_start(text, start)
        ends_line = tail == line_end(text, end)
        is_last = tail == container.end - 1
        if begins_line and ends_line:
            start, end = line_start(text, start), next_line(text, end)
        elif begins_line and is_last and not is_comma:
            before = self._end_of_text_before(start, container)
            start, end = (start, tail) if before is None else (before, end)
        elif ends_line or (is_last and not is_comma):
            start = head
        elif not is_comma:
            end = tail
        return start, end

    def _end_of_text_before(self, at: int, container: Node) -> int | None:
        """The offset behind the last thing before `at`, line ends skipped; None if that is a line comment."""
        before = len(self.text[:at].rstrip(" \t\r\n"))
        return None if self._ends_line(before, container) else before

    def _new_heads(self, container: Node, index: int) -> list[Splice]:
        """Where commas lead the lines, a new first entry takes the head of the old one's line instead of its comma."""
        if index > 0 or len(container.entries) == 1 or not leads_with_comma(self.text, container, 1):
            return []
        old, new = container.entries[:2]
        start = line_start(self.text, new.start)
        if self.text[start : new.start].strip(" \t") != ",":
            return []
        return [Splice(start, new.start - start, indent_of(self.text, old.start))]


def _joined(spans: Collection[Span], touches: Callable[[int, int], bool]) -> list[Span]:
    """The spans in order; one whose start `touches` the end of the one before it becomes one with that."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and touches(joined[-1][1], start):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
