"""The tools that toolsync knows: one folder each, the shipped ones and the user's own, which win by name."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolsync import disk, resources
from toolsync.errors import TemplateError, UsageError
from toolsync.masking import on_one_line
from toolsync.paths import Places, candidates
from toolsync.tool import Tool, read_tool


def tools(config: Path) -> dict[str, Tool]:
    """Every known tool by name, in alphabetical order.

    Args:
        config: the config directory; the user's own tools are the folders in its `tools/`.

    Raises:
        TemplateError: a template is wrong.
    """
    shipped: dict[str, Tool] = {}
    for folder, texts in _templates(resources.folder("templates")):
        shipped[folder.name] = read_tool(folder.name, texts, others=shipped)
    known = dict(shipped)
    for folder, texts in _templates(config):
        known[folder.name] = _users_own(folder, texts, {**shipped, **known})
    return dict(sorted(known.items()))


def _templates(parent: Path) -> list[tuple[Path, dict[str, str]]]:
    """Every template folder with its texts; those that speak of other tools' files come last."""
    found = [(folder, _texts(folder)) for folder in _folders(parent)]
    return sorted(found, key=lambda template: _is_store(template[1]))


def _is_store(texts: Mapping[str, str]) -> bool:
    """Whether the template speaks of other tools' files, and so is read after them."""
    return re.search(r"(?m)^\s*store\s*=", texts["tool.toml"]) is not None


def named(known: Mapping[str, Tool], name: str) -> Tool:
    """The tool called `name`.

    Raises:
        UsageError: there is none.
    """
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=1)
        meant = f"Did you mean '{near[0]}'? " if near else ""
        raise UsageError(f"unknown tool '{on_one_line(name)}'", hint=f"{meant}Known: {', '.join(known)}.")
    return known[name]


def is_installed(tool: Tool, places: Places) -> bool:
    """Whether the tool is found on this machine: a program of its on PATH, or a file or folder that shows it."""
    search = places.environ.get("PATH", "")
    if any(shutil.which(command, path=search) for command in tool.commands):
        return True
    return any(disk.exists(file) for spec in tool.paths for file in _candidates(spec, places))


def _candidates(spec: str, places: Places) -> tuple[Path, ...]:
    try:
        return candidates(spec, places)
    except TemplateError:  # a variable that is not set here shows nothing
        return ()


def _folders(parent: Path) -> Iterator[Path]:
    folder = parent / "tools"
    if not disk.is_folder(folder):
        return
    try:
        found = sorted(path for path in folder.iterdir() if (path / "tool.toml").is_file())
    except OSError as error:  # one that is shut may hold the very tool that is asked for
        raise disk.file_error(error.filename or folder, error) from error
    yield from found


def _texts(folder: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")):
        try:
            texts[file.name] = file.read_bytes().decode()
        except UnicodeDecodeError as error:
            if file.suffix in (".toml", ".json", ".jsonc"):
                raise TemplateError(f"{on_one_line(str(file))} cannot be read: {error}") from error
        except OSError as error:
            raise TemplateError(f"{on_one_line(str(file))} cannot be read: {error}") from error
    return texts


def _users_own(folder: Path, texts: Mapping[str, str], others: Mapping[str, Tool]) -> Tool:
    """A tool from the user's config directory: its manifest is checked, the shipped ones are by the tests."""
    try:
        _check(texts)
        tool = read_tool(folder.name, texts, is_users_own=True, others=others)
        _check_schemas(tool)
    except TemplateError as error:
        raise TemplateError(f"{on_one_line(str(folder))}: {error.message}", hint=error.hint) from error
    return tool


def _check_schemas(tool: Tool) -> None:
    """Whether what a file must meet is a schema at all."""
    for row in tool.files:
        if row.schema is None:
            continue
        from jsonschema import Draft202012Validator, SchemaError

        try:
            Draft202012Validator.check_schema(row.schema)
        except SchemaError as error:
            raise TemplateError(f"the schema of {row.overlay} is none: {on_one_line(error.message)}") from error


def _check(texts: Mapping[str, str]) -> None:
    complaint = _complaint(_manifest(texts))
    if complaint:
        raise TemplateError(f"tool.toml: {complaint}")


def _manifest(texts: Mapping[str, str]) -> dict[str, Any]:
    from toolsync import document
    from toolsync.errors import DocumentError

    try:
        data: dict[str, Any] = document.parse(texts["tool.toml"].encode(), "toml").data
    except DocumentError as error:
        raise TemplateError(error.at("tool.toml").message, hint=error.hint) from error
    return data


def _complaint(manifest: Mapping[str, Any]) -> str | None:
    """The first thing that the schema of templates does not allow, or None."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(resources.schema("tool")).iter_errors(manifest))
    if error is None:
        return None
    path = ".".join(str(step) for step in error.absolute_path)
    return f"{path}: {error.message}" if path else error.message
