"""The tools that toolsync knows: one folder each, the shipped ones and the user's own, which win by name."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from toolsync import disk, resources
from toolsync.errors import DocumentError, FileError, TemplateError, UsageError
from toolsync.masking import on_one_line
from toolsync.paths import Places, candidates, stop_at_impossible
from toolsync.profile.wording import close
from toolsync.tool import Tool, read_tool


@dataclass(frozen=True, eq=False)
class Known(Mapping[str, Tool]):
    """The tools whose templates can be used, by name, in alphabetical order.

    Attributes:
        usable: those.
        broken: why others of the user's own cannot be used, by name; a shipped one of that name is not used either.
        shut: why nobody can tell which of the user's own there are.
    """

    usable: Mapping[str, Tool]
    broken: Mapping[str, TemplateError] = field(default_factory=dict)
    shut: FileError | None = None

    def __getitem__(self, name: str) -> Tool:
        return self.usable[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.usable)

    def __len__(self) -> int:
        return len(self.usable)


def tools(config: Path) -> Known:
    """Every known tool.

    Args:
        config: the config directory; the user's own tools are the folders in its `tools/`.

    Raises:
        FileError: the folder of the user's own cannot be read.
    """
    shipped = _shipped_alone()
    own, broken = _own(config, shipped)
    shipped = _shipped(own) if own else shipped
    known = {name: tool for name, tool in {**shipped, **own}.items() if name not in broken}
    for tool in [tool for tool in known.values() if any(row.of in broken for row in tool.files)]:
        of = next(row.of for row in tool.files if row.of in broken)
        broken[tool.name] = TemplateError(f"{tool.title} holds settings of '{of}', whose template is wrong")
        del known[tool.name]
    return Known(dict(sorted(known.items())), dict(sorted(broken.items())))


def usable(config: Path) -> Known:
    """The same for giving back, which goes by what is remembered: the shipped ones where the others cannot be read."""
    try:
        return tools(config)
    except FileError as error:
        return Known(dict(sorted(_shipped_alone().items())), shut=error)


@cache
def _shipped_alone() -> Mapping[str, Tool]:
    """The shipped tools where the user has none: read once a process, for a command asks more than once."""
    shipped: dict[str, Tool] = {}
    for name, texts in _shipped_texts():
        shipped[name] = read_tool(name, texts, others=shipped)
    return shipped


def _shipped(own: Mapping[str, Tool]) -> dict[str, Tool]:
    """The shipped tools; stores hold what the user's own tools have in place of shipped ones."""
    shipped = dict(_shipped_alone())
    for name, texts in _shipped_texts():
        if _is_store(texts):
            shipped[name] = read_tool(name, texts, others=shipped, own=own)
    return shipped


@cache
def _shipped_texts() -> Sequence[tuple[str, Mapping[str, str]]]:
    templates = [(folder, _texts(folder)) for folder in _folders(resources.folder("templates"))]
    return [(folder.name, texts) for folder, texts in _stores_last(templates)]


def _own(config: Path, shipped: Mapping[str, Tool]) -> tuple[dict[str, Tool], dict[str, TemplateError]]:
    """The user's own tools, and why those are none whose template is wrong."""
    own: dict[str, Tool] = {}
    broken: dict[str, TemplateError] = {}
    templates: list[tuple[Path, dict[str, str]]] = []
    for folder in _folders(config):
        try:
            templates.append((folder, _texts(folder)))
        except TemplateError as error:
            broken[folder.name] = error
    for folder, texts in _stores_last(templates):
        try:
            own[folder.name] = _users_own(folder, texts, {**shipped, **own})
        except TemplateError as error:
            broken[folder.name] = error
    return own, broken


def _stores_last(templates: Iterable[tuple[Path, dict[str, str]]]) -> list[tuple[Path, dict[str, str]]]:
    """Template folders with their texts; those that speak of other tools' files come last."""
    return sorted(templates, key=lambda template: _is_store(template[1]))


def _is_store(texts: Mapping[str, str]) -> bool:
    """Whether the template speaks of other tools' files, and so is read after them."""
    return re.search(r"(?m)^\s*store\s*=", texts["tool.toml"]) is not None


