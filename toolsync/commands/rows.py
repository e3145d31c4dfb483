"""A template's file rows, filled: what plans are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolsync.document import Value
from toolsync.document.conforming import surely_conforms
from toolsync.errors import TemplateError
from toolsync.facts import Facts
from toolsync.masking import printable
from toolsync.overlay import Edit, edits, filled
from toolsync.plan import Row
from toolsync.tool import FileRow, Tool
from toolsync.trace import may_hold_key

if TYPE_CHECKING:
    from jsonschema import ValidationError


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
    start = row.new if row.new is not None else filled(row.document, given, now=now).text
    return Row(
        tool=tool.name,
        overlay=row.overlay,
        edits=tuple(_guarded(known.get(row.of, tool), row, edit) for edit in edits(row.document.data, given, now=now)),
        start=start,
        start_is_filled=row.new is None,
        check=check_of(row),
    )


def _guarded(tool: Tool, row: FileRow, edit: Edit) -> Edit:
    """The edit, secret too where it only empties a place at which the user's own key may stand."""
    return replace(edit, secret=edit.secret or may_hold_key(tool, row.template or row.overlay, edit.path))


def check_of(row: FileRow) -> Callable[[Value], str | None] | None:
    """What tells why the row's tool would not take parsed data, by its schema; None where it has none."""
    schema = row.schema
    if schema is None:
        return None

    def check(data: Value) -> str | None:
        if surely_conforms(data, schema):
            return None
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        try:
            error = best_match(Draft202012Validator(schema).iter_errors(data))
        except Unresolvable as fault:
            raise TemplateError(f"its schema names '{printable(fault.ref)}', which is not in it") from fault
        return None if error is None else _said(error)

    return check


def _said(error: ValidationError) -> str:
    """What is wrong and where, never the value: it may be a key."""
    path = printable(".".join(map(str, error.absolute_path)))
    required = error.validator_value if error.validator == "required" else None
    if isinstance(required, list) and isinstance(error.instance, Mapping):
        missing = next(name for name in required if name not in error.instance)
        return f"'{path}.{missing}' is missing" if path else f"'{missing}' is missing"
    return f"{path}: breaks the rule '{error.validator}'"
