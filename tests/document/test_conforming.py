"""What surely meets a schema, and what is left to the library: never a yes where the library has something to say."""

from __future__ import annotations

import copy
import json
import math
import re
import subprocess
import sys
import tomllib
from typing import Any

import jsonschema
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from tests.document import oracle_toml
from toolsync import resources
from toolsync.document.conforming import surely_conforms
from toolsync.profile import problem

_CLINE = resources.folder("templates") / "tools" / "cline"
SCHEMAS: dict[str, Any] = {
    **{name: resources.schema(name) for name in ("profile", "memory", "tool")},
    "providers": json.loads((_CLINE / "providers.schema.json").read_bytes()),
}
STRICT = {"profile", "tool"}
MANIFESTS = sorted(resources.folder("templates").glob("tools/*/tool.toml"))
PROFILE = """active = "work"
[profiles.work]
base_url = "https://gateway.example/api"
model = "m"
key = "env:A_KEY"
plaintext = "ask"
[profiles.work.models]
small = "s"
[profiles.work.request]
timeout_seconds = 1.5
max_tokens = 100
headers = { X-Team = "blue" }
[profiles.work.tool.config-toml]
paths = ["~/a.toml"]
"""
PROVIDERS = {
    "version": 1,
    "providers": {
        "x": {
            "settings": {"provider": "x", "baseUrl": "https://x.example/v1"},
            "updatedAt": "2026-01-01T00:00:00.000Z",
            "tokenSource": "manual",
        }
    },
}
GOOD = [
    ("profile", tomllib.loads(PROFILE)),
    ("providers", PROVIDERS),
    *(("tool", tomllib.loads(manifest.read_text(encoding="utf-8"))) for manifest in MANIFESTS),
]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 1, 0, -1, 3.0, 1.5, math.nan, math.inf, "", "x", "x\n", "work", "env:A", [], ["a", "a"]]
) | st.sampled_from([[1, True], {}, {"a": 1}, {"$ref": "x"}, "https://x.example", "~/a", 10**30])


def found(name: str, data: Any) -> list[str]:
    """What the library has against data; against profiles and manifests in our stricter reading."""
    library = jsonschema.Draft202012Validator(SCHEMAS[name])
    validator = problem._validator(name) if name in STRICT else library
    return [error.message for error in validator.iter_errors(data)]


def surely(name: str, data: Any) -> bool:
    return surely_conforms(data, SCHEMAS[name], re.fullmatch if name in STRICT else re.search)


@pytest.mark.parametrize(("name", "data"), GOOD, ids=[f"{name} {n}" for n, (name, _) in enumerate(GOOD)])
def test_what_is_right_is_surely_so(name: str, data: Any) -> None:
    assert found(name, data) == []
    assert surely(name, data)


@given(st.sampled_from(GOOD), st.data())
def test_what_surely_conforms_does(good: tuple[str, Any], data: st.DataObject) -> None:
    name, instance = good[0], copy.deepcopy(good[1])
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(oracle_toml.paths(instance)))
        parent = oracle_toml.at(instance, path[:-1])
        key = data.draw(st.sampled_from([path[-1], "new"])) if isinstance(parent, dict) else path[-1]
        parent[key] = copy.deepcopy(data.draw(ODD))
    note(repr(instance))

    assert not surely(name, instance) or found(name, instance) == []


UNSURE: dict[str, tuple[Any, Any]] = {
    "a keyword that is not known": ("x", {"maxLength": 3}),
    "is 3.0 an integer?": (3.0, {"type": "integer"}),
    "is NaN a number?": (math.nan, {"type": "number"}),
    "are 1 and true the same?": ([1, True], {"uniqueItems": True}),
    "a definition elsewhere": ("x", {"$ref": "https://x.example"}),
    "in one of several": (1, {"oneOf": [{"type": "integer"}, {"maxLength": 1}]}),
    "a pattern that is none": ("x", {"pattern": "("}),
}


@pytest.mark.parametrize(("data", "schema"), UNSURE.values(), ids=UNSURE)
def test_what_can_be_read_in_two_ways_is_left_to_the_library(data: Any, schema: Any) -> None:
    assert not surely_conforms(data, schema)


def test_a_deep_one_is_left_to_the_library() -> None:
    data: Any = []
    for _ in range(100_000):
        data = [data]
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}

    assert not surely_conforms(data, schema)


def test_a_profile_that_is_right_does_without_the_library() -> None:
    code = "import sys, tomllib; from toolsync.profile.problem import schema_problems as problems; "
    code += f"print(list(problems(tomllib.loads({PROFILE!r})))); sys.exit('jsonschema' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
