"""How a tool's own programs are asked once, as its template spells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolsync.errors import TemplateError
from toolsync.tool.model import Client, Reader, Slot
from toolsync.tool.tracing import slot

PROMPT = "<prompt>"
"""What stands for the question in a command."""

OUTPUT = ("json", "out", "err")
"""Where a slot may begin: the values that it printed as JSON, the latest first; what it printed; what it complained."""

QUESTIONS = ("answer", "error", "status", "refusal")


def clients(tool: str, rows: Sequence[Mapping[str, Any]], readers: Sequence[Reader]) -> Iterator[Client]:
    """The `[[client]]` rows.

    Raises:
        TemplateError: a row speaks of a program that the trace does not know, asks nothing, says no answer, or cannot
            be told from another one.
    """
    found = [_client(tool, row, readers) for row in rows]
    for row in found:
        same = [one for one in found if one.command[0] == row.command[0]]
        if len(same) > 1 and not all(one.version for one in same):
            hint = "Say by `version` which of them is asked how."
            raise TemplateError(f"{tool}/tool.toml: client: '{row.command[0]}' stands in two rows", hint=hint)
    yield from found


def _client(tool: str, row: Mapping[str, Any], readers: Sequence[Reader]) -> Client:
    command = tuple(row["command"])
    where = f"{tool}/tool.toml: client '{command[0]}'"
    if command[1:].count(PROMPT) != 1:
        raise TemplateError(f"{where}: its arguments do not hold {PROMPT} once", hint="It stands for the question.")
    return Client(
        reader=_reader(where, row.get("reader", ""), readers),
        command=command,
        output=Reader("", {question: tuple(_slots(where, question, row)) for question in QUESTIONS}),
        version=_version(where, row.get("version", "")),
        sets=dict(row.get("sets", {})),
        hides=tuple(row.get("hides", ())),
        timeout_seconds=row.get("timeout_seconds", Client.timeout_seconds),
        loads=tuple(row.get("loads", ())),
    )


def _reader(where: str, name: str, readers: Iterable[Reader]) -> str:
    names = [reader.name for reader in readers]
    if name not in names:
        known = ", ".join(filter(None, names))
        hint = f"Known: {known}." if known else "Leave `reader` out: the trace has one program."
        raise TemplateError(f"{where}: the trace has no program '{name}'", hint=hint)
    return name


def _slots(where: str, question: str, row: Mapping[str, Any]) -> Iterator[Slot]:
    for text in row.get(question, ()):
        try:
            read = slot(text)
        except TemplateError as error:
            raise TemplateError(f"{where}: {question}: {error.message}", hint=error.hint) from error
        if read.kind != "path" or re.split(r"[.\[]", read.text)[0] not in OUTPUT:
            hint = f"Begin with one of {', '.join(OUTPUT)}."
            raise TemplateError(f"{where}: {question}: '{text}' is no place of its output", hint=hint)
        yield read


def _version(where: str, pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise TemplateError(f"{where}: version: '{pattern}' is no regular expression: {error}") from error
    return pattern
