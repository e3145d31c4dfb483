"""A tool as its template describes it: where its settings live, what it speaks, how it takes a key, who sets it too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolsync import document as documents
from toolsync.document import Document, Value
from toolsync.errors import TemplateError, ToolsyncError
from toolsync.facts import RAW_KEY_FACTS, WAYS
from toolsync.overlay import check, facts_named
from toolsync.tool.asking import connections, processes, request
from toolsync.tool.client import clients
from toolsync.tool.model import Client, Dialect, FileRow, Layer, Reader, Request, Slot, Strict, Tool
from toolsync.tool.running import Connection, Processes
from toolsync.tool.tracing import layers, readers, slot, unread

__all__ = [
    "Client",
    "Connection",
    "Dialect",
    "FileRow",
    "Layer",
    "Processes",
    "Reader",
    "Request",
    "Slot",
    "Strict",
    "Tool",
    "read_tool",
    "slot",
]


def read_tool(
    name: str,
    texts: Mapping[str, str],
    *,
    is_users_own: bool = False,
    others: Mapping[str, Tool] | None = None,
    own: Mapping[str, Tool] | None = None,
) -> Tool:
    """The tool in a template folder.

    Args:
        name: the folder's name.
        texts: the folder's files by name; `tool.toml` is the manifest.
        is_users_own: whether the folder is the user's.
        others: the tools whose own files a store's parts may hold.
        own: the user's own tools, which take the place of those of their names.

    Raises:
        TemplateError: the manifest or an overlay is wrong; names the file.
    """
    manifest = _data(name, "tool.toml", texts)
    files, environment = _settings(name, manifest, texts, (own or {}, others or {}))
    detect = manifest.get("detect", {})
    speaks, commands = tuple(manifest.get("speaks", ())), tuple(detect.get("commands", ()))
    programs = tuple(readers(name, manifest.get("trace"), files))
    return Tool(
        name=name,
        title=manifest.get("title", name),
        speaks=speaks,
        reload=manifest.get("reload", ""),
        commands=commands,
        paths=tuple(detect.get("paths", ())),
        key=_ways(name, manifest.get("key", {})),
        files=files,
        environment=environment,
        readers=programs,
        layers=tuple(layers(name, manifest.get("layer"), files)),
        is_users_own=is_users_own,
        store=manifest.get("store", ""),
        unread=tuple(unread(name, manifest.get("layer"), files)),
        request=request(name, manifest.get("request", {}), speaks, programs, manifest.get("key", {}).get("env")),
        connections=dict(connections(name, manifest.get("connection", {}), programs)),
        processes=dict(processes(name, manifest.get("processes", {}), commands, manifest.get("running", ()), programs)),
        leftovers={kind: tuple(paths) for kind, paths in manifest.get("leftovers", {}).items()},
        clients=tuple(clients(name, manifest.get("client", []), programs)),
        strict=_strict(name, manifest, texts),
    )


def _strict(name: str, manifest: Mapping[str, Any], texts: Mapping[str, str]) -> Strict | None:
    """The `[strict]` table."""
    table = manifest.get("strict")
    if table is None:
        return None
    known = [row["name"] for row in manifest.get("layer", ()) if "environment" not in row and not row.get("unread")]
    for layer in table["layers"]:
        if layer not in known:
            raise TemplateError(f"{name}/tool.toml: strict: no [[layer]] that is a file is called '{layer}'")
    return Strict(_data(name, table["schema"], texts), tuple(table["layers"]), table["version"])


def _settings(
    name: str, manifest: Mapping[str, Any], texts: Mapping[str, str], known: Sequence[Mapping[str, Tool]]
) -> tuple[tuple[FileRow, ...], tuple[Document, ...]]:
    """The tool's files, and the variables that it takes from its environment."""
    rows = manifest.get("file", [])
    lines = [row["overlay"] for row in rows if _is_environment(row, manifest)]
    files = tuple(_file_row(name, row, manifest, texts, known) for row in rows if row["overlay"] not in lines)
    if not files and not lines:
        raise TemplateError(f"{name}/tool.toml: no [[file]]", hint="A tool needs at least one settings file.")
    return files, tuple(_overlay(name, overlay, "dotenv-crlf", texts) for overlay in lines)


def _is_environment(row: Mapping[str, Any], manifest: Mapping[str, Any]) -> bool:
    """Whether the row is no file, but what the tool takes from its environment: lines of variables without a path."""
    return row["overlay"].endswith(".env") and "path" not in row and "path" not in manifest