def named(known: Mapping[str, Tool], name: str) -> Tool:
    """The tool called `name`.

    Raises:
        UsageError: there is none.
        TemplateError: there is one of the user's own, and its template is wrong.
    """
    if name in known:
        return known[name]
    if isinstance(known, Known) and name in known.broken:
        raise known.broken[name]
    near = close(name, known)
    meant = f"Did you mean '{near}'? " if near else ""
    raise UsageError(f"unknown tool '{on_one_line(name)}'", hint=f"{meant}Known: {', '.join(known)}.")


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
        found = sorted(folder.iterdir())
    except OSError as error:  # one that is shut may hold the very tool that is asked for
        raise disk.file_error(error.filename or folder, error) from error
    yield from (path for path in found if _holds_tool(path))


def _holds_tool(folder: Path) -> bool:
    try:
        return disk.is_there(folder / "tool.toml")
    except FileError:  # a tool until the contrary is seen: why it cannot be used is said where it is read
        return True


def _texts(folder: Path) -> dict[str, str]:
    """What lies in a tool's folder, by file name; what is no text is no template.

    Raises:
        TemplateError: it cannot be read.
    """
    try:
        files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        texts = {file.name: text for file in sorted(files) if (text := _text(file)) is not None}
    except OSError as error:
        raise TemplateError(disk.file_error(error.filename or folder, error).message) from error
    if "tool.toml" not in texts:
        raise TemplateError(f"{disk.shown(folder / 'tool.toml')} is no file that can be read")
    return texts


def _text(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError as error:
        if file.suffix in (".toml", ".json", ".jsonc"):
            raise TemplateError(f"{disk.shown(file)} cannot be read: {error}") from error
        return None


def _users_own(folder: Path, texts: Mapping[str, str], others: Mapping[str, Tool]) -> Tool:
    """A tool from the user's config directory: its manifest is checked, the shipped ones are by the tests."""
    _check_manifest(disk.shown(folder / "tool.toml"), texts["tool.toml"])
    try:
        tool = read_tool(folder.name, texts, is_users_own=True, others=others)
        _check_paths(tool)
        _check_schemas(tool)
    except TemplateError as error:  # which mostly names the tool's folder first
        is_named = error.message.startswith((f"{folder.name}/", f"{folder.name}:"))
        place = f"{disk.shown(folder.parent)}/" if is_named else f"{disk.shown(folder / 'tool.toml')}: "
        raise TemplateError(f"{place}{error.message}", hint=error.hint) from error
    return tool


def _check_paths(tool: Tool) -> None:
    """Whether its paths can be some, on whatever machine."""
    specs = [*tool.paths, *(path for row in tool.files for path in (*row.path, row.needs) if path)]
    for spec in [*specs, *(path for layer in tool.layers for path in layer.path)]:
        try:
            stop_at_impossible(spec)
        except TemplateError as error:
            raise TemplateError(f"{tool.name}: {error.message}", hint=error.hint) from error


def _check_schemas(tool: Tool) -> None:
    """Whether what a file must meet is a schema at all."""
    for row in tool.files:
        if row.schema is None:
            continue
        from jsonschema import Draft202012Validator, SchemaError

        try:
            Draft202012Validator.check_schema(row.schema)
        except SchemaError as error:
            text = f"{tool.name}: the schema of {row.overlay} is none: {on_one_line(error.message)}"
            raise TemplateError(text) from error
        _check_references(tool, row.overlay, row.schema)


def _check_references(tool: Tool, overlay: str, schema: Mapping[str, Any]) -> None:
    """Whether what a schema refers to is in it: nothing is fetched."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    uri = DRAFT202012.id_of(schema) or ""
    resolver = Registry().with_resource(uri, DRAFT202012.create_resource(schema)).resolver(uri)
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable as error:
            text = f"{tool.name}: the schema of {overlay} names '{on_one_line(reference)}', which is not in it"
            raise TemplateError(text) from error


def _references(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        yield from (reference for child in part.values() for reference in _references(child))
    elif isinstance(part, list):
        yield from (reference for child in part for reference in _references(child))


def _check_manifest(file: str, text: str) -> None:
    """Everything that the schema of templates does not allow, each with its line."""
    from toolsync import document
    from toolsync.profile.problem import schema_problems
    from toolsync.profile.reader import line_of

    try:
        manifest = document.parse(text.encode(), "toml")
    except DocumentError as error:
        raise TemplateError(error.at(file).message, hint=error.hint) from error
    problems = sorted(schema_problems(manifest.data, "tool"), key=lambda problem: line_of(manifest, problem.path))
    if problems:
        lines = [f"{file}:{line_of(manifest, problem.path)}: {problem.sentence}" for problem in problems]
        raise TemplateError("\n".join(lines))
