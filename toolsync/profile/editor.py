"""Changes of `profile.toml`, text in and text out: only the lines of the change differ, comments stay.

Each function raises `ProfileError` where `reader.read` would of what came in or what would go out, so that a file that
is valid stays valid; `file` is what messages call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolsync.document import Document, KeyPath, Value
from toolsync.document.data import equal, put
from toolsync.errors import DocumentError, ProfileError
from toolsync.keyref import NAME
from toolsync.masking import holds_key_shape
from toolsync.profile import page
from toolsync.profile.reader import parsed, problems, read
from toolsync.profile.wording import one_line


def added(text: str, name: str, table: Mapping[str, Any], *, active: bool, file: str = "profile.toml") -> str:
    """The file with a new profile at its end; an empty file first gets an opening and a card of all fields.

    Args:
        text: the file, or "" where there is none yet.
        name: what the profile is to be called.
        table: its fields, as in the file.
        active: whether it becomes the active one.
        file: what messages call the file.

    Raises:
        ProfileError: there is a profile of that name already, or the result would not be valid.
    """
    demand_free(text, name, file)
    if not text.strip("\ufeff \t\r\n"):
        opened = page.opening(name if active else None)
        return valid(parsed(f"{opened}\n{page.block(name, table)}\n{page.card()}", file), file)
    before = parsed(text, file)
    grown = _with_block(before, name, table) or set_in(before, ("profiles", name), table, file)
    if active:
        grown = set_in(grown, ("active",), name, file)
    return valid(grown, file)


def _with_block(document: Document, name: str, table: Mapping[str, Any]) -> Document | None:
    """With a laid-out block at the end; None where that cannot be, as with `profiles = { … }`."""
    text = document.text
    line_end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if text.endswith("\n") else line_end
    block = page.block(name, table).replace("\n", line_end)
    try:
        grown = parsed(f"{text}{gap}{line_end}{block}", "")
    except ProfileError:
        return None
    return grown if equal(grown.data, put(document.data, ("profiles", name), dict(table))) else None


def used(text: str, name: str, file: str = "profile.toml") -> str:
    """The file with `name` as the active profile.

    Raises:
        ProfileError: there is no such profile.
    """
    profiles = read(text, file)
    profiles.named(name)
    return valid(set_in(profiles.document, ("active",), name, file), file)


def removed(text: str, name: str, file: str = "profile.toml") -> str:
    """The file without a profile; if it was the active one, none is active then.

    Raises:
        ProfileError: there is no such profile, or it cannot go without taking something foreign along.
    """
    document = parsed(text, file)
    if name not in names(document):
        read(text, file).named(name)
    shrunk = _without(document, ("profiles", name), file)
    if document.data.get("active") == name:
        shrunk = _without(shrunk, ("active",), file)
    before = [(problem.path, problem.sentence) for problem in problems(document)]
    is_no_worse = all((problem.path, problem.sentence) in before for problem in problems(shrunk))
    return shrunk.text if is_no_worse else valid(shrunk, file)  # what is wrong in it, or beside it, keeps none there


def names(document: Document) -> tuple[str, ...]:
    """The profiles, be they valid or not."""
    profiles = document.data.get("profiles")
    return tuple(profiles) if isinstance(profiles, dict) else ()


def with_values(text: str, name: str, values: Mapping[KeyPath, Value], file: str = "profile.toml") -> str:
    """The file with fields of a profile set, or taken out where the value is None.

    Args:
        text: the file.
        name: the profile.
        values: from paths below the profile, as `("request", "timeout_seconds")`.
        file: what messages call the file.

    Raises:
        ProfileError: there is no such profile, or a value is not allowed.
    """
    profiles = read(text, file)
    profiles.named(name)
    document = profiles.document
    for path, value in values.items():
        whole = ("profiles", name, *path)
        if value is None:
            document = _without(document, _emptied(document, whole), file)
        else:
            document = set_in(document, whole, value, file)
    return valid(document, file)


def _emptied(document: Document, path: KeyPath) -> KeyPath:
    """The table that holds nothing but `path`, and would say nothing without it; else `path`."""
    above = path[:-1]
    while len(above) > len(("profiles", "NAME")) and document.get(above) == {path[-1]: document.get(path)}:
        path, above = above, above[:-1]
    return path


def demand_free(text: str, name: str, file: str) -> None:
    """Nothing, if a new profile may be called so.

    Raises:
        ProfileError: it may not, or there is one.
    """
    demand_name(name)
    if text and name in read(text, file).names:
        raise ProfileError(
            f"{file}: there is a profile '{name}' already",
            hint=f"`toolsync profile edit {name}` changes it; or choose another name.",
        )


def demand_name(name: str) -> None:
    """Nothing, if a profile may be called so.

    Raises:
        ProfileError: it may not.
    """
    if not NAME.fullmatch(name) or holds_key_shape(name):
        raise ProfileError(
            f"'{one_line(name)}' is no name for a profile",
            hint="Take letters, digits, '.', '_' and '-', a letter or digit first; and never the key itself.",
        )


def valid(document: Document, file: str) -> str:
    """The text of an edited document; what is wrong in it the edit brought, and no line of it is on the disk.

    Raises:
        ProfileError: something is.
    """
    wrong = problems(document)
    if wrong:
        lines = [f"{file}: {problem.sentence}" for problem in wrong]
        hints = [problem.hint for problem in wrong if problem.hint]
        raise ProfileError("\n".join(lines), hint=" ".join([*hints[:1], "Nothing was changed."]))
    return document.text


def set_in(document: Document, path: KeyPath, value: Value, file: str) -> Document:
    """The document with a value set.

    Raises:
        ProfileError: the place cannot hold it.
    """
    try:
        return document.set(path, value)
    except DocumentError as error:
        raise _as_profile_error(error, file) from error


def _without(document: Document, path: KeyPath, file: str) -> Document:
    try:
        return document.remove(path)
    except DocumentError as error:
        raise _as_profile_error(error, file) from error


def _as_profile_error(error: DocumentError, file: str) -> ProfileError:
    named = error.at(file)
    return ProfileError(named.message, hint=f"{named.hint} `toolsync profile edit` opens the file.".strip())