def _data(tool: str, name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = _document(tool, name, documents.format_of(name), texts).data
    return data


def _document(tool: str, name: str, format: str, texts: Mapping[str, str]) -> Document:
    if name not in texts:
        raise TemplateError(f"{tool}/{name} is missing", hint=f"'{tool}/tool.toml' names it.")
    return _parsed(tool, name, format, texts[name])


def _parsed(tool: str, name: str, format: str, text: str) -> Document:
    try:
        return documents.parse(text.encode(), format)
    except ToolsyncError as error:
        raise TemplateError(f"{tool}/{name}: {error.message}", hint=error.hint) from error


def _overlay(tool: str, name: str, format: str, texts: Mapping[str, str]) -> Document:
    overlay = _document(tool, name, format, texts)
    try:
        check(overlay.data)
    except TemplateError as error:
        raise TemplateError(f"{tool}/{name}: {error.message}", hint=error.hint) from error
    return overlay


def _ways(tool: str, table: Mapping[str, Value]) -> Mapping[str, Value]:
    unknown = [way for way in table if way not in WAYS]
    if unknown:
        known = ", ".join(WAYS)
        raise TemplateError(f"{tool}/tool.toml: key.{unknown[0]} is no way a key can go", hint=f"Known: {known}.")
    for way, spelling in table.items():
        allowed = [name for name in RAW_KEY_FACTS if name != "key" or way == "plaintext"]
        for name in sorted(facts_named(spelling) - {*allowed}):
            hint = f"Known there: {', '.join(allowed)}."
            raise TemplateError(f"{tool}/tool.toml: key.{way}: '<{name}>' is no key fact", hint=hint)
    if "keyring" in table and not _is_entry(table["keyring"]):
        hint = 'As in { service = "com.example.agent", user = "<key_variable>" }; no slash in the user.'
        raise TemplateError(f"{tool}/tool.toml: key.keyring is no entry of the keyring", hint=hint)
    return dict(table)


def _is_entry(spelling: Value) -> bool:
    """Whether it names an entry: a service, and a user's name."""
    if not isinstance(spelling, Mapping) or {*spelling} != {"service", "user"}:
        return False
    service, user = spelling["service"], spelling["user"]
    return all(isinstance(text, str) and text for text in (service, user)) and "/" not in str(user)


def _file_row(
    tool: str,
    row: Mapping[str, Any],
    manifest: Mapping[str, Any],
    texts: Mapping[str, str],
    known: Sequence[Mapping[str, Tool]],
) -> FileRow:
    name = row["overlay"]
    if ("store" in manifest) != ("part" in row):
        raise TemplateError(f"{tool}/tool.toml: {name}: `store` and `part` go together")
    path = row.get("path", manifest.get("path", ()))
    alternatives = (path,) if isinstance(path, str) else tuple(path)
    if not alternatives:
        raise TemplateError(f"{tool}/tool.toml: {name} has no path", hint="Say `path` in its [[file]].")
    each = re.fullmatch(r"<([a-z_]+)\?>", alternatives[0]) if len(alternatives) == 1 else None
    format = row.get("format") or documents.format_of(name)
    overlay = _of(tool, row, known) if "of" in row else _overlay(tool, name, format, texts)
    if "new" in row:
        _parsed(tool, f"tool.toml: the `new` of {name}", format, row["new"])
    schema = _data(tool, row["schema"], texts) if "schema" in row else None
    return FileRow(
        overlay=row.get("part", name),
        document=overlay,
        path=() if each else alternatives,
        each=each[1] if each else None,
        format=format,
        needs=row.get("needs", manifest.get("needs")),
        new=row.get("new"),
        schema=schema,
        running=tuple(row.get("running", manifest.get("running", ()))),
        part=row.get("part", ""),
        of=row.get("of", ""),
        template=name,
        is_replaced=row.get("of") in known[0] and _held(row, known[0]) is None,
    )


def _of(tool: str, row: Mapping[str, Any], known: Iterable[Mapping[str, Tool]]) -> Document:
    """The overlay of another tool's own file, which the part holds."""
    overlay = next((overlay for tools in known if (overlay := _held(row, tools)) is not None), None)
    if overlay is None:
        text = f"{tool}/tool.toml: {row['of']} has no {row['overlay']}"
        raise TemplateError(text, hint="`of` names a tool and its file.")
    return overlay


def _held(row: Mapping[str, Any], tools: Mapping[str, Tool]) -> Document | None:
    """The overlay that the row's `of` and `overlay` name, if it is among the tools."""
    files = tools[row["of"]].files if row["of"] in tools else ()
    return next((file.document for file in files if file.overlay == row["overlay"]), None)
