"""A profile's name changed wherever the file writes it: headers, dotted keys, braces."""

from __future__ import annotations

from collections.abc import Iterator

from toolsync.document.data import equal
from toolsync.document.splice import Splice, apply
from toolsync.document.toml_scan import Header, Key, Node, Pair, Place, scan
from toolsync.errors import ProfileError
from toolsync.profile.editor import demand_name, set_in, valid
from toolsync.profile.reader import parsed, read


def renamed(text: str, old: str, new: str, file: str = "profile.toml") -> str:
    """The file with the profile `old` called `new`; `active` follows, the key stays where it is.

    Raises:
        ProfileError: there is no `old`, there is a `new`, or `new` is no name, or looks like a key.
    """
    profiles = read(text, file)
    profiles.named(old)
    demand_name(new)
    if old == new:
        return text
    if new in profiles.names:
        raise ProfileError(f"{file}: there is a profile '{new}' already", hint="Choose another name.")
    spelling = f'"{new}"' if "." in new else new
    splices = [Splice(start, end - start, spelling) for start, end in _spans(text, ("profiles", old))]
    document = parsed(apply(text, reversed(splices)), file)
    if profiles.active == old:
        document = set_in(document, ("active",), new, file)
    _demand_same(profiles.document.data, document.data, old, new, file)
    source = document.data["profiles"][new].get("from")
    if source is not None and "#" not in source:  # which meant the profile of the same name there
        document = set_in(document, ("profiles", new, "from"), f"{source}#{old}", file)
    return valid(document, file)


def _demand_same(before: dict[str, object], after: dict[str, object], old: str, new: str, file: str) -> None:
    tables = before["profiles"]
    assert isinstance(tables, dict)  # noqa: S101  the schema says so
    intended = {**before, "profiles": {new if name == old else name: table for name, table in tables.items()}}
    if before.get("active") == old:
        intended["active"] = new
    if not equal(after, intended):
        raise ProfileError(f"{file}: '{old}' cannot be renamed", hint="`toolsync profile edit` opens the file.")


def _spans(text: str, path: Place) -> Iterator[tuple[int, int]]:
    """Where the last part of `path` is written in a key, in the order of the text."""
    for line in scan(text):
        match line:
            case Header():
                yield from _in_key(text, line.key, (), path)
            case Pair():
                yield from _in_key(text, line.key, line.section, path)
                yield from _in_value(text, line.value, line.path, path)


def _in_value(text: str, value: Node, at: Place, path: Place) -> Iterator[tuple[int, int]]:
    if value.kind != "table" or path[: len(at)] != at:
        return
    for member in value.members:
        if member.key:
            yield from _in_key(text, member.key, at, path)
            yield from _in_value(text, member.value, at + member.key.parts, path)


def _in_key(text: str, key: Key, above: Place, path: Place) -> Iterator[tuple[int, int]]:
    index = len(path) - len(above) - 1
    if index < 0 or (above + key.parts)[: len(path)] != path:
        return
    start = key.start
    if index:
        before = key.ends[index - 1]
        start = before + len(text[before : key.ends[index]]) - len(text[before : key.ends[index]].lstrip(" \t."))
    yield start, key.ends[index]
