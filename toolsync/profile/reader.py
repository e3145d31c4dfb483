"""`profile.toml` read and checked whole: every problem is named, with its line, in the file's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.address import normal
from toolsync.document import Document, KeyPath, Value, parse
from toolsync.errors import DocumentError, ProfileError
from toolsync.keyref import PREFIXES, REFERENCE, KeyRef
from toolsync.masking import holds_key_shape, looks_secret
from toolsync.profile.model import Profile, Profiles
from toolsync.profile.problem import Problem, schema_problems
from toolsync.profile.wording import one_line


def read(text: bytes | str, file: str = "profile.toml") -> Profiles:
    """The profiles in `text`.

    Args:
        text: the whole file.
        file: what messages call it.

    Raises:
        ProfileError: it cannot be parsed, or says something that is not allowed; one line for each problem, as
            `profile.toml:12: profiles.work.request.timeout_seconds: 'abc' is not a number`.
    """
    document = parsed(text, file)
    wrong = problems(document)
    if wrong:
        lines = [f"{one_line(file)}:{line_of(document, problem.path)}: {problem.sentence}" for problem in wrong]
        raise ProfileError("\n".join(lines), hint=next((problem.hint for problem in wrong if problem.hint), ""))
    tables = document.data.get("profiles", {})
    profiles = tuple(_profile(name, table) for name, table in tables.items())
    return Profiles(document.data.get("active"), profiles, document, file)


def parsed(text: bytes | str, file: str = "profile.toml") -> Document:
    """The file as a document, whatever it says.

    Raises:
        ProfileError: it cannot be parsed.
    """
    try:
        return parse(text.encode() if isinstance(text, str) else text, "toml")
    except DocumentError as error:
        named = error.at(one_line(file))
        raise ProfileError(named.message, hint=named.hint or "`toolsync profile edit` opens it.") from error


def _profile(name: str, table: Mapping[str, Any]) -> Profile:
    return Profile(name=name, **{**table, "key": KeyRef.parse(table["key"])})


def problems(document: Document) -> list[Problem]:
    """All that is wrong in the file, by line."""
    found = _first_of_each([*_meaning_problems(document.data), *schema_problems(document.data)])
    return sorted(found, key=lambda problem: line_of(document, problem.path))


def _first_of_each(found: list[Problem]) -> list[Problem]:
    """One complaint about each value is enough; but several fields may be missing in one table."""
    firsts: dict[tuple[KeyPath, str], Problem] = {}
    for problem in found:
        missing = problem.reason if problem.reason.endswith(" is missing") else ""
        firsts.setdefault((problem.path, missing), problem)
    return list(firsts.values())


def line_of(document: Document, path: KeyPath) -> int:
    """The 1-based line where `path` stands; for a table, where it starts."""
    for length in range(len(path), 0, -1):
        position = document.position(path[:length])
        if position:
            return position[0]
    return 1


# What a schema cannot say.


def _meaning_problems(data: Value) -> Iterator[Problem]:
    for path, value in _strings(data, ()):
        yield from _string_problems(path, value)


def _strings(value: Value, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for name, child in value.items():
                yield from _strings(child, (*path, name))
        case list():
            for index, child in enumerate(value):
                yield from _strings(child, (*path, index))


def _string_problems(path: KeyPath, value: str) -> Iterator[Problem]:
    match path:
        case (*_, "base_url") | (*_, "urls", _):
            yield from _address_problems(path, value)
        case (*_, "headers", str(header)):
            yield from _header_problems(path, header, value)
    if holds_key_shape(value):
        yield Problem(path, "the value looks like a key; no key stands in this file, only where it is to be had")


def _address_problems(path: KeyPath, value: str) -> Iterator[Problem]:
    try:
        normal(value)
    except ProfileError as error:
        yield Problem(path, one_line(error.message), error.hint)


_REFERENCES = "keyring:NAME, env:VARIABLE, command:LINE, systemd:NAME or age:PATH"


def _header_problems(path: KeyPath, header: str, value: str) -> Iterator[Problem]:
    if value.startswith(PREFIXES):
        if not REFERENCE.fullmatch(value):
            yield Problem(path, f"the value is not a whole reference ({_REFERENCES})")
    elif looks_secret(header) and not value.isdigit():
        yield Problem(path, f"the value is secret by its name: write {_REFERENCES}")
