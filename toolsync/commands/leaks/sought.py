"""What `check` looks for: every key of the profiles and the keyring, and what the keys of providers look like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cache, cached_property
from typing import Any

from toolsync import disk, resources
from toolsync import memory as memories
from toolsync.commands.keys.stored import named, references
from toolsync.commands.leaks.slots import Literal, literals
from toolsync.deadline import answered
from toolsync.errors import FileError, KeyMissingError, MemoryFileError, ProfileError, SecretError
from toolsync.keyref import PREFIXES
from toolsync.leaks import Known, Shape
from toolsync.leaks.secret import SHORTEST
from toolsync.masking import fingerprint, learn, possible_keys
from toolsync.profile import KeyRef
from toolsync.remembered import Memory, vault_names
from toolsync.result import Message
from toolsync.secret import former
from toolsync.secret.index import known_names
from toolsync.session import Session
from toolsync.value import frozen

_QUICK_SECONDS = 2.0
"""A commit does not wait longer for a keyring."""

_MOST_OLD = 50
"""How many of the user's earlier values are looked for: each is another search of everything."""


FORMER = " before its rotation"
"""How the name of a key ends that was replaced, and is kept for `--back`."""


def is_kept(name: str) -> bool:
    """Whether a secret of that name is kept where a profile takes it from, so that we can put another in its place."""
    return name.startswith(PREFIXES)


@frozen
class Sought:
    """What is looked for.

    Attributes:
        known: secrets by their value.
        warnings: what could not be had, or is not looked for.
        is_whole: whether every key of the profiles and of the keyring is among them.
        memory: what was applied, whose key makes fingerprints.
        literals: keys that stand where tools look for theirs; they are among the known ones.
        is_kept: whether the memory lies on the disk; else its key is another one each time.
        called: the name under which the secret of each reference, and each literal, is known: one value has one name.
    """

    known: tuple[Known, ...]
    warnings: tuple[Message, ...]
    is_whole: bool
    memory: Memory
    literals: tuple[Literal, ...] = ()
    is_kept: bool = True
    called: Mapping[str, str] = field(default_factory=dict)

    def fingerprint(self, value: str) -> str:
        """Six digits that tell two secrets apart, the same each time; "" where nothing was ever applied."""
        return fingerprint(value, self.memory.key) if self.is_kept else ""


def sought(session: Session, *, quick: bool) -> Sought:
    """The known secrets.

    Args:
        session: whose profiles and keyring.
        quick: ask no program for a key, and the keyring for a moment only; what is not had then is no fault.
    """
    memory, warnings = _memory(session)
    is_kept = memory is not None
    memory = memory or memories.fresh()
    gathering = _Gathering(session, warnings, quick=quick)
    gathering.add_keys()
    if quick:
        return Sought(
            tuple(gathering.known.values()), tuple(warnings), gathering.is_whole, memory, (), is_kept, gathering.called
        )
    gathering.add_old(memory)
    found = tuple(one for one in literals(session) if gathering.takes(one.key.reveal()))
    for one in found:
        gathering.add(one.name, one.key.reveal())
    return Sought(
        tuple(gathering.known.values()), tuple(warnings), gathering.is_whole, memory, found, is_kept, gathering.called
    )


def _memory(session: Session) -> tuple[Memory | None, list[Message]]:
    """What was applied; None where there is no memory, or none that can be read."""
    try:
        snapshot = memories.seen(memories.path_in(session.state))
        return memories.parsed(snapshot) if snapshot.raw is not None else None, []
    except (MemoryFileError, FileError) as error:
        return None, [Message("warning", error.message, error.hint)]


