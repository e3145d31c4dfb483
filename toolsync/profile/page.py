"""How a new `profile.toml` and a new profile in it are laid out; the comments are the schema's descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsync import resources
from toolsync.document import Value

SCHEMA_FILE = "profile.schema.json"
"""The copy of the schema that `init` lays beside the profile, so that editors find it without a network."""

_OPENING = f"""\
#:schema ./{SCHEMA_FILE}

# toolsync carries these profiles to your AI coding tools: `toolsync apply`.
# No key ever stands here, only where it is to be had: this file can be kept in a repository.
"""
# `#:schema` is what Taplo, and the editors that build on it, look for in a file's first comment:
# https://taplo.tamasfe.dev/configuration/directives.html

_CARD = """\
# A profile may have more tables. Whatever is left out, toolsync leaves as each tool has it.
"""


def opening(active: str | None) -> str:
    """How a file starts."""
    rules = resources.schema("profile")["properties"]["active"]
    return f"{_OPENING}\n{_rows([('active', active, rules['description'])])}" if active else _OPENING


def card() -> str:
    """All that a profile may hold beside what each has, as a comment: a table's fields, each with an example."""
    tables = [table for table in _profile_rules().items() if "properties" in _resolved(table[1])]
    tables.append(("tool.TOOL", _definition("tool")))
    return _CARD + "".join(f"#\n{_commented(_example(name, _resolved(rules)))}" for name, rules in tables)


def block(name: str, table: Mapping[str, Any]) -> str:
    """A new profile: what stands in its own table is explained, the tables below it speak for themselves."""
    rules = _profile_rules()
    own = [field for field in rules if field in table and not isinstance(table[field], Mapping)]
    rows = _rows([(field, table[field], _resolved(rules[field])["description"]) for field in own])
    below = [_below(("profiles", name, field), value) for field, value in table.items() if isinstance(value, Mapping)]
    return "\n".join([f"{_header('profiles', name)}\n{rows}", *below])


def _below(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    nested = {field: value for field, value in table.items() if isinstance(value, Mapping) and field != "headers"}
    own = _rows([(field, value, "") for field, value in table.items() if field not in nested])
    texts = [_below((*path, field), value) for field, value in nested.items()]
    return "\n".join([f"{_header(*path)}\n{own}", *texts] if own else texts)


def _example(table: str, rules: Mapping[str, Any]) -> str:
    fields = {field: _resolved(below) for field, below in rules["properties"].items()}
    rows = [
        (field, below["examples"][0], below["description"]) for field, below in fields.items() if "examples" in below
    ]
    return f"[profiles.NAME.{table}]  # {rules['description']}\n{_rows(rows)}"


def _rows(rows: Sequence[tuple[str, Value, str]]) -> str:
    """Lines `field = value  # comment`, each part under the one above it."""
    fields = [_key(field) for field, _, _ in rows]
    values = [_spelled(value) for _, value, _ in rows]
    field_width, value_width = (max(map(len, texts), default=0) for texts in (fields, values))
    comments = [f"  # {comment}" if comment else "" for _, _, comment in rows]
    return "".join(
        f"{field:<{field_width}} = {value:<{value_width}}{comment}".rstrip() + "\n"
        for field, value, comment in zip(fields, values, comments, strict=True)
    )


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def _header(*path: str) -> str:
    return f"[{'.'.join(map(_key, path))}]"


def _key(name: str) -> str:
    import tomlkit  # only a new profile needs it

    return tomlkit.key(name).as_string()


def _spelled(value: Value) -> str:
    import tomlkit  # only a new profile needs it

    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_spelled(below)}" for name, below in value.items()) + " }"
    return str(tomlkit.item(value).as_string())


# The schema.


def _profile_rules() -> Mapping[str, Any]:
    rules: Mapping[str, Any] = _definition("profile")["properties"]
    return rules


def _definition(name: str) -> Mapping[str, Any]:
    definition: Mapping[str, Any] = resources.schema("profile")["$defs"][name]
    return definition


def _resolved(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**_definition(rules["$ref"].rpartition("/")[2]), **rules} if "$ref" in rules else rules
