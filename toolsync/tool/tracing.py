"""A tool's trace as its template spells it: questions, slots and layers; or one derived from the overlays."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolsync import document as documents
from toolsync.document import Item, KeyPath
from toolsync.document.keypath import parse as parse_path
from toolsync.document.keypath import spell
from toolsync.errors import TemplateError
from toolsync.overlay import is_plain, variables
from toolsync.pattern import late
from toolsync.tool.model import FileRow, Layer, Reader, Slot


def readers(tool: str, table: Mapping[str, Any] | None, files: Sequence[FileRow]) -> Iterator[Reader]:
    """The programs that read the tool's settings; without a `[trace]` one, derived from the overlays.

    Raises:
        TemplateError: a slot cannot be read, or speaks of a question that is not asked.
    """
    if table is None:
        yield _derived(files)
        return
    if table and not {"expect", "known"} & table.keys() and all(isinstance(value, Mapping) for value in table.values()):
        read: dict[str, Reader] = {}
        for name, reader in table.items():
            read[name] = _reader(tool, name, reader, read)
        yield from read.values()
        return
    yield _reader(tool, "", table, {})


def layers(tool: str, rows: Sequence[Mapping[str, Any]] | None, files: Sequence[FileRow]) -> Iterator[Layer]:
    """The places that set values, lowest first; without `[[layer]]` the tool's own files.

    Raises:
        TemplateError: a layer names a file that the tool does not have, or one of unknown format.
    """
    if rows is None or all(row.get("unread") for row in rows):
        for file in files:
            yield Layer(file.overlay, "overlay", overlay=file.overlay, format=file.format)
        return
    yield from (_layer(tool, row, files) for row in rows if not row.get("unread"))


def unread(tool: str, rows: Sequence[Mapping[str, Any]] | None, files: Sequence[FileRow]) -> Iterator[Layer]:
    """The files in which people put these settings, and that the tool does not read.

    Raises:
        TemplateError: see `layers`.
    """
    yield from (_layer(tool, row, files) for row in rows or () if row.get("unread"))


def _layer(tool: str, row: Mapping[str, Any], files: Sequence[FileRow]) -> Layer:
    name, ignores, is_managed = row["name"], tuple(row.get("ignores", ())), row.get("managed", False)
    at = row.get("environment", row.get("at", ""))
    refuses, wants, needs = (tuple(map(slot, row.get(field, ()))) for field in ("refuses", "wants", "needs"))
    for path in filter(None, (at, *ignores)):
        parse_path(path)
    if "environment" in row:
        return Layer(name, "environment", at=at, ignores=ignores, is_managed=is_managed)
    if "overlay" in row:
        if not any(file.overlay == row["overlay"] for file in files):
            raise TemplateError(f"{tool}/tool.toml: layer '{name}': no [[file]] has '{row['overlay']}'")
        own = Layer(name, "overlay", overlay=row["overlay"], at=at, ignores=ignores, is_managed=is_managed)
        return replace(own, refuses=refuses, wants=wants, is_login=row.get("login", False))
    alternatives = (row["file"],) if isinstance(row["file"], str) else tuple(row["file"])
    for path in alternatives:
        if re.search(r"\*.*[/\\]", path):
            text = f"{tool}/tool.toml: layer '{name}': '{path}' has a `*` before its last part"
            raise TemplateError(text, hint="A layer is one file, or the files of one folder: `settings.d/*.json`.")
    format = row.get("format") or documents.format_of(alternatives[-1])
    own = Layer(name, "file", alternatives, "", format, at, ignores, is_managed, refuses, wants, needs)
    return replace(own, is_login=row.get("login", False))


def _reader(tool: str, name: str, table: Mapping[str, Any], read: Mapping[str, Reader]) -> Reader:
    """A program; what the table of another version of one that was `read` leaves out is as there."""
    newer_than = table.get("newer_than", "")
    older = read.get(newer_than, Reader(name, {}))
    if newer_than and (newer_than not in read or older.newer_than):
        raise TemplateError(f"{tool}/tool.toml: trace.{name}: no program '{newer_than}' of its own stands above it")
    questions = dict(older.questions)
    for question, slots in table.items():
        if question not in ("agree", "expect", "known", "merge", "newer_than"):
            questions[question] = tuple(_slot(tool, question, text, known=questions) for text in slots)
    agree, expect = tuple(table.get("agree", older.agree)), dict(table.get("expect", older.expect))
    merge = tuple(table.get("merge", older.merge))
    known = {question: tuple(texts) for question, texts in table.get("known", older.known).items()}
    for question in (*agree, *expect, *merge, *known):
        if question not in questions:
            raise TemplateError(f"{tool}/tool.toml: trace speaks of '{question}', which it does not ask")
    return Reader(name, questions, agree, expect, merge, newer_than, known)


def _slot(tool: str, question: str, text: str, *, known: Container[str]) -> Slot:
    """One slot of a question, which may speak of the questions answered before it."""
    try:
        read = slot(text)
    except TemplateError as error:
        raise TemplateError(f"{tool}/tool.toml: trace.{question}: {error.message}", hint=error.hint) from error
    for name in [*re.findall(r"<([a-z_]+)>", read.text), *filter(None, (read.unless,))]:
        if name not in known:
            raise TemplateError(f"{tool}/tool.toml: trace.{question}: '{text}' speaks of '{name}', not asked before it")
    return read


def slot(text: str) -> Slot:
    """The slot in the manifest's spelling: a path, `path ~ regex`, `$VARIABLE`, `$<question>` or `=default`.

    Behind each may stand ` unless <question>`.

    Raises:
        TemplateError: the path is none, or the expression has not the one group that is the answer.
    """
    if condition := _UNLESS.search(text):
        return replace(slot(text[: condition.start()]), unless=condition[1])
    if text.startswith("="):
        return Slot("default", text[1:])
    if text.startswith("$"):
        return Slot("variable", text[1:])
    path, tilde, pattern = text.partition(" ~ ")
    parse_path(path)
    if tilde and _groups(pattern) != 1:
        raise TemplateError(f"'{pattern}' is no regular expression with one group", hint="The group is the answer.")
    return Slot("path", path, pattern if tilde else None)


_UNLESS = late(r" unless <([a-z_]+)>$")


def _groups(pattern: str) -> int | None:
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


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
    return next((question for name, question in _BY_FACT.items() if name in names), None)


_BY_FACT = {
    "model": "model",
    "timeout_seconds": "timeout_seconds",
    "timeout_ms": "timeout_ms",
    "timeout_ms_text": "timeout_ms",
    "stream": "stream",
    "headers": "headers",
    "headers_lines": "headers",
}


def _is_plain(path: KeyPath) -> bool:
    return all(is_plain(step.value if isinstance(step, Item) else str(step)) for step in path)
