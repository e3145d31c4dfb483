"""`profile.toml` read and checked whole: every problem is named, with its line, in the file's own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolsync.address import normal
from toolsync.document import Document, KeyPath, Value, parse
from toolsync.errors import DocumentError, FileError, ProfileError, SharedProfileError, UntrustedProfileError
from toolsync.keyref import PREFIXES, REFERENCE, KeyRef
from toolsync.masking import holds_key_shape, looks_secret
from toolsync.profile.model import Joined, Profile, Profiles
from toolsync.profile.problem import Problem, schema_problems
from toolsync.profile.wording import one_line

Join = Callable[[str, Mapping[str, Any]], Joined]
"""Gives the whole of a profile, by name and own table, that says `from`."""


def read(text: bytes | str, file: str = "profile.toml", join: Join | None = None) -> Profiles:
    """The profiles in `text`.

    Args:
        text: the whole file.
        file: what messages call it.
        join: None: those that begin in a shared file are named, and cannot be had.

    Raises:
        ProfileError: it cannot be parsed, or says something that is not allowed; one line for each problem, as
            `profile.toml:12: profiles.work.request.timeout_seconds: 'abc' is not a number`.
    """
    document = parsed(text, file)
    wrong = problems(document)
    if wrong:
        lines = [f"{one_line(file)}:{line_of(document, problem.path)}: {problem.sentence}" for problem in wrong]
        raise ProfileError("\n".join(lines), hint=next((problem.hint for problem in wrong if problem.hint), ""))
    profiles: list[Profile] = []
    missing: dict[str, SharedProfileError] = {}
    origins: dict[str, Mapping[str, str]] = {}
    for name, table in document.data.get("profiles", {}).items():
        try:
            joined = _joined(name, table, join) if "from" in table else Joined(table, {})
            profiles.append(_profile(name, joined.table))
            origins[name] = joined.origins
        except (ProfileError, FileError) as error:
            place = f"{one_line(file)}:{line_of(document, ('profiles', name, 'from'))}: profiles.{name}.from"
            kind = UntrustedProfileError if isinstance(error, UntrustedProfileError) else SharedProfileError
            missing[name] = kind(f"{place}: {error.message}", profile=name, hint=error.hint)
    return Profiles(document.data.get("active"), tuple(profiles), document, file, missing, origins)


def _joined(name: str, own: Mapping[str, Any], join: Join | None) -> Joined:
    if join is None:
        raise ProfileError("what the shared file says is not looked at here")
    joined = join(name, own)
    wrong = next(schema_problems({"profiles": {name: joined.table}}), None)
    if wrong is not None:
        raise ProfileError(f"with what is shared, {wrong.sentence}", hint="Add it to your own profile.toml.")
    return joined


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
    found = _first_of_each(
        [*_meaning_problems(document.data), *schema_problems(document.data), *_source_problems(document.data)]
    )
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


def _source_problems(data: Value) -> Iterator[Problem]:
    profiles = data.get("profiles") if isinstance(data, dict) else None
    for name, table in profiles.items() if isinstance(profiles, dict) else ():
        if isinstance(table, dict):
            yield from _source_problems_of(("profiles", name), table)


def _source_problems_of(path: KeyPath, table: Mapping[str, Any]) -> Iterator[Problem]:
    """An address without a hash may say another thing tomorrow; a repository has a history of its own."""
    is_address = str(table.get("from", "")).startswith("https://")
    if is_address and "sha256" not in table:
        hint = 'Ask who keeps the file for its hash (`sha256sum FILE`), and write it below: `sha256 = "HASH"`.'
        yield Problem((*path, "from"), "an address is taken only with `sha256`, the hash of what stands there", hint)
    if "sha256" in table and not is_address:
        yield Problem((*path, "sha256"), "it is for a `from` that is an address")
    if "trusted" in table and "from" not in table:
        yield Problem((*path, "trusted"), "there is no `from` here that it could be about")


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
