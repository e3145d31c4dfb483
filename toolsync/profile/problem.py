"""What is wrong with a profile, or a template, by its schema, in words that need no knowledge of JSON Schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from toolsync.document import KeyPath, Value
from toolsync.document.conforming import surely_conforms
from toolsync.document.keypath import spell
from toolsync.profile import rules
from toolsync.profile.wording import close, one_line, shown
from toolsync.value import frozen

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


@frozen
class Problem:
    """One thing that is wrong: where, what (the end of a sentence that starts with the place), and what to do."""

    path: KeyPath
    reason: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """Where in the profile, and what."""
        return f"{one_line(spell(self.path))}: {self.reason}" if self.path else self.reason


@frozen
class _Violation:
    """A schema keyword that is not met: its value in the schema, what stands in the file, and where.

    `name` is the schema's; `inner` is what is wrong by each of the rules that `anyOf` offers.
    """

    path: KeyPath
    keyword: str
    limit: Any
    found: Value
    schema: Mapping[str, Any]
    name: str
    inner: tuple[_Violation, ...] = ()


def schema_problems(data: Value, name: str = "profile") -> Iterator[Problem]:
    """Every way in which `data` does not meet `schemas/<name>.schema.json`."""
    if surely_conforms(data, rules.file_rules(name), re.fullmatch):
        return
    for error in _validator(name).iter_errors(data):
        yield from _worded(_violation(error, name))


def _worded(violation: _Violation) -> Iterator[Problem]:
    return WORDS[violation.keyword](violation)


def _violation(error: ValidationError, name: str) -> _Violation:
    is_about_a_name = "propertyNames" in error.schema_path
    path = (*error.absolute_path, *([str(error.instance)] if is_about_a_name else []))
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    inner = tuple(_violation(one, name) for one in error.context or ())
    return _Violation(path, str(error.validator), error.validator_value, error.instance, schema, name, inner)


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft202012Validator, validators  # costs three starts of the interpreter

    checker = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number})
    extend: Callable[..., type[Validator]] = validators.extend
    strict = extend(
        Draft202012Validator, {"pattern": _pattern_errors, "required": _required_errors}, type_checker=checker
    )
    return strict(rules.file_rules(name))


def _is_integer(_: object, instance: object) -> bool:
    # JSON Schema takes 3.0 for an integer; a tool's own file may not.
    return isinstance(instance, int) and not isinstance(instance, bool)


def _is_number(_: object, instance: object) -> bool:
    return _is_integer(_, instance) or (isinstance(instance, float) and math.isfinite(instance))


def _pattern_errors(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError  # imported already, by the only caller

    # `$` of ECMA 262 is the very end; Python's lets one line feed follow, so the whole text is asked for.
    if isinstance(instance, str) and not re.fullmatch(pattern, instance):
        yield ValidationError("pattern")


def _required_errors(_: object, names: list[str], instance: object, __: object) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError  # imported already, by the only caller

    # One error for them all: the library's own name the missing field in a sentence only.
    if isinstance(instance, Mapping) and not instance.keys() >= set(names):
        yield ValidationError("required")


# The words.


def _type(violation: _Violation) -> Iterator[Problem]:
    yield _about(violation, f"is not {' or '.join(_types(violation))}")


def _types(violation: _Violation) -> list[str]:
    limits = [violation.limit] if isinstance(violation.limit, str) else violation.limit
    return [_TYPES[limit] for limit in limits]


_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "a table",
    "array": "a list",
}


def _enum(violation: _Violation) -> Iterator[Problem]:
    if not isinstance(violation.found, str):
        return  # its type is wrong, and said to be
    nearest = close(violation.found, violation.limit)
    guess = f"; did you mean '{nearest}'?" if nearest else ""
    yield _about(violation, f"is none of {', '.join(violation.limit)}{guess}")


def _pattern(violation: _Violation) -> Iterator[Problem]:
    yield _about(violation, violation.schema["errorMessage"])


def _required(violation: _Violation) -> Iterator[Problem]:
    for name in violation.limit:
        if name not in violation.found:
            yield Problem(violation.path, f"'{name}' is missing")


def _unknown(violation: _Violation) -> Iterator[Problem]:
    known = violation.schema["properties"]
    for name in violation.found:
        if name not in known:
            yield Problem((*violation.path, name), advice(name, known, violation.name))


def advice(name: str, known: rules.Rules, schema: str = "profile") -> str:
    """What to say of a field that there is not, where those in `known` are."""
    for table, below in known.items():
        if name in rules.fields(below, schema):
            return f"there is no such field here; it belongs in the table '{table}'"
    nearest = close(name, known)
    if nearest:
        return f"there is no such field; did you mean '{nearest}'?"
    return f"there is no such field; there are {', '.join(known)}" if known else "there is no such field"


def _any_of(violation: _Violation) -> Iterator[Problem]:
    """None of the forms that the value may have: what is wrong by the form that it comes nearest to."""
    deepest = max(violation.inner, key=lambda inner: len(inner.path))
    if len(deepest.path) > len(violation.path) or any(inner.keyword != "type" for inner in violation.inner):
        yield from _worded(next((inner for inner in violation.inner if inner.keyword != "type"), deepest))
        return
    kinds = dict.fromkeys(kind for inner in violation.inner for kind in _types(inner))
    yield _about(violation, f"is not {' or '.join(kinds)}")


def _one_of(violation: _Violation) -> Iterator[Problem]:
    names = [name for form in violation.limit for name in form["required"]]
    yield _about(violation, f"must say one of {', '.join(names)}, and one only")


def _said(verdict: str) -> Callable[[_Violation], Iterator[Problem]]:
    return lambda violation: iter([_about(violation, verdict.format(violation.limit))])


WORDS: Mapping[str, Callable[[_Violation], Iterator[Problem]]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _pattern,
    "required": _required,
    "additionalProperties": _unknown,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "minLength": _said("is empty"),
    "minItems": _said("is empty"),
    "uniqueItems": _said("names something twice"),
    "minimum": _said("is less than {}"),
    "exclusiveMinimum": _said("is not more than {}"),
    "maximum": _said("is more than {}"),
}
"""Schema keyword to words; a test holds that the schemas use no other."""


def _about(violation: _Violation, verdict: str) -> Problem:
    subject = "the value" if violation.schema.get("writeOnly") else shown(violation.found)
    return Problem(violation.path, f"{subject} {verdict}")
