"""A template's file rows, filled: what plans are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolsync.document.keypath import spell
from toolsync.errors import TemplateError
from toolsync.facts import Facts
from toolsync.overlay import Edit, edits, filled
from toolsync.plan import Row
from toolsync.tool import FileRow, Tool
from toolsync.tool.breach import check_of
from toolsync.trace.credential import may_hold_key


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
    wanted = edits(row.document.data, given, now=now)
    _stop_at_bytes(row, wanted)
    start = row.new if row.new is not None else filled(row.document, given, now=now).text
    return Row(
        tool=tool.name,
        overlay=row.overlay,
        edits=tuple(_guarded(known.get(row.of, tool), row, edit) for edit in wanted),
        start=start,
        start_is_filled=row.new is None,
        check=check_of(row),
    )


def _stop_at_bytes(row: FileRow, wanted: Sequence[Edit]) -> None:
    """Let values pass that are text: what JSON can spell of another would be no path of this machine's to a tool.

    Raises:
        TemplateError: one is not.
    """
    for edit in wanted:
        try:
            json.dumps(edit.value, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError as error:
            raise TemplateError(
                f"{row.overlay} cannot say {spell(edit.path)}: not Unicode text",
                hint="Where a path is meant: a folder on the way there has a name that is no UTF-8. Give it another.",
            ) from error


def _guarded(tool: Tool, row: FileRow, edit: Edit) -> Edit:
    """The edit, secret too where it only empties a place at which the user's own key may stand."""
    return replace(edit, secret=edit.secret or may_hold_key(tool, row.template or row.overlay, edit.path))
