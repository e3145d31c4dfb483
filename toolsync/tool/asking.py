"""How a tool asks its gateway, by which way, and which of its programs run, as its template spells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolsync.document.keypath import parse as parse_path
from toolsync.errors import TemplateError
from toolsync.proxies import Proxies
from toolsync.tool.model import Reader, Request
from toolsync.tool.running import Connection, Processes, Runtime, Setting

_HEADERS = {
    "openai-chat": {"key": "authorization", "x_key": "x-api-key"},
    "openai-responses": {"key": "authorization", "x_key": "x-api-key"},
    "anthropic-messages": {"key": "x-api-key", "x_key": "x-api-key"},
    "gemini": {"key": "x-goog-api-key"},
}
"""Where a client of the dialect puts its key unless the template says something else."""

NAME = "NAME"
"""What stands for the variable's name in the spelling of a reference."""

FILE = "PATH"
"""What stands for the path in the spelling of a reference to a file."""


def request(
    tool: str, table: Mapping[str, Any], speaks: Sequence[str], readers: Sequence[Reader], by_variable: object
) -> Request:
    """The `[request]` table, filled up with what the dialect says.

    Args:
        tool: its name.
        table: as it stands there.
        speaks: the tool's dialects.
        readers: its programs.
        by_variable: how `[key]` spells a variable's name in the tool's settings, if it does.

    Raises:
        TemplateError: a header or an alias speaks of no question, `trims` of no program, a reference names no variable,
            or a place is no path.
    """
    stated, aliases = table.get("headers", {}), table.get("aliases", {})
    _stop_at_unasked(tool, {"headers": stated, "aliases": aliases.values()}, readers)
    references, tolerates = tuple(table.get("references", _implied(by_variable))), table.get("tolerates", {})
    _stop_at_nameless(tool, references)
    environment, runs = tuple(table.get("environment", ())), tuple(table.get("runs", ()))
    for path in (*environment, *runs):
        parse_path(path)
    return Request(
        headers={**_HEADERS.get(speaks[0] if speaks else "", {}), **stated},
        outdone=tuple(name.lower() for name in table.get("outdone", ())),
        path=table.get("path"),
        streams=table.get("streams", True),
        references=references,
        environment=environment,
        at_start=tuple(table.get("at_start", ())),
        runs=runs,
        needs_key=table.get("needs_key", False),
        falls_back=table.get("falls_back", False),
        trims=_trimming(tool, table.get("trims", False), readers),
        tolerates_key=tolerates.get("key", ""),
        tolerates_address=tolerates.get("address", ""),
        aliases=aliases,
        timeout_seconds=table.get("timeout_seconds"),
        timeout_of=tuple(table.get("timeout_of", ("first",))),
        limit=table.get("limit", ""),
    )


def _implied(by_variable: object) -> Sequence[str]:
    """The spelling by which the tool is told of a variable: it expands that one, or there would be no point in it."""
    if not isinstance(by_variable, str) or "<key_variable>" not in by_variable:
        return ()
    spelling = by_variable.replace("<key_variable>", NAME)
    return (spelling,) if spelling.count(NAME) == 1 and spelling != NAME else ()


def _trimming(tool: str, stated: Any, readers: Sequence[Reader]) -> tuple[str, ...]:
    names = [reader.name for reader in readers]
    if isinstance(stated, bool):
        return tuple(names) if stated else ()
    for name in stated:
        if name not in names:
            raise TemplateError(f"{tool}/tool.toml: request.trims: the trace has no program '{name}'")
    return tuple(stated)


def _stop_at_unasked(tool: str, fields: Mapping[str, Iterable[str]], readers: Sequence[Reader]) -> None:
    asked = {question for reader in readers for question in reader.questions}
    for field, questions in fields.items():
        for question in questions:
            if question not in asked:
                raise TemplateError(f"{tool}/tool.toml: request.{field} speaks of '{question}', which no trace asks")


def _stop_at_nameless(tool: str, references: Sequence[str]) -> None:
    for spelling in references:
        if spelling.count(NAME) + spelling.count(FILE) != 1 or spelling in (NAME, FILE):
            hint = 'Write it as the tool does, with NAME for the name: "${NAME}"; PATH stands for a file.'
            raise TemplateError(f"{tool}/tool.toml: request.references: '{spelling}' is no reference", hint=hint)


def processes(
    tool: str, table: Mapping[str, Any], commands: Sequence[str], running: Sequence[str], readers: Sequence[Reader]
) -> Iterator[tuple[str, Processes]]:
    """The `[processes]` table by reader; unnamed, they are the tool's commands, on a desktop those of `running`.

    Raises:
        TemplateError: it speaks of a program that the trace does not know.
    """
    for name, own in _by_reader(tool, "processes", table, readers):
        is_desktop = own.get("desktop", False)
        named = own.get("names", running if is_desktop else commands)
        yield (
            name,
            Processes(
                tuple(named),
                is_live=own.get("live", False),
                is_desktop=is_desktop,
                ends=own.get("ends", ""),
                live_as=frozenset(own.get("live_as", ())),
                idle_as=frozenset(own.get("idle_as", ())),
                extension=own.get("extension", ""),
            ),
        )


def connections(tool: str, table: Mapping[str, Any], readers: Sequence[Reader]) -> Iterator[tuple[str, Connection]]:
    """The `[connection]` table by reader.

    Raises:
        TemplateError: it speaks of a program that the trace does not know.
    """
    for name, own in _by_reader(tool, "connection", table, readers):
        older = {each["version"]: _connection({**own, **each}) for each in own.get("older", ())}
        yield name, replace(_connection(own), older=older)


_ANY = Proxies()


def _connection(table: Mapping[str, Any]) -> Connection:
    by, runtime = table.get("system_roots_by"), table.get("runtime")
    return Connection(
        Proxies(
            http=tuple(table.get("http_proxy", _ANY.http)),
            https=tuple(table.get("https_proxy", _ANY.https)),
            straight=tuple(table.get("no_proxy", _ANY.straight)),
            forms=tuple(table.get("no_proxy_forms", _ANY.forms)),
            schemes=tuple(table.get("proxies", _ANY.schemes)),
            as_http=tuple(table.get("proxies_as_http", ())),
            passes_over=table.get("passes_over", False),
            empty_hides=table.get("empty_hides", False),
            tunnels=table.get("tunnels", False),
        ),
        certificates=tuple(table.get("certificates", ())),
        unchecked=dict(text.split("=", 1) for text in table.get("unchecked", ())),
        refuses_authorities=table.get("refuses_authorities", False),
        replaces_roots=tuple(table.get("replaces_roots", ())),
        system_roots_by=None if by is None else _settings(by),
        runtime=None
        if runtime is None
        else Runtime(runtime["command"], runtime["version"], _settings(runtime["system_roots_by"])),
    )


def _settings(stated: Iterable[str]) -> tuple[Setting, ...]:
    return tuple((name, word) for name, _, word in (text.partition("=") for text in stated))


def _by_reader(
    tool: str, field: str, table: Mapping[str, Any], readers: Sequence[Reader]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What a table says of each program: the same, unless its entries are tables, called after them."""
    is_by_reader = bool(table) and all(isinstance(value, Mapping) for value in table.values())
    names = {reader.name: reader.newer_than for reader in readers}
    for name in table if is_by_reader else ():
        if name not in names:
            raise TemplateError(f"{tool}/tool.toml: {field}.{name}: the trace has no such program")
    for name, older in names.items():
        yield name, table.get(name, table.get(older, {})) if is_by_reader else table
