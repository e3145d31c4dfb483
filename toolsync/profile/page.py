"""How a new `profile.toml` and a new profile in it are laid out; the comments are the schema's descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolsync.document import Value
from toolsync.profile import rules

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
    comment = rules.fields(rules.file_rules())["active"]["description"]
    return f"{_OPENING}\n{_rows([('active', active, comment)])}" if active else _OPENING


def card() -> str:
    """All that a profile may hold beside what each has, as a comment: a table's fields, each with an example."""
    tables = {name: below for name, below in rules.fields(rules.named("profile")).items() if "properties" in below}
    tables["tool.TOOL"] = rules.named("tool")
    return _CARD + "".join(f"#\n{_commented(_example(name, below))}" for name, below in tables.items())


def block(name: str, table: Mapping[str, Any]) -> str:
    """A new profile: what stands in its own table is explained, the tables below it speak for themselves."""
    known = rules.fields(rules.named("profile"))
    ordered = sorted(table, key=lambda field: list(known).index(field) if field in known else len(known))
    own = [field for field in ordered if not isinstance(table[field], Mapping)]
    rows = _rows([(field, table[field], known.get(field, {}).get("description", "")) for field in own])
    below = [_below(("profiles", name, field), table[field]) for field in ordered if field not in own]
    return "\n".join([f"{_header('profiles', name)}\n{rows}", *below])


def _below(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    nested = {field: value for field, value in table.items() if isinstance(value, Mapping) and field != "headers"}
    own = _rows([(field, value, "") for field, value in table.items() if field not in nested])
    texts = [_below((*path, field), value) for field, value in nested.items()]
    return "\n".join([f"{_header(*path)}\n{own}", *texts] if own else texts)


def _example(table: str, below: rules.Rules) -> str:
    fields = {name: field for name, field in rules.fields(below).items() if "examples" in field}
    rows = [(name, field["examples"][0], field["description"]) for name, field in fields.items()]
    return f"[profiles.NAME.{table}]  # {below['description']}\n{_rows(rows)}"


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