class _Gathering:
    """Secrets by value, the first name of each."""

    def __init__(self, session: Session, warnings: list[Message], *, quick: bool) -> None:
        self._session, self._warnings, self._quick = session, warnings, quick
        self.known: dict[str, Known] = {}
        self.called: dict[str, str] = {}
        self.is_whole = True
        self._is_shut = False  # a keyring that did not answer once is not waited for again

    def add_keys(self) -> None:
        """Those that a profile names, and those that were stored from here."""
        references = self._references()
        kept = [KeyRef("keyring", name) for name in known_names(self._session.state)]
        wanted = list(dict.fromkeys([*references, *kept]))
        if self._quick:
            asking = [one for one in wanted if one.kind in ("command", "age")]  # they may ask a person, or take long
            self._add_quickly([one for one in wanted if one not in asking])
            if asking:
                names = ", ".join(dict.fromkeys(map(_shown, asking)))
                text = f"{names}: not asked for before a commit; keys are looked for by what they look like"
                self._warnings.append(Message("note", text))
            return
        for one in wanted:
            if one.kind != "keyring" or not self._is_shut:
                self._add_key(one, is_used=one in references)

    def _references(self) -> tuple[KeyRef, ...]:
        if not disk.exists(self._session.config):
            return ()
        try:
            return named(self._session.profiles().profiles)
        except (ProfileError, FileError) as error:
            self._missed(f"the profiles' keys are not looked for: {error.message}", error.hint)
            return ()

    def _add_quickly(self, references: list[KeyRef]) -> None:
        missed: list[str] = []

        def found() -> list[tuple[str, str]]:
            return [pair for one in references for pair in self._had(one, missed)]

        try:
            for name, value in answered(found, _QUICK_SECONDS):
                self.add(name, value)
        except (SecretError, TimeoutError):
            missed.append("the keyring")
        if missed:
            text = f"{', '.join(missed)}: no answer at once; keys are looked for by what they look like, not by value"
            self._warnings.append(Message("note", text))

    def _had(self, reference: KeyRef, missed: list[str]) -> Iterator[tuple[str, str]]:
        try:
            yield str(reference), self._session.secret(reference).reveal()
        except KeyMissingError:
            pass
        except SecretError:
            missed.append(str(reference))
            return
        if reference.kind == "keyring":
            yield from self._replaced(reference)

    def _replaced(self, reference: KeyRef) -> Iterator[tuple[str, str]]:
        """The keys that a rotation put another in the place of, as long as they are kept."""
        for entry in former.entries(reference.name):
            found = self._session.open_vault().get(entry)
            if found is not None:
                yield f"{reference}{FORMER}", found.reveal()

    def _add_key(self, reference: KeyRef, *, is_used: bool) -> None:
        try:
            self._add_of(reference)
        except KeyMissingError as error:
            if is_used and reference.kind != "keyring":  # a keyring that holds none has none to lose
                self._missed(f"not looked for: {error.message}", error.hint)
        except SecretError as error:
            self._is_shut |= reference.kind == "keyring"
            self._missed(f"{_shown(reference)} is not looked for: {error.message}", error.hint)
            return
        try:
            for name, value in self._replaced(reference) if reference.kind == "keyring" else ():
                self.add(name, value)
        except SecretError as error:
            self._missed(f"{_shown(reference)} is not looked for: {error.message}", error.hint)

    def _add_of(self, reference: KeyRef) -> None:
        """A key; what opens a file of age's is no key, and may have blanks."""
        if reference not in self._passphrases:
            self.add(str(reference), self._session.secret(reference).reveal())
        elif found := self._session.open_vault().get(reference.name):
            self.add(str(reference), found.reveal())

    @cached_property
    def _passphrases(self) -> frozenset[KeyRef]:
        """What opens the files that the profiles have keys in."""
        with suppress(ProfileError, FileError):  # said of the profiles' own keys
            used = (one for profile in self._session.profiles().profiles for _, one in references(profile))
            return frozenset(one.inner for one in used if one.inner is not None)
        return frozenset()

    def add_old(self, memory: Memory) -> None:
        """The user's own earlier values that undo would bring back, as far as they are keys."""
        if self._is_shut:
            return
        entries = [(path, name) for path, file in memory.everything.items() for name in sorted(vault_names(file))]
        try:
            for path, name in entries[:_MOST_OLD]:
                found = self._session.open_vault().get(name)
                for value in possible_keys(found.reveal()) if found else ():
                    self.add(f"your earlier key in {self._session.shown(path)}", value)
            if len(entries) > _MOST_OLD:
                self._warnings.append(
                    Message("note", f"of your earlier keys only the first {_MOST_OLD} are looked for")
                )
        except SecretError as error:
            self._missed(f"keys of yours that undo would bring back are not looked for: {error.message}", error.hint)

    def takes(self, value: str) -> bool:
        """Whether what stands in a key's place is one: a known one, or what may be."""
        return value in self.known or [*possible_keys(value)] == [value]

    def add(self, name: str, value: str) -> None:
        """Look for this one too; what is known already keeps its name."""
        if len(value) < SHORTEST:
            text = f"{name} is not looked for: it has fewer than {SHORTEST} characters, and would be found everywhere"
            self._warnings.append(Message("note", text))
            return
        learn(value)
        self.called[name] = self.known.setdefault(value, Known(name, value)).name

    def _missed(self, text: str, hint: str) -> None:
        self.is_whole = False
        self._warnings.append(Message("warning", text, hint))


def _shown(reference: KeyRef) -> str:
    """A reference as a message names it: a command line is not repeated."""
    return str(reference) if reference.kind != "command" else "the key of a `command:`"


@cache
def shapes() -> tuple[Shape, ...]:
    """What the keys of providers look like, as `templates/leaks/shapes.toml` says it."""
    return tuple(
        Shape(
            row["id"],
            row["title"],
            tuple(row.get("start", ())),
            re.compile(row["pattern"].encode()),
            row["source"],
            row.get("least_entropy", 3.0),
            row.get("has_digits", True),
            re.compile(row["inner"].encode()) if "inner" in row else None,
            row.get("at", 0),
            row.get("is_token", False),
        )
        for row in rows("shapes")["shape"]
    )


def rows(name: str) -> Any:
    """The data in `templates/leaks/NAME.toml`."""
    import tomllib

    return tomllib.loads((resources.folder("templates") / "leaks" / f"{name}.toml").read_text(encoding="utf-8"))
