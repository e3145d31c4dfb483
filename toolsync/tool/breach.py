"""Why a tool would not take what its file says, by the schema of its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from toolsync.document import Value
from toolsync.document.conforming import surely_conforms
from toolsync.errors import TemplateError
from toolsync.masking import printable
from toolsync.tool.model import FileRow

if TYPE_CHECKING:
    from jsonschema import ValidationError


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
