"""What the schema says of a profile's fields; `schema` names another one of `schemas/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsync import resources
from toolsync.document import KeyPath

Rules = Mapping[str, Any]
"""A piece of JSON Schema."""


def file_rules(schema: str = "profile") -> Rules:
    """The whole file's."""
    return resources.schema(schema)


def named(name: str, schema: str = "profile") -> Rules:
    """Those under `$defs`."""
    rules: Rules = file_rules(schema)["$defs"][name]
    return rules


def fields(rules: Rules, schema: str = "profile") -> dict[str, Rules]:
    """A table's fields, each with its rules in full."""
    return {name: full(below, schema) for name, below in full(rules, schema).get("properties", {}).items()}


def full(rules: Rules, schema: str = "profile") -> Rules:
    """`rules` with what `$ref` names, which what stands beside it overrides."""
    return {**named(rules["$ref"].rpartition("/")[2], schema), **rules} if "$ref" in rules else rules


def of_field(path: KeyPath) -> Rules | None:
    """The rules of a field by its path below a profile, as `("request", "timeout_seconds")`; None if it has none."""
    rules: Rules = named("profile")
    for step in path:
        below = fields(rules).get(str(step)) or rules.get("additionalProperties")
        if not below:
            return None
        rules = full(below)
    return rules
