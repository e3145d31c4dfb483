"""A profile that begins in a file which a team shares, and ends in one's own: whose word counts, what needs consent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.address import origin
from toolsync.document import Document, KeyPath, Value
from toolsync.document.keypath import spell
from toolsync.errors import ProfileError
from toolsync.profile.reader import line_of, parsed, problems
from toolsync.profile.wording import one_line
from toolsync.value import frozen

LIMIT_BYTES = 32 * 1024
"""Dozens of profiles fit; the most tangled file of this size is read and judged in two seconds, of eight times it in
minutes."""

_MOST_PROBLEMS = 10
"""More are not named: who mends these sees the rest."""

_OWN = ("from", "sha256", "trusted")
"""What only one's own file may say: else a shared one could name the next, and agree to itself."""

_FREE = ("title", "model", "models", "request", "observability", "enabled")
"""What a shared file may say of a profile, or of one tool in it, without being asked; `request.headers` apart.

Not `gateway`: it names the variable in which services look for the key, and another one may hold another key of yours.
"""


@frozen
class Source:
    """Where a profile begins: a path or an https address, and the profile's name there."""

    place: str
    profile: str

    @property
    def is_address(self) -> bool:
        """Whether it is to be fetched."""
        return self.place.startswith("https://")


@frozen
class Shared:
    """What a shared file gives one profile.

    Attributes:
        source: where it stands.
        shown: what messages call the file.
        table: the profile there.
        document: the whole file, for lines.
    """

    source: Source
    shown: str
    table: Mapping[str, Any]
    document: Document

    def line(self, path: KeyPath) -> int:
        """Where a field of the profile stands; `path` is below the profile."""
        return line_of(self.document, ("profiles", self.source.profile, *path))


def source(name: str, own: Mapping[str, Any]) -> Source:
    """Where the profile `name` begins, whose own table says `from`; called the same there unless `#NAME` follows."""
    place, _, profile = str(own["from"]).partition("#")
    return Source(place, profile or name)


def read(raw: bytes, found: Source, shown: str) -> Shared:
    """The profile that a shared file holds.

    Args:
        raw: the whole file.
        found: which profile is meant.
        shown: what messages call the file.

    Raises:
        ProfileError: it is too large, cannot be parsed, says what is not allowed (a key, above all), or lacks the
            profile; one line for each problem.
    """
    stop_at_huge(raw, shown)
    try:
        document = parsed(raw, shown)
    except ProfileError as error:
        raise ProfileError(error.message, hint=_ASK) from error
    # What one's own file adds may be missing here: that is judged of the two together.
    wrong = [problem for problem in problems(document) if not problem.reason.endswith("' is missing")]
    if wrong:
        told = wrong[:_MOST_PROBLEMS]
        lines = [f"{shown}:{line_of(document, problem.path)}: {problem.sentence}" for problem in told]
        more = [f"{shown}: and {len(wrong) - len(told)} more"] if len(wrong) > len(told) else []
        raise ProfileError("\n".join([*lines, *more]), hint=_ASK)
    table = document.data.get("profiles", {}).get(found.profile)
    if table is None:
        there = ", ".join(document.data.get("profiles", {})) or "none"
        raise ProfileError(
            f"{shown}: there is no profile '{one_line(found.profile)}'",
            hint=f"There are: {there}. Write `from` as PLACE#PROFILE.",
        )
    shared = Shared(found, shown, table, document)
    for field in _OWN:
        if field in table:
            place = f"{shown}:{shared.line((field,))}: profiles.{found.profile}.{field}"
            raise ProfileError(f"{place}: only your own profile.toml may say this", hint=_ASK)
    return shared


def stop_at_huge(raw: bytes, shown: str) -> None:
    """Let a file pass that can be a profile.

    Raises:
        ProfileError: it is too large.
    """
    if len(raw) > LIMIT_BYTES:
        raise ProfileError(f"{shown} has more than {LIMIT_BYTES:,} bytes, and so is no profile", hint=_ASK)


_ASK = "Ask who keeps the file to mend it; nothing of it is used until then."


def laid_over(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The two as one table, value by value; one's own wins."""
    left = {name: value for name, value in shared.items() if name in own or not _has(own, name)}
    laid = {**left, **{name: value for name, value in own.items() if name not in _OWN}}
    for name in shared.keys() & own.keys():
        if isinstance(shared[name], Mapping) and isinstance(own[name], Mapping):
            laid[name] = laid_over(shared[name], own[name])
    return laid


def _has(own: Mapping[str, Any], name: str) -> bool:
    """Whether one's own table says it; a header's name is the same in any case, and no others differ by that alone."""
    return name.lower() in map(str.lower, own)


def given(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[KeyPath, Value]:
    """Every value that comes from the shared table, by its path below the profile."""
    return dict(_leaves(shared, own, ()))


def _leaves(shared: Mapping[str, Any], own: Mapping[str, Any], above: KeyPath) -> Iterator[tuple[KeyPath, Value]]:
    for name, value in shared.items():
        mine = own.get(name)
        if isinstance(value, Mapping):
            yield from _leaves(value, mine if isinstance(mine, Mapping) else {}, (*above, name))
        elif not _has(own, name):
            yield (*above, name), value


def asked(values: Mapping[KeyPath, Value]) -> dict[KeyPath, Value]:
    """Those that need consent: where the key is had and where it goes, what is written where; all that is new, too.

    Of `base_url` it is the origin, which is what a key is bound to: another path there needs no new consent, unless
    something of the user's own may be filled in.
    """
    return {path: _bound(path, value) for path, value in values.items() if _is_asked(path, value)}


def _bound(path: KeyPath, value: Value) -> Value:
    is_plain_address = path == ("base_url",) and not _FILLED_IN.search(str(value))
    return origin(str(value)) if is_plain_address else value


def _is_asked(path: KeyPath, value: Value) -> bool:
    within = path[2:] if path[0] == "tool" else path
    if within == ("plaintext",):
        return bool(value == "allow")
    if isinstance(value, str) and _FILLED_IN.search(value):
        return True
    return within[0] not in _FREE or within[:2] == ("request", "headers")


_FILLED_IN = re.compile(r"\$[({\w]|\{(?:env|file):|`|\{\{|%[A-Za-z_]\w*%|\bos\.environ/")
"""What some tools and shells replace in a value by a variable, a file or a command's output of the user's own."""


def digest(wanted: Mapping[KeyPath, Value]) -> str:
    """What consent is kept by: SHA-256 of exactly these fields; the same whatever their order."""
    return hashlib.sha256(listed(wanted)).hexdigest()


def listed(wanted: Mapping[KeyPath, Value]) -> bytes:
    """The fields and what they say, as JSON, in order."""
    fields = sorted((spell(path), value) for path, value in wanted.items())
    return json.dumps(fields, ensure_ascii=True).encode()
