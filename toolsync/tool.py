"""A tool as its template describes it: where its settings live, what it speaks, how it takes a key, who sets it too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolsync import document as documents
from toolsync.document import Document, KeyPath, Value
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import TemplateError, ToolsyncError
from toolsync.facts import WAYS
from toolsync.overlay import variables

Dialect = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini"]


@dataclass(frozen=True)
class FileRow:
    """One settings file of a tool.

    Attributes:
        overlay: the overlay's file name in the template folder.
        document: the overlay itself, unfilled.
        path: alternatives, best first; or the name of a list fact (`<paths?>`) in `each`.
        each: the list fact that names the files, one each, or None.
        format: the settings file's format.
        needs: the row counts only where this path exists.
        new: what a file that does not exist starts as; None: the filled overlay with its comments.
        schema: JSON Schema that the tool's file must meet, or None.
    """

    overlay: str
    document: Document
    path: tuple[str, ...]
    format: str
    each: str | None = None
    needs: str | None = None
    new: str | None = None
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Slot:
    """One place where the answer to a question may stand.

    Attributes:
        kind: `path` in the layers, `variable` of the environment, or `default` of the tool itself.
        text: the path, the variable's name (or `<question>` that names it), or the default.
        pattern: group 1 of it is the answer, or None for the whole value.
    """

    kind: Literal["path", "variable", "default"]
    text: str
    pattern: str | None = None

    def __str__(self) -> str:
        return {"path": self.text, "variable": f"${self.text}", "default": f"={self.text}"}[self.kind]


@dataclass(frozen=True)
class Reader:
    """One program that reads the settings, and how it finds its answers.

    Attributes:
        name: empty when the tool has one reader only.
        questions: the slots of each question, strongest first, in the order in which they are answered.
        agree: questions whose answers must come from one slot.
        expect: the answers that ours must give.
    """

    name: str
    questions: Mapping[str, tuple[Slot, ...]]
    agree: tuple[str, ...] = ()
    expect: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layer:
    """One place that sets values, as the tool layers them.

    Attributes:
        name: what people call it.
        kind: another file, one of our own rows, or the environment.
        path: alternatives, for `file`.
        overlay: the row's name, for `overlay`.
        format: of the file.
        at: the key under which the layer's tree is mounted, or "".
        ignores: keys that this layer may not set.
    """

    name: str
    kind: Literal["file", "overlay", "environment"]
    path: tuple[str, ...] = ()
    overlay: str = ""
    format: str = ""
    at: str = ""
    ignores: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One template, read.

    Attributes:
        name: the folder's name; what `--tool` takes.
        title: what people call it.
        speaks: the dialects of its requests; the first is the one that is pinged.
        reload: what a person must do for new values to count.
        commands: programs whose presence on PATH shows that the tool is installed.
        paths: files or folders that show it.
        running: names of processes that write old values back.
        shell: whose quoting rules hold for a command line in its settings.
        key: each way the tool can take a key, best first, and how it spells it.
        files: its settings files.
        readers: who reads them; at least one.
        layers: lowest first.
        is_users_own: whether it comes from the user's config directory.
    """

    name: str
    title: str
    speaks: tuple[Dialect, ...]
    reload: str
    commands: tuple[str, ...]
    paths: tuple[str, ...]
    running: tuple[str, ...]
    key: Mapping[str, Value]
    files: tuple[FileRow, ...]
    readers: tuple[Reader, ...]
    layers: tuple[Layer, ...]
    is_users_own: bool = False


def read_tool(name: str, texts: Mapping[str, str], *, is_users_own: bool = False) -> Tool:
    """The tool in a template folder.

    Args:
        name: the folder's name.
        texts: the folder's files by name; `tool.toml` is the manifest.
        is_users_own: whether the folder is the user's.

    Raises:
        TemplateError: the manifest or an overlay is wrong; names the file.
    """
    manifest = _data(name, "tool.toml", texts)
    files = tuple(_file_row(name, row, manifest, texts) for row in manifest.get("file", []))
    if not files:
        raise TemplateError(f"{name}/tool.toml: no [[file]]", hint="A tool needs at least one settings file.")
    detect = manifest.get("detect", {})
    return Tool(
        name=name,
        title=manifest.get("title", name),
        speaks=tuple(manifest.get("speaks", ())),
        reload=manifest.get("reload", ""),
        commands=tuple(detect.get("commands", ())),
        paths=tuple(detect.get("paths", ())),
        running=tuple(manifest.get("running", ())),
        key=_ways(name, manifest.get("key", {})),
        files=files,
        readers=tuple(_readers(name, manifest.get("trace"), files)),
        layers=tuple(_layers(manifest.get("layer"), files)),
        is_users_own=is_users_own,
    )


