"""The schema of `profile.toml` and the code that reads it say the same."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolsync import resources
from toolsync.address import normal
from toolsync.errors import ProfileError
from toolsync.keyref import NAME, REFERENCE
from toolsync.profile import Profile, rules
from toolsync.profile.problem import WORDS

SCHEMA, TEMPLATES = resources.schema("profile"), resources.schema("tool")
_SILENT = {"$schema", "$id", "$ref", "$defs", "title", "description", "default", "examples", "format", "errorMessage"}
_SILENT |= {"writeOnly", "properties", "propertyNames", "items", "allOf"}


def test_the_schema_is_valid_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_field_of_a_profile_is_in_the_schema_and_the_other_way_round() -> None:
    fields = {field.name for field in dataclasses.fields(Profile)} - {"name"}
    of_sharing = {"from", "sha256", "trusted"}
    assert set(rules.fields(rules.named("profile"))) == fields | of_sharing


def test_the_fields_that_a_profile_must_have_are_those_without_a_default() -> None:
    required = {
        field.name
        for field in dataclasses.fields(Profile)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    assert {*rules.named("profile")["anyOf"][0]["required"], "name"} == required


def test_a_tool_can_override_every_table_that_a_profile_has() -> None:
    profile, tool = (rules.fields(rules.named(name)) for name in ("profile", "tool"))
    tables = {name for name, field in profile.items() if "properties" in field}
    assert tables == {name for name, field in tool.items() if "properties" in field}


def test_every_table_is_closed() -> None:
    tables = [piece for piece in _pieces(SCHEMA) if piece.get("type") == "object"]
    assert [table for table in tables if "additionalProperties" not in table] == []


def test_every_keyword_of_the_schemas_has_words() -> None:
    keywords = {keyword for schema in (SCHEMA, TEMPLATES) for piece in _pieces(schema) for keyword in piece}
    assert keywords - _SILENT == set(WORDS)


def test_every_pattern_is_whole_and_has_words() -> None:
    patterns = [piece for schema in (SCHEMA, TEMPLATES) for piece in _pieces(schema) if "pattern" in piece]
    for piece in patterns:
        assert (piece["pattern"][0], piece["pattern"][-1]) == ("^", "$")
        assert piece["errorMessage"]


def test_every_field_is_described_for_editors() -> None:
    for name in ("profile", "tool", "models", "urls", "request", "network", "observability"):
        for field, described in rules.fields(rules.named(name)).items():
            assert described.get("description"), f"{name}.{field}"


def test_every_example_is_allowed() -> None:
    for piece in _pieces(SCHEMA):
        full = {**rules.full(piece), "$defs": SCHEMA["$defs"]}
        for example in piece.get("examples", []):
            assert Draft202012Validator(full).is_valid(example), example


def test_names_and_references_are_spelled_alike_in_schema_and_code() -> None:
    assert rules.named("name")["pattern"] == f"^{NAME.pattern}$"
    assert rules.named("reference")["pattern"].replace("\\u0000", "\0") == f"^{REFERENCE.pattern}$".replace(
        "\\u0000", "\0"
    )


@pytest.mark.parametrize(
    "address",
    [
        "https://taotoken.net/api",
        "HTTPS://Example.COM/v1/",
        "http://localhost:11434",
        "http://[::1]:8000/v1",
        " https://example.com/v1 ",
        "https://example.com/client/v4/accounts/1/ai/@cf/meta",
        "https://münchen.example/v1",
        "",
        "example.com",
        "ftp://example.com",
        "https://user:pass@example.com",
        "https://example.com/v1?key=1",
        "https://example.com/v1#x",
        "https://exa mple.com",
        "https://",
        "https:///v1",
        "https://example.com\\v1",
    ],
)
def test_the_schema_allows_the_addresses_that_the_rule_allows(address: str) -> None:
    pattern = {"type": "string", "pattern": rules.named("address")["pattern"]}
    try:
        normal(address)
    except ProfileError:
        assert not Draft202012Validator(pattern).is_valid(address)
    else:
        assert Draft202012Validator(pattern).is_valid(address)


def test_the_schema_is_laid_out_by_hand_but_is_json() -> None:
    text = (resources.folder("schemas") / "profile.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == SCHEMA
    assert text.endswith("}\n")


def _pieces(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema inside `schema`, itself included; the names of fields are no keywords."""
    yield schema
    for keyword in ("properties", "$defs"):
        for below in schema.get(keyword, {}).values():
            yield from _pieces(below)
    for keyword in ("propertyNames", "additionalProperties", "items"):
        if isinstance(schema.get(keyword), dict):
            yield from _pieces(schema[keyword])
