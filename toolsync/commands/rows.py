"""A template's file rows, filled: what plans are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolsync.errors import DocumentError, TemplateError
from toolsync.facts import Facts
from toolsync.overlay import Edit, edits, filled
from toolsync.plan import Row
from toolsync.tool import FileRow, Tool
from toolsync.tool.breach import check_of
from toolsync.trace import may_hold_key


def row_of(tool: Tool, row: FileRow, given: Facts, now: str, known: Mapping[str, Tool]) -> Row:
    """The file row of a template as a plan takes it, filled.

    Args:
        tool: whose.
        row: which.
        given: what fills it.
        now: the time stamp.
        known: every tool, for parts that hold another one's file.

    Raises:
        MissingFactError: the profile lacks something that it needs.
        TemplateError: it cannot be filled.
    """
    start = row.new if row.new is not None else _filled(row, given, now)
    return Row(
        tool=tool.name,
        overlay=row.overlay,
        edits=tuple(_guarded(known.get(row.of, tool), row, edit) for edit in edits(row.document.data, given, now=now)),
        start=start,
        start_is_filled=row.new is None,
        check=check_of(row),
    )


def _filled(row: FileRow, given: Facts, now: str) -> str:
    try:
        return filled(row.document, given, now=now).text
    except DocumentError as error:
        hint = "Where a path is meant: a folder on the way there has a name that is no UTF-8. Give it another."
        raise TemplateError(f"{row.overlay} cannot say {error.reason}", hint=hint) from error


def _guarded(tool: Tool, row: FileRow, edit: Edit) -> Edit:
    """The edit, secret too where it only empties a place at which the user's own key may stand."""
    return replace(edit, secret=edit.secret or may_hold_key(tool, row.template or row.overlay, edit.path))