def _data(tool: str, name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = _document(tool, name, documents.format_of(name), texts).data
    return data


def _document(tool: str, name: str, format: str, texts: Mapping[str, str]) -> Document:
    if name not in texts:
        raise TemplateError(f"{tool}/{name} is missing", hint=f"'{tool}/tool.toml' names it.")
    try:
        return documents.parse(texts[name].encode(), format)
    except ToolsyncError as error:
        raise TemplateError(f"{tool}/{name}: {error.message}", hint=error.hint) from error


def _ways(tool: str, table: Mapping[str, Value]) -> Mapping[str, Value]:
    unknown = [way for way in table if way not in WAYS]
    if unknown:
        raise TemplateError(f"{tool}/tool.toml: key.{unknown[0]} is no way a key can go", hint=f"Known: {WAYS}.")
    return dict(table)


def _file_row(tool: str, row: Mapping[str, Any], manifest: Mapping[str, Any], texts: Mapping[str, str]) -> FileRow:
    name = row["overlay"]
    path = row.get("path", manifest.get("path", ()))
    alternatives = (path,) if isinstance(path, str) else tuple(path)
    each = re.fullmatch(r"<([a-z_]+)\?>", alternatives[0]) if len(alternatives) == 1 else None
    format = row.get("format") or documents.format_of(name)
    overlay = _document(tool, name, format, texts)
    schema = _data(tool, row["schema"], texts) if "schema" in row else None
    return FileRow(
        overlay=name,
        document=overlay,
        path=() if each else alternatives,
        each=each[1] if each else None,
        format=format,
        needs=row.get("needs", manifest.get("needs")),
        new=row.get("new"),
        schema=schema,
    )


# The trace: who wins, as data.


def _readers(tool: str, table: Mapping[str, Any] | None, files: Sequence[FileRow]) -> Iterator[Reader]:
    if table is None:
        yield _derived(files)
        return
    if all(isinstance(value, Mapping) for name, value in table.items() if name != "expect"):
        for name, reader in table.items():
            yield _reader(tool, name, reader)
        return
    yield _reader(tool, "", table)


def _reader(tool: str, name: str, table: Mapping[str, Any]) -> Reader:
    questions = {
        question: tuple(slot(text) for text in slots)
        for question, slots in table.items()
        if question not in ("agree", "expect")
    }
    agree, expect = tuple(table.get("agree", ())), dict(table.get("expect", {}))
    for question in (*agree, *expect):
        if question not in questions:
            raise TemplateError(f"{tool}/tool.toml: trace speaks of '{question}', which it does not ask")
    return Reader(name, questions, agree, expect)


def slot(text: str) -> Slot:
    """The slot in the manifest's spelling: a path, `path ~ regex`, `$VARIABLE`, `$<question>` or `=default`."""
    if text.startswith("="):
        return Slot("default", text[1:])
    if text.startswith("$"):
        return Slot("variable", text[1:])
    path, tilde, pattern = text.partition(" ~ ")
    parse_path(path)
    return Slot("path", path, pattern if tilde else None)


def _derived(files: Sequence[FileRow]) -> Reader:
    """Without a trace of its own, a tool is taken to believe its own files."""
    found: dict[str, list[Slot]] = {}
    for row in files:
        for path, names in variables(row.document.data):
            question = _question(names)
            if question is not None and _is_plain(path):
                found.setdefault(question, []).append(Slot("path", spell(path)))
    return Reader("", {question: tuple(slots) for question, slots in found.items()})


def _question(names: frozenset[str]) -> str | None:
    if any(name.endswith("_url") for name in names):
        return "base_url"
    if any(name.startswith("key_") for name in names):
        return "key"
    return "model" if "model" in names else None


def _is_plain(path: KeyPath) -> bool:
    return not any("<" in step for step in path if isinstance(step, str))


def _layers(rows: Sequence[Mapping[str, Any]] | None, files: Sequence[FileRow]) -> Iterator[Layer]:
    if rows is None:
        for file in files:
            yield Layer(file.overlay, "overlay", overlay=file.overlay, format=file.format)
        return
    for row in rows:
        at, ignores = row.get("at", ""), tuple(row.get("ignores", ()))
        if "environment" in row:
            yield Layer(row["name"], "environment", at=row["environment"], ignores=ignores)
        elif "overlay" in row:
            yield Layer(row["name"], "overlay", overlay=row["overlay"], at=at, ignores=ignores)
        else:
            path = (row["file"],) if isinstance(row["file"], str) else tuple(row["file"])
            format = row.get("format") or documents.format_of(path[-1])
            yield Layer(row["name"], "file", path=path, format=format, at=at, ignores=ignores)
