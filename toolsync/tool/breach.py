"""Why a tool would not take what its file says, by the schema of its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolsync.document import Step, Value
from toolsync.document.conforming import surely_conforms
from toolsync.errors import TemplateError
from toolsync.masking import printable
from toolsync.tool.model import FileRow, Strict
from toolsync.value import frozen

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
        from jsonschema.exceptions import best_match

        error = best_match(_errors(data, schema))
        return None if error is None else _said(error)

    return check


@frozen
class Breach:
    """A field that a tool does not take as it stands.

    Attributes:
        path: where it stands; of one that is missing, where it would.
        is_missing: whether it is.
        takes: what the tool takes there: kinds of values, or these themselves; empty where no list says it.
        is_of_kind: whether it is the kind of the value that is wrong, or that there is none. New versions of a tool
            take more values by and by; that they take other kinds is rare.
    """

    path: tuple[Step, ...]
    is_missing: bool
    takes: tuple[str, ...]
    is_of_kind: bool


def breach_of(strict: Strict, data: Value, *, is_of_kind: bool = False) -> Breach | None:
    """The field for which a tool takes nothing of the data; None where it takes them.

    Args:
        strict: what it takes.
        data: what the file says.
        is_of_kind: whether only kinds of values count.
    """
    if surely_conforms(data, strict.schema):
        return None
    found = (_breach(error) for error in sorted(_errors(data, strict.schema), key=lambda error: len(error.path)))
    return next((one for one in found if one.is_of_kind or not is_of_kind), None)


def _errors(data: Value, schema: Mapping[str, Any]) -> list[ValidationError]:
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    try:
        return list(Draft202012Validator(schema).iter_errors(data))
    except Unresolvable as fault:
        raise TemplateError(f"its schema names '{printable(fault.ref)}', which is not in it") from fault


def _breach(error: ValidationError) -> Breach:
    rule, asked, path = str(error.validator), error.validator_value, tuple(error.absolute_path)
    missing = _missing(error)
    if missing:
        return Breach((*path, missing), is_missing=True, takes=(), is_of_kind=True)
    return Breach(path, is_missing=False, takes=_takes(rule, asked), is_of_kind=rule == "type")


def _takes(rule: str, asked: Any) -> tuple[str, ...]:
    """What a rule allows, as it is written in settings."""
    if rule in _BOUNDS:
        return (f"{_BOUNDS[rule]} {asked}",)
    if rule not in ("type", "enum"):
        return ()
    return tuple(map(str, asked)) if isinstance(asked, list) else (str(asked),)


_BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">"}


def _missing(error: ValidationError) -> str:
    """The field that the rule asks for; "" where it asks for none."""
    required = error.validator_value if error.validator == "required" else None
    if not isinstance(required, list) or not isinstance(error.instance, Mapping):
        return ""
    return str(next(name for name in required if name not in error.instance))


def _said(error: ValidationError) -> str:
    """What is wrong and where, never the value: it may be a key."""
    path, missing = printable(".".join(map(str, error.absolute_path))), _missing(error)
    if missing:
        return f"'{path}.{missing}' is missing" if path else f"'{missing}' is missing"
    return f"{path}: breaks the rule '{error.validator}'"
